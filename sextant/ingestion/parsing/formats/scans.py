"""Read scanned pages and image files: their text as OCR finds it, and descriptions by the vision model.

Lines read by OCR become lines of PDF pages, so that columns, paragraphs and headings are found in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from sextant.domain.errors import FileUnsafe
from sextant.ingestion.parsing.blocks import Blocks, Image, Word, texts_of
from sextant.ingestion.parsing.formats.pdf_alignment import rows_of_words
from sextant.ingestion.parsing.formats.pdf_lines import (
    BOXED,
    PdfBox,
    PdfLine,
    PdfWord,
    TextRun,
    level_size,
    words_of,
)
from sextant.ingestion.parsing.formats.pdf_rows import Item, columns_in_order, in_order
from sextant.ingestion.parsing.formats.pdf_unruled import TableFinder
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.lines import width
from sextant.ingestion.parsing.recognised import OcrLine, OcrPage
from sextant.ingestion.parsing.structure import Omissions

_SHA256 = 64  # characters
_LETTERS = 0.8  # of a line's height: the size of its letters
_CLOSE = 0.2  # of the rows of a table that stand nearer to the next than they are high, at most
_MARGIN = 0.33  # of the size of letters: what OCR leaves free beside a line, and half of a gap, as boxes of their own are parted
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
    budget = CellBudget(limits)
    items = [with_tables(number, lines, budget) for number, lines in lines_of(scans).items()]
    blocks, warnings = lay_out(items, frames, omissions)
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


def lines_of(pages: Mapping[int, OcrPage]) -> dict[int, list[PdfLine]]:
    """Return the lines of pages from above down, by the number of the page."""
    heights = [
        line.height
        for page in pages.values()
        for line in page.lines
        if not line.is_sideways
        for _ in line.text
    ]
    usual = median(heights) if heights else 1.0
    found = dict[int, list[PdfLine]]()
    for number, page in pages.items():
        lines = [_line(line, number, page, usual) for line in page.upright().lines]
        # What runs up or down the page comes last.
        found[number] = [*sorted(lines, key=lambda line: (not line.rightward, -line.base))]
    return found


def with_tables(number: int, lines: Sequence[PdfLine], budget: CellBudget) -> list[Item]:
    """Return the lines of a page, in place of those of tables the tables.

    Without names of columns figures beside each other may be those of a chart.
    """
    ordered = columns_in_order(lines)
    places = {line: at for at, line in enumerate(ordered)}
    page = ScannedPage(number)
    tables = [
        table
        for table in TableFinder(page, places, (), budget).find()
        if table.count_named_rows()
        and _are_parted([word for at in table.lines for word in page.words(ordered[at])])
    ]
    return in_order(ordered, tables) if tables else [*lines]


def _are_parted(words: Sequence[PdfWord]) -> bool:
    """Return whether rows stand apart: on a crooked photograph, one runs into the next."""
    rows = rows_of_words(words)
    close = [
        above for above, below in pairwise(rows) if above[0].base - below[0].base < above[0].size
    ]
    return len(close) <= _CLOSE * len(rows)


def without_known(scanned: Sequence[PdfLine], lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return what OCR read on a page except lines that the file has as text in the same place, such as a stamp."""
    known = words_of(lines)

    def is_known(line: PdfLine) -> bool:
        words = words_of([line]) if known else ()
        middles = [((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2) for word in words]
        covered = sum(
            any(one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1 for one in known)
            for x, y in middles
        )
        return 2 * covered > len(words)

    return [line for line in scanned if not is_known(line)]


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

    blocks, _ = lay_out([[*lines_of({1: page})[1]]], [frame_of(page)], Omissions())
    return "\n".join(text for block in blocks for text in texts_of(block))


class ScannedPage:
    """A page that OCR has read; what it found at one place, mostly the text of a cell, is one word."""

    def __init__(self, number: int) -> None:
        self.number = number

    def words(self, line: PdfLine) -> Sequence[PdfWord]:
        """Return the line as one word."""
        box, margin = line.box, _MARGIN * line.size
        left, right = box.left + margin, box.right - margin
        return [PdfWord(line.text, left, right, line.base, line.size, 0.0, line.runs[0].words)]


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
