"""Images of one colour, for tests of what looks at images."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO

from PIL import Image


def picture(color: str = "red", size: tuple[int, int] = (120, 90), kind: str = "PNG") -> bytes:
    """Return an image file of one colour; `size` in pixels, `kind` as Pillow names formats."""
    written = BytesIO()
    Image.new("RGB", size, color).save(written, kind)
    return written.getvalue()


def data_uri(content: bytes) -> str:
    """Return a PNG as a URI that holds it (RFC 2397)."""
    return f"data:image/png;base64,{b64encode(content).decode()}"
