"""Images inside documents, re-encoded where they are found: in the parser's own process.

Also here: links, with their address beside the words that hide it.
"""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby

from sextant.domain.errors import FileRejected
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.blocks import Block, Blocks, Caption, Image
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.recognised import OCR_EDGE, OcrPage
from sextant.models.chat.pictures import (
    EncodedPicture,
    PictureLimits,
    as_jpeg,
    decode_page,
    is_metafile,
    is_scan,
    read_picture,
    size_of,
)

_SCHEMES = ("http://", "https://", "ftp://", "ftps://", "mailto:")
# A link's address (`with_address`), and the letters that touch it.
_TOUCHED_ADDRESS = re.compile(
    r" (\((?:(?:https?|ftps?)://[^\s()]*|[^\s()@]+@[^\s()@]+)\))([A-Za-z\u00c0-\u052f]+)"
)


def with_address(text: str, address: str | None) -> str:
    """Return a link's text with its address behind it, unless the text says it: "here (https://example.org)".

    Links within the page, to scripts or to local files are their text alone.
    """
    address = (address or "").strip()
    if not address.lower().startswith(_SCHEMES) or not text.strip():
        return text
    is_mail = address.lower().startswith("mailto:")
    shown = address.removeprefix("mailto:").partition("?")[0] if is_mail else address
    words = text.rstrip()
    if _bare(shown) in _bare(words):
        return text
    return f"{words} ({shown}){text[len(words) :]}"


def part_from_addresses(text: str) -> str:
    """Return a text whose words no address of a link touches: that of a link to a part of a word stands behind the word."""

    def part(found: re.Match[str]) -> str:
        address, letters = found.groups()
        return f"{letters} {address}" if letters[0].islower() else f" {address} {letters}"

    return _TOUCHED_ADDRESS.sub(part, text)


def run_together(first: str, second: str) -> bool:
    """Return whether two links touch: neither is blank there, nor an ideograph, which stands by itself."""
    return not any(char.isspace() or char >= "\u2e80" for char in first[-1:] + second[:1])


class LinkedText:
    """Text that is put together from pieces, some of them words of a link, some formulas."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, str]] = []
        self._is_spaced = False

    def add(self, text: str, address: str = "", *, spaced: bool = False) -> None:
        """Add a piece, with its link's address; `spaced`: with a blank between it and letters beside it."""
        before = self._pieces[-1][0][-1:] if self._pieces else ""
        if (spaced or self._is_spaced) and _is_letter(before) and _is_letter(text[:1]):
            text = f" {text}"
        self._is_spaced = spaced
        self._pieces.append((text, address))

    def __str__(self) -> str:
        """Return the text; neighbours with one address are one link, which has it once, others stand apart."""
        written, last = "", ""
        for address, group in groupby(self._pieces, key=lambda piece: piece[1]):
            text = with_address("".join(text for text, _ in group), address)
            is_touching = address and last and run_together(written, text)
            written, last = f"{written} {text}" if is_touching else written + text, address
        return written


def _is_letter(char: str) -> bool:
    """Return whether a character would run together with one beside it; ideographs stand by themselves."""
    return char.isalnum() and char < "\u2e80"


def _bare(address: str) -> str:
    """Return an address without scheme, `www.` and final slash, for comparison."""
    bare = "".join(address.split()).lower().rstrip("/")
    for scheme in _SCHEMES:
        bare = bare.removeprefix(scheme)
    return bare.removeprefix("www.")


@dataclass(frozen=True, slots=True)
class FoundImage:
    """An image that is to be looked at: a JPEG, its sha256, and what the document says it is.

    `is_read`: its words are among the document's text, so OCR need not look for them.
    """

    sha256: str
    jpeg: bytes
    alt: str
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class Captions:
    """Descriptions of images by their sha256, and warnings for those without one."""

    texts: Mapping[str, str]
    warnings: tuple[CodedWarning, ...] = ()


Load = Callable[[str], bytes | None]
"""Returns the file of a picture by its address, where the document brings it along."""


def image_in(address: str | None, alt: str, load: Load | None = None) -> Image | None:
    """Return the image that an address holds itself (a data URI in base64), or that `load` has; nothing is fetched."""
    head, _, data = (address or "").partition(",")
    head = head.strip().lower()
    content: bytes | None = None
    if head.startswith("data:image/") and head.endswith(";base64"):
        with suppress(binascii.Error, ValueError):
            content = b64decode("".join(data.split()))
    elif load is not None and address and not head.startswith("data:"):
        content = load(address)
    return None if content is None else Image(content, " ".join(alt.split()))


