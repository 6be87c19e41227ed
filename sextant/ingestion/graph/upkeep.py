"""Update what derives from a whole graph: merges, vectors of entities, communities, reports.

It runs after documents were added or deleted. Each step asks the store what is missing or dirty, and commits as it
goes. So an interrupted update continues, and one with nothing to do costs a query or two.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.communities.membership import (
    CommunityGroup,
    build,
    is_outdated,
    join,
    top,
)
from sextant.ingestion.graph.communities.network import Network, modularity, network_of
from sextant.ingestion.graph.communities.report_writer import ReportKeeper
from sextant.ingestion.graph.resolution.resolve import resolve
from sextant.ingestion.progress import OnStage, silent
from sextant.models.protocols import Embedder
from sextant.stores.documents.chunk_copy import refresh_statistics
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.community_store import Change, CommunityStore, Follows, HierarchyStore
from sextant.stores.graph.neo4j.projector import open_projector, read_progress
from sextant.stores.graph.record import EntityText, EntityVectors, GraphRecord
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second

_NAMES_AT_ONCE = 512
# About a second on two cores, for the progress; fewer would leave an endpoint's requests unused.
_NAMES_EMBEDDED_AT_ONCE = 128
_EMBEDDED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Refreshed(Warned):
    """The outcome of an update.

    Attributes:
        names_merged, names_parted: names merged into others, and merges that were undone.
        pairs_judged: pairs of names that the chat model has decided.
        entities_embedded: entities that got a vector.
        communities: their number now.
        reports_written: reports that are new or changed.
        full_run: whether the whole graph was partitioned again.
    """

    names_merged: int = 0
    names_parted: int = 0
    pairs_judged: int = 0
    entities_embedded: int = 0
    communities: int = 0
    reports_written: int = 0
    full_run: bool = False


class GraphUpkeep:
    """Update what derives from whole graphs.

    Args:
        database: the database of the graphs.
        embedder: for names and reports; loaded only if there is something to embed.
        chat: writes the reports; None: they are assembled from sentences.
    """

    def __init__(
        self, database: Database, embedder: Embedder, chat: ChatModel | None = None
    ) -> None:
        self._database = database
        self._chat = chat
        self._embedder = embedder
        self._settings = database.settings.communities
        self._record = GraphRecord(database)
        self._hierarchy = HierarchyStore(database)
        self._communities = CommunityStore(database)
        self._vectors = EntityVectors(database)

    async def refresh(
        self,
        scope: Scope,
        on_progress: OnStage | None = None,
        *,
        full: bool = False,
        patient: bool = False,
    ) -> Refreshed:
        """Update one graph; one process at a time does, others wait.

        Args:
            scope: the knowledge base.
            on_progress: called with (stage, done, total; 0: unknown).
            full: partition the whole graph again, and rewrite the reports of another writer (a chat model, or none).
            patient: communities of a large graph may wait until a share of `communities.patience` is new, since
                their cost grows with the graph.

        Raises:
            ModelUnavailable: vectors are missing, all else is done.
            DatabaseUnavailable: what was committed stays; the next update continues.
            GraphStoreUnavailable: Neo4j failed, all else is done; its changes wait.
        """
        report = on_progress or silent
        missing: ModelUnavailable | None = None
        async with self._hierarchy.alone(scope):
            await refresh_statistics(self._database, scope.user_id)  # which an import does not do
            resolved = await resolve(self._database, scope, self._chat, on_progress=report)
            embedded, unembedded = 0, tuple[CodedWarning, ...]()
            try:
                embedded = await self._embed_entities(scope, report)
                if left := await self._vectors.count_to_embed(scope):
                    most = self._settings.entity_vectors
                    params = {"entities": count(left, "entity"), "most": most}
                    unembedded = (CodedWarning(WarningCode.ENTITIES_WITHOUT_VECTOR, params),)
            except ModelUnavailable as error:
                missing = error
            done = Refreshed()
            if self._settings.enabled:
                share = self._settings.patience if patient else 0.0
                if full or await self._hierarchy.is_due(scope, share):
                    done = await self._refresh_communities(scope, report, full=full)
            if missing is None:
                await self._embed_reports(scope, report)
        # To Neo4j, if the settings name a server.
        async with open_projector(self._database) as projector:
            if projector is not None and await read_progress(self._database, scope) is not None:
                await projector.sync(scope, lambda rows: report("projection", rows, 0))
        if missing is not None:
            raise missing
        warnings = resolved.warnings + unembedded + done.coded_warnings
        return replace(
            done,
            names_merged=resolved.merged,
            names_parted=resolved.unmerged,
            pairs_judged=resolved.judged,
            entities_embedded=embedded,
            coded_warnings=warnings,
        )

    async def _embed_entities(self, scope: Scope, report: OnStage) -> int:
        most = self._settings.entity_vectors
        done = total = 0
        while texts := await self._vectors.to_embed(scope, _NAMES_AT_ONCE, max_vectors=most):
            if not done:
                total = await self._vectors.count_to_embed(scope, max_vectors=most)
                report("entities", 0, total)
                await self._load_model()
            vectors = []
            for start in range(0, len(texts), _NAMES_EMBEDDED_AT_ONCE):
                part = texts[start : start + _NAMES_EMBEDDED_AT_ONCE]
                vectors.append(await self._embedder.embed_passages([_passage(one) for one in part]))
                done += len(part)
                report("entities", done, max(done, total))
            await self._vectors.store(scope, texts, np.concatenate(vectors))
        if done:
            await self._vectors.index_if_large(scope)
        return done

    async def _embed_reports(self, scope: Scope, report: OnStage) -> None:
        done = 0
        while texts := await self._communities.to_embed(scope, _EMBEDDED_AT_ONCE):
            if not done:
                await self._load_model()
            vectors = await self._embedder.embed_passages([text.text for text in texts])
            await self._communities.store_vectors(scope, texts, vectors)
            done += len(texts)
            report("report vectors", done, 0)

    async def _load_model(self) -> None:
        await self._embedder.warm_up()
        await check_space(self._database, self._embedder)

    async def _refresh_communities(self, scope: Scope, report: OnStage, *, full: bool) -> Refreshed:
        report("communities", 0, 0)
        if full:
            await self._communities.reopen(scope, self._chat.name if self._chat else "")
        moment = await self._hierarchy.moment(scope)
        arrays = await self._record.arrays(scope)
        follows, stored = await self._hierarchy.read(scope)
        old = list[CommunityGroup]()
        for one in stored:  # without members that are gone
            positions = arrays.entity_indices_of(one.members).astype(np.int64)
            members = np.sort(positions[positions >= 0])
            old.append(CommunityGroup(one.id, one.level, one.parent_id, members))
        network = await asyncio.to_thread(network_of, arrays)
        groups, now, full_run = await asyncio.to_thread(
            _next, arrays, network, old, None if full else follows
        )
        changes, gone = await asyncio.to_thread(_changes, arrays, old, groups)
        await self._hierarchy.write(scope, changes, gone, now, moment)
        keeper = ReportKeeper(self._database, scope, arrays, network, self._chat, full=full)
        written = await keeper.write(groups, report)
        return Refreshed(
            communities=len(groups),
            reports_written=written,
            full_run=full_run,
            coded_warnings=keeper.warnings,
        )


def _next(
    arrays: GraphArrays, network: Network, old: Sequence[CommunityGroup], follows: Follows | None
) -> tuple[list[CommunityGroup], Follows, bool]:
    """Return the communities of the graph, what they reflect, and whether they were built from scratch.

    They are, if `follows` is None or too much has changed since.
    """
    if follows is not None:
        joined = join(network, arrays, old)
        if not is_outdated(
            network, joined, edges=follows.edges, modularity_then=follows.modularity
        ):
            return joined, replace(follows, version=arrays.version), False
    built = build(network, arrays, old)
    best = modularity(network, top(built, network.size))
    return built, Follows(arrays.version, len(network.source), best), True


def _changes(
    arrays: GraphArrays, old: Sequence[CommunityGroup], groups: Sequence[CommunityGroup]
) -> tuple[list[Change], list[UUID]]:
    """Return the communities that are new or have changed, and the ids of those that are gone."""
    before, changes = {group.id: group for group in old}, []
    for group in groups:
        known = before.pop(group.id, None)
        same = known is not None and np.array_equal(known.members, group.members)
        if known is not None and same and _group_key(known) == _group_key(group):
            continue
        members = None if same else [arrays.entity_id(n) for n in group.members.tolist()]
        changes.append(Change(group.id, group.level, group.parent_id, members))
    return changes, sorted(before)


def _group_key(group: CommunityGroup) -> tuple[int, UUID | None]:
    return group.level, group.parent_id


def _passage(text: EntityText) -> str:
    name, _, description = text.text.partition("\n")
    return f"{name}: {description}" if description else name
