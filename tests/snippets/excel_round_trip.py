import pandas as pd
from openpyxl import load_workbook
from openpyxl.styles import Font

df = pd.DataFrame({"name": ["Ann", "Bob", "Cy"], "score": [91.5, 78.0, 85.25], "passed": [True, False, True]})
with pd.ExcelWriter("report.xlsx") as writer:
    df.to_excel(writer, sheet_name="scores", index=False)
    df.describe().to_excel(writer, sheet_name="stats")

book = load_workbook("report.xlsx")
sheet = book["scores"]
sheet["A1"].font = Font(bold=True)
sheet["D1"] = "bonus"
for row in range(2, sheet.max_row + 1):
    sheet.cell(row=row, column=4, value=f"=B{row}*0.1")
book.save("report.xlsx")

print(book.sheetnames, sheet.dimensions, sheet["D2"].value)
back = pd.read_excel("report.xlsx", sheet_name="scores", usecols="A:C")
print(back)
print(back.equals(df))
