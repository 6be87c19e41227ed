"""Compute what a question asks of tables, attached or in the documents, over all their rows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sextant.domain.answers import Cited, Token
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import describe_row, table_heads
from sextant.nodes.answers.sanitizer import sanitize_output
from sextant.nodes.citing.attached import TableCells
from sextant.nodes.citing.citations import Citations, attachment_of, escape_markers, is_table
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, headings
from sextant.tables.cells.stored import StoredTable, TableLine, TablePart, cells_of, tables_of
from sextant.tables.cells.values import ValueKind, read_value
from sextant.tables.query.linker import names_column
from sextant.tables.query.parsing import lists_rows, may_compute
from sextant.tables.query.query import TableQuery
from sextant.tables.results.findings import query_for, run_query
from sextant.tables.results.written import ComputedFinding
from sextant.text.characters import plain_of
from sextant.text.statements import has_who

Parts = Callable[[str], Awaitable[list[TablePart]]]
"""All parts of the tables around a passage, by its id."""

FoundTable = tuple[RetrievedItem, StoredTable]
"""A table, and the passage of it that was found."""

HEADS = {
    "en": "According to the table in {name} ({rows} row{s}):",
    "zh": "根据 {name} 中的表格（{rows} 行）：",
}

_TABLES = 3  # read whole for one question, best first
_QUOTED_ROWS = 8  # of a result over many rows, as of a table that is quoted whole
_BARS = len("| ")
# What a column is called in tables whose rows are people.
_OF_PERSONS = re.compile(
    r"姓名|[员职]工|人员|学生|同事|\b(?:employee|staff|person|student|surname)\b"
)


@dataclass(frozen=True, slots=True)
class ComputedTable:
    """A table that has what the question asks for.

    Attributes:
        name: of the table, with the headings above it.
        rows: how many it has.
        passages: ids of all passages that hold its rows.
        sentences: what was computed, each with the passage that has the line it rests on: a row, or the column names.
        listed: the names of the rows in the result.
    """

    name: str
    rows: int
    passages: frozenset[str]
    sentences: tuple[tuple[RetrievedItem, ComputedSentence], ...]
    listed: frozenset[str] = frozenset()

    def items(self) -> list[RetrievedItem]:
        """Return the passages that the sentences rest on, each with those sentences in its metadata."""
        by_id = dict[str, list[ComputedSentence]]()
        for item, computed in self.sentences:
            by_id.setdefault(item.id, []).append(computed)
        whole = {item.id: item for item, _ in self.sentences}
        return [
            replace(item, metadata={**item.metadata, COMPUTED: tuple(by_id[item.id])})
            for item in whole.values()
        ]


def with_computed(
    items: Sequence[RetrievedItem], tables: Sequence[ComputedTable]
) -> list[RetrievedItem]:
    """Return `items` with the passages that computed sentences rest on behind the first passage of each table."""
    placed = list(items)
    for table in tables:
        resting = {item.id: item for item in table.items()}
        known = {item.id for item in placed}
        new = [item for id_, item in resting.items() if id_ not in known]
        first = next((at for at, item in enumerate(placed) if item.id in table.passages), None)
        behind = len(placed) if first is None else first + 1
        placed = [resting.get(item.id, item) for item in placed]
        placed[behind:behind] = new
    return placed


async def read_tables(
    question: str, items: Sequence[RetrievedItem], parts: Parts
) -> list[FoundTable]:
    """Read the tables among `items` whole, if the question may ask for something computed; best first.

    Args:
        question: asks, say, for the highest price, or for all plans under 100.
        items: the passages found, best first.
        parts: reads what stands beside a passage.

    Raises:
        DatabaseUnavailable: the tables cannot be read.
    """
    first = dict[object, RetrievedItem]()
    for item in items:
        if item.is_table and item.document_id:
            first.setdefault((item.document_id, item.metadata.get("section_id")), item)
    if not (first and may_compute(question)):
        return []
    named = sorted(first.values(), key=lambda item: not _names_any(question, _heads_of(item)))
    chosen = named[:_TABLES]
    read = await asyncio.gather(*(parts(item.id) for item in chosen))
    found = {item.id for item in items}
    return [
        (item, table)
        for item, stands in zip(chosen, read, strict=True)
        for table in tables_of(stands)
        if not found.isdisjoint(part.id for part in table.parts)
    ]


def compute_tables(
    question: str, tables: Sequence[FoundTable], language: str
) -> list[ComputedTable]:
    """Return the tables of which it is certain what the question computes; CPU-bound."""
    tables = [one for one in tables if _names_any(question, one[1].table.names)] or tables
    if has_who(plain_of(question)):
        tables = [one for one in tables if _of_persons(*one)] or tables
    tables_asked = [
        (item, table, query)
        for item, table in tables
        if (query := query_for(question, table.table, headings(item)))
    ]
    # Other tables count only with the columns of the best one, as tables of several years have.
    alike = [one for one in tables_asked if one[1].table.names == tables_asked[0][1].table.names]
    is_list = lists_rows(question)
    computed = [_compute_table(*one, language, is_list=is_list) for one in alike]
    return [one for one in computed if one] if computed and computed[0] else []


def compute_query(query: TableQuery, table: FoundTable, language: str) -> list[ComputedTable]:
    """Return a table with what a query comes to over it; [] where that is nothing."""
    computed = _compute_table(*table, query, language, is_list=True)
    return [computed] if computed else []


def cite_table(
    table: ComputedTable, items: Sequence[RetrievedItem], given: Citations, language: str
) -> Iterator[Token | Cited]:
    """Yield what was computed of a table, each sentence cited by the line it rests on.

    Args:
        table: the table.
        items: the passages that `given` counts, those of `table.items()` among them.
        given: the answer so far.
        language: `zh` or `en`.
    """
    indices = {item.id: index for index, item in enumerate(items)}
    texts = [item.text for item in items]
    name = escape_markers(sanitize_output(table.name, texts, language))
    yield given.token(
        HEADS[language].format(name=name, rows=f"{table.rows:,}", s="s" * (table.rows != 1))
    )
    for item, computed in table.sentences:
        index = indices[item.id]
        shown = escape_markers(
            sanitize_output(computed.text[:1].upper() + computed.text[1:], texts, language)
        )
        yield from given.state(index, shown, computed.quote(item), lead="\n")


def _compute_table(
    passage: RetrievedItem,
    table: StoredTable,
    query: TableQuery,
    language: str,
    *,
    is_list: bool,
) -> ComputedTable | None:
    findings = run_query(query, table.table, language, is_list=is_list)
    if not findings:
        return None
    findings_as_text = tuple(_word_finding(one, passage, table) for one in findings)
    ids = frozenset(part.id for part in table.parts)
    rows = len(table.table.records)
    listed = frozenset(plain_of(one.about) for one in findings if one.about)
    return ComputedTable(headings(passage), rows, ids, findings_as_text, listed)


def names_column_of(question: str, table: FoundTable) -> bool:
    """Return whether a question names a column of a table."""
    return _names_any(question, table[1].table.names)


def _names_any(question: str, names: Iterable[str]) -> bool:
    """Return whether a question names a column, and not only what stands in cells."""
    return any(names_column(question, name) for name in names)


def _heads_of(item: RetrievedItem) -> list[str]:
    """Return the names of the columns of the table that a passage has a part of."""
    return [name for head in table_heads(item) for name in cells_of(head)]


def _of_persons(passage: RetrievedItem, table: StoredTable) -> bool:
    """Return whether the rows of a table are people, as its headings or columns tell."""
    return (
        _OF_PERSONS.search(plain_of(" ".join([headings(passage), *table.table.names]))) is not None
    )


def _word_finding(
    finding: ComputedFinding, passage: RetrievedItem, table: StoredTable
) -> tuple[RetrievedItem, ComputedSentence]:
    """Return the sentence of a finding with the passage and the lines that it rests on.

    That is a row, or for a result over many rows the names of the columns with the first rows below them.
    """
    line = table.head if finding.row is None else table.rows[finding.row]
    item, text = _item(passage, line), finding.text
    begin, end = line.start + _BARS, line.end - _BARS
    if finding.row is None:
        below = [one.end for one in table.rows if one.part is line.part]
        begin, end = line.start, [line.end, *below[:_QUOTED_ROWS]][-1]
    if finding.row is not None and finding.listed:
        at = begin - line.part.start
        text = describe_row(line.text[_BARS:-_BARS], item, at)
    return item, ComputedSentence(text, begin, end)


def _item(passage: RetrievedItem, line: TableLine) -> RetrievedItem:
    """Return the passage that has a line, as a search would have found it beside the one that it found."""
    part = line.part
    if part.id == passage.id:
        return passage
    stands = {
        "start": part.start,
        "end": part.start + len(part.text),
        "ordinal": part.ordinal,
        "context": part.context,
        "page": part.page,
    }
    found = {**passage.metadata, **stands}
    return replace(passage, id=part.id, text=part.text, lanes={}, metadata=found)  # by no lane


FOUND = {"en": "According to the attached table:", "zh": "根据附上的表格："}


def find_table_rows(items: Sequence[RetrievedItem]) -> list[str]:
    """Return the names of the rows that a question leads to, for documents may tell more about them.

    Numbers and dates are no names: any document may have them.
    """
    tables = (attachment for item in items if (attachment := attachment_of(item)))
    names = dict.fromkeys(one.about for table in tables for one in table.findings)
    return [name for name in names if read_value(name).kind is ValueKind.TEXT]


def answer_from_tables(
    items: Sequence[RetrievedItem], given: Citations, language: str
) -> Iterator[Token | Cited]:
    """Yield what the question asks of attached tables, each statement cited by the place it rests on."""
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
            yield from given.state(index, text, quote)
