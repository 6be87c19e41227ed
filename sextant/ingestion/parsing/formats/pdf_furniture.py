"""Find the furniture of PDF pages: running heads and feet, page numbers, stamps."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sextant.ingestion.parsing.formats.pdf_lines import PdfBox, PdfLine, usual_size
from sextant.ingestion.parsing.formats.pdf_rows import Item, rows_of
from sextant.ingestion.parsing.lines import LARGER, SMALLER, ends_sentence
from sextant.ingestion.parsing.structure import Omissions

_MARGIN = 0.15  # of the page's height, above and below
_EDGE_ROWS = 4  # in which heads and feet stand
_PAGES = 3  # on which a head stands, at least
_LEAST_GAP = 0.8  # of the letters' size: the gap between a head and the text
_STAMP = 2.0  # times the body's size
_OF = r"(?:\s*(?:/|of|von|de|sur|[/，,]?\s*共)\s*\d{1,4}\s*页?)?"
_WORDED = rf"(?:page|seite|p\.|página|第)\s*(\d{{1,4}})\s*页?{_OF}"
_PLAIN = rf"(\d{{1,4}}|[ivxlc]{{1,6}}){_OF}"
_PAGE_NUMBER = re.compile(rf"[-–—|·\s]*(?:{_WORDED}|{_PLAIN})[-–—|·\s]*", re.IGNORECASE)
# A hyphen between a letter and three figures makes a code of them: R-501. ES-6 is a page of a summary.
_BEHIND = re.compile(
    rf"(.+?)(?:\s+{_WORDED}|\s*(?:[/|·•–—]|-(?!(?<=[^\W\d_]-)\d{{3}}))\s*{_PLAIN})", re.IGNORECASE
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Body:
    """Pages without their furniture, and what running heads and feet said."""

    pages: list[list[Item]]
    heads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Label:
    """A line of a margin: its words, and how far the page number among it is from the page's place."""

    words: str
    size: float
    offset: int | None
    is_worded: bool

    @property
    def key(self) -> tuple[str, float]:
        """Return what is the same in each of a head's lines."""
        return self.words, self.size


@dataclass(frozen=True, slots=True)
class _Margin:
    """The rows of a page's upper or lower margin from outside in, and the line of text that follows them."""

    rows: list[list[PdfLine]]
    inner: PdfLine | None


def without_furniture(
    pages: Sequence[Sequence[Item]], frames: Sequence[PdfBox], omissions: Omissions
) -> Body:
    """Drop page numbers, running heads and feet, and slanted stamps; all are counted in `omissions`.

    Furniture stands outermost in the margin, apart from the text, and says the same on at least three pages; at most
    a page number that is set apart from its words differs. Whatever differs in more, is larger than the text, or
    stands as often inside pages (a form's "Duties:"), is content, and so is all that stands further in.
    """
    margins = [list(_margins(items, frame)) for items, frame in zip(pages, frames, strict=True)]
    labels = {
        line: _label(line, number)
        for number, edges in enumerate(margins)
        for margin in edges
        for row in margin.rows
        for line in row
    }
    lines = [line for items in pages for line in items if isinstance(line, PdfLine)]
    inside = Counter(_label(line, 0).key for line in lines if line.rightward and line not in labels)
    usual = usual_size(lines)
    judge = _Judge(labels, margins, inside, usual)
    heads = {
        line: labels[line].words
        for edges in margins
        for margin in edges
        for line in judge.furniture(margin)
    }
    return _body(pages, heads | _stamps(pages, usual), omissions)


