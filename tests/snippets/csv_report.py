import csv
import io
from collections import defaultdict

rows = """date,department,revenue
2024-01-15,Sales,25000
2024-02-20,"R&D, labs",18000.50
2024-03-05,Sales,30000
"""
totals = defaultdict(float)
for row in csv.DictReader(io.StringIO(rows)):
    totals[row["department"]] += float(row["revenue"])
for department, total in sorted(totals.items(), key=lambda kv: -kv[1]):
    print(f"{department:<12}{total:>12,.2f}")
with open("totals.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["department", "total"])
    writer.writerows(totals.items())
print(open("totals.csv", newline="").read().encode())
print(csv.Sniffer().sniff("a;b;c\n1;2;3").delimiter)
