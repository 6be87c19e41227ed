"""Images of one colour, for tests of what looks at images."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

from PIL import Image


def picture(color: str = "red", size: tuple[int, int] = (120, 90), kind: str = "PNG") -> bytes:
    """Return an image file of one colour; `size` is in pixels, `kind` is a format name of Pillow."""
    output = BytesIO()
    Image.new("RGB", size, color).save(output, kind)
    return output.getvalue()


def data_uri(content: bytes) -> str:
    """Return a PNG as a data URI (RFC 2397)."""
    return f"data:image/png;base64,{b64encode(content).decode()}"
