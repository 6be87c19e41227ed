"""What a question asks of a table in the documents, computed over all its rows and not those found."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sextant.domain.documents import Modality
from sextant.domain.events import Cited, Token
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import table_heads
from sextant.models.offline.wording import content_words, terms
from sextant.nodes.answers.rows import describe_row
from sextant.nodes.answers.sanitizing import sanitize_output
from sextant.nodes.citing.citations import Citations
from sextant.nodes.citing.markers import unmarked
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, headings
from sextant.tables.cells.stored import StoredTable, TableLine, TablePart, cells_of, tables_of
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.dates import ANY_YEAR
from sextant.tables.question.reading import names_column, plain_name, says_kind
from sextant.tables.question.rest import ENGLISH_PERSONS, OF_ANY_ROW, PERSONS
from sextant.tables.question.speaking import computes, without_asking
from sextant.tables.question.wording import MEASURED
from sextant.tables.results.findings import Clause, clauses_for, findings_unasked
from sextant.tables.results.written import Finding
from sextant.text.characters import has_cjk
from sextant.text.other_words import synonym_patterns
from sextant.text.persons import has_who
from sextant.text.simplified import plain_of
from sextant.text.stopwords import CHINESE_STOP_WORDS
from sextant.text.whole_words import find_whole

Parts = Callable[[str], Awaitable[list[TablePart]]]
"""All parts of the tables around a passage, by its id."""

HEADS = {
    "en": "According to the table in {name} ({rows} row{s}):",
    "zh": "根据 {name} 中的表格（{rows} 行）：",
}

_TABLES = 3  # so many are read whole for one question, best first
_BARS = len("| ")
# What a column is called in tables whose rows are people.
_OF_PERSONS = re.compile(
    r"姓名|[员职]工|人员|学生|同事|\b(?:employee|staff|person|student|surname)\b"
)


@dataclass(frozen=True, slots=True)
class ComputedTable:
    """A table that has what the question asks for.

    `passages` are the ids of all that hold its rows, `sentences` what was computed, each sentence with the passage
    that has the line it rests on: a row, or the names of the columns. `listed`: what rows are called that it
    is all about.
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
    """Return `items`, and right behind the first of each table the passages that computed sentences rest on."""
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


async def compute_tables(
    question: str, items: Sequence[RetrievedItem], language: str, parts: Parts
) -> list[ComputedTable]:
    """Return the tables among `items` of which it is certain what the question computes, best first.

    Args:
        question: asks, say, for the highest price, or for all plans under 100.
        items: the passages found, best first.
        language: `zh` or `en`, of the sentences.
        parts: reads what stands beside a passage.

    Raises:
        DatabaseUnavailable: the tables cannot be read.
    """
    if not computes(question):
        return []
    first = dict[object, RetrievedItem]()
    for item in items:
        if item.metadata.get("modality") == Modality.TABLE and item.document_id:
            first.setdefault((item.document_id, item.metadata.get("section_id")), item)
    named = sorted(first.values(), key=lambda item: not _names_any(question, _heads_of(item)))
    chosen = named[:_TABLES]
    read = await asyncio.gather(*(parts(item.id) for item in chosen))
    found = {item.id for item in items}
    beside = list(zip(chosen, read, strict=True))
    return await asyncio.to_thread(_all_computed, question, beside, found, language)


def _all_computed(
    question: str,
    beside: Sequence[tuple[RetrievedItem, Sequence[TablePart]]],
    found: Set[str],
    language: str,
) -> list[ComputedTable]:
    """Return what the question computes of tables that it speaks of, by the passages found and what stands beside each."""
    tables = [
        (item, table)
        for item, stands in beside
        for table in tables_of(stands)
        if not found.isdisjoint(part.id for part in table.parts)
        and _speaks_of_all(question, item, table)
    ]
    tables = [one for one in tables if _names_any(question, one[1].table.names)] or tables
    if has_who(plain_of(question)):
        tables = [one for one in tables if _of_persons(*one)] or tables
    asked = [
        (item, table, clauses)
        for item, table in tables
        if (clauses := clauses_for(question, table.table, headings(item)))
    ]
    # What the best one does not tell is not asked of another; years of one table all count.
    alike = [one for one in asked if one[1].table.names == asked[0][1].table.names]
    computed = [_compute_table(*one, language) for one in alike]
    return [one for one in computed if one] if computed and computed[0] else []


def cite_table(
    table: ComputedTable, items: Sequence[RetrievedItem], given: Citations, language: str
) -> Iterator[Token | Cited]:
    """Tell what was computed of a table, each sentence cited by the line it rests on.

    Args:
        table: the table.
        items: the passages that `given` counts, those of `table.items()` among them.
        given: what the answer has so far.
        language: `zh` or `en`.
    """
    places = {item.id: place for place, item in enumerate(items)}
    texts = [item.text for item in items]
    name = unmarked(sanitize_output(table.name, texts, language))
    yield given.token(
        HEADS[language].format(name=name, rows=f"{table.rows:,}", s="s" * (table.rows != 1))
    )
    for item, computed in table.sentences:
        place = places[item.id]
        shown = unmarked(
            sanitize_output(computed.text[:1].upper() + computed.text[1:], texts, language)
        )
        yield given.token(f"\n{shown}")
        marker = given.shown(place)
        yield given.token(marker)
        yield given.cite(place, f"{shown}{marker}", computed.quote(item))


