"""Updates of what follows from documents: vectors after another model was set, the graph after a change."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from sextant.domain.errors import (
    GraphNotFound,
    GraphStoreUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.protocols import Embedder
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import (
    chunks_without_vectors,
    finish_reembedding,
    lock_reembedding,
    start_reembedding,
    store_vectors,
)
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import Turns
from sextant.stores.scopes import KnowledgeBases
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.ingestion.graph.upkeep import GraphUpkeep
    from sextant.ingestion.progress import OnCount, OnProgress, OnStage

_log = logging.getLogger(__name__)

# The name in progress instead of a file's.
_GRAPH = "knowledge graph"


def _because(code: WarningCode, error: Exception) -> CodedWarning:
    return CodedWarning(code, {"reason": describe_reason(error)})


class Refresher:
    """Refreshes graphs, with the chat model of `extract` if the settings want it."""

    def __init__(self, database: Database, embedder: Embedder, chat_models: ChatModels) -> None:
        self._database = database
        self._embedder = embedder
        self._chat_models = chat_models

    async def refresh(
        self,
        scope: Scope,
        on_progress: OnProgress | None = None,
        *,
        on_stage: OnStage | None = None,
        patient: bool = False,
        notes: Sequence[CodedWarning] = (),
    ) -> tuple[CodedWarning, ...]:
        """Bring a graph up to date; a failure loses no document, so it is a warning.

        While Neo4j is down, a worker repeats the update of its copy.

        Args:
            scope: the knowledge base.
            on_progress: called with each stage and at the end.
            on_stage: called with the stages instead.
            patient: see `GraphUpkeep.refresh`.
            notes: further warnings to store with those of the refresh.

        Returns:
            The warnings, which `GraphInfo.warnings` has, too.
        """
        refreshed = await self._refresh(scope, on_progress, on_stage=on_stage, patient=patient)
        notes = (*notes, *refreshed)
        with suppress(SextantError):  # the caller gets the warnings in any case
            await KnowledgeBases(self._database).note_upkeep(scope, notes)
        return notes

    async def _refresh(
        self,
        scope: Scope,
        on_progress: OnProgress | None,
        *,
        on_stage: OnStage | None,
        patient: bool,
    ) -> tuple[CodedWarning, ...]:
        from sextant.domain.documents import JobStage
        from sextant.ingestion.progress import Progress

        def report(stage: JobStage, done: int = 0, total: int = 0, note: str = "") -> None:
            if on_progress is not None:
                on_progress(Progress(_GRAPH, stage, done, total, note))

        shown = False

        def show(_: str, done: int, total: int) -> None:
            nonlocal shown
            shown = True
            report(JobStage.GRAPH, done, total)

        try:
            async with self.opened() as upkeep:
                done = await upkeep.refresh(scope, on_stage or show, patient=patient)
        except GraphStoreUnavailable as error:
            warning = _because(WarningCode.GRAPH_NOT_PROJECTED, error)
            with suppress(SextantError):  # else the next change updates Neo4j
                await self.leave_to_worker(scope, wait=30.0)
            _log.warning("%s: %s", scope.graph_id, warning)
        except GraphNotFound as error:  # deleted meanwhile
            warning = _because(WarningCode.CAUSE, error)
        except Exception as error:  # noqa: BLE001 - the documents are stored in any case
            warning = _because(WarningCode.GRAPH_NOT_REFRESHED, error)
            unforeseen = None if isinstance(error, SextantError) else error
            _log.warning("%s: %s", scope.graph_id, warning, exc_info=unforeseen)
        else:
            if shown:
                found = (
                    count_noun(done.communities, "community") if done.communities else "up to date"
                )
                message = " ".join((f"{found}.", *done.warnings)) if done.warnings else found
                report(JobStage.DONE, note=message)
            return done.coded_warnings
        report(JobStage.FAILED, note=str(warning))
        return (warning,)

    async def leave_to_worker(self, scope: Scope, *, wait: float = 0.0) -> None:
        """Let a worker bring the graph up to date, after `wait` seconds at the earliest."""
        await Turns(self._database).offer_refresh(scope, since=time.time(), wait=wait)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[GraphUpkeep]:
        """Open the upkeep of graphs, with the chat model if that writes reports."""
        from sextant.ingestion.graph.upkeep import GraphUpkeep

        settings = self._database.settings
        by_model = settings.communities.reports == "llm" or (
            settings.communities.reports == "auto" and settings.ingestion.graph == "llm"
        )
        chat = await self._chat_models.get(Role.EXTRACT) if by_model else None
        yield GraphUpkeep(self._database, self._embedder, chat)

    async def forget_projection(self, scope: Scope) -> None:
        """Delete a knowledge base's copy from Neo4j; if Neo4j is down, a later one of that name replaces it."""
        from sextant.stores.graph.neo4j.projector import open_projector

        async with open_projector(self._database) as projector:
            if projector is not None:
                try:
                    await projector.drop(scope)
                except GraphStoreUnavailable as error:
                    _log.warning("%s: not deleted from Neo4j: %s", scope.graph_id, error)


async def reembed(
    database: Database, embedder: Embedder, on_progress: OnCount | None = None
) -> int:
    """Give every chunk of every user a vector of `embedder`, batch by batch.

    Each batch is committed, so an interrupted call can be continued, by another call or a worker
    (`sextant.facade.worker`). Meanwhile keyword search works, and vector search finds the chunks embedded so far.

    Args:
        database: the database of the chunks.
        embedder: the new model; its dimension must be known.
        on_progress: called after each batch with the chunks done and all chunks.

    Returns:
        The number of chunks embedded.

    Raises:
        DatabaseUnavailable, ModelUnavailable: what was stored stays.
    """
    from sextant.ingestion.job_runner import embedding_text

    async with lock_reembedding(database):
        scopes = await start_reembedding(database, embedder)
        chunks = ChunkStore(database)
        total = sum([await chunks.count(scope) for scope in scopes])
        done = 0
        for scope in scopes:
            last, size = None, database.settings.ingestion.embed_batch
            while batch := await chunks_without_vectors(database, scope, after=last, limit=size):
                last = batch[-1].id
                texts = [embedding_text(chunk.document_title, chunk) for chunk in batch]
                vectors = await embedder.embed_passages(texts)
                await store_vectors(database, scope, [chunk.id for chunk in batch], vectors)
                done += len(batch)
                if on_progress is not None:
                    on_progress(done, total)
        await finish_reembedding(database)
        return done
