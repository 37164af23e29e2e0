from io import BytesIO
from PIL import Image, ImageDraw, ImageFilter

image = Image.new("RGB", (120, 60), "white")
draw = ImageDraw.Draw(image)
draw.rectangle((10, 10, 50, 50), fill=(255, 0, 0))
draw.line((0, 0, 119, 59), fill="blue", width=3)
draw.text((60, 20), "Hi", fill="black")
small = image.resize((60, 30)).convert("L").filter(ImageFilter.GaussianBlur(1)).rotate(90, expand=True)
small.save("small.png")
buffer = BytesIO()
image.save(buffer, "GIF")
again = Image.open("small.png")
print(again.size, again.mode, image.getpixel((20, 45)), Image.open(buffer).format)
print(image.crop((10, 10, 20, 20)).getcolors()[0][0] <= 100)
