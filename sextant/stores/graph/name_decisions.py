"""Merge entities and undo merges, by decisions of the user or automatically; read what a user needs to decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from psycopg.rows import args_row, class_row

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.stores.graph.graph_writer import GraphWriter
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import rows_of

SQL = load_queries("graph_merges")
_TABLES = ("mentions", "aliases", "relations")


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge of `from_id` into `into_id`; `reason` names who or what decided it.

    `automatic`: by comparing names, which is repeated whenever they change; otherwise by the user.
    """

    from_id: UUID
    into_id: UUID
    reason: str = ""
    automatic: bool = False


async def merge(writer: GraphWriter, merges: Sequence[Merge]) -> int:
    """Write merges in order, skip those of merged entities; return the number of new ones.

    Entities that were merged into a `from_id` follow it.

    Raises:
        OptionInvalid: an entity is to be merged into itself.
    """
    if any(one.from_id == one.into_id for one in merges):
        raise OptionInvalid("An entity cannot be merged into itself.", field="into_id")
    done = 0
    async with _recount_merged(
        writer, [end for one in merges for end in (one.from_id, one.into_id)]
    ):
        for one in merges:
            done += await writer.execute(
                SQL["merge"],
                from_id=one.from_id,
                into_id=one.into_id,
                reason=one.reason,
                automatic=one.automatic,
            )
    return done


async def unmerge(writer: GraphWriter, from_ids: Sequence[UUID]) -> int:
    """Undo merges; return how many of the entities had been merged."""
    done = 0
    async with _recount_merged(writer, from_ids):
        for from_id in from_ids:
            done += await writer.execute(SQL["unmerge"], from_id=from_id)
    return done


async def replace_merges(writer: GraphWriter, old: Sequence[UUID], new: Sequence[Merge]) -> None:
    """Undo the automatic merges of the entities `old`, and write `new` ones.

    Decisions that the user has made about `old` meanwhile stay.
    """
    key = {"scope_id": writer.scope_id, "ids": list(old)}
    cursor = await writer.connection.execute(SQL["automatic"], key)
    if automatic := [row[0] async for row in cursor]:
        await unmerge(writer, automatic)
    if new:
        await merge(writer, new)


@asynccontextmanager
async def _recount_merged(writer: GraphWriter, ids: Sequence[UUID]) -> AsyncIterator[None]:
    await writer.derive()
    await writer.execute(SQL["workspace"])
    await writer.execute(SQL["choose"], ids=list(ids))
    await writer.execute(SQL["collect_relations"])
    await _note(writer, -1)
    await writer.resolve()
    for table in _TABLES:
        await writer.execute(SQL[f"settle_{table}"])
    yield
    await _note(writer, +1)
    await writer.derive()
    await writer.execute(SQL["clear"])


async def _note(writer: GraphWriter, sign: int) -> None:
    for table in _TABLES:
        await writer.note(SQL[f"note_{table}"], sign=sign)


_SQL = load_queries("graph_resolution")


@dataclass(frozen=True, slots=True)
class MentioningPassage:
    """A passage that mentions an entity; `offset` is the start of `text` in the document.

    `start` and `end` are the mention's offsets in `text`, both 0 if only the title mentions it.
    """

    chunk_id: UUID
    document_id: UUID
    filename: str
    page: int | None
    section_path: tuple[str, ...]
    kind: str
    name: str
    text: str
    offset: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MergedName:
    """An entity that was merged into another."""

    from_id: UUID
    name: str
    reason: str
    automatic: bool


class Member(NamedTuple):
    """A member of a merged entity; `into_id` is None for the root."""

    id: UUID
    root_id: UUID
    into_id: UUID | None
    automatic: bool