def with_captions(blocks: Blocks, limits: Limits) -> tuple[Blocks, list[FoundImage]]:
    """Put captions, and the words that OCR read, in the place of images; and return the images that have none yet.

    Without captions an image is represented by its alternative text (`alt`), or by nothing. Each image counts
    once, however often it is shown; small ones are decoration; what cannot be decoded is left out. A warning says
    how many were not looked at.
    """
    contents = (block.content for block in blocks.blocks if isinstance(block, Image))
    drawings = {hashlib.sha256(content).digest() for content in contents if is_metafile(content)}
    if drawings:
        params = {"images": count(len(drawings), "image")}
        not_read = CodedWarning(WarningCode.METAFILES_NOT_READ, params)
        blocks = replace(blocks, warnings=(*blocks.warnings, not_read))
    if not limits.images:
        return _without_images(blocks, limits), []
    found: dict[str, FoundImage] = {}
    placed = dict[str, bool]()
    left = list[Block]()
    for block in blocks.blocks:
        if isinstance(block, Image):
            left += _describe_image(block, limits, found, placed)
        else:
            left.append(block)
    warnings = blocks.warnings
    if over := len(placed) - len(found):
        params = {"images": count(over, "image"), "most": limits.images}
        warnings += (CodedWarning(WarningCode.IMAGES_OVER_LIMIT, params),)
    if not limits.describes:
        warnings += not_looked_at(sum(not has_words for has_words in placed.values()) - over)
    return replace(blocks, blocks=left, warnings=warnings), list(found.values())


def not_looked_at(images: int) -> tuple[CodedWarning, ...]:
    """Return the warning that so many images of a document were passed over."""
    if not images:
        return ()
    params = {"images": count(images, "image")}
    return (CodedWarning(WarningCode.IMAGES_NOT_LOOKED_AT, params),)


def _without_images(blocks: Blocks, limits: Limits) -> Blocks:
    each = dict[bytes, bytes]()
    left = list[Block]()
    for block in blocks.blocks:
        if not isinstance(block, Image):
            left.append(block)
            continue
        sha256 = hashlib.sha256(block.content).digest()
        if sha256 not in each and block.alt:
            left.append(Caption(block.alt, block.page))
        each[sha256] = block.content
    large = sum(min(size_of(content)) >= limits.smallest_edge for content in each.values())
    return replace(blocks, blocks=left, warnings=(*blocks.warnings, *not_looked_at(large)))


def _describe_image(
    image: Image, limits: Limits, found: dict[str, FoundImage], placed: dict[str, bool]
) -> Iterator[Block]:
    picture = _read(image, limits)
    if picture is None or picture.sha256 in placed:
        if image.alt and picture is None:
            yield Caption(image.alt, image.page)
        return
    sha256 = picture.sha256
    if len(found) < limits.images:
        found[sha256] = FoundImage(sha256, picture.jpeg, image.alt, image.is_read)
    caption, words = limits.captions.get(sha256, ""), ""
    if sha256 in limits.recognised:
        # Only here, since most files hold no such image.
        from sextant.ingestion.parsing.formats.scans import lay_out_picture

        words = lay_out_picture(OcrPage.from_json(limits.recognised[sha256]))
    placed[sha256] = bool(words) or image.is_read
    if text := "\n".join(filter(None, (image.alt, caption))):
        yield Caption(text, image.page)
    if words:
        yield Caption(words, image.page, by_ocr=True)


def _read(image: Image, limits: Limits) -> EncodedPicture | None:
    edge = max(limits.image_edge, OCR_EDGE) if limits.reads else limits.image_edge
    bounds = PictureLimits(limits.image_bytes, limits.image_pixels, edge)
    try:
        if is_scan(image.content):  # the first page of a TIFF, or a BMP
            shown = decode_page(image.content, 1, bounds)
            picture = EncodedPicture(as_jpeg(shown), shown.width, shown.height)
        else:
            picture = read_picture(image.content, bounds)
    except FileRejected:
        return None
    return picture if min(picture.width, picture.height) >= limits.smallest_edge else None
