"""Tables written as Markdown or HTML within a question, read in time that grows with their length.

A whole Markdown or HTML parser needs minutes for megabytes made for it (`[[[[…`, `<table><tr><td>…`:
measured, 300 kB took more than 8 s of CPU), and unlike a document's, a question's table is read within
the server. So only what makes a table is read here, and nesting is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.ingestion.parsing.blocks import Table
from sextant.ingestion.parsing.formats import html
from sextant.ingestion.parsing.limits import Limits

# Tables within tables, and beside each other.
_MOST_TABLES = 20
_TABLE = re.compile(r"<table\b", re.IGNORECASE)
# Everything but what a table is made of; white space in its place keeps words apart.
_OTHER_TAGS = re.compile(
    r"</?(?!/?(?:table|thead|tbody|tfoot|tr|th|td|caption|br)\b)[a-z!][^<>]*>", re.IGNORECASE
)
_RULE = frozenset("|:- \t")
_BAR = re.compile(r"(?<!\\)\|")
# Emphasis and code around a cell's words.
_MARKS = re.compile(r"(\*\*|__|\*|`)([^*_`]{1,500})\1")


def is_piped(text: str) -> bool:
    """Return whether a Markdown table stands in `text`: bars, and a line of dashes below the names."""
    return "|" in text and any(map(_is_rule, text.splitlines()))


def read_markdown_table(text: str) -> Table | None:
    """Return the largest Markdown table of `text`, or None."""
    return max(_split_tables(text.splitlines()), key=lambda table: len(table.rows), default=None)


def read_html_table(text: str, limits: Limits) -> Table | None:
    """Return the largest table of a piece of HTML; None where there is none, or too many.

    Raises:
        FileRejected: it has too many cells.
    """
    if len(_TABLE.findall(text)) > _MOST_TABLES:
        return None
    blocks = html.parse(_OTHER_TAGS.sub(" ", text).encode(), limits).blocks
    tables = [block for block in blocks if isinstance(block, Table)]
    return max(tables, key=lambda table: len(table.rows), default=None)


def _split_tables(lines: list[str]) -> Iterator[Table]:
    rows: list[list[str]] = []
    for line, before in zip([*lines, ""], ["", *lines], strict=True):
        if rows and "|" in line:
            rows.append(_cells(line))
            continue
        if rows:
            yield Table(rows)
            rows = []
        if _is_rule(line) and before.strip():
            rows = [_cells(before)]


def _is_rule(line: str) -> bool:
    return "--" in line and _RULE.issuperset(line)


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    return [_plain(cell) for cell in _BAR.split(inside)]


def _plain(cell: str) -> str:
    return _MARKS.sub(r"\2", cell).replace("\\|", "|").strip()
