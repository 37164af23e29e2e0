from datetime import MAXYEAR, date, datetime, time, timedelta, timezone

start = datetime(2024, 2, 28, 22, 30, 15, 123456)
print(start + timedelta(days=1, hours=2), start - timedelta(weeks=9), start.replace(year=2023), repr(start))
print(date(2024, 3, 1) - date(2024, 2, 1), date(2024, 12, 25).weekday(), date(2024, 12, 30).isocalendar(), date(2024, 1, 1).timetuple().tm_yday)
delta = timedelta(days=-1, hours=5, microseconds=1)
print(delta, repr(delta), delta.total_seconds(), abs(delta), delta * 2, delta / 2, delta // timedelta(hours=1), divmod(timedelta(hours=25), timedelta(days=1)))
utc, east = timezone.utc, timezone(timedelta(hours=5, minutes=30), "IST")
moment = datetime(2024, 6, 1, 12, 0, tzinfo=utc)
print(moment, moment.astimezone(east), moment.timestamp(), datetime.fromtimestamp(0, utc), moment.astimezone(east).tzname(), moment.utcoffset())
print(moment == moment.astimezone(east), moment.isoformat(timespec="milliseconds"), moment.date(), moment.time(), moment.timetz(), moment.ctime())
print(datetime.combine(date(2024, 1, 1), time(9, 5)), time(23, 59).isoformat(), date.fromordinal(738000), date(2024, 1, 1).toordinal(), date.min, date.max, MAXYEAR)
print(sorted([date(2024, 5, 1), date(2023, 1, 1)]), date(2024, 1, 31) < date(2024, 2, 1), datetime.fromisoformat("2024-01-02T03:04:05.678+02:00"), date.fromisocalendar(2024, 10, 3))
for bad in ("date(2023, 2, 29)", "datetime(2024, 13, 1)", "time(25)", "start - moment", "start < moment", "date(1, 1, 1) - timedelta(1)", "timedelta(days=10**9 + 1)", "datetime.fromisoformat('nope')", "date.fromisoformat('2024-1-1')"):
    try:
        print(eval(bad))
    except Exception as error:
        print(bad, "->", type(error).__name__)


def add_months(day, months):
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    for last in (31, 30, 29, 28):
        try:
            return date(year, month + 1, min(day.day, last))
        except ValueError:
            pass


print([str(add_months(date(2024, 1, 31), n)) for n in range(-2, 4)])
