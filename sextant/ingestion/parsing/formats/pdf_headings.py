"""Find the headings of a PDF by its outline, or by look and numbers.

Also here: lines of pages are joined to paragraphs.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import partial
from itertools import groupby, pairwise
from math import inf
from statistics import median

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import HeadingBlock
from sextant.ingestion.parsing.formats.pdf_lines import (
    COLUMN_LINES,
    PdfBox,
    PdfLine,
    is_prose,
    usual_size,
    words_of,
)
from sextant.ingestion.parsing.formats.pdf_rows import Item
from sextant.ingestion.parsing.formats.pdf_tables import PageTable
from sextant.ingestion.parsing.lines import (
    SMALLER,
    Styled,
    begin_alike,
    could_be_heading,
    ends_in_hyphen,
    ends_sentence,
    infer_levels,
    starts_item,
    with_fields,
)
from sextant.ingestion.parsing.raised import begins_shifted
from sextant.text.characters import is_cjk
from sextant.text.name_linker import bare_title

_SAME_SIZE = 0.6  # points
_NEXT = 1.35  # times the usual distance of lines: to the next one of a paragraph, at most
_INDENT = 1.2  # letters' sizes: an indented line begins a paragraph
_ROW_PITCH = 2.0  # times the usual distance of lines: that of a table's rows at most
_FULL = 0.6  # of a column's width: a line that ends in the middle of a sentence goes on


class LineKind(Enum):
    """The kind of lines, which decides how they are joined."""

    PROSE = auto()
    ROWS = auto()
    CODE = auto()


@dataclass(slots=True)
class PageParagraph:
    """Lines that make one paragraph, or a block of rows or of code, in order."""

    lines: list[PdfLine]
    kind: LineKind = LineKind.PROSE

    @property
    def first(self) -> PdfLine:
        """Return its first line, which places it."""
        return self.lines[0]

    def text(self) -> str:
        """Return its lines joined; those of rows and code each by itself, code with its indentation."""
        match self.kind:
            case LineKind.PROSE:
                return with_fields(line.text for line in self.lines)
            case LineKind.ROWS:
                return "\n".join(line.text for line in self.lines)
            case LineKind.CODE:
                left = min(line.box.left for line in self.lines)
                widths = [line.box.width / len(line.text) for line in self.lines]
                letter = median(widths) or 1
                indents = [round((line.box.left - left) / letter) for line in self.lines]
                lines = zip(indents, self.lines, strict=True)
                return "\n".join(" " * indent + line.text for indent, line in lines)

    def styled(self) -> Styled:
        """Return its look, for telling headings."""
        size = min(line.size for line in self.lines)
        bold = all(line.bold for line in self.lines)
        return Styled(self.text(), size, bold, is_body=self.kind is not LineKind.PROSE)


Region = PageParagraph | PageTable


def join_regions(pages: Iterable[Sequence[Item]]) -> list[Region]:
    """Join lines to paragraphs and the parts of tables, over page and column breaks too."""
    items = [item for page in pages for item in page]
    lines = [item for item in items if isinstance(item, PdfLine)]
    kinds = list[LineKind]()
    for mono, run in groupby(lines, key=lambda line: line.mono):
        together = list(run)
        if mono and not is_prose(together):  # prose in a typewriter font is no code
            kinds += [LineKind.CODE] * len(together)
        else:
            kinds += [LineKind.ROWS if line.is_row else LineKind.PROSE for line in together]
    pitch, usual = _usual_pitch(lines), usual_size(lines)
    limits = _next_columns(lines)
    place = {line: at for at, line in enumerate(lines)}
    regions: list[Region] = []
    for item in items:
        last = regions[-1] if regions else None
        if isinstance(item, PageTable):
            if isinstance(last, PageTable) and last.continues_in(item):
                regions[-1] = last.joined(item)
            else:
                regions.append(item)
            continue
        kind = kinds[place[item]]
        above = _above_notes(regions, item, usual)
        if not isinstance(above, PageParagraph) or above.kind is not kind:
            goes_on = False
        elif kind is LineKind.PROSE:
            right = partial(_column, lines, limits, place[above.lines[-1]])
            goes_on = _continues(above, item, right, pitch, usual)
        else:
            # Rows and lines of code belong together while they stand close below each other.
            distance = above.lines[-1].box.bottom - item.box.bottom
            goes_on = 0 < distance < _ROW_PITCH * pitch * max(item.size, 1)
        if goes_on and isinstance(above, PageParagraph):
            above.lines.append(item)
        else:
            regions.append(PageParagraph([item], kind))
    return regions


def _above_notes(regions: Sequence[Region], line: PdfLine, usual: float) -> Region | None:
    """Return the last region; for the first line of a column or page, the last one above the small print at its foot."""
    for region in reversed(regions):
        if not isinstance(region, PageParagraph):
            return region
        end = region.lines[-1]
        begins = end.page != line.page or end.base < line.base
        is_note = end.size < SMALLER * usual <= line.size
        if not (begins and is_note):
            return region
    return None


def _usual_pitch(lines: Sequence[PdfLine]) -> float:
    """Return the distance of text lines as a multiple of their size; 1.2 to 2 in most documents."""
    pitches = [
        (above.box.bottom - below.box.bottom) / below.size
        for above, below in pairwise(lines)
        if above.size == below.size > 0
    ]
    usual = [pitch for pitch in pitches if 0.8 < pitch < 3]
    return median(usual) if usual else 1.5


def _next_columns(lines: Sequence[PdfLine]) -> list[float]:
    """Return for each line where the next line to its right begins; infinite where there is none."""
    pages = defaultdict[int, list[PdfBox]](list)
    for line in lines:
        pages[line.page].append(line.box)
    for boxes in pages.values():
        boxes.sort()  # by their left sides
    found = list[float]()
    for line in lines:
        boxes, box = pages[line.page], line.box
        right = boxes[bisect_left(boxes, (box.right,)) :]
        beside = (one.left for one in right if one.bottom < box.top and one.top > box.bottom)
        found.append(next(beside, inf))
    return found


def _column(lines: Sequence[PdfLine], limits: Sequence[float], index: int) -> float:
    """Return the right edge of a line's column: how far the lines around it reach that begin where it begins.

    A title over both columns reaches beyond the first.
    """
    line = lines[index]
    page, left, gap = line.page, line.box.left, 4 * max(line.size, 1)
    near = [
        at
        for at in range(max(0, index - 10), min(len(lines), index + 11))
        if lines[at].page == page and abs(lines[at].box.left - left) < gap and not lines[at].is_row
    ]
    lefts = sorted(limits[at] for at in near if limits[at] >= line.box.right)
    limit = lefts[COLUMN_LINES - 1] if len(lefts) >= COLUMN_LINES else inf
    return max(lines[at].box.right for at in near if at == index or lines[at].box.right <= limit)


_LINE_OF_TEXT = 15  # of its letters' size: 15 ideographs, or some 30 Latin letters


def _continues(
    paragraph: PageParagraph, line: PdfLine, column: Callable[[], float], pitch: float, usual: float
) -> bool:
    above = paragraph.lines[-1]
    size = max(line.size, 1)
    distance = (above.box.bottom - line.box.bottom) / size
    if (
        abs(above.size - line.size) > _SAME_SIZE
        or above.bold != line.bold
        or (above.page == line.page and distance > pitch * _NEXT)
        or (starts_item(line.text) and not ends_in_hyphen(above.text))
        or begin_alike(above.text, line.text)
        or (begins_shifted(line.text) and begins_shifted(paragraph.first.text))  # notes
    ):
        return False
    is_large = above.size > usual + _SAME_SIZE
    right = column()
    breaks_off = _breaks_off(above, line, right)
    if not (breaks_off or is_large) and _could_have_fitted(above, line, right):
        return False
    if above.page != line.page or distance < 0:  # next page or column
        # The foot of a form ("Weight 4120 kg") is as wide as its short column, but no line of running text.
        is_text = above.box.width > _LINE_OF_TEXT * size
        return (is_text or breaks_off) and not (is_large or ends_sentence(above.text))
    indented = line.box.left - above.box.left > _INDENT * size
    hanging = len(paragraph.lines) == 1 and starts_item(above.text)
    return not indented or hanging


def _breaks_off(above: PdfLine, line: PdfLine, right: float) -> bool:
    """Return whether a line ends in the middle of a word or of a sentence, however much room it leaves."""
    if ends_in_hyphen(above.text):
        return True
    is_full = above.box.width > _FULL * (right - above.box.left)
    goes_on = line.text[0].islower() or above.text.endswith(",")
    return is_full and goes_on and not ends_sentence(above.text)


def _could_have_fitted(above: PdfLine, line: PdfLine, right: float) -> bool:
    """Return whether the line's first word had room on the line above: then the break was meant.

    Justified text leaves no room; at a ragged edge the room is less than the next word.
    """
    word = line.text.split(maxsplit=1)[0]
    narrow = line.size * 0.5
    need = line.size * 2 if is_cjk(word[0]) else narrow * (min(len(word), 20) + 1)
    return right - above.box.right > need + line.size


_FORM_LINES = 3  # at least, of a page that is a form
_ALIKE = 0.75  # of them, in the same places on both pages
_FILLED_IN = re.compile(r"(?<=[：:]).*|\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the file's outline: title, level from 1, page from 1, height on that page."""

    title: str
    level: int
    page: int
    top: float


