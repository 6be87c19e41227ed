"""Scans for tests: text drawn, laid askew, with noise, and saved as a scanner does."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

_SIZE = (1240, 1754)  # A4 at 150 dpi


def sheet(lines: Sequence[str], *, turn: float = 0.0) -> Image.Image:
    """Return a scanned page of these lines, turned by degrees; its letters are those that Pillow brings."""
    page = Image.new("L", _SIZE, 250)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(size=30)
    for at, line in enumerate(lines):
        draw.text((120, 140 + 46 * at), line, fill=20, font=font)
    page = page.rotate(turn, expand=True, fillcolor=250)
    return Image.blend(page, Image.effect_noise(page.size, 40), 0.06)


def as_pdf(sheets: Sequence[Image.Image]) -> bytes:
    """Return pages as a PDF of their JPEGs."""
    written = BytesIO()
    first, *others = sheets
    first.save(written, "PDF", save_all=True, append_images=others, resolution=150, quality=70)
    return written.getvalue()


def as_tiff(sheets: Sequence[Image.Image]) -> bytes:
    """Return pages as a fax: black and white, in one TIFF."""
    written = BytesIO()
    first, *others = [one.convert("1") for one in sheets]
    first.save(written, "TIFF", save_all=True, append_images=others, compression="group4")
    return written.getvalue()
