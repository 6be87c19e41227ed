"""Read plain text: paragraphs by blank lines, headings by their numbers, hard-wrapped lines joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import (
    begin_alike,
    could_be_heading,
    ends_sentence,
    has_roman_numbers,
    is_field,
    is_strong,
    is_wide,
    item_indent,
    join_lines,
    number_rank,
    starts_item,
    width,
)
from sextant.ingestion.parsing.tables import header_rows

_TABLE = -1
_LEAST_RULE = 3  # signs
_BLANK_LINE = re.compile(r"\n(?:[ \t\u3000]*\n)+")


def parse(content: bytes, limits: Limits) -> Blocks:  # noqa: ARG001 - the protocol of parsers
    """Read a text file in any of the encodings of `sextant.ingestion.parsing.encodings`."""
    decoded = decode(content)
    blocks = list(text_blocks(decoded.text))
    return Blocks(blocks, warnings=decoded.warnings, metadata=decoded.metadata)


def text_blocks(text: str) -> Iterator[Block]:
    """Yield headings, paragraphs and pipe tables of plain text.

    A heading is a short line with a strong number (第三章, 一、, 3.1), or any numbered short line
    that stands alone between blank lines, or one underlined with `===` or `---`. A short first
    line that stands alone is the title.
    """
    with_roman = has_roman_numbers(text.splitlines())
    groups = _BLANK_LINE.split(text.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
    for index, group in enumerate(groups):
        lines = [line for line in group.split("\n") if line.strip()]
        underlined = len(lines) > 1 and _is_underline(lines[1])
        if underlined and len(lines) > 2:  # a rule below the names of columns is longer
            is_as_long = len(lines[0].rstrip()) == len(lines[1].rstrip())
            underlined = is_as_long and _is_title(lines[0])
        if (
            index == 0
            and len(groups) > 1
            and (len(lines) == 1 or (underlined and len(lines) == 2))
            and _is_title(lines[0])
        ):
            yield HeadingBlock(lines[0].strip().lstrip("# "), 0, HeadingSource.INFERRED)
        elif underlined:
            yield HeadingBlock(lines[0], 1 if "=" in lines[1] else 2, HeadingSource.INFERRED)
            yield from _group_blocks(lines[2:], with_roman=with_roman)
        else:
            yield from _group_blocks(lines, with_roman=with_roman)


def _group_blocks(lines: list[str], *, with_roman: bool) -> Iterator[Block]:
    # The rank of a heading's number, or of a table's row; None for prose.
    kinds = list[int | None]()
    for line in lines:
        rank = number_rank(line, with_roman=with_roman)
        is_heading = (len(lines) == 1 or is_strong(rank)) and could_be_heading(line)
        kinds.append(_TABLE if _is_row(line) else rank if is_heading else None)
    widest = max([_COLUMN, *map(width, lines)])
    for at, (kind, below) in enumerate(pairwise(kinds)):
        # A numbered line as wide as the text goes on in the next one.
        if kind != _TABLE and below is None and width(lines[at].rstrip()) + 2 > widest:
            kinds[at] = None
    # Two of one rank beside each other are items of a list.
    ranks = [
        rank if rank == _TABLE or rank not in {above, below} else None
        for above, rank, below in zip([None, *kinds], kinds, [*kinds[1:], None], strict=False)
    ]
    for rank, run in groupby(zip(lines, ranks, strict=True), itemgetter(1)):
        members = [line for line, _ in run]
        if rank == _TABLE:
            rows = [line.strip().strip("|").split("|") for line in members]
            if len(rows) > 1 and all(
                set(cell.strip()) <= {"-", ":"} and "--" in cell for cell in rows[1]
            ):
                yield Table([rows[0], *rows[2:]], 1)
            else:
                yield Table(rows, header_rows(rows))
        elif rank is None:
            yield Paragraph("\n".join(unwrap(members)))
        else:
            yield from (HeadingBlock(line, rank + 1, HeadingSource.INFERRED) for line in members)


def _is_underline(line: str) -> bool:
    rule = line.strip()
    return len(rule) >= _LEAST_RULE and set(rule) in ({"="}, {"-"})


def _is_row(line: str) -> bool:
    row = line.strip()
    return len(row) > 1 and row.startswith("|") and row.endswith("|")


def _is_title(line: str) -> bool:
    return could_be_heading(line) and number_rank(line) is None


_SPACED = re.compile(r"\S {3,}\S|\t")
_COLUMN = 50
# What replies set before lines that they quote; ">>> " is a prompt of Python.
_QUOTED = re.compile(r"(?!>>> )(?:>[ ]?)+")
# A word of a program or a command, not of a text: names_like_this, paths, options, operators.
_TECHNICAL = re.compile(
    r"[\w)\]][./:=]\w|\w\((?!e?s\))|[_=<>{}|&$\\@~^`]|\[\w|\A\W*-{1,2}\w|;\Z|\"[:,]\Z"
)
_TECHNICAL_SHARE = 0.25  # of the words of prose are technical, less than that


def unwrap(lines: Sequence[str]) -> list[str]:
    """Join the lines of hard-wrapped text; a line that stops short or ends a sentence stays a line, with its indentation.

    A line continues in the next when it fills most of the widest one of its block, that is as wide as text columns
    are, and what follows would not have fitted, or begins in lower case; that of a list's item, when the next one is
    indented as its text is. Fields (`Owner: …`) and lines set with spaces stand for themselves, and so do all lines
    of a block of records, of which two begin alike (with a time, a number). Quoted lines keep one mark for all.
    """
    unwrapped = list[str]()
    for mark, run in groupby(lines, key=_quote_mark):
        quoted = [line[len(mark) :] for line in run]
        unwrapped += [f"{mark.strip()} {line}" if mark else line for line in _unwrap(quoted)]
    return unwrapped


def _quote_mark(line: str) -> str:
    """Return what a reply sets in front of a line that it quotes: `> `, `>> `."""
    found = _QUOTED.match(line)
    return found[0] if found else ""


def _unwrap(lines: Sequence[str]) -> list[str]:
    margin = min(map(_indentation, lines), default=0)
    widest = max([_COLUMN + margin, *map(width, lines)])
    is_of_records = any(map(begin_alike, lines, lines[1:]))
    paragraphs: list[list[str]] = []
    for line in lines:
        last = paragraphs[-1] if paragraphs and not is_of_records else []
        if last and (_hangs(last, line) or _is_wrapped(last[-1], line, widest)):
            last.append(line)
        else:
            paragraphs.append([line])
    unwrapped = list[str]()
    for paragraph in paragraphs:
        first = paragraph[0][margin:].rstrip()
        indent = " " * _indentation(first) if starts_item(first) else ""
        unwrapped.append(indent + join_lines(paragraph) if len(paragraph) > 1 else first)
    return unwrapped


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _hangs(item: Sequence[str], line: str) -> bool:
    """Return whether a line goes on with the item of a list, below the item's first word."""
    is_below = _indentation(line) == item_indent(item[0])
    return is_below and not (
        starts_item(line)
        or is_field(line)
        or ends_sentence(item[-1])
        or _SPACED.search(line.strip())
    )


def _is_wrapped(line: str, following: str, widest: int) -> bool:
    text, begin = line.rstrip(), following.strip()
    is_indented = _indentation(following) > _indentation(line) or following.startswith("\u3000")
    if is_indented or starts_item(following) or is_field(following):
        return False
    if not (_is_prose(line) and _is_prose(f"{line} {following}") and any(map(str.isalpha, begin))):
        return False
    is_spaced = any(map(_SPACED.search, (text.strip(), begin)))
    if 4 * width(text) < 3 * widest or ends_sentence(text) or is_spaced:
        return False
    word = begin.partition(" ")[0]
    return begin[:1].islower() or is_wide(begin[:1]) or width(text) + 1 + width(word) > widest


def _is_prose(text: str) -> bool:
    """Return whether a text is mostly words, hardly any of them technical; a single word is an address or a key."""
    parts = text.split()
    if len(parts) < 2 and not any(map(is_wide, text)):
        return False
    words = sum(any(map(str.isalpha, part)) for part in parts)
    technical = sum(
        _TECHNICAL.search(part) is not None and not any(map(is_wide, part)) for part in parts
    )
    return 2 * words > len(parts) and technical < _TECHNICAL_SHARE * len(parts)