def _compute_table(
    beside: RetrievedItem, table: StoredTable, clauses: Sequence[Clause], language: str
) -> ComputedTable | None:
    findings = findings_unasked(clauses, table.table, language, headings(beside))
    if not findings:
        return None
    told = tuple(_word_finding(one, beside, table) for one in findings)
    ids = frozenset(part.id for part in table.parts)
    rows = len(table.table.records)
    listed = frozenset(plain_of(one.about) for one in findings if one.about)
    return ComputedTable(headings(beside), rows, ids, told, listed)


def _names_any(question: str, names: Iterable[str]) -> bool:
    """Return whether a question names a column, and not only what stands in cells."""
    return any(names_column(question, name) for name in names)


def _heads_of(item: RetrievedItem) -> list[str]:
    """Return the names of the columns of the table that a passage has a part of."""
    return [name for head in table_heads(item) for name in cells_of(head)]


def _of_persons(beside: RetrievedItem, table: StoredTable) -> bool:
    """Return whether the rows of a table are people, as its headings or columns tell."""
    return (
        _OF_PERSONS.search(plain_of(" ".join([headings(beside), *table.table.names]))) is not None
    )


def _speaks_of_all(question: str, beside: RetrievedItem, table: StoredTable) -> bool:
    """Return whether a table has all that a question speaks of: "the average salary in Tokyo" needs a Tokyo."""
    said = _TableText.by(beside, table)
    dated = any(column.kind is ValueKind.DATE for column in table.table.columns)
    asked = said.out_of(without_asking(question, dated=dated, year=ANY_YEAR))
    return all(said.tells(word) or said.composes(word) for word in content_words(asked))


@dataclass(frozen=True, slots=True)
class _TableText:
    """What a table says: `text`, all of it; `known`, what it need not say; `whole`, cells and column `names`."""

    text: str
    known: frozenset[str]
    whole: frozenset[str]
    names: Sequence[str]

    @classmethod
    def by(cls, beside: RetrievedItem, table: StoredTable) -> _TableText:
        """Return what a table says under its headings."""
        names = table.table.names
        cells = [cell for row in table.table.rows for cell in row]
        above = plain_of(" ".join([headings(beside), *names]))
        known = {*terms(above), *OF_ANY_ROW}
        if any(_OF_PERSONS.search(plain_of(name)) for name in names):
            known |= PERSONS | ENGLISH_PERSONS
        whole = {*map(plain_of, (*cells, *names)), *map(plain_name, names)}
        text = plain_of(" ".join([above, *cells]))
        return cls(text, frozenset(known), frozenset(whole), names)

    def out_of(self, text: str) -> str:
        """Return a text without the whole values, and without other words for what the table says.

        The segmenter joins values with what is beside them, 在东 of 不在东校区.
        """
        values = sorted(filter(text.__contains__, self.whole), key=len, reverse=True)
        otherwise = [
            word for word, form in synonym_patterns(text).items() if form.search(self.text)
        ]
        for one in (*values, *otherwise):
            while len(one) > 1 and (span := find_whole(text, one)):
                text = f"{text[: span[0]]} {text[span[1] :]}"
        return text

    def tells(self, word: str) -> bool:
        """Return whether the table says it, or need not."""
        return (
            word in self.text
            or word in self.known
            or word.startswith("哪")
            or MEASURED.fullmatch(word) is not None
        )

    def composes(self, word: str) -> bool:
        """Return whether it is a value or column with what that is of, or in front of what the rows are: 研发部门, 类产品, 类有."""
        ends = range(1, len(word)) if has_cjk(word) else ()
        return any(self._joins(word[:end], word[end:]) for end in ends)

    def _joins(self, first: str, second: str) -> bool:
        return (
            (first == "总" and second in self.whole)
            or (first in self.whole and any(says_kind(second, name) for name in self.names))
            or (second in self.known and first in self.text)
            or (second in CHINESE_STOP_WORDS and self.tells(first))
        )


def _word_finding(
    finding: Finding, beside: RetrievedItem, table: StoredTable
) -> tuple[RetrievedItem, ComputedSentence]:
    line = table.head if finding.row is None else table.rows[finding.row]
    item = _item(beside, line)
    begin, end = line.start + _BARS, line.end - _BARS
    text = finding.text
    if finding.row is not None and finding.listed:
        at = begin - line.part.start
        text = describe_row(line.text[_BARS:-_BARS], item, at)
    return item, ComputedSentence(text, begin, end)


def _item(beside: RetrievedItem, line: TableLine) -> RetrievedItem:
    """Return the passage that has a line, as a search would have found it beside the one that it found."""
    part = line.part
    if part.id == beside.id:
        return beside
    stands = {
        "start": part.start,
        "end": part.start + len(part.text),
        "ordinal": part.ordinal,
        "context": part.context,
        "page": part.page,
    }
    found = {**beside.metadata, **stands}
    return replace(beside, id=part.id, text=part.text, lanes={}, metadata=found)  # by no lane
