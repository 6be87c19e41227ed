"""Read a table that a caller gives as CSV, Markdown, HTML or rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sextant.domain.errors import FileRejected
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.blocks import Table
from sextant.ingestion.parsing.formats import csv, html
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.tables import header_rows
from sextant.nodes.multimodal.parts import AttachmentPart
from sextant.tables.cells.table import DataTable, make_table
from sextant.text.characters import clean_text

# Tables in one piece of HTML, nested or not.
_MAX_TABLES = 20
_TABLE = re.compile(r"<table\b", re.IGNORECASE)
# All tags except those of tables; they are replaced by spaces.
_OTHER_TAGS = re.compile(
    r"</?(?!/?(?:table|thead|tbody|tfoot|tr|th|td|caption|br)\b)[a-z!][^<>]*>", re.IGNORECASE
)
_RULE = frozenset("|:- \t")
_BAR = re.compile(r"(?<!\\)\|")
# Emphasis and code in a cell.
_MARKS = re.compile(r"(\*\*|__|\*|`)([^*_`]{1,500})\1")


def is_piped(text: str) -> bool:
    """Return whether `text` has a Markdown table: bars, and a line of dashes below the names."""
    return "|" in text and any(map(_is_rule, text.splitlines()))


def read_markdown_table(text: str) -> Table | None:
    """Return the largest Markdown table in `text`, or None."""
    return max(_split_tables(text.splitlines()), key=lambda table: len(table.rows), default=None)


def read_html_table(text: str, limits: Limits) -> Table | None:
    """Return the largest table in a piece of HTML; None if there is none, or too many.

    Raises:
        FileRejected: it has too many cells.
    """
    if len(_TABLE.findall(text)) > _MAX_TABLES:
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
    return [_MARKS.sub(r"\2", cell).replace("\\|", "|").strip() for cell in _BAR.split(inside)]


_HTML = re.compile(r"<\s*(?:table|tr|td|html)\b", re.IGNORECASE)
# Statistics are computed for every column.
_MAX_COLUMNS = 1_000
_FORMS = 'Give CSV, Markdown or HTML as text, or rows like [["name", "price"], ["pen", 2]].'


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table, with a warning if rows were filled up."""

    table: DataTable
    warnings: tuple[CodedWarning, ...] = ()


def read_table(part: AttachmentPart, settings: Settings) -> ReadTable:
    """Read `table_data`. CPU-bound, a second for 100,000 cells: call it in a thread.

    Raises:
        OptionInvalid: there is no table in it, or it is too large; the field is named.
    """
    try:
        found = _table(part, settings)
    except FileRejected as error:
        raise part.wrong("table_data", error.message, error.next_step) from error
    rows = [[_cell(part, cell) for cell in row] for row in found.rows]
    width = max((len(row) for row in rows), default=0)
    _check_width(part, width)
    _check_size(part, len(rows) * width, settings)
    # Detected, if the form of the table does not say it.
    header = found.header_rows if found.header_rows > 0 else header_rows(rows)
    table = make_table(rows, header, found.repeated)
    if not any(table.names):
        # The names that markers use, so that a question can use them, too.
        table = replace(table, names=tuple(map(table.name, range(table.width))))
    if not table.rows or not any(any(row) for row in table.rows):
        raise part.wrong("table_data", "The table has no filled row.", _FORMS)
    ragged = [at for at, row in enumerate(rows, start=1) if len(row) != width]
    if not ragged:
        return ReadTable(table)
    listed = [*ragged[:5], *(["…"] if len(ragged) > 5 else [])]
    params = {"label": part.label, "width": width, "rows": listed}
    return ReadTable(table, (CodedWarning(WarningCode.ROWS_FILLED_UP, params),))


def _table(part: AttachmentPart, settings: Settings) -> Table:
    data = part.values.get("table_data")
    if isinstance(data, str):
        return _from_text(part, data, settings)
    if isinstance(data, Mapping) and {"columns", "rows"} <= data.keys():
        rows = _as_list(part, data["rows"], settings)
        return Table([*_as_list(part, [data["columns"]], settings), *rows], 1)
    rows = _as_list(part, data, settings)
    if isinstance(rows[0], Mapping):
        names = list(dict.fromkeys(name for row in rows for name in row))
        _check_width(part, len(names))
        _check_size(part, (len(rows) + 1) * len(names), settings)  # before they are filled up
        return Table([names, *([row.get(name) for name in names] for row in rows)], 1)
    return Table(rows, -1)


def _as_list(part: AttachmentPart, data: object, settings: Settings) -> list[Any]:
    if not isinstance(data, Sequence) or isinstance(data, str | bytes) or not data:
        raise part.wrong("table_data", "It holds no table.", _FORMS)
    cells = 0
    kind = Mapping if isinstance(data[0], Mapping) else Sequence
    for number, row in enumerate(data, start=1):
        if not isinstance(row, kind) or isinstance(row, str | bytes):
            raise part.wrong(f"table_data[{number - 1}]", "It is not a row.", _FORMS)
        cells += len(row)
        _check_size(part, cells, settings)
    return list(data)


def _from_text(part: AttachmentPart, data: str, settings: Settings) -> Table:
    most = settings.multimodal.table_chars
    if len(data) > most:
        raise part.wrong(
            "table_data", f"It has more than {most:,} characters.", "Ingest it as a document."
        )
    text, limits = clean_text(data).strip(), Limits.of(settings)
    found: Table | None
    if _HTML.search(text):
        found = read_html_table(text, limits)
    elif is_piped(text):
        found = read_markdown_table(text)
    else:
        blocks = csv.parse(text.encode(), limits).blocks
        found = next((block for block in blocks if isinstance(block, Table)), None)
    if found is None:
        raise part.wrong("table_data", "No table was found in it.", _FORMS)
    return found


def _check_width(part: AttachmentPart, columns: int) -> None:
    if columns > _MAX_COLUMNS:
        raise part.wrong(
            "table_data",
            f"The table has more than {_MAX_COLUMNS:,} columns.",
            "Send only those that the question is about.",
        )


def _check_size(part: AttachmentPart, cells: int, settings: Settings) -> None:
    most = settings.limits.table_cells
    if cells > most:
        raise part.wrong(
            "table_data",
            f"The table has more than {most:,} cells.",
            "Send only the rows that the question is about, or ingest the table as a document.",
        )


def _cell(part: AttachmentPart, value: object) -> str:
    if isinstance(value, Mapping | list):
        raise part.wrong("table_data", "A cell holds a list or an object.", _FORMS)
    return "" if value is None else " ".join(clean_text(str(value)).split())
