"""A file that is an image: its words are what the vision model says of it."""

from __future__ import annotations

from sextant.ingestion.parsing.blocks import Blocks, Image
from sextant.ingestion.parsing.limits import Limits
from sextant.models.chat.pictures import PictureLimits, read_picture


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a PNG, JPEG, WebP or GIF.

    Raises:
        FileRejected: it is too large, damaged, or has more than one frame.
    """
    bounds = PictureLimits(limits.image_bytes, limits.image_pixels, limits.image_edge)
    read_picture(content, bounds)  # says what is wrong with it; elsewhere such an image is left out
    return Blocks([Image(content)] if limits.images else [])
