# needs: pillow>=10
import io

from PIL import Image

image = Image.new("RGB", (8, 6), "red")
for kind in ("PNG", "GIF", "BMP", "TIFF", "JPEG", "WEBP"):
    try:
        buffer = io.BytesIO()
        image.save(buffer, kind)
        print(kind, Image.open(io.BytesIO(buffer.getvalue())).size)
    except (OSError, KeyError) as error:
        print(kind, type(error).__name__, error)
