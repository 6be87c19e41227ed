"""What an owner needs to see to decide which entities are the same, and the decision itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.scope import Scope
from sextant.stores.graph.ids import NIL
from sextant.stores.graph.resolution.merges import Merge, merge, unmerge
from sextant.stores.graph.writing import GraphWriter
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.pools import Connection
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import find_scope, rows_of

_SQL = load_queries("graph_resolution")


@dataclass(frozen=True, slots=True)
class MentioningPassage:
    """A passage that mentions an entity; `start` and `end` lie in `text`, 0 where only its title does.

    `offset` is where `text` begins in the document's.
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
    """An entity of a merged one; `into_id` is None where it is the one that the others were merged into."""

    id: UUID
    root_id: UUID
    into_id: UUID | None
    automatic: bool


class MergeReader:
    """What entities are made of; every call sees one scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mentions(self, scope: Scope, entity_id: UUID, limit: int) -> list[MentioningPassage]:
        """Return passages that mention an entity under any of its names, what vouches most first."""
        key = {"id": entity_id, "nil": NIL, "limit": limit}
        return await rows_of(
            self._database, scope, class_row(MentioningPassage), _SQL["mentions"], **key
        )

    async def merged(self, scope: Scope, entity_id: UUID) -> list[MergedName]:
        """Return what has been merged into an entity, and why."""
        return await rows_of(
            self._database, scope, class_row(MergedName), _SQL["merged"], id=entity_id
        )

    async def component(self, scope: Scope, ids: Sequence[UUID]) -> list[Member]:
        """Everything merged with these entities; one that is not merged stands by itself."""
        async with self._database.transaction(scope.user_id) as connection:
            found = await find_scope(connection, scope)
            return await component(connection, found.scope_id, ids) if found else []


async def component(connection: Connection, scope_id: int, ids: Sequence[UUID]) -> list[Member]:
    """Return the same, inside a transaction."""
    key = {"scope_id": scope_id, "ids": list(ids)}
    return [Member(*row) async for row in await connection.execute(_SQL["component"], key)]


async def decide_one(writer: GraphWriter, merges: Sequence[Merge]) -> int:
    """Merge entities by the user's decision; automatic merges around them are left to be found again.

    Returns how many decisions were new.

    Raises:
        OptionInvalid: an entity is to be merged into itself.
    """
    members = await _undo_merges(
        writer, [end for one in merges for end in (one.from_id, one.into_id)]
    )
    await writer.execute(_SQL["confuse"], ids=[member.id for member in members])
    return await merge(writer, merges)


async def decide_two(writer: GraphWriter, entity_id: UUID) -> int:
    """Separate an entity, by the user's decision and for good, from what it is merged with.

    Returns 0 when it is not merged into another.
    """
    members = await component(writer.connection, writer.scope_id, [entity_id])
    done = await unmerge(writer, [entity_id])
    if done:
        own = await component(writer.connection, writer.scope_id, [entity_id])
        others = {member.id for member in members} - {member.id for member in own}
        await distinguish(writer, [(entity_id, other) for other in sorted(others)])
    return done


async def decide_pairs_two(writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Say of pairs, by the user's decision, that they are two, and separate those that are one.

    Other automatic merges around these are left to be found again.
    """
    if together := await _together(writer, pairs):
        await _undo_merges(writer, [end for pair in together for end in pair])
    for pair in together:
        if await _together(writer, [pair]):  # by the user's own earlier word
            await unmerge(writer, [await _lower(writer, *pair)])
    await distinguish(writer, pairs)


async def distinguish(writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]) -> None:
    """Note, by the user's decision, that the two of each pair are different."""
    values = {"ones": [one for one, _ in pairs], "others": [other for _, other in pairs]}
    await writer.execute(_SQL["distinguish"], **values)


async def _undo_merges(writer: GraphWriter, ids: Sequence[UUID]) -> list[Member]:
    """Take automatic merges around these entities back; returns what they were one with."""
    members = await component(writer.connection, writer.scope_id, ids)
    automatic = [member.id for member in members if member.automatic]
    if automatic:
        await unmerge(writer, automatic)
    return members


async def _together(
    writer: GraphWriter, pairs: Sequence[tuple[UUID, UUID]]
) -> list[tuple[UUID, UUID]]:
    """Return the pairs whose two are one."""
    ends = list({end for pair in pairs for end in pair})
    members = await component(writer.connection, writer.scope_id, ends)
    roots = {member.id: member.root_id for member in members}
    return [(one, other) for one, other in pairs if roots[one] == roots[other]]


async def _lower(writer: GraphWriter, one: UUID, other: UUID) -> UUID:
    """Return which of two that are one to free, so that it does not take the other along."""
    members = await component(writer.connection, writer.scope_id, [one])
    into = {member.id: member.into_id for member in members}
    above: UUID | None = other
    while above is not None:
        if above == one:
            return other
        above = into[above]
    return one
