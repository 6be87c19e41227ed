"""Pictures on their way to a vision model: checked, made smaller, encoded anew.

Whatever comes in, what goes out is a JPEG of bounded size that we wrote ourselves: no metadata (place,
camera, comments), no second frame, no trailing data. Limits are those of anchors/reliability.md §4.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from base64 import b64encode
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from sextant.domain.errors import FileBroken, FileTooLarge, FileTypeUnknown, FileUnsafe

if TYPE_CHECKING:
    from PIL import Image

# What Pillow may decode: each decoder that is left out is one that a hostile file cannot reach.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_NAMED = "PNG, JPEG, WebP or GIF"
_QUALITY = 88
# A picture of 40 megapixels takes 160 MB while it is decoded: not more of them at a time.
_DECODING = threading.BoundedSemaphore(2)


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """Bounds on one picture: bytes as it comes, pixels as decoded, longest edge as it goes out."""

    max_bytes: int = 10_000_000
    max_pixels: int = 40_000_000
    edge: int = 1536


@dataclass(frozen=True, slots=True)
class EncodedPicture:
    """A picture as it is sent: JPEG bytes. `width` and `height` are those of the original."""

    jpeg: bytes
    width: int
    height: int

    @property
    def sha256(self) -> str:
        """Return what names it in a cache."""
        return hashlib.sha256(self.jpeg).hexdigest()

    @property
    def data_uri(self) -> str:
        """Return the form in which a chat API takes it (RFC 2397)."""
        return f"data:image/jpeg;base64,{b64encode(self.jpeg).decode('ascii')}"


def is_picture(content: bytes) -> bool:
    """Return whether the content begins as one of the formats that are read."""
    return content.startswith(_MAGIC) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP")


def size_of(content: bytes) -> tuple[int, int]:
    """Return width and height as an image file's head says; (0, 0) of what is no image. Nothing is decoded."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(BytesIO(content), formats=FORMATS) as image:
                return image.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return 0, 0


def read_picture(content: bytes, limits: PictureLimits) -> EncodedPicture:
    """Check an image file and encode it anew. CPU-bound, up to a second: call it in a thread.

    Raises:
        FileTooLarge: it has more bytes than allowed.
        FileTypeUnknown: it is no PNG, JPEG, WebP or GIF, whatever it is called.
        FileUnsafe: it has too many pixels, or more than one frame.
        FileBroken: it cannot be decoded.
    """
    if len(content) > limits.max_bytes:
        raise FileTooLarge(
            f"The image has more than {limits.max_bytes:,} bytes.",
            next_step="Save it smaller.",
        )
    if not is_picture(content):
        raise FileTypeUnknown(
            f"The content is not an image in one of the formats that are read ({_NAMED}).",
            next_step=f"Give a {_NAMED} file.",
        )
    with _DECODING:
        return _reencode(content, limits)


def _reencode(content: bytes, limits: PictureLimits) -> EncodedPicture:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our limit is lower
            with Image.open(BytesIO(content), formats=FORMATS) as image:
                size = image.size
                _check(image.width, image.height, getattr(image, "n_frames", 1), limits)
                image.verify()
            with Image.open(BytesIO(content), formats=FORMATS) as image:
                image.draft(
                    "RGB", (limits.edge, limits.edge)
                )  # JPEG: decoded no larger than needed
                image.load()
                upright = ImageOps.exif_transpose(image)
                upright.thumbnail((limits.edge, limits.edge))
                written = BytesIO()
                paper = _opaque(upright)
                paper.info.clear()  # Pillow would write a comment or a profile on
                paper.save(written, "JPEG", quality=_QUALITY)
    except FileUnsafe:
        raise
    except Image.DecompressionBombError as error:
        raise _too_many_pixels(limits) from error
    except Exception as error:  # the edge: decoders raise anything at damaged files
        raise FileBroken(
            f"The image is damaged ({type(error).__name__}).",
            next_step="Open it in its program, save it again and retry.",
        ) from error
    return EncodedPicture(written.getvalue(), *size)


def _check(width: int, height: int, frames: int, limits: PictureLimits) -> None:
    if width * height > limits.max_pixels:
        raise _too_many_pixels(limits)
    if frames > 1:
        raise FileUnsafe(
            f"The image has {frames} frames; only still images are taken.",
            next_step="Save one frame of it as an image of its own.",
        )


def _too_many_pixels(limits: PictureLimits) -> FileUnsafe:
    return FileUnsafe(
        f"The image has more than {limits.max_pixels / 1e6:g} million pixels.",
        next_step="Scale it down.",
    )


def _opaque(image: Image.Image) -> Image.Image:
    """On white where it is transparent, as documents are."""
    from PIL import Image

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image).convert("RGB")
    return image.convert("RGB")
