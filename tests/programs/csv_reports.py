import csv
import io
from collections import defaultdict

TEXT = '''date,region,product,units,price
2024-01-05,North,Widget,10,2.50
2024-01-17,South,"Gadget, large",3,19.99
2024-02-02,North,"The ""best"" one",1,100
2024-02-11,South,Widget,7,2.50
2024-03-01,East,,0,
'''
rows = list(csv.DictReader(io.StringIO(TEXT)))
print(len(rows), rows[1], list(rows[0]))
revenue = defaultdict(float)
for row in rows:
    revenue[row["region"]] += int(row["units"]) * float(row["price"] or 0)
for region, amount in sorted(revenue.items(), key=lambda item: -item[1]):
    print(f"{region:<8}{amount:>10.2f}")
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["region", "amount"], extrasaction="ignore")
writer.writeheader()
writer.writerows({"region": r, "amount": a, "x": 1} for r, a in revenue.items())
print(repr(out.getvalue()))
for options in ({"delimiter": ";"}, {"quoting": csv.QUOTE_ALL}, {"quoting": csv.QUOTE_NONNUMERIC}, {"lineterminator": "\n", "quotechar": "'"}, {"dialect": "excel-tab"}):
    out = io.StringIO()
    csv.writer(out, **options).writerow(["a;b", 'say "hi"', 1.5, None, "new\nline", "it's"])
    print(options, repr(out.getvalue()))
print(list(csv.reader(["a,b", '"x\ny",z', "", "1,'2,3'"])), list(csv.reader(["1 2  3"], delimiter=" ", skipinitialspace=True)))
print(list(csv.DictReader(["a,b", "1,2,3", "4"], restkey="more", restval="?")), csv.Sniffer().sniff("a|b|c\n1|2|3\n").delimiter, csv.Sniffer().has_header("name,age\nann,3\nbob,4\n"), csv.list_dialects())
for bad in (lambda: csv.DictWriter(out, ["a"]).writerow({"b": 1}), lambda: list(csv.reader(["a\0"], strict=True)) and csv.writer(out).writerow(5), lambda: list(csv.reader(['"a'], strict=True))):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, error)
