"""What deciding which names are one reads and writes: names, candidates, and the user's decisions.

The user's merges and distinctions stay until he takes them back. Automatic merges are a function of
the names that are there and of his decisions, computed anew after every change (`replace_merges`),
so they do not depend on the order in which documents came and went.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import numpy as np
from psycopg.rows import class_row

from domain.scope import Scope
from stores.graph.arrays import IdTable, halves_of
from stores.graph.ids import NIL
from stores.graph.merges import Merge, merge, unmerge
from stores.graph.writing import GraphWriter
from stores.postgresql.binary import embedded
from stores.postgresql.database import Database
from stores.postgresql.pools import Connection
from stores.postgresql.queries import load_queries
from stores.scopes import find_scope

_SQL = load_queries("graph_resolution")
T = TypeVar("T")

# The type of a relation between an abbreviation and its full form, where a text defines it.
ABBREVIATES = "ABBREVIATES"

SIMILAR_MEANING = "similar meaning"
# Of so many entities, those that are so near, and at most so many of each.
_MOST_NEAR, _LEAST_NEARNESS, _NEAREST = 300, 0.96, 3


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as its own evidence has it, whatever it is merged with."""

    id: UUID
    name: str
    entity_type: str
    external_id: str | None
    mentions: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names that may be one thing, the smaller id first; see `entity_pairs`."""

    one_id: UUID
    other_id: UUID
    verdict: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair for the user to decide, with the names and types of both."""

    one_id: UUID
    other_id: UUID
    reason: str
    score: float
    one_name: str
    other_name: str
    one_type: str
    other_type: str


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A passage that mentions an entity; `start` and `end` lie in `text`, 0 where it is only titled so."""

    chunk_id: UUID
    document_id: UUID
    filename: str
    page: int | None
    section_path: tuple[str, ...]
    kind: str
    name: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MergedName:
    """An entity that was merged into another."""

    from_id: UUID
    name: str
    reason: str
    automatic: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """A merge in force; `root_id` is where its chain ends."""

    from_id: UUID
    into_id: UUID
    root_id: UUID
    automatic: bool


class Member(NamedTuple):
    """An entity of a merged one."""

    id: UUID
    root_id: UUID
    automatic: bool
    merged: bool


@dataclass(frozen=True, slots=True)
class Names:
    """All that automatic merges follow from, as of one version of a graph."""

    version: int = 0
    compared_version: int | None = None
    named: list[Named] = field(default_factory=list[Named])
    definitions: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    own_aliases: list[tuple[UUID, str]] = field(default_factory=list[tuple[UUID, str]])
    merges: list[Decided] = field(default_factory=list[Decided])
    distinctions: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    pairs: list[Pair] = field(default_factory=list[Pair])
    compared: dict[UUID, int] = field(default_factory=dict[UUID, int])


class ResolutionStore:
    """The names of a database's graphs; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(self, scope: Scope) -> tuple[int, int | None]:
        """The version of the graph, and the one whose names were last compared."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await _versions(connection, found.scope_id) if found else (0, None)

    async def names(self, scope: Scope) -> Names:
        """Everything there is to compare, all of one moment."""
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return Names()
            key = {"scope_id": found.scope_id, "nil": NIL, "abbreviates": ABBREVIATES}
            version, compared_version = await _versions(connection, found.scope_id)
            return Names(
                version,
                compared_version,
                await _rows(connection, "names", Named, key),
                await _tuples(connection, "definitions", key),
                await _tuples(connection, "own_aliases", key),
                await _rows(connection, "merges", Decided, key),
                await _tuples(connection, "distinctions", key),
                await _rows(connection, "pairs", Pair, key),
                dict(await _tuples(connection, "compared", key)),
            )

    async def candidates(self, scope: Scope, limit: int) -> list[Candidate]:
        """Pairs for the user to decide, likeliest first."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            key = {"scope_id": found.scope_id, "limit": max(0, limit)}
            return await _rows(connection, "candidates", Candidate, key)

    async def near(self, scope: Scope) -> list[Candidate]:
        """Pairs with near vectors among what is mentioned most, of which nothing is known yet.

        Nearness alone proves nothing: 共產黨 and 共和黨 have 0.970, US and USA 0.978 (packaged model).
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            key = {"scope_id": found.scope_id, "most": _MOST_NEAR, "reason": SIMILAR_MEANING}
            asked = [row[0] for row in await _tuples(connection, "most_mentioned", key)]
            cursor = await connection.execute(_SQL["vectors"], key, binary=True)
            blocks = [row[0] async for row in cursor]
            pairs = await asyncio.to_thread(_near_pairs, asked, blocks)
            return await _rows(connection, "near", Candidate, key | pairs)

    async def mentions(self, scope: Scope, entity_id: UUID, limit: int) -> list[Mentioned]:
        """Passages that mention an entity under any of its names, what vouches most first."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            key = {"scope_id": found.scope_id, "id": entity_id, "nil": NIL, "limit": limit}
            return await _rows(connection, "mentions", Mentioned, key)

    async def merged(self, scope: Scope, entity_id: UUID) -> list[MergedName]:
        """What has been merged into an entity, and why."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            key = {"scope_id": found.scope_id, "id": entity_id}
            return await _rows(connection, "merged", MergedName, key)

    async def component(self, scope: Scope, ids: Sequence[UUID]) -> list[Member]:
        """Everything that is one with these entities; those that are not merged by themselves."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await component(connection, found.scope_id, ids) if found else []


