"""Pictures for a vision model: checked, made smaller, encoded anew, described.

Whatever comes in, what goes out is a JPEG of bounded size that we wrote ourselves: no metadata (place,
camera, comments), no second frame, no trailing data.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sextant.domain.errors import FileBroken, FileTooLarge, FileTypeUnknown, FileUnsafe
from sextant.text.characters import clean_text

if TYPE_CHECKING:
    from PIL import Image

    from sextant.domain.settings import Settings
    from sextant.models.chat.chat_model import ChatModel, ModelCompletion

# What Pillow may decode: each decoder that is left out is one that a hostile file cannot reach.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
# Scanners write these as well; vision models do not take them. A TIFF may hold many pages.
SCAN_FORMATS = ("TIFF", "BMP")
_SCAN_MAGIC = (b"II*\x00", b"MM\x00*", b"BM")
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_WMF_MAGIC = (b"\xd7\xcd\xc6\x9a", b"\x01\x00\t\x00", b"\x02\x00\t\x00")
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


def is_metafile(content: bytes) -> bool:
    """Return whether the content begins as an EMF or a WMF, drawings of Windows that are not read."""
    return content.startswith(_WMF_MAGIC) or (
        content.startswith(b"\x01\x00\x00\x00") and content[40:44] == b" EMF"
    )


def is_scan(content: bytes) -> bool:
    """Return whether the content begins as a TIFF or a BMP."""
    return content.startswith(_SCAN_MAGIC)


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
        raise _too_large(limits)
    if not is_picture(content):
        raise FileTypeUnknown(
            f"The content is not an image in one of the formats that are read ({_NAMED}).",
            next_step=f"Give a {_NAMED} file.",
        )
    with _DECODING, _decoding(limits):
        return _reencode(content, limits)


def count_pages(content: bytes, limits: PictureLimits) -> int:
    """Return how many pages an image file has, after checking the size of each; only a TIFF has more than one.

    Raises:
        FileTooLarge: it has more bytes than allowed.
        FileUnsafe: a page has too many pixels, or it is an animation.
        FileBroken: its head cannot be read.
    """
    from PIL import Image

    if len(content) > limits.max_bytes:
        raise _too_large(limits)
    with _decoding(limits), Image.open(BytesIO(content), formats=FORMATS + SCAN_FORMATS) as image:
        frames: int = getattr(image, "n_frames", 1)
        for frame in range(frames):
            image.seek(frame)
            _check(image.width, image.height, 1 if image.format == "TIFF" else frames, limits)
    return frames


def decode_page(content: bytes, number: int, limits: PictureLimits) -> Image.Image:
    """Return a page of an image file, counted from 1: upright, opaque, no larger than the edge allows.

    Raises:
        FileUnsafe: it has too many pixels.
        FileBroken: it cannot be decoded.
    """
    from PIL import Image

    with _decoding(limits), Image.open(BytesIO(content), formats=FORMATS + SCAN_FORMATS) as image:
        image.seek(number - 1)
        _check(image.width, image.height, 1, limits)
        return _upright(image, limits.edge)


def as_jpeg(image: Image.Image) -> bytes:
    """Return a picture as the file of a JPEG, without anything but its pixels."""
    written = BytesIO()
    image.info.clear()  # Pillow would write a comment or a profile on
    image.save(written, "JPEG", quality=_QUALITY)
    return written.getvalue()


@contextmanager
def _decoding(limits: PictureLimits) -> Iterator[None]:
    """Raise what is wrong with an image as one of our errors."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our limit is lower
            yield
    except FileUnsafe:
        raise
    except Image.DecompressionBombError as error:
        raise _too_many_pixels(limits) from error
    except MemoryError as error:
        raise FileUnsafe(
            "The image needs more memory than the limit allows.",
            next_step="Scale it down, or raise SEXTANT_LIMITS__PARSE_MEMORY_BYTES.",
        ) from error
    except Exception as error:  # the edge: decoders raise anything at damaged files
        raise FileBroken(
            f"The image is damaged ({type(error).__name__}).",
            next_step="Open it in its program, save it again and retry.",
        ) from error


def _reencode(content: bytes, limits: PictureLimits) -> EncodedPicture:
    from PIL import Image

    with Image.open(BytesIO(content), formats=FORMATS) as image:
        size = image.size
        _check(image.width, image.height, getattr(image, "n_frames", 1), limits)
        image.verify()
    with Image.open(BytesIO(content), formats=FORMATS) as image:
        return EncodedPicture(as_jpeg(_upright(image, limits.edge)), *size)


def _upright(image: Image.Image, edge: int) -> Image.Image:
    """Decode an image as it is looked at."""
    from PIL import ImageOps

    image.draft("RGB", (edge, edge))  # JPEG: decoded no larger than needed
    image.load()
    upright = ImageOps.exif_transpose(image)
    if upright.mode == "1":  # in black and white alone letters do not get smaller without tearing
        upright = upright.convert("L")
    elif upright.mode.startswith("I;16"):  # a plain conversion would cut off all above 255
        upright = upright.convert("I").point(lambda value: value / 256).convert("L")
    upright.thumbnail((edge, edge))
    return _opaque(upright)


def _too_large(limits: PictureLimits) -> FileTooLarge:
    return FileTooLarge(
        f"The image has more than {limits.max_bytes:,} bytes.",
        next_step="Save it smaller, or raise SEXTANT_MULTIMODAL__IMAGE_BYTES.",
    )


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
        next_step="Scale it down, or raise SEXTANT_MULTIMODAL__IMAGE_PIXELS.",
    )


def _opaque(image: Image.Image) -> Image.Image:
    """On white where it is transparent, as documents are."""
    from PIL import Image

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(paper, image).convert("RGB")
    return image.convert("RGB")


# A description is for searching and answering: what a model says beyond this is not read.
_LONGEST = 4000


class VisionModel:
    """Describes pictures with a chat model that takes images (OpenAI-compatible `image_url` parts).

    Only data URIs are ever sent, never an address: neither we nor the endpoint fetches anything.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """Return the model's name at its endpoint."""
        return self._chat.name

    async def describe(
        self, picture: EncodedPicture, prompt: list[tuple[str, str]]
    ) -> ModelCompletion:
        """Return what the model says of a picture, at most 4,000 characters.

        Args:
            picture: what it is shown.
            prompt: a system and a user part; the picture goes with the latter.

        Raises:
            ModelUnavailable, ModelOutputInvalid: as for `ChatModel.complete`.
        """
        (_, system), (_, user) = prompt
        shown: list[str | dict[str, Any]] = [
            {"type": "text", "text": user},
            {"type": "image_url", "image_url": {"url": picture.data_uri}},
        ]
        reply = await self._chat.complete([("system", system), ("user", shown)])
        return replace(reply, text=clean_text(reply.text).strip()[:_LONGEST])


def picture_limits(settings: Settings) -> PictureLimits:
    """Return the limits of `settings.multimodal` on one picture."""
    limits = settings.multimodal
    return PictureLimits(limits.image_bytes, limits.image_pixels, limits.image_edge)
