"""What comparing names reads and writes: names, what is known of pairs, and candidates for the user.

Merges and distinctions by the user stay until the user takes them back. Automatic merges are a function
of the names that are there and of these decisions, recomputed after every change (`replace_merges`), so
they do not depend on the order in which documents came and went.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.scope import Scope
from sextant.stores.graph.ids import NIL
from sextant.stores.graph.resolution.nearness import near_pairs
from sextant.stores.graph.writing import GraphWriter
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, rows_of

_SQL = load_queries("graph_resolution")
T = TypeVar("T")

# The type of a relation between an abbreviation and its full form, where a text defines it.
ABBREVIATES = "ABBREVIATES"

SIMILAR_MEANING = "similar meaning"
_MOST_NEAR = 300  # entities whose nearest are looked for, those mentioned most


@dataclass(frozen=True, slots=True)
class NamedEntity:
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
class MergeCandidate:
    """A pair for the user to decide: two entities by their ids and names, why, and how alike, 0..1.

    `first_id` and `second_id` are of the names that were compared, which may be merged into the two
    entities by now: the list is in their order.
    """

    one_id: UUID
    other_id: UUID
    reason: str
    score: float
    one_name: str
    other_name: str
    first_id: UUID
    second_id: UUID


@dataclass(frozen=True, slots=True)
class CandidateCursor:
    """Where a candidate stands in the list: those alike in spelling first, by score falling, ids."""

    near: bool
    score: float
    first_id: UUID
    second_id: UUID

    @classmethod
    def of(cls, one: MergeCandidate) -> CandidateCursor:
        """Return the place of a candidate."""
        return cls(one.reason == SIMILAR_MEANING, one.score, one.first_id, one.second_id)

    def follows(self, other: CandidateCursor) -> bool:
        """Return whether it comes later in the list than the other."""
        return self._key() > other._key()

    def _key(self) -> tuple[bool, float, UUID, UUID]:
        return self.near, -self.score, self.first_id, self.second_id


@dataclass(frozen=True, slots=True)
class Decided:
    """A merge in force; `root_id` is where its chain ends."""

    from_id: UUID
    into_id: UUID
    root_id: UUID
    automatic: bool


@dataclass(frozen=True, slots=True)
class Names:
    """All that automatic merges follow from, as of one version of a graph."""

    version: int = 0
    compared_version: int | None = None
    named: list[NamedEntity] = field(default_factory=list[NamedEntity])
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
        """Return the version of the graph, and the one whose names were last compared."""
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
                await _rows(connection, "names", NamedEntity, key),
                await _tuples(connection, "definitions", key),
                await _tuples(connection, "own_aliases", key),
                await _rows(connection, "merges", Decided, key),
                await _tuples(connection, "distinctions", key),
                await _rows(connection, "pairs", Pair, key),
                dict(await _tuples(connection, "compared", key)),
            )

    async def candidates(
        self,
        scope: Scope,
        limit: int,
        *,
        after: CandidateCursor | None = None,
        both_owned: bool = True,
    ) -> list[MergeCandidate]:
        """Return pairs alike in spelling for the user to decide, likeliest first, those after a place.

        `both_owned`: also two that the user has given an id each.
        """
        key = {
            "limit": max(0, limit),
            "both_owned": both_owned,
            "after_score": after.score if after else None,
            "after_one": after.first_id if after else None,
            "after_other": after.second_id if after else None,
        }
        return await rows_of(
            self._database, scope, class_row(MergeCandidate), _SQL["candidates"], **key
        )

    async def near(self, scope: Scope, *, both_owned: bool = True) -> list[MergeCandidate]:
        """Pair with near vectors, among the entities mentioned most, that nothing is known about yet.

        Nearness alone proves nothing: 共產黨 and 共和黨 have 0.970, US and USA 0.978 (packaged model).
        """
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return []
            key = {"scope_id": found.scope_id, "most": _MOST_NEAR, "reason": SIMILAR_MEANING}
            key |= {"both_owned": both_owned}
            asked = [row[0] for row in await _tuples(connection, "most_mentioned", key)]
            cursor = await connection.execute(_SQL["vectors"], key, binary=True)
            blocks = [row[0] async for row in cursor]
            pairs = await asyncio.to_thread(near_pairs, asked, blocks)
            return await _rows(connection, "near", MergeCandidate, key | pairs)


async def note_compared(
    writer: GraphWriter, gone: Sequence[UUID], hashes: dict[UUID, int], pairs: Sequence[Pair]
) -> None:
    """Name that went or changed (`gone`), names that are compared now, and what was found."""
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
    """Note that the names of the graph as it is now are compared."""
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
