# needs: openpyxl>=3.1 pandas>=3
import io

import openpyxl
import pandas as pd
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter

book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Data"
sheet.append(["name", "value"])
for row in (["a", 1], ["b", 2.5], ["ü", None]):
    sheet.append(row)
sheet["A1"].font = Font(bold=True)
sheet["B6"] = "=SUM(B2:B4)"
sheet.merge_cells("C1:D1")
sheet.column_dimensions["A"].width = 20
book.create_sheet("Other", 0)
book.save("book.xlsx")
again = openpyxl.load_workbook("book.xlsx")
print(again.sheetnames, again["Data"].dimensions, [[c.value for c in row] for row in again["Data"].iter_rows(min_row=1, max_row=4, max_col=2)], again["Data"]["B6"].value, again["Data"]["A1"].font.bold, get_column_letter(28))
frame = pd.read_excel("book.xlsx", sheet_name="Data", usecols="A:B", nrows=3)
print(frame)
out = io.BytesIO()
with pd.ExcelWriter(out) as writer:
    frame.to_excel(writer, sheet_name="one", index=False)
    frame.describe().to_excel(writer, sheet_name="two")
print(pd.ExcelFile(io.BytesIO(out.getvalue())).sheet_names, pd.read_excel(io.BytesIO(out.getvalue()), sheet_name=None)["one"].shape)
try:
    again["Nope"]
except KeyError as error:
    print(error)