class MergeReader:
    """Read the mentions and merges of entities; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mentions(self, scope: Scope, entity_id: UUID, limit: int) -> list[MentioningPassage]:
        """Return passages that mention an entity under any of its names, strongest evidence first."""
        key = {"id": entity_id, "nil": NIL, "limit": limit}
        return await rows_of(
            self._database, scope, class_row(MentioningPassage), _SQL["mentions"], **key
        )

    async def merged(self, scope: Scope, entity_id: UUID) -> list[MergedName]:
        """Return the entities that were merged into an entity, with reasons."""
        return await rows_of(
            self._database, scope, class_row(MergedName), _SQL["merged"], id=entity_id
        )

    async def component(self, scope: Scope, ids: Sequence[UUID]) -> list[Member]:
        """Return all entities merged with these, directly or not, and these themselves."""
        query, factory = _SQL["component"], args_row(Member)
        return await rows_of(self._database, scope, factory, query, ids=list(ids))


async def component(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> list[Member]:
    """Return all entities merged with these, inside a transaction."""
    key = {"scope_id": scope_id, "ids": list(ids)}
    return [Member(*row) async for row in await connection.execute(_SQL["component"], key)]


async def decide_one(writer: GraphWriter, merges: Sequence[Merge]) -> int:
    """Merge entities by the user's decision; return the number of new decisions.

    Automatic merges with these entities are undone, to be computed again.

    Raises:
        OptionInvalid: an entity is to be merged into itself.
    """
    members = await _undo_merges(
        writer, [end for one in merges for end in (one.from_id, one.into_id)]
    )
    await writer.execute(_SQL["confuse"], ids=[member.id for member in members])
    return await merge(writer, merges)


async def decide_two(writer: GraphWriter, entity_id: UUID) -> int:
    """Separate an entity permanently from the others of its group, by the user's decision.

    Returns 0 if it is not merged into another.
    """
    members = await component(writer.connection, writer.scope_id, [entity_id])
    done = await unmerge(writer, [entity_id])
    if done:
        remaining = await component(writer.connection, writer.scope_id, [entity_id])
        others = {member.id for member in members} - {member.id for member in remaining}
        await distinguish(writer, [(entity_id, other) for other in sorted(others)])
    return done


async def decide_pairs_two(writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Record, by the user's decision, that the entities of each pair differ; separate merged ones.

    Other automatic merges with these entities are undone, to be computed again.
    """
    if merged_pairs := await _find_merged_pairs(writer, pairs):
        await _undo_merges(writer, [end for pair in merged_pairs for end in pair])
    for pair in merged_pairs:
        if await _find_merged_pairs(writer, [pair]):  # merged by an earlier decision of the user
            await unmerge(writer, [await _lower(writer, *pair)])
    await distinguish(writer, pairs)


async def distinguish(writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Record, by the user's decision, that the entities of each pair differ."""
    values = {"ones": [one for one, _ in pairs], "others": [other for _, other in pairs]}
    await writer.execute(_SQL["distinguish"], **values)


async def _undo_merges(writer: GraphWriter, ids: Sequence[UUID]) -> list[Member]:
    """Undo automatic merges with these entities; return the members of their groups before."""
    members = await component(writer.connection, writer.scope_id, ids)
    automatic = [member.id for member in members if member.automatic]
    if automatic:
        await unmerge(writer, automatic)
    return members


async def _find_merged_pairs(
    writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]
) -> list[tuple[UUID, UUID]]:
    """Return the pairs whose entities are merged."""
    ends = list({end for pair in pairs for end in pair})
    members = await component(writer.connection, writer.scope_id, ends)
    roots = {member.id: member.root_id for member in members}
    return [(one, other) for one, other in pairs if roots[one] == roots[other]]


async def _lower(writer: GraphWriter, one: UUID, other: UUID) -> UUID:
    """Return which of two merged entities to separate, so that the other does not follow it."""
    members = await component(writer.connection, writer.scope_id, [one])
    into = {member.id: member.into_id for member in members}
    above: UUID | None = other
    while above is not None:
        if above == one:
            return other
        above = into[above]
    return one
