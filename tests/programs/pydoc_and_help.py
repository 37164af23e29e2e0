# needs: python>=3.13
import contextlib
import io
import pydoc


def area(radius: float, *, exact: bool = False) -> float:
    """Gives the area of a circle.

    radius: in metres
    """


class Box:
    """Holds one thing."""

    def __init__(self, thing=None):
        """Puts it in."""

    @property
    def thing(self):
        """What is inside."""


buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    help(area)
print(buffer.getvalue())
text = pydoc.render_doc(Box, renderer=pydoc.plaintext)
print(text[:240])
print(pydoc.splitdoc(area.__doc__), pydoc.locate("math.sqrt").__name__, area.__annotations__)
