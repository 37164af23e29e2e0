import base64
import string


def caesar(text, shift):
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    table = str.maketrans(lower + upper, lower[shift:] + lower[:shift] + upper[shift:] + upper[:shift])
    return text.translate(table)


def vigenere(text, key, sign=1):
    out, at = [], 0
    for c in text:
        if c.isalpha():
            base = ord("A" if c.isupper() else "a")
            out.append(chr((ord(c) - base + sign * (ord(key[at % len(key)].lower()) - 97)) % 26 + base))
            at += 1
        else:
            out.append(c)
    return "".join(out)


MORSE = dict(zip("SOETN", ["...", "---", ".", "-", "-."]))
secret = caesar("Hello, World!", 3)
print(secret, caesar(secret, -3 % 26), [caesar("abc", n) for n in (0, 13, 25)])
v = vigenere("Attack at Dawn!", "LEMON")
print(v, vigenere(v, "LEMON", -1), " ".join(MORSE.get(c, "?") for c in "SOS TEN"))
print(base64.b64encode("sëcret".encode()).decode(), "".join(format(b, "08b") for b in b"Hi"), bytes(a ^ b for a, b in zip(b"data", b"keys")).hex())
for word in ("racecar", "A man, a plan, a canal: Panama", "hello"):
    letters = [c for c in word.lower() if c.isalnum()]
    print(repr(word), letters == letters[::-1], sorted(set(letters)))
print(sorted(["listen", "silent", "enlist", "google"], key=sorted), sum(c in "aeiou" for c in "programming language"))


def run_length(text):
    out = ""
    while text:
        n = len(text) - len(text.lstrip(text[0]))
        out += f"{n}{text[0]}"
        text = text[n:]
    return out


print(run_length("aaabbc"), run_length("zz"))


def roman(n):
    out = ""
    for value, letters in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        out += letters * (n // value)
        n %= value
    return out


print([roman(n) for n in (1, 4, 9, 14, 40, 90, 400, 1994, 2024, 3999)])
