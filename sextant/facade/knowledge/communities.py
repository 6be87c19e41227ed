"""A knowledge base's communities as its owner looks at them: the hierarchy, and report by report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.errors import OptionInvalid
from sextant.domain.graph import Community, Entity
from sextant.domain.questions import in_range
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.communities.store import (
    CommunityCursor,
    CommunityPages,
    CommunityStore,
    ListedCommunity,
)
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.ingestion.graph.upkeep import GraphUpkeep, Refreshed
    from sextant.ingestion.progress import OnStage


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community with its report, the best connected members, and the passages it cites.

    `writer` is the chat model that wrote the report, empty for one of the documents' sentences; `note`
    says why it is not what was asked for. `parts` are the communities directly inside it.
    """

    community: Community
    writer: str
    note: str
    entities: tuple[Entity, ...]
    parts: tuple[Community, ...]
    cited: tuple[StoredChunk, ...]


class Communities:
    """The communities of one knowledge base.

    Args:
        database: where they are.
        scope: whose they are.
        upkeep: opens what brings them up to date.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        upkeep: Callable[[], AbstractAsyncContextManager[GraphUpkeep]],
    ) -> None:
        self._graph = PostgresGraph(database)
        self._reports = CommunityStore(database)
        self._pages = CommunityPages(database)
        self._chunks = ChunkStore(database)
        self._scope = scope
        self._upkeep = upkeep

    async def all(self, level: int | None = None) -> list[Community]:
        """Return those of a level (0 is the coarsest) or all, by level, rating falling, id.

        Raises:
            OptionInvalid: the level is no number that there can be.
        """
        if level is not None:
            level = in_range(level, "level", least=0)
        return await self._graph.communities(self._scope, level)

    async def page(
        self,
        limit: int = 50,
        *,
        level: int | None = None,
        parent_id: UUID | None = None,
        after: CommunityCursor | None = None,
    ) -> list[ListedCommunity]:
        """Return the next of `all` after a place, without their members; of a level, or directly inside one.

        Raises:
            OptionInvalid: the level or the limit is no number that there can be.
        """
        limit = in_range(limit, "limit")
        level = in_range(level, "level", least=0) if level is not None else None
        return await self._pages.page(
            self._scope, limit, level=level, parent_id=parent_id, after=after
        )

    async def show(self, named: str) -> CommunityView:
        """Return one community by its id, or by as much of the id's beginning as no other has.

        Raises:
            OptionInvalid: there is none of that id, or more than one.
        """
        known = await self.all()
        found = [one for one in known if str(one.id).startswith(named.lower())] if named else []
        if len(found) != 1:
            raise OptionInvalid(
                f"{'More than one' if found else 'No'} community has an id that begins with {named!r}.",
                next_step="`sextant communities` lists them.",
                field="community",
            )
        [community] = found
        members = await self._graph.get_entities(self._scope, community.entity_ids)
        cited = dict.fromkeys(chunk_id for one in community.findings for chunk_id in one.chunk_ids)
        writer, note = await self._reports.origin(self._scope, community.id)
        return CommunityView(
            community,
            writer,
            note,
            tuple(sorted(members, key=lambda one: (-one.degree, one.name)))[:30],
            tuple(one for one in known if one.parent_id == community.id),
            tuple(await self._chunks.get(self._scope, list(cited))),
        )

    async def build(self, *, full: bool = False, on_progress: OnStage | None = None) -> Refreshed:
        """Bring them up to date; done by itself after every ingestion, import and deletion.

        Args:
            full: partition the whole graph again, and rewrite reports by another writer than the
                settings now name.
            on_progress: called with (stage, done, total; 0 where the total is not known).

        Raises:
            ModelUnavailable: the embedding model is gone; communities are there, some vectors not.
            DatabaseUnavailable: the next call goes on from there.
        """
        async with self._upkeep() as upkeep:
            return await upkeep.refresh(self._scope, on_progress, full=full)
