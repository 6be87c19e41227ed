"""What every parser makes of a file: headings, paragraphs and tables in reading order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from sextant.domain.documents import AttachedFile, HeadingSource
from sextant.domain.warnings import CodedWarning

if TYPE_CHECKING:
    from sextant.ingestion.parsing.structure import Omissions


class Word(msgspec.Struct, frozen=True, gc=False):
    """A word as its page shows it, and its box.

    `page` counts from 1; the sides are shares of the page's width and height as it is shown, from its upper left
    corner (`sextant.domain.page_boxes`). Long files have hundreds of thousands, so it is a `Struct`.
    """

    text: str
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class HeadingBlock:
    """Opens a section. `level` counts from 1; level 0 is the document's own title line."""

    text: str
    level: int
    source: HeadingSource = HeadingSource.STYLE
    page: int | None = None
    words: Sequence[Word] = ()


class TextKind(StrEnum):
    """The role of a paragraph: body text, note, form field, alternative text of a picture, page header or footer."""

    TEXT = "text"
    NOTE = "note"
    FIELD = "field"
    CAPTION = "caption"
    MARGIN = "margin"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Prose, a list or a code block; line breaks inside are kept.

    `words`, here and in other blocks: what its page shows, in the order of the text, so that quotes can be boxed.
    """

    text: str
    page: int | None = None
    words: Sequence[Word] = ()
    kind: TextKind = TextKind.TEXT


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cell texts. The first `header_rows` rows name the columns; 0: no row does.

    `repeated` are the places (row, column) that only repeat the text of a merged cell.
    """

    rows: Sequence[Sequence[str]]
    header_rows: int = 1
    page: int | None = None
    repeated: frozenset[tuple[int, int]] = frozenset()
    words: Sequence[Word] = ()


@dataclass(frozen=True, slots=True)
class Image:
    """A picture's file, and what the document says it shows. `is_read`: its words are among the document's text."""

    content: bytes
    alt: str = ""
    page: int | None = None
    is_read: bool = False


@dataclass(frozen=True, slots=True)
class Caption:
    """The words that stand for an image. `by_ocr`: OCR read them in it."""

    text: str
    page: int | None = None
    words: Sequence[Word] = ()
    by_ocr: bool = False


Block = HeadingBlock | Paragraph | Table | Image | Caption
# What a picture is said to show, where that is only an address or the name of its file.
NO_WORDS = re.compile(
    r"^(?:https?|data|file):|\.(?:png|jpe?g|gif|svg|webp|avif|bmp|tiff?|ico|[ew]mf)(?:\?\S*)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Blocks:
    """A parsed file before it has offsets. `title` is the file's own metadata title, if it has one.

    `omissions` counted on the way what of the file is in none of the blocks.
    `ocr_pages` are the pages whose text was read by OCR, `unread_pages` those that only OCR can read. `page_texts` is
    the plain text of pages, where its format knows it before lines and tables are made of it.
    """

    blocks: Sequence[Block]
    title: str = ""
    page_count: int | None = None
    warnings: tuple[CodedWarning, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    omissions: Omissions | None = None
    ocr_pages: frozenset[int] = frozenset()
    unread_pages: tuple[int, ...] = ()
    page_texts: Mapping[int, str] = field(default_factory=dict[int, str])
    attachments: tuple[AttachedFile, ...] = ()


def texts_of(block: Block, *, once: bool = False) -> Iterator[str]:
    """Yield the texts of a block: of a table those of its cells (`once`: without what merged ones repeat), of a picture none."""
    if isinstance(block, Table):
        for row in cells_once(block) if once else block.rows:
            yield from row
    elif not isinstance(block, Image):
        yield block.text


def with_texts(block: Block, change: Callable[[str], str]) -> Block:
    """Return a block with each of its texts changed."""
    if isinstance(block, Table):
        return replace(block, rows=[[*map(change, row)] for row in block.rows])
    return block if isinstance(block, Image) else replace(block, text=change(block.text))


def cells_once(table: Table) -> Iterator[list[str]]:
    """Yield the rows of a table without the places that only repeat a merged cell."""
    for at, row in enumerate(table.rows):
        yield [cell for column, cell in enumerate(row) if (at, column) not in table.repeated]


def lines_of(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the texts of blocks where only text can stand; a table is one line ("Area: 400; Staff: 12")."""
    for block in blocks:
        if isinstance(block, Table):
            between = ": " if max(map(len, block.rows), default=0) == 2 else ", "
            rows = ([" ".join(cell.split()) for cell in row] for row in cells_once(block))
            yield "; ".join(filter(None, (between.join(filter(None, row)) for row in rows)))
        elif not isinstance(block, Image):
            yield block.text


def alts_of(blocks: Iterable[Block]) -> str:
    """Return the alternative texts of pictures: the words of a cell that holds nothing else, such as a tick."""
    alts = (one.alt for one in blocks if isinstance(one, Image))
    return " ".join(alt for alt in alts if alt and not NO_WORDS.search(alt))
