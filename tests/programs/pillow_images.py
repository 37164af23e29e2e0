# needs: pillow>=10
import io

from PIL import Image, ImageDraw, ImageFilter, ImageOps

image = Image.new("RGB", (40, 30), (255, 0, 0))
draw = ImageDraw.Draw(image)
draw.rectangle((5, 5, 20, 20), fill="blue", outline="white")
draw.ellipse((22, 8, 36, 22), fill=(0, 255, 0))
draw.line((0, 29, 39, 0), fill=0)
print(image.size, image.mode, image.getpixel((0, 0)), image.getpixel((10, 10)), image.getpixel((29, 15)), image.getbbox())
small = image.resize((20, 15), Image.Resampling.NEAREST).rotate(90, expand=True).convert("L")
print(small.size, small.mode, small.getpixel((3, 3)), small.getextrema(), sum(small.histogram()))
print(ImageOps.invert(small).getpixel((3, 3)), image.crop((5, 5, 10, 10)).size, image.transpose(Image.Transpose.FLIP_LEFT_RIGHT).getpixel((39, 0)), image.filter(ImageFilter.BLUR).size, ImageOps.mirror(image).getpixel((29, 10)))
buffer = io.BytesIO()
image.save(buffer, "PNG")
again = Image.open(io.BytesIO(buffer.getvalue()))
print(again.format, again.size, again.tobytes() == image.tobytes(), image.getcolors(10_000)[0] if False else len(image.getcolors(10_000)))
image.putpixel((0, 0), (1, 2, 3))
merged = Image.merge("RGB", image.split()[::-1])
print(merged.getpixel((0, 0)), Image.blend(image, merged, 0.5).getpixel((0, 0)), Image.new("RGBA", (2, 2)).getpixel((0, 0)), image.point(lambda v: v // 2).getpixel((10, 10)), image.thumbnail((10, 10)), image.size)
for bad in (lambda: Image.open(io.BytesIO(b"junk")), lambda: Image.new("XYZ", (1, 1)), lambda: image.getpixel((99, 99)), lambda: Image.new("RGB", (1, 1), "nocolor"), lambda: image.save("x.unknown")):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, str(error)[:40].split("<")[0])
