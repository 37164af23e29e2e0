import calendar

print(calendar.month(2024, 2))
print(calendar.TextCalendar(calendar.SUNDAY).formatmonth(2023, 10))
print(tuple(map(int, calendar.monthrange(2024, 2))), calendar.isleap(1900), calendar.isleap(2000), calendar.leapdays(1990, 2024))
print(calendar.monthcalendar(2024, 6), calendar.weekday(2024, 7, 4), list(calendar.day_abbr), list(calendar.month_name)[1:4])
print([day.isoformat() for day in calendar.Calendar().itermonthdates(2024, 2)][:5], calendar.timegm((1970, 1, 2, 0, 0, 0)))
fridays = [(2024, month) for month in range(1, 13) if calendar.weekday(2024, month, 13) == calendar.FRIDAY]
print("friday 13th in", fridays)
print(max(week[calendar.FRIDAY] for week in calendar.monthcalendar(2024, 11)), calendar.calendar(2025, m=6).splitlines()[2])
