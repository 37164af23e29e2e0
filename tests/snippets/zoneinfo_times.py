from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

start = datetime(2024, 3, 31, 0, 30, tzinfo=timezone.utc)
for name in ("Europe/Oslo", "America/New_York", "Asia/Kolkata"):
    local = start.astimezone(ZoneInfo(name))
    print(f"{name:18} {local.isoformat()} {local.tzname()}")
oslo = ZoneInfo("Europe/Oslo")
before = datetime(2024, 3, 30, 12, tzinfo=oslo)
after = before + timedelta(days=1)
print(after - before, (after.astimezone(timezone.utc) - before.astimezone(timezone.utc)))
