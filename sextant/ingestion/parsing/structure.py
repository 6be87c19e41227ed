"""Write blocks as one text with a tree of sections; from here on everything is an offset into that text.

Also here: counting what a parser leaves out, so that nothing is lost in silence.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from typing import TypeVar

from sextant.domain.documents import HeadingSource
from sextant.domain.errors import FileRejected
from sextant.domain.page_boxes import PlacedText
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.blocks import (
    Block,
    Blocks,
    Caption,
    HeadingBlock,
    Image,
    Paragraph,
    Table,
    TextKind,
    Word,
    with_texts,
)
from sextant.ingestion.parsing.encodings import Decoded
from sextant.ingestion.parsing.images import part_from_addresses
from sextant.ingestion.parsing.lines import close_divided
from sextant.ingestion.parsing.placing import locate_words
from sextant.ingestion.parsing.raised import write_raised
from sextant.ingestion.parsing.tables import column_names, title_rows
from sextant.tables.cells.stored import mark_across, mark_repeated
from sextant.text.characters import clean_text

_MOST_NAMED = 5

T = TypeVar("T")


def name_some(things: Iterable[T]) -> list[T | str]:
    """Return the first five, and a mark where there are more."""
    first: list[T | str] = [*islice(things, _MOST_NAMED + 1)]
    return first if len(first) <= _MOST_NAMED else [*first[:_MOST_NAMED], "…"]


def count_characters(text: str) -> int:
    """Return how many characters a text has without its white space."""
    return sum(map(len, text.split()))


class Omissions:
    """Counts what is in none of the blocks: unreadable parts, struck or hidden text, furniture."""

    def __init__(self) -> None:
        self._parts = Counter[str]()
        self._places = defaultdict[str, dict[int | str, None]](dict[int | str, None])
        self._damaged = dict[str, None]()
        self._characters = Counter[str]()
        self.furniture = Counter[str]()
        self.inline = Counter[str]()

    def add_part(self, kind: str, index: int | str | None = None) -> None:
        """Count a part that is not read.

        Args:
            kind: a noun in the singular ("chart").
            index: the number of the slide where it stands, or its own name.
        """
        self._parts[kind] += 1
        if index is not None:
            self._places[kind][index] = None

    def add_damaged(self, names: Iterable[str]) -> None:
        """Name parts of a container of which only some could be read."""
        self._damaged.update(dict.fromkeys(names))

    @contextmanager
    def survive(self, kind: str, index: int | str | None = None) -> Generator[None]:
        """Count a part as not read where reading it raises, so that it costs nothing else.

        Limits that the file breaks are still raised.
        """
        try:
            yield
        except (FileRejected, MemoryError, RecursionError):
            raise
        except Exception:  # noqa: BLE001 - damaged values make a reader raise anything
            self.add_part(kind, index)

    def add_text(self, reason: str, text: str) -> None:
        """Count text that is left out, by the reason ("struck through")."""
        self._characters[reason] += count_characters(text)

    def add_furniture(self, reason: str, text: str) -> None:
        """Count furniture that is left out ("in menus"); a warning names it only if it is much."""
        self.furniture[reason] += count_characters(text)

    def add_inline(self, kind: TextKind | str, text: str) -> None:
        """Count text of another kind inside a paragraph or a table, which is read as a part of it."""
        self.inline[kind] += count_characters(text)

    def include(self, others: Omissions | None) -> None:
        """Add the counts of a part that another parser has read."""
        if others is None:
            return
        for mine, theirs in (
            (self._parts, others._parts),
            (self._characters, others._characters),
            (self.furniture, others.furniture),
            (self.inline, others.inline),
        ):
            mine.update(theirs)
        for kind, places in others._places.items():
            self._places[kind].update(places)
        self._damaged.update(others._damaged)

    @property
    def left_out(self) -> dict[str, int]:
        """Return the characters that are left out, by their reasons."""
        return dict(self._characters + self.furniture)

    @property
    def not_read(self) -> dict[str, int]:
        """Return the numbers of parts that could not be read, by their kinds."""
        damaged = {"damaged part": len(self._damaged)} if self._damaged else {}
        return {**self._parts, **damaged}

    def warnings(self) -> tuple[CodedWarning, ...]:
        """Return a warning for the parts, one for damaged ones and one for the text, each if there were any."""
        parts = list[object]()
        for kind, number in self._parts.items():
            places = [*self._places[kind]]
            more = len(places) > _MOST_NAMED
            parts.append(count(number, kind, places[:_MOST_NAMED], more=more))
        damaged = name_some(self._damaged)
        texts = [count(number, reason) for reason, number in self._characters.items() if number]
        named = (
            (WarningCode.PARTS_NOT_READ, "parts", parts),
            (WarningCode.PARTS_DAMAGED, "parts", damaged),
            (WarningCode.TEXT_LEFT_OUT, "characters", texts),
        )
        return tuple(CodedWarning(code, {name: value}) for code, name, value in named if value)


def finish_blocks(
    blocks: Iterable[Block],
    omissions: Omissions,
    title: str = "",
    *,
    decoded: Decoded | None = None,
    warnings: tuple[CodedWarning, ...] = (),
    page_count: int | None = None,
) -> Blocks:
    """Return the result of a parser, with raised figures written out and warnings for what is left out.

    Args:
        blocks: in reading order.
        omissions: what is in none of them.
        title: of the file's own metadata.
        decoded: the text that a file was, with the doubts about its encoding.
        warnings: of the format.
        page_count: of slides.
    """
    doubts, metadata = (decoded.warnings, decoded.metadata) if decoded else ((), {})
    all_warnings = (*doubts, *warnings, *omissions.warnings())
    written = [with_texts(block, part_from_addresses) for block in write_raised(blocks)]
    return Blocks(written, title, page_count, all_warnings, metadata, omissions)


TITLE_CHARS = 200
_MAX_DEPTH = 12
# Soft hyphens and signs without width part words that their reader sees whole. Joiners are part of words in Persian
# and in the scripts of India, and of emoji, but never beside Latin, Greek, Cyrillic and Chinese letters.
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b\u2060\ufeff]|(?<=[\\d\u0041-\u052f\u3040-\u9fff])[\u200c\u200d]"
)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A half-open range of the document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SectionNode:
    """A section by offset; `parent` is an index into the list of sections, None for the root.

    `level` is the depth in the tree, so it equals the number of titles on the way from the root;
    `heading` is where the heading's own words stand (empty for a root without title line).
    """

    title: str
    level: int
    parent: int | None
    start: int
    end: int
    heading: TextSpan
    source: HeadingSource
    page: int | None


@dataclass(frozen=True, slots=True)
class Piece:
    """Prose (`rows` empty), a table (`rows`: one span a line) or an image's words inside one section.

    `by_ocr`: it was read by OCR. `header_lines` counts the lines of a table that name its columns, the rule below included.
    """

    section: int
    span: TextSpan
    page: int | None = None
    rows: tuple[TextSpan, ...] = ()
    header_lines: int = 0
    is_image: bool = False
    by_ocr: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """A document's text, its sections in reading order (root first), what stands in them, and its words on their pages.

    Sections nest: a child lies inside its parent, siblings follow each other without overlap. `ocr_pages` are the
    pages that were read by OCR.
    """

    text: str
    sections: tuple[SectionNode, ...]
    pieces: tuple[Piece, ...]
    placed: tuple[PlacedText, ...] = ()
    ocr_pages: frozenset[int] = frozenset()


def build_structure(blocks: Iterable[Block], ocr_pages: frozenset[int] = frozenset()) -> Structure:
    """Write blocks one below the other and note where each section begins and ends.

    Text is cleaned here, before the first offset is taken (`clean_text`). Heading levels may jump
    (1, then 3): a section's parent is the nearest heading above it of a smaller level.
    """
    writer = _DocumentWriter(ocr_pages)
    for block in close_divided([*blocks]):
        writer.add(block)
    return writer.finish()


class _DocumentWriter:
    def __init__(self, ocr_pages: frozenset[int]) -> None:
        self._ocr_pages = ocr_pages
        self._parts: list[str] = []
        self._placed: list[PlacedText] = []
        self._length = 0
        self._pieces: list[Piece] = []
        root = SectionNode("", 0, None, 0, 0, TextSpan(0, 0), HeadingSource.ROOT, None)
        self._sections = [root]
        self._open: list[tuple[int, int]] = [(0, 0)]  # (heading level as given, section index)

    def add(self, block: Block) -> None:
        match block:
            case HeadingBlock():
                self._add_heading(block)
            case Paragraph():
                self._add_text(block, by_ocr=block.page in self._ocr_pages)
            case Caption():
                self._add_text(block, by_ocr=block.by_ocr, is_image=True)
            case Table():
                lines, header_lines = render_table(block)
                if not lines:
                    return
                whole, rows = self._write("\n".join(lines), block.words, is_table=True), []
                start = whole.start
                for line in lines:
                    rows.append(TextSpan(start, start + len(line)))
                    start += len(line) + 1
                by_ocr = block.page in self._ocr_pages
                self._pieces.append(
                    Piece(
                        self._current, whole, block.page, tuple(rows), header_lines, by_ocr=by_ocr
                    )
                )
            case Image():
                pass  # nobody has described it

    def finish(self) -> Structure:
        while self._open:
            self._close()
        sections, pieces = tuple(self._sections), tuple(self._pieces)
        placed = tuple(self._placed)
        return Structure("".join(self._parts), sections, pieces, placed, self._ocr_pages)

    @property
    def _current(self) -> int:
        return self._open[-1][1]

    def _add_text(
        self, block: Paragraph | Caption, *, by_ocr: bool, is_image: bool = False
    ) -> None:
        if text := _tidy(block.text):
            span = self._write(text, block.words)
            self._pieces.append(
                Piece(self._current, span, block.page, is_image=is_image, by_ocr=by_ocr)
            )

    def _add_heading(self, heading: HeadingBlock) -> None:
        text = " ".join(_tidy(heading.text).split())
        if not text:
            return
        if heading.level == 0 and len(self._sections) == 1 and not self._parts:
            self._sections[0] = replace(self._sections[0], heading=self._write(text, heading.words))
            return
        level = max(heading.level, 1)
        while self._open[-1][0] >= level or len(self._open) > _MAX_DEPTH:
            self._close()
        span = self._write(text, heading.words)
        self._open.append((level, len(self._sections)))
        self._sections.append(
            SectionNode(
                title=text[:TITLE_CHARS],
                level=len(self._open) - 1,
                parent=self._open[-2][1],
                start=span.start,
                end=span.end,
                heading=span,
                source=heading.source,
                page=heading.page,
            )
        )

    def _close(self) -> None:
        _, index = self._open.pop()
        self._sections[index] = replace(self._sections[index], end=self._length)

    def _write(self, text: str, words: Sequence[Word] = (), *, is_table: bool = False) -> TextSpan:
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        if words:
            self._placed += locate_words(text, words, start, is_table=is_table)
        return TextSpan(start, self._length)


def render_table(table: Table) -> tuple[list[str], int]:
    """Return a table as Markdown pipe rows, and how many of the lines are its header (rule included).

    Empty rows and columns are dropped. A header of several rows is one line, in which each column has the words
    of all of them, so that a name can be read by itself; a title row in it stays above that.
    """
    marked = [_write_row(row, at, table) for at, row in enumerate(table.rows)]
    columns = zip_longest(*filter(any, marked), fillvalue="")
    rows = [[*row] for row in zip(*filter(any, columns), strict=True)]
    if not rows:
        return [], 0
    # Where a file marks every row as names, the first one is.
    header = table.header_rows if table.header_rows < len(rows) else 1
    titles = min(header, title_rows(rows))
    if header - titles > 1:
        rows[titles:header] = [column_names(rows[titles:header])]
        header = titles + 1
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if header:
        lines.insert(header, f"|{' --- |' * len(rows[0])}")
        header += 1
    return lines, header


def _write_row(row: Sequence[str], at: int, table: Table) -> list[str]:
    """Return the cells of a row; below the names marked where they repeat a merged cell, or where one is across all."""
    cells = [" ".join(_tidy(text).split()).replace("|", "\\|") for text in row]
    if at < table.header_rows:
        return cells
    repeated = [(at, column) in table.repeated for column in range(len(cells))]
    is_across = len(cells) > 1 and all(repeated[1:]) and not any(cells[1:])
    if is_across and cells[0] and table.header_rows:
        return mark_across(cells)
    marked = zip(cells, repeated, strict=True)
    return [mark_repeated(cell) if again else cell for cell, again in marked]


def _tidy(text: str) -> str:
    """Clean a text for storage: plain line ends and spaces, no blanks around it or at line ends."""
    lines = _INVISIBLE.sub("", clean_text(text)).replace("\xa0", " ").replace("\r\n", "\n")
    return "\n".join(map(str.rstrip, lines.replace("\r", "\n").split("\n"))).strip()