class _Judge:
    """Separates furniture from content by comparing the margins of all pages."""

    def __init__(
        self,
        labels: Mapping[PdfLine, _Label],
        margins: Sequence[Sequence[_Margin]],
        inside: Mapping[tuple[str, float], int],
        usual: float,
    ) -> None:
        self._labels, self._inside, self._usual = labels, inside, usual
        on_page = [
            {labels[line] for margin in edges for row in margin.rows for line in row}
            for edges in margins
        ]
        self._pages_of = Counter(key for page in on_page for key in {one.key for one in page})
        self._counted = Counter(
            offset for page in on_page for offset in {one.offset for one in page}
        )

    def furniture(self, margin: _Margin) -> list[PdfLine]:
        """Return the lines of a margin, from outside in up to the first content, that are furniture."""
        found, inner = list[PdfLine](), margin.inner
        for row in margin.rows:
            heads = [line for line in row if self._is_furniture(line)]
            found += heads
            if len(heads) < len(row):
                inner = row[0]
                break
        if inner is None or (found and self._has_gap(found[-1], inner)):
            return found
        return [line for line in found if not self._labels[line].words]

    def _is_furniture(self, line: PdfLine) -> bool:
        label = self._labels[line]
        if line.size > self._usual * LARGER:
            return False
        if not label.words:
            return label.is_worded or self._counted[label.offset] > 1
        return self._pages_of[label.key] >= max(_PAGES, self._inside[label.key])

    def _has_gap(self, head: PdfLine, inner: PdfLine) -> bool:
        if head.size < self._usual * SMALLER:
            return True
        above, below = sorted((head.box, inner.box), key=lambda box: -box.top)
        return above.bottom - below.top > _LEAST_GAP * self._usual


def _body(
    pages: Sequence[Sequence[Item]], heads: Mapping[PdfLine, str], omissions: Omissions
) -> Body:
    """Return the pages without what was found; of a head that is a sentence the first one stays."""
    bodies, seen = list[list[Item]](), dict[str, None]()
    for items in pages:
        page = list[Item]()
        for item in items:
            words = heads.get(item) if isinstance(item, PdfLine) else None
            if words is None or (words not in seen and ends_sentence(words)):
                page.append(item)
            elif isinstance(item, PdfLine) and words:
                omissions.add_text("in running heads and feet", item.text)
            elif isinstance(item, PdfLine):
                omissions.add_furniture("in page numbers", item.text)
            if words:
                seen[words] = None
        bodies.append(page)
    return Body(bodies, tuple(seen))


def _margins(items: Sequence[Item], frame: PdfBox) -> Iterator[_Margin]:
    """Yield the upper and the lower margin of a page."""
    lines = [item for item in items if isinstance(item, PdfLine)]
    reach = _MARGIN * frame.height
    falling = sorted(lines, key=lambda line: -line.base)
    for ordered, is_inside in (
        (falling, lambda line: line.base > frame.top - reach),
        (falling[::-1], lambda line: line.base < frame.bottom + reach),
    ):
        inside = list(takewhile(is_inside, ordered))
        inner = ordered[len(inside)] if len(inside) < len(ordered) else None
        yield _Margin(rows_of(inside)[:_EDGE_ROWS], inner)


def _label(line: PdfLine, page: int) -> _Label:
    text = " ".join(line.text.split())
    words, number, is_worded = text, "", False
    if found := _PAGE_NUMBER.fullmatch(text):
        words, number, is_worded = "", found[1] or found[2], found[1] is not None
    elif found := _BEHIND.fullmatch(text):
        words, number, is_worded = found[1], found[2] or found[3], found[2] is not None
    return _Label(words, line.size, _value(number) - page if number else None, is_worded)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    digits = [_ROMAN[sign] for sign in number.lower()]
    return sum(-digit if digit < max(digits[at:]) else digit for at, digit in enumerate(digits))


def _stamps(pages: Sequence[Sequence[Item]], usual: float) -> dict[PdfLine, str]:
    """Return lines that lie aslant over level text, large or on several pages, with what they say."""
    slanted = list[PdfLine]()
    for items in pages:
        lines = [item for item in items if isinstance(item, PdfLine)]
        aslant = [line for line in lines if line.slanted]
        # Where most do, the page was scanned so, and none is meant.
        slanted += aslant if 2 * len(aslant) <= len(lines) else ()
    pages_of = Counter(text for text, _ in {(line.text, line.page) for line in slanted})
    return {
        line: line.text
        for line in slanted
        if line.size >= _STAMP * usual or pages_of[line.text] >= _PAGES
    }
