"""Read and write the data of name comparison: names, compared pairs, and candidates for the user.

Merges and separations by the user stay until the user undoes them. Automatic merges are a function of the current
names and these decisions, recomputed after every change (`replace_merges`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import BaseRowFactory, class_row, tuple_row

from sextant.domain.graph import ABBREVIATES
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.database import Database, fetch_rows
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import find_scope, rows_of

_SQL = load_queries("graph_resolution")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity by its own evidence, without that of merged entities."""

    id: UUID
    name: str
    entity_type: str
    external_id: str | None
    mentions: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names that may be one entity, the smaller id first; see `entity_pairs`."""

    one_id: UUID
    other_id: UUID
    verdict: str
    reason: str
    score: float


@dataclass(frozen=True, slots=True)
class MergeCandidate:
    """A pair of entities for the user to decide, with a reason and a similarity `score` in 0..1.

    `first_id` and `second_id` belong to the compared names, which may have been merged into the two
    entities since; the list is ordered by them.
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
    """The position of a candidate in the list, which is ordered by descending score and ids."""

    score: float
    first_id: UUID
    second_id: UUID

    @classmethod
    def of(cls, candidate: MergeCandidate) -> CandidateCursor:
        """Return the cursor of a candidate."""
        return cls(candidate.score, candidate.first_id, candidate.second_id)


@dataclass(frozen=True, slots=True)
class CurrentMerge:
    """A current merge; `root_id` is the end of its chain."""

    from_id: UUID
    into_id: UUID
    root_id: UUID
    automatic: bool


@dataclass(frozen=True, slots=True)
class Names:
    """All data from which automatic merges are computed, as of one version of a graph."""

    version: int = 0
    compared_version: int | None = None
    named: list[NamedEntity] = field(default_factory=list[NamedEntity])
    definitions: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    user_aliases: list[tuple[UUID, str]] = field(default_factory=list[tuple[UUID, str]])
    merges: list[CurrentMerge] = field(default_factory=list[CurrentMerge])
    distinctions: list[tuple[UUID, UUID]] = field(default_factory=list[tuple[UUID, UUID]])
    pairs: list[Pair] = field(default_factory=list[Pair])
    compared: dict[UUID, int] = field(default_factory=dict[UUID, int])


class ResolutionStore:
    """Read the names of graphs; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def versions(self, scope: Scope) -> tuple[int, int | None]:
        """Return the version of the graph, and that of the last comparison."""
        rows = await rows_of(self._database, scope, tuple_row, _SQL["versions"])
        return rows[0] if rows else (0, None)

    async def names(self, scope: Scope) -> Names:
        """Return the data to compare, as of one moment."""
        async with self._database.transaction(scope.user_id, snapshot=True) as connection:
            found = await find_scope(connection, scope)
            if found is None:
                return Names()
            key = {"scope_id": found.scope_id, "nil": NIL, "abbreviates": ABBREVIATES}
            rows = await _rows(connection, "versions", tuple_row, key)
            version, compared_version = (rows[0][0], rows[0][1]) if rows else (0, None)
            return Names(
                version,
                compared_version,
                await _rows(connection, "names", class_row(NamedEntity), key),
                await _rows(connection, "definitions", tuple_row, key),
                await _rows(connection, "own_aliases", tuple_row, key),
                await _rows(connection, "merges", class_row(CurrentMerge), key),
                await _rows(connection, "distinctions", tuple_row, key),
                await _rows(connection, "pairs", class_row(Pair), key),
                dict(await _rows(connection, "compared", tuple_row, key)),
            )

    async def candidates(
        self,
        scope: Scope,
        limit: int,
        *,
        after: CandidateCursor | None = None,
        both_owned: bool = True,
    ) -> list[MergeCandidate]:
        """Return pairs with similar spellings for the user to decide, likeliest first, after a cursor.

        `both_owned`: include pairs in which the user has given an id to both entities.
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


async def note_compared(
    writer: GraphWriter, outdated: Sequence[UUID], hashes: dict[UUID, int], pairs: Sequence[Pair]
) -> None:
    """Record a comparison: names that were deleted or changed, compared names, and found pairs."""
    if outdated:
        await writer.execute(_SQL["forget_compared"], ids=list(outdated))
    if hashes:
        ids = sorted(hashes)
        await writer.execute(_SQL["note_compared"], ids=ids, hashes=[hashes[id_] for id_ in ids])
    await note_pairs(writer, pairs)


async def note_pairs(writer: GraphWriter, pairs: Sequence[Pair]) -> None:
    """Store candidates, or the decisions about them."""
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
    """Record that the names of the current version are compared."""
    await writer.execute(_SQL["note_version"], version=writer.version)


async def _rows(
    connection: Connection, query: str, factory: BaseRowFactory[T], values: dict[str, Any]
) -> list[T]:
    return await fetch_rows(connection, factory, _SQL[query], values)
