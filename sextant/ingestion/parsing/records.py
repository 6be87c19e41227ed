"""Read records of prose and short values: prose becomes paragraphs without its key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sextant.ingestion.parsing.blocks import Block, HeadingBlock, Paragraph, Table
from sextant.text.characters import ideographs
from sextant.text.sentences import is_ended

_TITLES = ("title", "name", "question", "标题", "名称", "问题", "heading", "label", "id")
_PROSE_WORDS = 3  # at least, of a text that ends as a sentence does
_PROSE_IDEOGRAPHS = 6
_WORD = re.compile(r"[^\W\d_]{3}|[\u4e00-\u9fff]")  # longer than the code of a language
_LONG = 80  # characters of a text that no cell of a table should hold


def is_prose(text: str) -> bool:
    """Return whether a value is prose rather than a cell: a question, sentences, lines, or a long text."""
    text = text.strip()
    if "\n" in text or text.endswith(("?", "？")):
        return True
    has_words = len(text.split()) >= _PROSE_WORDS or ideographs(text) >= _PROSE_IDEOGRAPHS
    return has_words and (is_ended(text) or len(text) > _LONG)


def title_key(keys: Sequence[str]) -> str:
    """Return the key of a record's title; "" if it has none."""
    known = {key.strip().lower(): key for key in reversed(keys)}
    return next((known[name] for name in _TITLES if name in known), "")


def record_blocks(record: Mapping[str, str], title: str, depth: int) -> Iterator[Block]:
    """Yield the prose of a record, and its short members in one line.

    One text is a paragraph by itself, several stand each below a heading of what they are called. What the record
    is called by stands in the heading above it already, if that is a sentence ("How do I …?").

    Args:
        record: the members by name; empty ones are left out.
        title: the key of what the record is called by.
        depth: the level of headings inside it.
    """
    members = {key: text for key, text in record.items() if text.strip()}
    prose = {key: text for key, text in members.items() if key != title and is_prose(text)}
    shown_above = {title} if is_prose(members.get(title, "")) else set[str]()
    short = [f"{key}: {text}" for key, text in members.items() if key not in {*prose, *shown_above}]
    line = [Paragraph("; ".join(short))] if short else []
    if len(prose) > 1:
        yield from line
    yield from _prose_blocks(prose, depth)
    if len(prose) <= 1:
        yield from line


def _prose_blocks(prose: Mapping[str, str], depth: int) -> Iterator[Block]:
    """Yield one text alone, or several each below what it is called."""
    for key, text in prose.items():
        if len(prose) > 1:
            yield HeadingBlock(key.replace("_", " ").strip(), depth)
        yield Paragraph(text)


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a table of records are prose, and which name a record.

    Attributes:
        title: what a record is called by: a column of a name like "title", else the first.
        prose: those that are read rather than looked up; the title is none of them. Without a column that is
            called so, or questions in the first, there are none: lines of a log have no names.
        is_question: whether the title is prose, too ("How do I …?").
    """

    title: int
    prose: frozenset[int]
    is_question: bool

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]]) -> Columns:
        """Return the columns of rows below one row of names."""
        names, *body = rows
        called = title_key(names)
        title = names.index(called) if called else 0
        is_question = _is_mostly_prose(body, title)
        others = (at for at in range(len(names)) if at != title)
        prose = (at for at in others if _is_mostly_prose(body, at))
        return cls(title, frozenset(prose if called or is_question else ()), is_question)


def table_blocks(rows: Sequence[Sequence[str]], depth: int) -> Iterator[Block]:
    """Yield records below one row of names as a table; what is prose stands below it, each under the record's name.

    Questions are no cells either: they are headings. A heading has the record's other words behind it, for what
    stands below says nothing of them: "How is it cleaned? (Otter)".
    """
    columns = Columns.of(rows)
    names, *body = [[*row, *[""] * (len(rows[0]) - len(row))] for row in rows]
    if not columns.prose:
        yield Table([names, *body], 1)
        return
    read = {columns.title, *columns.prose} if columns.is_question else columns.prose
    kept = [at for at in range(len(names)) if at not in read]
    if len(kept) > 1:
        yield Table([[row[at] for at in kept] for row in (names, *body)], 1)
    descriptive = [
        at for at in kept if at != columns.title and _has_words([row[at] for row in body])
    ]
    for number, row in enumerate(body, 1):
        if any(row[at].strip() for at in columns.prose):
            title = row[columns.title].strip() or f"#{number}"
            words = ", ".join(filter(None, (row[at].strip() for at in descriptive)))
            yield HeadingBlock(f"{title} ({words})" if words else title, depth)
            prose = {names[at]: row[at] for at in sorted(columns.prose) if row[at].strip()}
            yield from _prose_blocks(prose, depth + 1)


def _has_words(column: Sequence[str]) -> bool:
    """Return whether a column says what its records are about, as ids and codes do not."""
    cells = [cell.strip() for cell in column if cell.strip()]
    are_ids = len({*cells}) == len(cells) and all(
        " " not in cell and any(map(str.isdigit, cell)) for cell in cells
    )
    return not are_ids and any(map(_WORD.search, cells))


def _is_mostly_prose(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Return whether at least half of a column's filled cells are prose; an address is none, on however many lines."""
    cells = [" ".join(row[column].split()) for row in rows if column < len(row)]
    filled = [*filter(None, cells)]
    return bool(filled) and sum(map(is_prose, filled)) * 2 >= len(filled)
