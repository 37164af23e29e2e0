# Messages that CPython 3.15 words anew.
for bad in ("{[1]}", "{[]: 1}", "dict([1, 2])", "1 % 0", "1.0 / 0", "0.0 ** -1", "bytes.fromhex('4')", "[1][5:'x']", "int('٣x')", "__import__('datetime').date(2023, 2, 29)", "__import__('array').array('z')"):
    try:
        eval(bad)
    except Exception as error:
        print(bad, "->", type(error).__name__, error)
print(repr(bytearray(b"x'y")))
import calendar

print(calendar.HTMLCalendar().formatmonth(2024, 2)[:80])
