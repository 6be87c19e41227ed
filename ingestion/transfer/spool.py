"""Where the lines of an import wait until all are known: a temporary SQLite file.

Lines come in any order, and a relation may name what only a later line brings; the file holds them
sorted, so that memory stays flat however large the import is.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

import orjson

from domain.text import normalise_name
from ingestion.transfer.lines import (
    ChunkLine,
    DecisionLine,
    DocumentLine,
    EntityLine,
    Line,
    Problem,
    RelationLine,
)

_TABLES = """
pragma journal_mode = off; pragma synchronous = off;
create table document (id text primary key, line int, body blob);
create table chunk (id text primary key, line int, document_id text, body blob, uuid blob);
create index chunk_of on chunk (document_id, line);
create table entity (key text primary key, line int, norm text, body blob, uuid blob);
create index entity_norm on entity (norm, key);
create index entity_uuid on entity (uuid);
create index entity_line on entity (line);
create table mention (entity blob, chunk blob, primary key (entity, chunk)) without rowid;
create table relation (line int primary key, body blob);
create table decision (line int primary key, body blob);
"""


L_co = TypeVar("L_co", bound=Line, covariant=True)


class Numbered(NamedTuple, Generic[L_co]):
    """A line with its number."""

    number: int
    line: L_co


class Spool:
    """The lines of one import; every method blocks, so call them in a thread."""

    def __init__(self, path: Path) -> None:
        self._rows = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._rows.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        self._rows.close()

    def add(self, lines: Sequence[Numbered[Line]]) -> list[Problem]:
        """Keep lines; one that repeats the id of another takes its place, and that is said."""
        self._rows.execute("begin")
        problems = [problem for one in lines for problem in self._add(*one)]
        self._rows.execute("commit")
        return problems

    def _add(self, number: int, line: Line) -> Iterator[Problem]:
        body = orjson.dumps(line.wire())
        match line:
            case DocumentLine():
                before = self._put("document", line.id, (number, body))
            case ChunkLine():
                before = self._put("chunk", line.id, (number, line.document_id, body, None))
            case EntityLine():
                norm = normalise_name(line.name)
                key = f"id {line.id}" if line.id else f"name {norm}"
                before = self._put("entity", key, (number, norm, body, None))
            case RelationLine() | DecisionLine():
                self._rows.execute(f"insert into {line.type} values (?, ?)", (number, body))
                return
        if before is not None:
            said = f"It takes the place of line {before}, which has the same id."
            yield Problem(number, said, kept=True)

    def _put(self, table: str, key: str, values: tuple[object, ...]) -> int | None:
        name = "key" if table == "entity" else "id"
        found = self._one(f"select line from {table} where {name} = ?", key)
        marks = ", ".join("?" * (len(values) + 1))
        self._rows.execute(f"insert or replace into {table} values ({marks})", (key, *values))
        return found[0] if found else None

    def count(self, table: str) -> int:
        """How many lines of a kind there are."""
        found: int = self._rows.execute(f"select count(*) from {table}").fetchone()[0]
        return found

    def size(self) -> int:
        """How many lines there are."""
        return sum(map(self.count, ("document", "chunk", "entity", "relation", "decision")))

    def document_count(self) -> int:
        """How many documents there are, lone chunks included."""
        lone = self._rows.execute("select count(*) from chunk where document_id is null")
        return self.count("document") + int(lone.fetchone()[0])

    def orphans(self) -> list[Problem]:
        """Take out the chunks of documents that no line describes."""
        gone = self._rows.execute(
            "delete from chunk where document_id is not null and not exists "
            "(select 1 from document d where d.id = chunk.document_id) returning line, document_id"
        ).fetchall()
        return [
            Problem(line, f"No line describes its document {named!r:.80}.") for line, named in gone
        ]

    def documents(self) -> Iterator[tuple[Numbered[DocumentLine], list[ChunkLine]]]:
        """Each document with its chunks in the order of their lines; lone chunks come last."""
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

    def stored(self, ids: dict[str, UUID]) -> None:
        """Note under which ids chunks were stored."""
        self._rows.executemany(
            "update chunk set uuid = ? where id = ?",
            [(uuid.bytes, external_id) for external_id, uuid in ids.items()],
        )

    def entities(self) -> Iterator[list[Numbered[EntityLine]]]:
        """The entities of each name in turn, ordered by id."""
        rows = self._rows.execute("select norm, line, body from entity order by norm, key")
        for _, group in groupby(rows, key=lambda row: row[0]):
            yield [
                Numbered(number, EntityLine.model_validate(orjson.loads(body)))
                for _, number, body in group
            ]

    def named(self, line: int, entity_id: UUID) -> None:
        """Note under which id the entity of a line is stored."""
        self._rows.execute("update entity set uuid = ? where line = ?", (entity_id.bytes, line))

    def relations(self) -> Iterator[Numbered[RelationLine]]:
        """All relations, in order."""
        for number, body in self._rows.execute("select line, body from relation order by line"):
            yield Numbered(number, RelationLine.model_validate(orjson.loads(body)))

    def decisions(self) -> Iterator[Numbered[DecisionLine]]:
        """All decisions, in order."""
        for number, body in self._rows.execute("select line, body from decision order by line"):
            yield Numbered(number, DecisionLine.model_validate(orjson.loads(body)))

    def mentions(self, pairs: Sequence[tuple[UUID, UUID]]) -> list[bool]:
        """Note that chunks mention entities; which of the pairs (entity, chunk) are new."""
        query = "insert or ignore into mention values (?, ?)"
        return [
            self._rows.execute(query, (entity.bytes, chunk.bytes)).rowcount > 0
            for entity, chunk in pairs
        ]

    def chunk(self, external_id: str) -> UUID | None:
        """The id of a chunk of this import."""
        found = self._one("select uuid from chunk where id = ?", external_id)
        return UUID(bytes=found[0]) if found and found[0] else None

    def entity(self, external_id: str) -> tuple[UUID, str] | None:
        """The id and the name of an entity of this import, by the user's id."""
        found = self._one("select uuid, body from entity where key = ?", f"id {external_id}")
        return (UUID(bytes=found[0]), orjson.loads(found[1])["name"]) if found else None

    def mentioned(self, entity_id: UUID) -> bool:
        """Whether a line of this import names the entity."""
        query = (
            "select 1 where exists (select 1 from mention where entity = ?1) "
            "or exists (select 1 from entity where uuid = ?1)"
        )
        return self._one(query, entity_id.bytes) is not None

    def _one(self, query: str, key: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._rows.execute(query, (key,)).fetchone()
        return row


@contextmanager
def spool() -> Iterator[Spool]:
    """A spool in a temporary folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="sextant-import-") as folder:
        opened = Spool(Path(folder) / "lines.sqlite")
        try:
            yield opened
        finally:
            opened.close()
