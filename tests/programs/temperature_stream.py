# Events out of order, a sliding window, and a summary.
from collections import deque
from datetime import datetime, timedelta

READINGS = [("2024-05-01T10:00", "a", 20.5), ("2024-05-01T10:05", "b", 19.0), ("2024-05-01T10:01", "a", 21.0), ("2024-05-01T10:30", "a", 30.0), ("bad", "a", 1), ("2024-05-01T10:31", "b", None), ("2024-05-01T10:32", "b", 18.5)]


def parse(rows):
    for when, sensor, value in rows:
        try:
            yield datetime.fromisoformat(when), sensor, float(value)
        except (ValueError, TypeError) as error:
            print("skipped", when, sensor, type(error).__name__)


class Window:
    def __init__(self, span):
        self.span, self.items = span, deque()

    def add(self, when, value):
        self.items.append((when, value))
        while self.items[0][0] < when - self.span:
            self.items.popleft()
        return sum(v for _, v in self.items) / len(self.items)


windows, last = {}, {}
for when, sensor, value in sorted(parse(READINGS)):
    mean = windows.setdefault(sensor, Window(timedelta(minutes=10))).add(when, value)
    gap = when - last.get(sensor, when)
    last[sensor] = when
    flag = " ALERT" if abs(value - mean) > 2 or gap > timedelta(minutes=20) else ""
    print(f"{when:%H:%M} {sensor} {value:5.1f} mean {mean:6.3f} gap {gap}{flag}")
print({s: len(w.items) for s, w in windows.items()}, max(last.values()) - min(last.values()))
