from datetime import date, datetime, timedelta, timezone

moment = datetime(2024, 3, 5, 7, 8, 9, 42, tzinfo=timezone(timedelta(hours=-3)))
for spec in ("%Y-%m-%d", "%d/%m/%y", "%A %d %B %Y", "%a %b %e", "%I:%M %p", "%H:%M:%S.%f", "%j %U %W %V %G %u %w", "%Z %z", "%c", "%x %X", "%%", "%s"[:0] + "week %V", "%-d" if False else "%d"):
    print(spec, "|", moment.strftime(spec))
print(f"{moment:%Y} {moment:%B %d}", format(date(2024, 1, 9), "%d.%m."), str(date(2024, 1, 9)))
for text, spec in (("2024-01-15", "%Y-%m-%d"), ("15 Jan 2024 3:04 PM", "%d %b %Y %I:%M %p"), ("Monday, January 01, 2024", "%A, %B %d, %Y"), ("12/31/99", "%m/%d/%y"), ("2024-060", "%Y-%j"), ("10:11:12.5 +0530", "%H:%M:%S.%f %z"), ("2024 10 1", "%G %V %u")):
    print(repr(text), "->", datetime.strptime(text, spec))
for text, spec in (("2024-13-01", "%Y-%m-%d"), ("2024-01-01x", "%Y-%m-%d"), ("x", "%Q")):
    try:
        datetime.strptime(text, spec)
    except ValueError as error:
        print(error)
birthdays = {"ann": "1990-05-17", "bob": "1985-12-01"}
today = date(2024, 6, 1)
for name, text in birthdays.items():
    born = date.fromisoformat(text)
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    following = born.replace(year=today.year + ((born.month, born.day) < (today.month, today.day)))
    print(f"{name} is {age}, next birthday in {(following - today).days} days, a {following:%A}")
