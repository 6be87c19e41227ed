"""Lines of pages to paragraphs: running heads dropped, broken lines joined, also across pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import median

from domain.text import is_cjk
from ingestion.parsing.formats.pdf_page import Line
from ingestion.parsing.formats.pdf_tables import RuledTable
from ingestion.parsing.headings import Styled
from ingestion.parsing.lines import ends_in_hyphen, ends_sentence, join_lines, starts_item

_EDGE_LINES = 3  # at the top and at the bottom, where headers and footers stand
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:第\s*\d{1,4}\s*页(?:\s*[,，/]?\s*共\s*\d{1,4}\s*页)?|(?:page\s*)?\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?"
    r"|[ivxlc]{1,6})[-–—\s]*",
    re.IGNORECASE,
)
_COLUMN_LINES = 3  # so many with something beside them make a column
_DIGITS = re.compile(r"\d+")
_LEADERS = re.compile(r"(?:[.…·．]\s?){4}\s*\d{1,4}$")


Item = Line | RuledTable


def without_running_heads(pages: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """Drop page numbers, and heads and feet that come back on a third of the pages (at least three).

    Compared are the three outermost lines above and below, with every number taken as the same and
    with their size, so that a chapter's own title stays where only its running head repeats it.
    Lines of a table of contents (`Title ..... 12`) go as well. A page that would be left bare, such
    as one record of many alike, keeps the lines that stand on no other page word for word.
    """
    edges = [_edges(items) for items in pages]
    seen = Counter(key for lines in edges for key in {_key(line) for line in lines})
    said = Counter(text for lines in edges for text in {line.text for line in lines})
    often = max(3, len(pages) / 3)
    kept = []
    for items, lines in zip(pages, edges, strict=True):
        heads = [line for line in lines if seen[_key(line)] >= often]
        own = [line for line in heads if said[line.text] == 1]
        kept.append(_without(items, lines, heads) or _without(own, own, ()))
    return kept


def _without(items: Sequence[Item], edges: Sequence[Line], heads: Sequence[Line]) -> list[Item]:
    """The items that are neither heads nor entries of a table of contents nor, at an edge, numbers."""
    dropped = {id(line) for line in heads}
    dropped |= {id(line) for line in edges if _PAGE_NUMBER.fullmatch(line.text.strip())}
    return [
        item
        for item in items
        if id(item) not in dropped
        and not (isinstance(item, Line) and _LEADERS.search(item.text[-20:]))
    ]


def _edges(items: Sequence[Item]) -> list[Line]:
    by_height = sorted(
        (item for item in items if isinstance(item, Line)), key=lambda line: -line.box.top
    )
    return [*by_height[:_EDGE_LINES], *by_height[_EDGE_LINES:][-_EDGE_LINES:]]


def _key(line: Line) -> tuple[str, float]:
    return _DIGITS.sub("#", "".join(line.text.split())), line.size


@dataclass(slots=True)
class PageParagraph:
    """Lines that make one paragraph, in order."""

    lines: list[Line]

    @property
    def first(self) -> Line:
        """Its first line, which places it."""
        return self.lines[0]

    def text(self) -> str:
        """Its lines joined."""
        return join_lines(line.text for line in self.lines)

    def styled(self) -> Styled:
        """Its look, for telling headings."""
        size = min(line.size for line in self.lines)
        return Styled(self.text(), size, all(line.bold for line in self.lines))


Region = PageParagraph | RuledTable


def join_regions(pages: Iterable[Sequence[Item]]) -> list[Region]:
    """Join lines to paragraphs and the parts of tables, over page and column breaks too."""
    items = [item for page in pages for item in page]
    lines = [item for item in items if isinstance(item, Line)]
    pitch, limits = _usual_pitch(lines), _next_columns(lines)
    regions: list[Region] = []
    at = -1
    for item in items:
        last = regions[-1] if regions else None
        if isinstance(item, RuledTable):
            if isinstance(last, RuledTable) and last.continues_in(item):
                regions[-1] = last.joined(item)
            else:
                regions.append(item)
            continue
        at += 1
        if isinstance(last, PageParagraph) and _continues(
            last, item, _right_edge(lines, limits, at - 1), pitch
        ):
            last.lines.append(item)
        else:
            regions.append(PageParagraph([item]))
    return regions


def _usual_pitch(lines: Sequence[Line]) -> float:
    """The distance of text lines as a multiple of their size; 1.2 to 2 in most documents."""
    pitches = [
        (above.box.bottom - below.box.bottom) / below.size
        for above, below in pairwise(lines)
        if above.page == below.page and above.size == below.size > 0
    ]
    usual = [pitch for pitch in pitches if 0.8 < pitch < 3]
    return median(usual) if usual else 1.5


def _next_columns(lines: Sequence[Line]) -> list[float]:
    """For each line where something begins beside it, to its right; infinite where nothing does."""
    pages = defaultdict[int, list[Line]](list)
    for line in lines:
        pages[line.page].append(line)
    return [
        min(
            (
                other.box.left
                for other in pages[line.page]
                if other.box.left >= line.box.right
                and other.box.bottom < line.box.top
                and other.box.top > line.box.bottom
            ),
            default=inf,
        )
        for line in lines
    ]


def _right_edge(lines: Sequence[Line], limits: Sequence[float], index: int) -> float:
    """How far the lines around this one reach that begin where it begins: its column's right edge.

    A title over both columns reaches beyond the first.
    """
    line = lines[index]
    page, left, room = line.page, line.box.left, 4 * max(line.size, 1)
    near = [
        at
        for at in range(max(0, index - 10), min(len(lines), index + 11))
        if lines[at].page == page and abs(lines[at].box.left - left) < room
    ]
    beside = sorted(limits[at] for at in near if limits[at] >= line.box.right)
    limit = beside[_COLUMN_LINES - 1] if len(beside) >= _COLUMN_LINES else inf
    return max(lines[at].box.right for at in near if at == index or lines[at].box.right <= limit)


def _continues(paragraph: PageParagraph, line: Line, right: float, pitch: float) -> bool:
    above = paragraph.lines[-1]
    if starts_item(line.text) or abs(above.size - line.size) > 0.6 or above.bold != line.bold:
        return False
    size = max(line.size, 1)
    if not ends_in_hyphen(above.text) and _could_have_fitted(above, line, right):
        return False
    distance = (above.box.bottom - line.box.bottom) / size
    if above.page != line.page or distance < 0:  # next page or column
        return not ends_sentence(above.text)
    if distance > pitch * 1.35:
        return False
    indented = line.box.left - above.box.left > 1.2 * size
    hanging = len(paragraph.lines) == 1 and starts_item(above.text)
    return not indented or hanging


def _could_have_fitted(above: Line, line: Line, right: float) -> bool:
    """Whether the line's first word had room on the line above: then the break was meant.

    Justified text leaves no room; at a ragged edge the room is less than the next word.
    """
    word = line.text.split(maxsplit=1)[0]
    narrow = line.size * 0.5
    need = line.size * 2 if is_cjk(word[0]) else narrow * (min(len(word), 20) + 1)
    return right - above.box.right > need + line.size
