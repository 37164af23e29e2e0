import calendar
from datetime import date, datetime, timedelta

day = date(2024, 2, 28)
print(day + timedelta(days=2), calendar.isleap(2024), day.strftime("%A %d %B %Y"), day.isocalendar().week)
print(datetime.strptime("03/11/2023 14:05", "%d/%m/%Y %H:%M"), datetime.fromisoformat("2024-01-01T10:00:00+02:00").utcoffset())
print((date(2024, 12, 25) - day).days, "days until Christmas")
print(calendar.month(2024, 2))
print(calendar.monthrange(2023, 2), [calendar.day_abbr[i] for i in range(3)])
fridays = [d for d in calendar.Calendar().itermonthdates(2024, 9) if d.month == 9 and d.weekday() == 4 and d.day == 13]
print(fridays)
