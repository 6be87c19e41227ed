"""Store the lines of an import in a temporary SQLite file until all have been read.

Lines come in any order, and a relation may name what a later line brings. The file sorts them, and memory stays
flat however large the import is.

Also here: take batches from a file or a spool without blocking the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson

from sextant.domain.errors import DependencyError
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.progress import runs_of
from sextant.ingestion.transfer.lines import (
    ChunkLine,
    DecisionLine,
    DocumentLine,
    EntityLine,
    Line,
    LineProblem,
    RelationLine,
)
from sextant.text.characters import normalise_name

T = TypeVar("T")


async def read_in_thread(
    items: Iterator[T], most: int, size: Callable[[T], int] = lambda _: 0, budget: int = 0
) -> AsyncIterator[list[T]]:
    """Yield the runs of `runs_of`, each read in a thread."""
    runs = runs_of(items, size, budget, most)
    while run := await asyncio.to_thread(next, runs, None):
        yield run


_TABLES = """
pragma journal_mode = off; pragma synchronous = off;
create table line (type text, key text, number int, parent text, name text, body blob, uuid blob,
  primary key (type, key));
create index in_order on line (type, parent, number);
create index by_name on line (type, name, key);
"""


L = TypeVar("L", DocumentLine, ChunkLine, EntityLine, RelationLine, DecisionLine)
L_co = TypeVar("L_co", covariant=True)


class Numbered(NamedTuple, Generic[L_co]):
    """A line with its number."""

    number: int
    line: L_co


def _count_characters(document: tuple[Numbered[DocumentLine], list[ChunkLine]]) -> int:
    (_, line), chunks = document
    return len(line.text or "") + sum(len(chunk.text) for chunk in chunks)


class Spool:
    """The lines of one import; every method blocks, so call them in a thread.

    Attributes:
        size: the number of lines; one that replaces another is not counted again.
    """

    def __init__(self) -> None:
        self.size = 0
        # The file has no name, so it is gone even if the process is killed.
        self._rows = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._rows.executescript(_TABLES)

    def close(self) -> None:
        """Close and delete the file."""
        self._rows.close()

    def add(self, lines: Sequence[Numbered[Line]]) -> list[LineProblem]:
        """Store lines; one that repeats the id of another replaces it, which is reported."""
        self._rows.execute("begin")
        problems = [problem for one in lines if (problem := self._add(*one)) is not None]
        self._rows.execute("commit")
        return problems

    def _add(self, number: int, line: Line) -> LineProblem | None:
        key, parent, name = str(number), None, None
        match line:
            case DocumentLine():
                key = line.id
            case ChunkLine():
                key, parent = line.id, line.document_id
            case EntityLine():
                name = normalise_name(line.name)
                key = f"id {line.id}" if line.id else f"name {name}"
        before = self._one("select number from line where type = ? and key = ?", line.type, key)
        self._rows.execute(
            "insert or replace into line values (?, ?, ?, ?, ?, ?, null)",
            (line.type, key, number, parent, name, orjson.dumps(line.wire())),
        )
        if before is None:
            self.size += 1
            return None
        remark = CodedWarning(WarningCode.LINE_REPLACES, {"before": before[0]})
        return LineProblem(number, remark, kept=True)

    def count(self, *types: str) -> int:
        """Return how many lines of these types there are."""
        marks = ", ".join("?" * len(types))
        found = self._one(f"select count(*) from line where type in ({marks})", *types)
        return int(found[0]) if found else 0

    def document_count(self) -> int:
        """Return how many documents there are, lone chunks included."""
        lone = self._one("select count(*) from line where type = 'chunk' and parent is null")
        return self.count("document") + (int(lone[0]) if lone else 0)

    def orphans(self) -> list[LineProblem]:
        """Remove the chunks whose documents no line describes; return why."""
        gone = self._rows.execute(
            "delete from line as chunk where type = 'chunk' and parent is not null and not exists "
            "(select 1 from line d where d.type = 'document' and d.key = chunk.parent) "
            "returning number, parent"
        ).fetchall()
        return [
            LineProblem(
                line,
                CodedWarning(WarningCode.LINE_WITHOUT_DOCUMENT, {"document": f"{named!r:.80}"}),
            )
            for line, named in gone
        ]

    def documents(self) -> Iterator[tuple[Numbered[DocumentLine], list[ChunkLine]]]:
        """Yield each document with its chunks in the order of their lines; lone chunks come last."""
        for document in self._read(DocumentLine, "order by number"):
            chunks = self._read(ChunkLine, "and parent = ? order by number", document.line.id)
            yield document, [chunk for _, chunk in chunks]
        for number, chunk in self._read(ChunkLine, "and parent is null order by number"):
            yield Numbered(number, DocumentLine(id=chunk.id, title=chunk.title)), [chunk]

    def document_batches(
        self, most: int
    ) -> AsyncIterator[list[tuple[Numbered[DocumentLine], list[ChunkLine]]]]:
        """Yield at most `most` documents at a time, read in a thread."""
        # So that several documents of 50 MB are not in memory together.
        return read_in_thread(self.documents(), most, _count_characters, 4_000_000)

    def note_stored(self, ids: dict[str, UUID]) -> None:
        """Note under which ids chunks were stored."""
        self._rows.executemany(
            "update line set uuid = ? where type = 'chunk' and key = ?",
            [(uuid.bytes, external_id) for external_id, uuid in ids.items()],
        )

    def entities(self) -> Iterator[list[Numbered[EntityLine]]]:
        """Yield the entities of each name in turn, ordered by id."""
        lines = self._read(EntityLine, "order by name, key")
        for _, group in groupby(lines, key=lambda one: normalise_name(one.line.name)):
            yield list(group)

    def relations(self) -> Iterator[Numbered[RelationLine]]:
        """Yield all relations, in order."""
        return self._read(RelationLine, "order by number")

    def decisions(self) -> Iterator[Numbered[DecisionLine]]:
        """Yield all decisions, in order."""
        return self._read(DecisionLine, "order by number")

    def chunk(self, external_id: str) -> UUID | None:
        """Return the id of a chunk of this import."""
        found = self._one("select uuid from line where type = 'chunk' and key = ?", external_id)
        return UUID(bytes=found[0]) if found and found[0] else None

    def _read(self, form: type[L], which: str, *values: str) -> Iterator[Numbered[L]]:
        """Yield the lines of one form; `which` is the rest of the query."""
        query = f"select number, body from line where type = ? {which}"
        line_type = form.model_fields["type"].default
        for number, body in self._rows.execute(query, (line_type, *values)):
            yield Numbered(number, form.model_validate_json(body))

    def _one(self, query: str, *values: str) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._rows.execute(query, values).fetchone()
        return row


@contextmanager
def spool() -> Iterator[Spool]:
    """Provide a spool, and delete it at the end.

    Raises:
        DependencyError: the disk of temporary files is full.
    """
    opened = Spool()
    try:
        yield opened
    except sqlite3.OperationalError as error:
        raise DependencyError(
            f"The import's lines cannot be kept in a temporary file: {error}.",
            next_step="Make room there, or let TMPDIR name a folder that has some.",
        ) from error
    finally:
        opened.close()
