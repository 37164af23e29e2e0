# needs: tzdata
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

meeting = datetime(2024, 3, 10, 15, 0, tzinfo=ZoneInfo("Europe/Oslo"))
for zone in ("America/New_York", "Asia/Tokyo", "Asia/Kolkata", "Australia/Sydney", "UTC", "Pacific/Kiritimati"):
    local = meeting.astimezone(ZoneInfo(zone))
    print(f"{zone:20} {local:%a %H:%M %Z %z} {local.dst()}")
before = datetime(2024, 3, 31, 1, 59, tzinfo=ZoneInfo("Europe/Oslo"))
print(before, before + timedelta(hours=1), (before + timedelta(hours=1)).astimezone(ZoneInfo("UTC")))
ambiguous = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Oslo"))
print(ambiguous.utcoffset(), ambiguous.replace(fold=1).utcoffset(), ambiguous.timestamp() - ambiguous.replace(fold=1).timestamp())
print(datetime(1890, 1, 1, tzinfo=ZoneInfo("Europe/Paris")).utcoffset(), datetime(2060, 7, 1, tzinfo=ZoneInfo("America/New_York")).tzname())
print("Europe/London" in available_timezones(), len(available_timezones()) > 400, ZoneInfo("UTC").key, repr(ZoneInfo("Asia/Tokyo")))
try:
    ZoneInfo("Mars/Olympus")
except ZoneInfoNotFoundError as error:
    print(error)