Marked = HeadingBlock | Region


def mark_inferred(regions: Sequence[Region]) -> list[Marked]:
    """Replace paragraphs that look like headings."""
    looks = list[Styled]()
    for region in regions:
        if isinstance(region, PageParagraph):
            looks.append(region.styled())
        else:
            text = "".join(cell for row in region.rows for cell in row)
            looks.append(Styled(text, region.size, is_body=True))
    return [
        _heading(region, level, HeadingSource.INFERRED)
        if level is not None and isinstance(region, PageParagraph)
        else region
        for region, level in zip(regions, infer_levels(looks), strict=True)
    ]


def mark_records(marked: Sequence[Marked]) -> list[Marked]:
    """Make a heading of the first line of each page that is a form like the page beside it: a payslip, a receipt.

    Such pages say the same in the same places but for what is filled in; what one says holds for it alone.
    """
    pages = [(page, list(found)) for page, found in groupby(marked, _page)]
    forms = {page: _form(regions) for page, regions in pages}
    with_records = list[Marked]()
    for page, regions in pages:
        first, form = regions[0], forms[page]
        adjacent = (forms.get(page - 1, frozenset()), forms.get(page + 1, frozenset()))
        is_record = any(len(form & other) >= _ALIKE * len(form) for other in adjacent)
        if form and is_record and isinstance(first, PageParagraph):
            title, rest = PageParagraph(first.lines[:1]), replace(first, lines=first.lines[1:])
            with_records.append(_heading(title, 1, HeadingSource.INFERRED))
            regions[:1] = [rest] if rest.lines else []
        with_records += regions
    return with_records


