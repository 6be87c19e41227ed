"""Read scanned pages and image files: their text as OCR finds it, and descriptions by the vision model.

Lines read by OCR become lines of PDF pages, so that columns, paragraphs and headings are found in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from sextant.domain.errors import FileUnsafe
from sextant.ingestion.parsing.blocks import Blocks, Image, Word, texts_of
from sextant.ingestion.parsing.formats.pdf_lines import (
    BOXED,
    PdfBox,
    PdfLine,
    TextRun,
    level_size,
    words_of,
)
from sextant.ingestion.parsing.formats.pdf_rows import Item
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import width
from sextant.ingestion.parsing.recognised import OcrLine, OcrPage
from sextant.ingestion.parsing.structure import Omissions

_SHA256 = 64  # characters
_LETTERS = 0.8  # of a line's height: the size of its letters
_DESCENT = 0.2  # of a line's height, below which its letters do not stand


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a PNG, JPEG, WebP, GIF, BMP or TIFF.

    Raises:
        FileRejected: it is too large, damaged, or an animation.
    """
    from sextant.ingestion.parsing.formats.pdf import lay_out
    from sextant.models.chat.pictures import (  # few files are images
        PictureLimits,
        as_jpeg,
        count_pages,
        decode_page,
        is_scan,
        read_picture,
    )

    bounds = PictureLimits(limits.image_bytes, limits.image_pixels, limits.image_edge)
    if is_scan(content):
        bounds = PictureLimits(limits.file_bytes, limits.image_pixels, limits.image_edge)
        pages = count_pages(content, bounds)
        if pages > limits.pdf_pages:
            raise FileUnsafe(
                f"The TIFF has {pages:,} pages; the limit is {limits.pdf_pages:,}.",
                next_step="Split it, or raise SEXTANT_LIMITS__PDF_PAGES.",
            )
    else:
        # It says what is wrong with it; elsewhere such an image is left out.
        read_picture(content, bounds)
        pages = 1
    scans = scanned_pages(limits)
    omissions = Omissions()
    frames = [frame_of(page) for page in scans.values()]
    blocks, warnings = lay_out(list(lines_of(scans).values()), frames, omissions)
    if limits.describes and limits.images and not is_scan(content):
        blocks.append(Image(content, is_read=limits.reads))
    elif limits.describes and limits.images:
        for page in range(1, min(pages, limits.images) + 1):
            jpeg = as_jpeg(decode_page(content, page, bounds))
            blocks.append(Image(jpeg, page=page, is_read=limits.reads))
    unread = [page for page in range(1, pages + 1) if limits.reads and page not in scans]
    return Blocks(
        blocks,
        page_count=pages if is_scan(content) or scans else None,
        warnings=warnings,
        omissions=omissions,
        ocr_pages=frozenset(scans),
        unread_pages=tuple(unread),
    )


def scanned_pages(limits: Limits) -> dict[int, OcrPage]:
    """Return the pages that OCR has read."""
    return {
        int(key): OcrPage.from_json(stored)
        for key, stored in limits.recognised.items()
        if len(key) < _SHA256  # the others are pictures
    }


def lines_of(pages: Mapping[int, OcrPage]) -> dict[int, list[Item]]:
    """Return the lines of pages from above down, by the number of the page."""
    heights = [
        line.height
        for page in pages.values()
        for line in page.lines
        if not line.is_sideways
        for _ in line.text
    ]
    usual = median(heights) if heights else 1.0
    found = dict[int, list[Item]]()
    for number, page in pages.items():
        lines = [_line(line, number, page, usual) for line in page.upright().lines]
        # What runs up or down the page comes last.
        found[number] = [*sorted(lines, key=lambda line: (not line.rightward, -line.base))]
    return found


def without_known(scanned: Sequence[Item], lines: Sequence[PdfLine]) -> list[Item]:
    """Return what OCR read on a page except lines that the file has as text in the same place, such as a stamp."""
    known = words_of(lines)

    def is_known(item: Item) -> bool:
        words = words_of([item]) if isinstance(item, PdfLine) and known else []
        middles = [((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2) for word in words]
        covered = sum(
            any(one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1 for one in known)
            for x, y in middles
        )
        return 2 * covered > len(words)

    return [item for item in scanned if not is_known(item)]


def frame_of(page: OcrPage) -> PdfBox:
    """Return the frame of a page that is turned upright."""
    upright = page.upright()
    return PdfBox(0, 0, upright.width, upright.height)


def summary(recognised: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata of a document that OCR has read: numbers of pages and pictures, and the confidence."""
    read = {
        key: page for key, stored in recognised.items() if (page := OcrPage.from_json(stored)).lines
    }
    characters = {key: sum(len(line.text) for line in page.lines) for key, page in read.items()}
    sure = sum(page.confidence * characters[key] for key, page in read.items())
    if not read:
        return {}
    return {
        "ocr": {
            "pages": sum(len(key) < _SHA256 for key in read),
            "pictures": sum(len(key) == _SHA256 for key in read),
            "confidence": round(sure / sum(characters.values()), 3),
        }
    }


def lay_out_picture(page: OcrPage) -> str:
    """Return what is written in a picture, paragraph by paragraph."""
    from sextant.ingestion.parsing.formats.pdf import lay_out

    blocks, _ = lay_out([lines_of({1: page})[1]], [frame_of(page)], Omissions())
    return "\n".join(text for block in blocks for text in texts_of(block))


def _line(line: OcrLine, number: int, page: OcrPage, usual: float) -> PdfLine:
    height = frame_of(page).top
    left, top, right, lowest = line.box
    size = _LETTERS * level_size(line.height, usual)
    return PdfLine(
        page=number,
        box=PdfBox(left, height - lowest, right, height - top),
        size=round(size, 1),
        rightward=not line.is_sideways,
        base=height - lowest + _DESCENT * line.height,
        runs=(TextRun(0, len(line.text), line.text, words=tuple(_words(line, number, page))),),
    )


def _words(line: OcrLine, number: int, page: OcrPage) -> Iterator[Word]:
    """Yield the words of a line with their boxes on the page as it is shown; its letters are taken as evenly wide."""
    left, right, lower_right, lower_left = line.shown
    whole = width(line.text)
    for found in BOXED.finditer(line.text):
        start, end = (width(line.text[:at]) / whole for at in found.span())
        corners = [
            (one[0] + (other[0] - one[0]) * share, one[1] + (other[1] - one[1]) * share)
            for one, other in ((left, right), (lower_left, lower_right))
            for share in (start, end)
        ]
        xs, ys = ([corner[side] for corner in corners] for side in (0, 1))
        yield Word(
            found[0],
            number,
            min(xs) / page.width,
            min(ys) / page.height,
            max(xs) / page.width,
            max(ys) / page.height,
        )
