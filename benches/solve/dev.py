"""The tasks by which prompts were chosen, each with a reference: `dev.json` holds what the references print.

`python3 benches/solve/dev.py` says where the two differ, with `--write` it writes the file. None of the tasks is in
`tasks.json`, the README, a test or a prompt, so that what is chosen here is not chosen for those.
"""

import calendar
import csv
import datetime
import io
import itertools
import json
import math
import os.path
import pathlib
import re
import statistics
import string
import sys
from collections import Counter

TASKS = []


def task(ask, data=None):
    """What the function returns (lines of a list, or one value) is what a program must print."""

    def note(reference):
        said = reference(data) if data is not None else reference()
        lines = said if isinstance(said, list) else [said]
        TASKS.append({"ask": ask, **({"data": data} if data is not None else {}), "expect": "\n".join(map(str, lines))})

    return note


def rows(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def yes(true):
    return "yes" if true else "no"


def roman(number):
    digits = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    higher = str.maketrans("IVX", "XLC")
    hundreds = digits[number // 100 % 10].translate(higher).translate(str.maketrans("XLC", "CDM"))
    return "M" * (number // 1000) + hundreds + digits[number // 10 % 10].translate(higher) + digits[number % 10]


def factors(number):
    least = next((n for n in range(2, number) if number % n == 0), number)
    return [least] + (factors(number // least) if least < number else [])


def flat(nested):
    return [leaf for one in nested for leaf in (flat(one) if isinstance(one, list) else [one])]


# Text.
task("Which letter occurs most often in 'mississippi river'?")(
    lambda: Counter("mississippi river").most_common(1)[0][0]
)
task("Turn the snake_case name 'total_net_amount' into camelCase and print it.")(
    lambda: re.sub(r"_(.)", lambda match: match[1].upper(), "total_net_amount")
)
task("Print the initials of 'Ada Byron King Lovelace', with a dot after each letter and no spaces.")(
    lambda: "".join(word[0] + "." for word in "Ada Byron King Lovelace".split())
)
task("Remove the punctuation from \"Well, yes, it's done!\" and print the rest in lower case.")(
    lambda: "Well, yes, it's done!".translate(str.maketrans("", "", string.punctuation)).lower()
)
task("Which word in 'we saw enormous elephants near a river' has the most vowels?")(
    lambda: max("we saw enormous elephants near a river".split(), key=lambda word: sum(word.count(v) for v in "aeiou"))
)
task("Are 'dusty' and 'study' anagrams of each other? Answer yes or no.")(lambda: yes(sorted("dusty") == sorted("study")))
task("Swap upper and lower case in 'PyThOn Is FuN'.")(lambda: "PyThOn Is FuN".swapcase())
task("Encrypt 'attack at dawn' with a Caesar cipher that shifts each letter by 3 and keeps the spaces.")(
    lambda: "".join(c if c == " " else chr((ord(c) - 97 + 3) % 26 + 97) for c in "attack at dawn")
)
task("Center the word menu in a line of 20 characters, filled with asterisks on both sides.")(
    lambda: "menu".center(20, "*")
)
task("How many sentences are there in this text? Print only the number.", "It rains. Take a coat! Is it cold? I hope not.")(
    lambda data: len(re.findall(r"[.!?]", data))
)
task("Print each word of the text once, in alphabetical order, one on each line.", "the cat saw the dog and the dog ran")(
    lambda data: sorted(set(data.split()))
)
task("Write the text in title case.", "a night in the lonesome october")(lambda data: data.title())
task("Print the lines that begin with a capital letter.", "Oslo\nrome\nBerlin\nparis\nMadrid")(
    lambda data: [line for line in data.splitlines() if line[0].isupper()]
)

# Numbers.
task("Is 496 a perfect number? Answer yes or no.")(lambda: yes(sum(n for n in range(1, 496) if 496 % n == 0) == 496))
task("What is 15 percent of 240? Print only the number.")(lambda: 15 * 240 / 100)
task("Which number is the Roman numeral MCMXCIV?")(
    lambda: next(number for number in range(4000) if roman(number) == "MCMXCIV")
)
task("Write the number 2024 as a Roman numeral.")(lambda: roman(2024))
task("Print 1234567.891 with two decimals and commas between the thousands.")(lambda: f"{1234567.891:,.2f}")
task("What is the least common multiple of 12, 18 and 30?")(lambda: math.lcm(12, 18, 30))
task("Print the prime factors of 360 from small to large, each as often as it divides, separated by spaces.")(
    lambda: " ".join(map(str, factors(360)))
)
task("Convert the hexadecimal number 1F4 to a decimal number.")(lambda: int("1F4", 16))
task("How many numbers from 1 to 1000 can be divided by 7 but not by 5?")(
    lambda: sum(n % 7 == 0 and n % 5 != 0 for n in range(1, 1001))
)
task("I save 2500 euros at 4 percent compound interest a year. How much is it after 6 years? Print only the number, rounded to two decimals.")(
    lambda: round(2500 * 1.04**6, 2)
)
task("How many zeros are at the end of 50 factorial?")(
    lambda: len(str(math.factorial(50))) - len(str(math.factorial(50)).rstrip("0"))
)
task("Which is larger, 2 to the power of 31 or 5 to the power of 13? Print its value.")(lambda: max(2**31, 5**13))
task("A shirt costs 48 dollars after a discount of 20 percent. What did it cost before? Print only the number.")(
    lambda: 48 / 0.8
)
task("What is the distance between the points (1, 2) and (4, 6)?")(lambda: math.dist((1, 2), (4, 6)))

# Dates and times.
task("Which day of the week was 14 July 1789? Print its English name.")(
    lambda: calendar.day_name[datetime.date(1789, 7, 14).weekday()]
)
task("How many days are there from 14 March 2023 to 2 November 2023? Print only the number.")(
    lambda: (datetime.date(2023, 11, 2) - datetime.date(2023, 3, 14)).days
)
task("Which date is 100 days after 2024-01-15? Print it as YYYY-MM-DD.")(
    lambda: datetime.date(2024, 1, 15) + datetime.timedelta(100)
)
task("Was 1900 a leap year? Answer yes or no.")(lambda: yes(calendar.isleap(1900)))
task("Print 7384 seconds as hours, minutes and seconds in the form H:MM:SS.")(lambda: datetime.timedelta(seconds=7384))
task("How many months of 2026 have a Friday the 13th?")(
    lambda: sum(datetime.date(2026, month, 13).weekday() == 4 for month in range(1, 13))
)
task("Print the date '03/25/2021' (month/day/year) as day, name of the month and year, like 1 May 1999.")(
    lambda: f"{datetime.datetime.strptime('03/25/2021', '%m/%d/%Y'):%d %B %Y}"
)
task("Print the earliest of these dates as it is written here.", "17.05.2021\n03.11.2019\n28.02.2020")(
    lambda data: min(data.splitlines(), key=lambda line: line.split(".")[::-1])
)

# Lists.
task("Take the elements of [9, 3, 5] and [2, 4, 6] in turn and print them as one Python list.")(
    lambda: str(flat(map(list, zip([9, 3, 5], [2, 4, 6]))))
)
task("Which of the numbers 17, 42, 8 and 36 is closest to 20?")(lambda: min([17, 42, 8, 36], key=lambda n: abs(n - 20)))
task("Rotate the list [1, 2, 3, 4, 5, 6] by two places to the left and print it.")(
    lambda: str([1, 2, 3, 4, 5, 6][2:] + [1, 2])
)
task("Which numbers are in both [3, 5, 7, 9, 11] and [1, 5, 9, 13]? Print them as a sorted Python list.")(
    lambda: str(sorted({3, 5, 7, 9, 11} & {1, 5, 9, 13}))
)
task("Flatten the nested list [[1, 2], [3, [4, 5]], 6] and print it as a Python list.")(
    lambda: str(flat([[1, 2], [3, [4, 5]], 6]))
)
task("Cut the numbers from 1 to 10 into groups of four and print each group on a line of its own as a Python list.")(
    lambda: [str(list(range(1, 11))[at : at + 4]) for at in range(0, 10, 4)]
)
task("Which of the letters b, a, b, c, a, d occur exactly once? Print them joined by commas without spaces.")(
    lambda: ",".join(letter for letter in "babcad" if "babcad".count(letter) == 1)
)
task("Print all pairs of different numbers from 1 to 6 that add up to 7, one pair on each line as 'a b' with the smaller first.")(
    lambda: [f"{a} {b}" for a, b in itertools.combinations(range(1, 7), 2) if a + b == 7]
)
task("Print the running totals of 5, 3, 8, 2, separated by spaces.")(
    lambda: " ".join(map(str, itertools.accumulate([5, 3, 8, 2])))
)

# Tables.
STAFF = "name,team,salary\nMira,Design,3900\nTom,Support,3100\nJan,Design,4300\nEva,Development,5200\nLiu,Support,4100\nKim,Support,2900"
task("What is the average salary in the team Design?", STAFF)(
    lambda data: statistics.mean(int(row["salary"]) for row in rows(data) if row["team"] == "Design")
)
task("Which team has the most members?", STAFF)(
    lambda data: Counter(row["team"] for row in rows(data)).most_common(1)[0][0]
)
task("List the names of those who earn more than 4000, in alphabetical order, one on each line.", STAFF)(
    lambda data: sorted(row["name"] for row in rows(data) if int(row["salary"]) > 4000)
)
task("For each team print its name and its highest salary, separated by a space, teams in alphabetical order.", STAFF)(
    lambda data: [
        f"{team} {max(int(row['salary']) for row in rows(data) if row['team'] == team)}"
        for team in sorted({row["team"] for row in rows(data)})
    ]
)
ORDERS = "date,item,quantity,price\n2024-03-02,pen,10,1.50\n2024-03-19,book,2,12.00\n2024-04-05,pen,4,1.50\n2024-04-28,lamp,1,45.90\n2024-05-11,book,1,12.00"
task("What is the total revenue (quantity times price)? Print only the number with two decimals.", ORDERS)(
    lambda data: f"{sum(int(row['quantity']) * float(row['price']) for row in rows(data)):.2f}"
)


def by_month(data):
    totals = Counter()
    for row in rows(data):
        totals[row["date"][:7]] += int(row["quantity"]) * float(row["price"])
    return totals


task("Which month had the highest revenue (quantity times price)? Print it as YYYY-MM.", ORDERS)(
    lambda data: by_month(data).most_common(1)[0][0]
)
task("How many different items were sold in March 2024?", ORDERS)(
    lambda data: len({row["item"] for row in rows(data) if row["date"].startswith("2024-03")})
)
task("The columns are separated by semicolons. What is the sum of the weights?", "parcel;weight\nA1;2.5\nA2;0.75\nB7;4")(
    lambda data: sum(float(row["weight"]) for row in rows(data, ";"))
)
task("Who has the best average of the two subjects?", "student\tmaths\tart\nNoa\t71\t90\nBen\t88\t79\nIda\t65\t92")(
    lambda data: max(rows(data, "\t"), key=lambda row: int(row["maths"]) + int(row["art"]))["student"]
)
task("How many rows have no email? Print only the number.", "id,name,email\n1,Ola,ola@example.org\n2,Per,\n3,Siv,siv@example.org\n4,Tor,")(
    lambda data: sum(not row["email"] for row in rows(data))
)
task("What is the difference between the highest and the lowest temperature in Bergen?", "city,temp\nBergen,4\nOslo,-3\nBergen,11\nOslo,2\nBergen,-1")(
    lambda data: (lambda temps: max(temps) - min(temps))(
        [int(row["temp"]) for row in rows(data) if row["city"] == "Bergen"]
    )
)

# JSON.
USERS = '[{"name": "lena", "active": true, "age": 31}, {"name": "otto", "active": false, "age": 52}, {"name": "rafi", "active": true, "age": 24}]'
task("Print the names of the active users, one on each line.", USERS)(
    lambda data: [user["name"] for user in json.loads(data) if user["active"]]
)
task("What is the average age of the active users?", USERS)(
    lambda data: statistics.mean(user["age"] for user in json.loads(data) if user["active"])
)
task("In which city does the customer live?", '{"order": 17, "customer": {"name": "Ruth", "address": {"street": "Hill 3", "city": "Ghent"}}}')(
    lambda data: json.loads(data)["customer"]["address"]["city"]
)
task("Print the keys of this object in alphabetical order, separated by commas without spaces.", '{"width": 3, "depth": 9, "height": 4}')(
    lambda data: ",".join(sorted(json.loads(data)))
)

# Patterns in text.
LOG = "08:01 INFO start 10.0.0.7\n08:03 ERROR timeout 10.0.0.9\n08:04 INFO retry 10.0.0.9\n08:09 ERROR refused 10.0.0.7\n08:10 WARN slow 10.0.0.12"
task("How many lines of this log are errors?", LOG)(lambda data: data.count(" ERROR "))
task("List the different IP addresses in the order in which they appear, one on each line.", LOG)(
    lambda data: list(dict.fromkeys(re.findall(r"\d+\.\d+\.\d+\.\d+", data)))
)
task("Print all email addresses in the text, one on each line.", "Ask jo@site.org or max.b@mail.example, not the @team.")(
    lambda data: re.findall(r"[\w.]+@[\w.]+\w", data)
)
task("Print the hashtags of this post without the # sign, separated by spaces.", "Great #hike today with #friends up the #hill!")(
    lambda data: " ".join(re.findall(r"#(\w+)", data))
)
task("Replace all digits but the last four of the card number 4929381332664295 by * and print it.")(
    lambda: re.sub(r"\d(?=\d{4})", "*", "4929381332664295")
)
task("What is the sum of all numbers in this text?", "I bought 3 apples, 12 eggs and 7 pears.")(
    lambda data: sum(map(int, re.findall(r"\d+", data)))
)


# Algorithms.
def collatz(n):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


def hanoi(disks):
    return 2 * hanoi(disks - 1) + 1 if disks else 0


def balanced(text):
    shorter = re.sub(r"\(\)|\[\]|\{\}", "", text)
    return not text or (shorter != text and balanced(shorter))


def distance(a, b):
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        here = [i]
        for j, y in enumerate(b, 1):
            here.append(min(last[j] + 1, here[-1] + 1, last[j - 1] + (x != y)))
        last = here
    return last[-1]


task("How many steps does the Collatz sequence that starts at 27 take to reach 1?")(lambda: collatz(27))
task("How many moves are needed to solve the Tower of Hanoi with 6 disks?")(lambda: hanoi(6))
task("What is the longest common prefix of interview, internet and interval?")(
    lambda: os.path.commonprefix(["interview", "internet", "interval"])
)
task("Are the brackets in '([{}])(' balanced? Answer yes or no.")(lambda: yes(balanced("([{}])(")))
task("What is the Levenshtein distance between 'kitchen' and 'chicken'?")(lambda: distance("kitchen", "chicken"))
task("Print the first five rows of Pascal's triangle, the numbers of a row separated by spaces.")(
    lambda: [" ".join(str(math.comb(row, n)) for n in range(row + 1)) for row in range(5)]
)
task("Transpose this table of numbers and print it in the same form.", "1 2 3\n4 5 6")(
    lambda data: [" ".join(column) for column in zip(*(line.split() for line in data.splitlines()))]
)
task("Print the numbers from 1 to 15, but Fizz for multiples of 3, Buzz for those of 5 and FizzBuzz for those of both.")(
    lambda: ["Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0) or n for n in range(1, 16)]
)

# Statistics.
task("What is the sample standard deviation of 2, 4, 4, 4, 5, 5, 7, 9? Round it to two decimals.")(
    lambda: round(statistics.stdev([2, 4, 4, 4, 5, 5, 7, 9]), 2)
)
task("How many different values occur more than once?", "12\n7\n12\n9\n7\n12\n3")(
    lambda data: sum(times > 1 for times in Counter(data.split()).values())
)
HOURS = "hours,points\n1,52\n2,55\n4,70\n5,68\n8,90"
task("What is the correlation between hours and points? Round it to two decimals.", HOURS)(
    lambda data: round(
        statistics.correlation(*zip(*((int(row["hours"]), int(row["points"])) for row in rows(data)))), 2
    )
)
task("What is the average grade, weighted by the credits? Round it to two decimals.", "course,credits,grade\nAlgebra,6,1.7\nLaw,3,2.3\nChemistry,9,1.3")(
    lambda data: round(
        statistics.fmean(*zip(*((float(row["grade"]), float(row["credits"])) for row in rows(data)))), 2
    )
)

# Forms of output.
task("Print the multiplication table of 7 from 7 x 1 = 7 to 7 x 10 = 70, one product on each line.")(
    lambda: [f"7 x {n} = {7 * n}" for n in range(1, 11)]
)
task("Print the phone number 5558140293 in the form (123) 456-7890.")(
    lambda: "({}{}{}) {}{}{}-{}{}{}{}".format(*"5558140293")
)
task("Print 0.4567 as a percentage with one decimal.")(lambda: f"{0.4567:.1%}")
task("Print a right triangle of asterisks that is 4 lines high and begins with one asterisk.")(
    lambda: ["*" * n for n in range(1, 5)]
)
task("Print each item as 'name: price' with two decimals, the cheapest first.", "tea=3.5\nmilk=1.25\nrice=2")(
    lambda data: [
        f"{name}: {float(price):.2f}"
        for name, price in sorted((line.split("=") for line in data.splitlines()), key=lambda pair: float(pair[1]))
    ]
)


# Everyday questions of all kinds.
task("What is 3 days, 4 hours and 20 minutes in minutes? Print only the number.")(lambda: (3 * 24 + 4) * 60 + 20)
task("A recipe for 4 people needs 350 g of flour. How many grams does it need for 10 people?")(lambda: 350 / 4 * 10)
task("I drive 210 km in 2.5 hours. What is my average speed in km/h?")(lambda: 210 / 2.5)
task("Convert 72 kilograms to pounds (1 kg = 2.20462 lb). Round it to one decimal.")(lambda: round(72 * 2.20462, 1))
task("What is the body mass index of someone who is 1.80 m tall and weighs 81 kg? Print only the number.")(
    lambda: 81 / 1.80**2
)
task("Split a bill of 86.40 euros and a tip of 10 percent between 4 friends. How much does each pay? Two decimals.")(
    lambda: f"{86.40 * 1.1 / 4:.2f}"
)
task("How many seconds are there in the month of April?")(lambda: 30 * 24 * 60 * 60)
task("What is the area of a circle with radius 3.5? Round it to two decimals.")(lambda: round(math.pi * 3.5**2, 2))
task("What is the length of the longest side of a right triangle whose short sides are 5 and 12?")(lambda: math.hypot(5, 12))
task("The temperatures of a week are 12, 15, 9, 11, 18, 14, 10. On how many days was it warmer than 12?")(
    lambda: sum(t > 12 for t in [12, 15, 9, 11, 18, 14, 10])
)
task("Which numbers between 50 and 150 are squares of whole numbers? Print them separated by spaces.")(
    lambda: " ".join(str(n) for n in range(50, 151) if math.isqrt(n) ** 2 == n)
)
task("Print the countdown from 5 to 1 in one line, separated by commas without spaces.")(
    lambda: ",".join(map(str, range(5, 0, -1)))
)
task("Print every second character of 'abcdefghij', beginning with the first.")(lambda: "abcdefghij"[::2])
task("How many different characters does the word 'bookkeeper' have?")(lambda: len(set("bookkeeper")))
task("Put the name 'Curie, Marie' the other way round, without the comma.")(
    lambda: " ".join(reversed("Curie, Marie".split(", ")))
)
task("Repeat the word 'echo' three times, joined by hyphens.")(lambda: "-".join(["echo"] * 3))
task("Make a URL slug of 'Ten Ways to Save Money!': lower case, words joined by hyphens, no punctuation.")(
    lambda: "-".join(re.findall("[a-z]+", "ten ways to save money"))
)
task("What is the position of the letter k in the English alphabet, counted from 1?")(
    lambda: string.ascii_lowercase.index("k") + 1
)
task("Sort the names Olga, ben, Anna, carl alphabetically without regard to case, and print them separated by spaces.")(
    lambda: " ".join(sorted(["Olga", "ben", "Anna", "carl"], key=str.lower))
)
task("Sort the words of 'five six a hundred and ten' by length, short ones first, and print them separated by spaces.")(
    lambda: " ".join(sorted("five six a hundred and ten".split(), key=len))
)
task("How old was someone born on 5 September 1984 on 1 March 2020?")(
    lambda: int((datetime.date(2020, 3, 1) - datetime.date(1984, 9, 5)).days / 365.25)
)
task("Print the last day of February 2024 as YYYY-MM-DD.")(lambda: f"2024-02-{calendar.monthrange(2024, 2)[1]}")
task("How many hours and minutes are there from 08:45 to 17:20? Print it as H:MM.")(
    lambda: "{}:{:02}".format(*divmod((17 * 60 + 20) - (8 * 60 + 45), 60))
)
task("Print the date 2023-12-05 in the form DD/MM/YYYY.")(lambda: f"{datetime.date(2023, 12, 5):%d/%m/%Y}")
task("Which weekday is 10 days after a Wednesday?")(lambda: calendar.day_name[(2 + 10) % 7])

WALK = "day,steps,km\nMon,8200,6.1\nTue,4100,3.0\nWed,12050,9.2\nThu,7600,5.4\nFri,9900,7.3"
task("On which day did I walk the most steps?", WALK)(
    lambda data: max(rows(data), key=lambda row: int(row["steps"]))["day"]
)
task("How many kilometres did I walk in all? Round it to one decimal.", WALK)(
    lambda data: round(sum(float(row["km"]) for row in rows(data)), 1)
)
task("On how many days did I walk fewer than 8000 steps?", WALK)(
    lambda data: sum(int(row["steps"]) < 8000 for row in rows(data))
)
task("Print the days in order of the steps, most first, separated by spaces.", WALK)(
    lambda data: " ".join(row["day"] for row in sorted(rows(data), key=lambda row: -int(row["steps"])))
)
STOCK = "product,stock,min\nbolts,120,100\nnuts,80,100\nwashers,0,50\nscrews,300,200"
task("Which products have a stock below their minimum? Print one on each line.", STOCK)(
    lambda data: [row["product"] for row in rows(data) if int(row["stock"]) < int(row["min"])]
)
task("Is there a product that is out of stock? Answer yes or no.", STOCK)(
    lambda data: yes(any(row["stock"] == "0" for row in rows(data)))
)
EXPENSES = "rent: 750\nfood: 310.50\nbus: 49\nfood: 28.75\nphone: 19.99"
task("How much did I spend on food? Print only the number.", EXPENSES)(
    lambda data: sum(float(line.split(": ")[1]) for line in data.splitlines() if line.startswith("food"))
)
task("For how many different things did I spend money?", EXPENSES)(
    lambda data: len({line.split(":")[0] for line in data.splitlines()})
)
task("What share of all expenses is the rent, in percent? Round it to one decimal and print only the number.", EXPENSES)(
    lambda data: round(100 * 750 / sum(float(line.split(": ")[1]) for line in data.splitlines()), 1)
)
POEM = "The fog comes\non little cat feet.\n\nIt sits looking\nover harbor and city\non silent haunches\nand then moves on."
task("How many lines of this text are not empty?", POEM)(lambda data: sum(bool(line) for line in data.splitlines()))
task("How many times does the word 'on' occur?", POEM)(lambda data: re.findall(r"\w+", data.lower()).count("on"))
task("Number the lines: print each with its number and a colon before it, like '1: first line'.", "wash\ncut\nboil")(
    lambda data: [f"{n}: {line}" for n, line in enumerate(data.splitlines(), 1)]
)


def main():
    file = pathlib.Path(__file__).with_name("dev.json")
    if "--write" in sys.argv:
        lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in TASKS)
        file.write_text(f"[\n{lines}\n]\n")
        return
    kept = {one["ask"] + one.get("data", ""): one for one in json.loads(file.read_text())}
    made = {one["ask"] + one.get("data", ""): one for one in TASKS}
    for key in sorted(kept.keys() | made.keys()):
        if kept.get(key) != made.get(key):
            print(f"differs: {kept.get(key)} in dev.json, {made.get(key)} by the reference")
    sys.exit(kept != made)


if __name__ == "__main__":
    main()
