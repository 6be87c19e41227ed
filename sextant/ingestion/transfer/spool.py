"""Where the lines of an import wait until all are known: a temporary SQLite file.

Lines come in any order, and a relation may name what only a later line brings; the file holds them
sorted, so that memory stays flat however large the import is.

Also here: reading from files and spools without keeping the loop waiting.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson

from sextant.domain.errors import DependencyError
from sextant.domain.warnings import CodedWarning, WarningCode
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


async def next_of(
    items: Iterator[T], number: int, size: Callable[[T], int] = lambda _: 0, budget: int = 0
) -> list[T]:
    """Return the next items, fetched off the loop; empty at the end.

    Args:
        items: from these.
        number: so many at most.
        size: of an item; none is added to what has more than `budget` together.
        budget: as large as a batch may be before its last item.
    """

    def taken() -> list[T]:
        batch, size_so_far = list[T](), 0
        while len(batch) < number and size_so_far <= budget:
            try:
                batch.append(next(items))
            except StopIteration:
                break
            size_so_far += size(batch[-1])
        return batch

    return await asyncio.to_thread(taken)


_TABLES = """
pragma journal_mode = off; pragma synchronous = off;
create table document (id text primary key, line int, body blob);
create table chunk (id text primary key, line int, document_id text, body blob, uuid blob);
create index chunk_of on chunk (document_id, line);
create table entity (key text primary key, line int, norm text, body blob);
create index entity_norm on entity (norm, key);
create table relation (line int primary key, body blob);
create table decision (line int primary key, body blob);
"""


L_co = TypeVar("L_co", covariant=True)


class Numbered(NamedTuple, Generic[L_co]):
    """A line with its number."""

    number: int
    line: L_co


# Characters of the documents that are read from here at a time: some of 50 MB are not in memory together.
DOCUMENTS_CHARS = 4_000_000


def size_of(document: tuple[Numbered[DocumentLine], list[ChunkLine]]) -> int:
    """Return characters of a document and its chunks."""
    (_, line), chunks = document
    return len(line.text or "") + sum(len(chunk.text) for chunk in chunks)


class Spool:
    """The lines of one import; every method blocks, so call them in a thread.

    Attributes:
        size: how many lines there are; one that replaces another is not counted again.
    """

    def __init__(self) -> None:
        self.size = 0
        # A file without a name, so that nothing is left of it even by a process that is killed.
        self._rows = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._rows.executescript(_TABLES)

    def close(self) -> None:
        """Close the file, which is its end."""
        self._rows.close()

    def add(self, lines: Sequence[Numbered[Line]]) -> list[LineProblem]:
        """Keep lines; one that repeats the id of another replaces it, which is reported."""
        self._rows.execute("begin")
        problems = [problem for one in lines for problem in self._add(*one)]
        self._rows.execute("commit")
        return problems

    def _add(self, number: int, line: Line) -> Iterator[LineProblem]:
        before = None
        match line:
            case DocumentLine():
                before = self._put("document", line.id, (number, _body(line)))
            case ChunkLine():
                before = self._put("chunk", line.id, (number, line.document_id, _body(line), None))
            case EntityLine():
                norm = normalise_name(line.name)
                key = f"id {line.id}" if line.id else f"name {norm}"
                before = self._put("entity", key, (number, norm, _body(line)))
            case RelationLine() | DecisionLine():
                self._rows.execute(f"insert into {line.type} values (?, ?)", (number, _body(line)))
        if before is None:
            self.size += 1
        else:
            remark = CodedWarning(WarningCode.LINE_REPLACES, {"before": before})
            yield LineProblem(number, remark, kept=True)

    def _put(self, table: str, key: str, values: tuple[object, ...]) -> int | None:
        """Keep a line under its key; returns the line that had it before."""
        marks = ", ".join("?" * (len(values) + 1))
        insert = f"insert or {{}} into {table} values ({marks})"
        if self._rows.execute(insert.format("ignore"), (key, *values)).rowcount:
            return None
        name = "key" if table == "entity" else "id"
        found = self._one(f"select line from {table} where {name} = ?", key)
        self._rows.execute(insert.format("replace"), (key, *values))
        return found[0] if found else None

    def count(self, table: str) -> int:
        """Return how many lines of a kind there are."""
        found: int = self._rows.execute(f"select count(*) from {table}").fetchone()[0]
        return found

    def document_count(self) -> int:
        """Return how many documents there are, lone chunks included."""
        lone = self._rows.execute("select count(*) from chunk where document_id is null")
        return self.count("document") + int(lone.fetchone()[0])

    def orphans(self) -> list[LineProblem]:
        """Take out the chunks of documents that no line describes."""
        gone = self._rows.execute(
            "delete from chunk where document_id is not null and not exists "
            "(select 1 from document d where d.id = chunk.document_id) returning line, document_id"
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
        for number, body in self._rows.execute("select line, body from document order by line"):
            document = DocumentLine.model_validate(orjson.loads(body))
            chunks = self._rows.execute(
                "select body from chunk where document_id = ? order by line", (document.id,)
            )
            yield (
                Numbered(number, document),
                [ChunkLine.model_validate(orjson.loads(chunk)) for (chunk,) in chunks],
            )
        query = "select line, body from chunk where document_id is null order by line"
        for number, body in self._rows.execute(query):
            chunk = ChunkLine.model_validate(orjson.loads(body))
            yield Numbered(number, DocumentLine(id=chunk.id, title=chunk.title)), [chunk]

    def note_stored(self, ids: dict[str, UUID]) -> None:
        """Note under which ids chunks were stored."""
        self._rows.executemany(
            "update chunk set uuid = ? where id = ?",
            [(uuid.bytes, external_id) for external_id, uuid in ids.items()],
        )

    def entities(self) -> Iterator[list[Numbered[EntityLine]]]:
        """Yield the entities of each name in turn, ordered by id."""
        rows = self._rows.execute("select norm, line, body from entity order by norm, key")
        for _, group in groupby(rows, key=lambda row: row[0]):
            yield [
                Numbered(number, EntityLine.model_validate(orjson.loads(body)))
                for _, number, body in group
            ]

    def relations(self) -> Iterator[Numbered[RelationLine]]:
        """Yield all relations, in order."""
        for number, body in self._rows.execute("select line, body from relation order by line"):
            yield Numbered(number, RelationLine.model_validate(orjson.loads(body)))

    def decisions(self) -> Iterator[Numbered[DecisionLine]]:
        """Yield all decisions, in order."""
        for number, body in self._rows.execute("select line, body from decision order by line"):
            yield Numbered(number, DecisionLine.model_validate(orjson.loads(body)))

    def chunk(self, external_id: str) -> UUID | None:
        """Return the id of a chunk of this import."""
        found = self._one("select uuid from chunk where id = ?", external_id)
        return UUID(bytes=found[0]) if found and found[0] else None

    def _one(self, query: str, key: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._rows.execute(query, (key,)).fetchone()
        return row


def _body(line: Line) -> bytes:
    return orjson.dumps(line.wire())


@contextmanager
def spool() -> Iterator[Spool]:
    """Provide a spool that is gone afterwards.

    Raises:
        DependencyError: where temporary files are kept is no room left.
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
