"""What was computed of tables, as sentences of an answer: exact, and told without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sextant.domain.events import Cited, Token
from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.attached import attachment_of, is_table
from sextant.nodes.citing.cells import TableCells
from sextant.nodes.citing.citations import Citations
from sextant.nodes.citing.markers import escape_markers
from sextant.tables.cells.values import ValueKind, read_value

FOUND = {"en": "According to the attached table:", "zh": "根据附上的表格："}


def find_table_rows(items: Sequence[RetrievedItem]) -> list[str]:
    """Return the rows of tables that a question leads to, by name: what documents say of them counts too.

    A number or a date, or 2月, is no name: documents have it of anything.
    """
    tables = (attachment for item in items if (attachment := attachment_of(item)))
    names = dict.fromkeys(one.about for table in tables for one in table.findings)
    return [name for name in names if read_value(name).kind is ValueKind.TEXT]


def answer_from_tables(
    items: Sequence[RetrievedItem], given: Citations, language: str
) -> Iterator[Token | Cited]:
    """Tell what the question asks of tables, each statement cited by the place it rests on."""
    begun = False
    for index, item in enumerate(items):
        attachment = attachment_of(item)
        if attachment is None or not is_table(item):
            continue
        cells = TableCells(attachment, item.text)
        for finding in attachment.findings:
            text = escape_markers(finding.text)
            quote = cells.quote(finding.place, text)
            if quote is None:
                continue
            yield given.token("\n" if begun else f"{FOUND[language]}\n")
            begun = True
            yield given.token(text)
            marker = given.shown(index, quote.place)
            yield given.token(marker)
            yield given.cite(index, f"{text}{marker}", quote)
