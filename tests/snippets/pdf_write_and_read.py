from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

page = canvas.Canvas("one.pdf", pagesize=A4)
page.drawString(72, 720, "Hello PDF")
page.showPage()
page.drawString(72, 720, "Second page")
page.save()
styles = getSampleStyleSheet()
SimpleDocTemplate("two.pdf").build([Paragraph("A <b>report</b>", styles["Title"]), Table([["a", "b"], [1, 2]])])
reader = PdfReader("one.pdf")
print(len(reader.pages), [p.extract_text().strip() for p in reader.pages])
writer = PdfWriter()
for name in ("one.pdf", "two.pdf"):
    writer.append(name)
writer.write("both.pdf")
both = PdfReader("both.pdf")
print(len(both.pages), "report" in both.pages[2].extract_text())
