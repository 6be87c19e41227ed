"""Lines of pages to paragraphs: broken lines joined, also across pages; rows and code kept line by line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby, pairwise
from math import inf
from statistics import median

from sextant.ingestion.parsing.formats.pdf_page import PdfLine
from sextant.ingestion.parsing.formats.pdf_rows import Item, is_prose
from sextant.ingestion.parsing.formats.pdf_tables import RuledTable
from sextant.ingestion.parsing.headings import Styled
from sextant.ingestion.parsing.lines import ends_in_hyphen, ends_sentence, starts_item, with_fields
from sextant.text.characters import is_cjk

_COLUMN_LINES = 3  # so many with something beside them make a column
_SAME_SIZE = 0.6  # points
_INDENT = 1.2  # letters' sizes: an indented line begins a paragraph
_ROW_PITCH = 2.0  # times the usual distance of lines: that of a table's rows at most
_FULL = 0.6  # of a column's width: a line that ends in the middle of a sentence goes on


class LineKind(Enum):
    """What lines are, and with it how they go together."""

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
                return _code(self.lines)

    def styled(self) -> Styled:
        """Return its look, for telling headings."""
        size = min(line.size for line in self.lines)
        bold = all(line.bold for line in self.lines)
        return Styled(self.text(), size, bold, is_body=self.kind is not LineKind.PROSE)


Region = PageParagraph | RuledTable


def join_regions(pages: Iterable[Sequence[Item]]) -> list[Region]:
    """Join lines to paragraphs and the parts of tables, over page and column breaks too."""
    items = [item for page in pages for item in page]
    lines = [item for item in items if isinstance(item, PdfLine)]
    kinds = _kinds(lines)
    pitch, limits = _usual_pitch(lines), _next_columns(lines)
    look = _usual_look(lines)
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
        kind = kinds[at]
        if not isinstance(last, PageParagraph) or last.kind is not kind:
            goes_on = False
        elif kind is LineKind.PROSE:
            right = _column(lines, limits, at - 1)
            goes_on = _continues(last, item, right, pitch, look)
        else:
            goes_on = _is_below(last.lines[-1], item, pitch)
        if goes_on and isinstance(last, PageParagraph):
            last.lines.append(item)
        else:
            regions.append(PageParagraph([item], kind))
    return regions


def _kinds(lines: Sequence[PdfLine]) -> list[LineKind]:
    """Return what each line is; a typewriter's prose is no code."""
    kinds = list[LineKind]()
    for mono, run in groupby(lines, key=lambda line: line.mono):
        together = list(run)
        if mono and not is_prose(together):
            kinds += [LineKind.CODE] * len(together)
        else:
            kinds += [LineKind.ROWS if line.is_row else LineKind.PROSE for line in together]
    return kinds


def _usual_pitch(lines: Sequence[PdfLine]) -> float:
    """Return the distance of text lines as a multiple of their size; 1.2 to 2 in most documents."""
    pitches = [
        (above.box.bottom - below.box.bottom) / below.size
        for above, below in pairwise(lines)
        if above.page == below.page and above.size == below.size > 0
    ]
    usual = [pitch for pitch in pitches if 0.8 < pitch < 3]
    return median(usual) if usual else 1.5


def _next_columns(lines: Sequence[PdfLine]) -> list[float]:
    """For each line where something begins beside it, to its right; infinite where nothing does."""
    pages = defaultdict[int, list[PdfLine]](list)
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


def _column(lines: Sequence[PdfLine], limits: Sequence[float], index: int) -> float:
    """Return how far the lines around this one reach that begin where it begins: its column's right edge.

    A title over both columns reaches beyond the first.
    """
    line = lines[index]
    page, left, room = line.page, line.box.left, 4 * max(line.size, 1)
    near = [
        at
        for at in range(max(0, index - 10), min(len(lines), index + 11))
        if lines[at].page == page and abs(lines[at].box.left - left) < room and not lines[at].is_row
    ]
    beside = sorted(limits[at] for at in near if limits[at] >= line.box.right)
    limit = beside[_COLUMN_LINES - 1] if len(beside) >= _COLUMN_LINES else inf
    return max(lines[at].box.right for at in near if at == index or lines[at].box.right <= limit)


def _is_below(above: PdfLine, line: PdfLine, pitch: float) -> bool:
    """Return whether a row or a line of code belongs to the block that ends above it."""
    distance = (above.box.bottom - line.box.bottom) / max(line.size, 1)
    return above.page == line.page and 0 < distance < _ROW_PITCH * pitch


def _code(lines: Sequence[PdfLine]) -> str:
    """Return lines of letters of one width, with the blanks that stand before them."""
    left = min(line.box.left for line in lines)
    letter = median((line.box.right - line.box.left) / len(line.text) for line in lines) or 1
    return "\n".join(" " * round((line.box.left - left) / letter) + line.text for line in lines)


def _usual_look(lines: Sequence[PdfLine]) -> tuple[float, bool]:
    """Return the size of most letters, and whether they are bold."""
    looks = Counter[tuple[float, bool]]()
    for line in lines:
        looks[line.size, line.bold] += len(line.text)
    return next(iter(looks.most_common(1)), ((0.0, False), 0))[0]


def _continues(
    paragraph: PageParagraph, line: PdfLine, right: float, pitch: float, look: tuple[float, bool]
) -> bool:
    above = paragraph.lines[-1]
    if (
        starts_item(line.text)
        or abs(above.size - line.size) > _SAME_SIZE
        or above.bold != line.bold
    ):
        return False
    size = max(line.size, 1)
    if not _breaks_off(above, line, right) and _could_have_fitted(above, line, right):
        return False
    distance = (above.box.bottom - line.box.bottom) / size
    if above.page != line.page or distance < 0:  # next page or column
        usual, is_bold = look
        is_title = above.size > usual + _SAME_SIZE or (above.bold and not is_bold)
        return not (is_title or ends_sentence(above.text))
    if distance > pitch * 1.35:
        return False
    indented = line.box.left - above.box.left > _INDENT * size
    hanging = len(paragraph.lines) == 1 and starts_item(above.text)
    return not indented or hanging


def _breaks_off(above: PdfLine, line: PdfLine, right: float) -> bool:
    """Return whether a line ends in the middle of a word or of a sentence, however much room it leaves."""
    if ends_in_hyphen(above.text):
        return True
    is_full = above.box.right - above.box.left > _FULL * (right - above.box.left)
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