def _form(regions: Sequence[Marked]) -> frozenset[tuple[int, int, str]]:
    """Return the lines of a page with their places, without filled-in values; empty where the first line is no title."""
    paragraphs = [region for region in regions if isinstance(region, PageParagraph)]
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    if len(lines) < _FORM_LINES or len(paragraphs) < len(regions):
        return frozenset()
    title = paragraphs[0].text().split("\n")[0]
    if title != lines[0].text or not could_be_heading(title):
        return frozenset()
    return frozenset(
        (round(line.box.left), round(line.base), _FILLED_IN.sub("", line.text)) for line in lines
    )


def mark_outline(regions: Sequence[Region], outline: Sequence[OutlineEntry]) -> list[Marked]:
    """Make headings of the paragraphs that the outline names.

    An entry whose words are not on its page gets a heading of its own where it points to.
    """
    marked: list[Marked] = list(regions)
    start = 0
    for entry in outline:
        start = _mark_entry(marked, entry, start)
    return marked


def _mark_entry(marked: list[Marked], entry: OutlineEntry, start: int) -> int:
    """Mark one entry at or after `start`; returns where the next one is looked for."""
    title = _squash(entry.title)
    first = len(marked)
    for index in range(start, len(marked)):
        region = marked[index]
        if _page(region) > entry.page:
            first = min(first, index)
            break
        if _page(region) < entry.page or not isinstance(region, PageParagraph):
            continue
        if count := _matching_lines(region, title):
            heading = _heading(
                PageParagraph(region.lines[:count]), entry.level, HeadingSource.OUTLINE
            )
            rest = region.lines[count:]
            marked[index : index + 1] = [heading, PageParagraph(rest)] if rest else [heading]
            return index + 1
        if region.first.box.bottom <= entry.top:
            first = min(first, index)
    marked.insert(first, HeadingBlock(entry.title, entry.level, HeadingSource.OUTLINE, entry.page))
    return first + 1


def _matching_lines(paragraph: PageParagraph, title: str) -> int:
    """Return how many of a paragraph's first lines are the title, with or without its number; 0: none."""
    text = ""
    for count, line in enumerate(paragraph.lines[:4], start=1):
        text += line.text
        if title in {_squash(text), _squash(bare_title(text))}:
            return count
    return 0


def _squash(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _page(region: Marked) -> int:
    if isinstance(region, PageParagraph):
        return region.first.page
    return region.page or 0


def _heading(paragraph: PageParagraph, level: int, source: HeadingSource) -> HeadingBlock:
    words = words_of(paragraph.lines)
    return HeadingBlock(paragraph.text(), level, source, paragraph.first.page, words)
