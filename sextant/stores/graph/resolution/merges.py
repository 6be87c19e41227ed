"""Merge two entities, and undo merges.

A merge is a row of its own; the evidence does not change. The evidence of the entities is subtracted
from the graph, the merge is written or deleted, and the evidence is added again under the entity to
which it then belongs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sextant.domain.errors import OptionInvalid
from sextant.stores.graph.writing import GraphWriter
from sextant.stores.postgresql.queries import load_queries

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
    created_at: datetime | None = None
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
    await writer.execute(SQL["keep_words"])
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