def _near_pairs(asked: Sequence[UUID], blocks: Sequence[bytes]) -> dict[str, list[Any]]:
    """Each of `asked` with its nearest by cosine, as columns: the lower id, the higher, the cosine.

    One product of all with all: 300 scans by the database took seconds for 5,000 vectors.
    """
    if not asked:
        return {"ones": [], "others": [], "scores": []}
    known = embedded(blocks)
    order = np.lexsort((known.ids[:, 1], known.ids[:, 0]))
    table = IdTable(known.ids[order])
    unit = known.vectors[order]
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    rows = table.rows_of(halves_of(asked))
    cosines = unit[rows] @ unit.T
    cosines[np.arange(len(rows)), rows] = -1.0
    pairs: dict[tuple[UUID, UUID], float] = {}
    for place, row in enumerate(rows.tolist()):
        near = np.flatnonzero(cosines[place] >= _LEAST_NEARNESS)
        best = near[np.argsort(-cosines[place, near], kind="stable")][:_NEAREST]
        for other in best.tolist():
            one_id, other_id = sorted((table[row], table[other]))
            pairs[one_id, other_id] = min(1.0, float(cosines[place, other]))
    return {
        "ones": [one for one, _ in pairs],
        "others": [other for _, other in pairs],
        "scores": list(pairs.values()),
    }


async def component(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> list[Member]:
    """The same, inside a transaction."""
    key = {"scope_id": scope_id, "ids": list(ids)}
    return [Member(*row) for row in await _tuples(connection, "component", key)]


async def replace_merges(writer: GraphWriter, old: Sequence[UUID], new: Sequence[Merge]) -> None:
    """Take automatic merges of the entities `old` back, and write `new` ones."""
    if old:
        await unmerge(writer, old)
    if new:
        await merge(writer, new)


async def decide_one(writer: GraphWriter, merges: Sequence[Merge]) -> int:
    """The user says that entities are one; automatic merges around them are left to be found again.

    Returns how many decisions were new.

    Raises:
        OptionInvalid: an entity is to be merged into itself.
    """
    ends = [end for one in merges for end in (one.from_id, one.into_id)]
    members = await component(writer.connection, writer.scope_id, ends)
    automatic = [member.id for member in members if member.automatic]
    if automatic:
        await unmerge(writer, automatic)
    await writer.execute(_SQL["confuse"], ids=[member.id for member in members])
    return await merge(writer, merges)


async def decide_two(writer: GraphWriter, entity_id: UUID) -> int:
    """The user says that an entity is not what it is merged with, and never was.

    Returns 0 when it is not merged into another.
    """
    members = await component(writer.connection, writer.scope_id, [entity_id])
    done = await unmerge(writer, [entity_id])
    if done:
        own = await component(writer.connection, writer.scope_id, [entity_id])
        others = {member.id for member in members} - {member.id for member in own}
        await writer.execute(_SQL["distinguish"], id=entity_id, others=sorted(others))
    return done


async def note_compared(
    writer: GraphWriter, gone: Sequence[UUID], hashes: dict[UUID, int], pairs: Sequence[Pair]
) -> None:
    """Names that went or changed (`gone`), names that are compared now, and what was found."""
    if gone:
        await writer.execute(_SQL["forget_compared"], ids=list(gone))
    if hashes:
        ids = sorted(hashes)
        await writer.execute(_SQL["note_compared"], ids=ids, hashes=[hashes[one] for one in ids])
    await note_pairs(writer, pairs)


async def note_pairs(writer: GraphWriter, pairs: Sequence[Pair]) -> None:
    """Keep candidates, or what was decided about them."""
    if pairs:
        await writer.execute(
            _SQL["add_pairs"],
            ones=[pair.one_id for pair in pairs],
            others=[pair.other_id for pair in pairs],
            verdicts=[pair.verdict for pair in pairs],
            reasons=[pair.reason for pair in pairs],
            scores=[pair.score for pair in pairs],
        )


async def note_version(writer: GraphWriter) -> None:
    """The names of the graph as it is now are compared."""
    await writer.execute(_SQL["note_version"], version=writer.version)


async def _versions(connection: Connection, scope_id: int) -> tuple[int, int | None]:
    rows = await _tuples(connection, "versions", {"scope_id": scope_id})
    return (rows[0][0], rows[0][1]) if rows else (0, None)


async def _tuples(
    connection: Connection, query: str, values: dict[str, Any]
) -> list[tuple[Any, ...]]:
    cursor = await connection.execute(_SQL[query], values)
    return await cursor.fetchall()


async def _rows(
    connection: Connection, query: str, kind: type[T], values: dict[str, Any]
) -> list[T]:
    cursor = connection.cursor(row_factory=class_row(kind))
    await cursor.execute(_SQL[query], values)
    return await cursor.fetchall()
