"""The facade: documents in, questions answered, in a few calls.

async with Sextant.open() as rag:
    await rag.ingest(["handbook.pdf"], graph_id="hr")
    answer = await rag.query("How many days of leave?", graph_id="hr")
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sextant.domain.configuration import load_settings
from sextant.domain.documents import Document, GraphInfo
from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import DEFAULT_GRAPH, Scope
from sextant.domain.settings import Settings
from sextant.facade.parts import Parts
from sextant.facade.questions import Asking
from sextant.facade.refresher import Refresher, reembed
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.embedding import build_embedder
from sextant.models.embedding.cache import CachedEmbedder
from sextant.stores.documents.document_reader import document_id_of
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database

if TYPE_CHECKING:
    from sextant.facade.chunks import Chunks
    from sextant.facade.entities import Entities
    from sextant.facade.graph import Communities, KnowledgeGraph
    from sextant.facade.library import Library
    from sextant.facade.worker import Worker
    from sextant.ingestion.files import Paths
    from sextant.ingestion.graph.extraction.extract_llm import ExtractionReport
    from sextant.ingestion.importer import ImportReport
    from sextant.ingestion.pipeline import IngestReport
    from sextant.ingestion.progress import OnCount, OnProgress, OnStage
    from sextant.ingestion.transfer.line_reader import Source
    from sextant.models.chat.roles import AnyChatModel
    from sextant.nodes.context import Dependencies


class Sextant(Asking):
    """One user's knowledge bases, opened by `Sextant.open`.

    `ingest` and `import_graph` store documents; `query` and `stream` answer questions; `search`, `search_entities` and
    `hybrid_retriever` find passages and entities. `chunks`, `entities`, `communities` and `graph` return objects for
    the parts of one knowledge base.

    Calls for an unknown knowledge base raise GraphNotFound; calls that embed raise EmbeddingModelChanged if the stored
    vectors come from another model; any call may raise a DependencyError if a service is down.
    """

    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        stack: AsyncExitStack,
        chat_models: ChatModels | None = None,
    ) -> None:
        if chat_models is None:
            chat_models = ChatModels(database.settings)
            stack.push_async_callback(chat_models.close)
        super().__init__(database, Parts(database, embedder, stack, chat_models))
        self.embedder = embedder
        self.chat_models = chat_models
        self._documents = DocumentStore(database)
        self._refresher = Refresher(database, embedder, chat_models)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        *,
        embedder: CachedEmbedder | None = None,
        chat: AnyChatModel | Mapping[str, AnyChatModel] | None = None,
        **overrides: object,
    ) -> AsyncIterator[Sextant]:
        """Open the database and the models; close them at the end.

        Args:
            settings: all settings; by default those of the environment and `.env`.
            embedder: the result of `build_embedder` with these settings, if it exists already.
            chat: a LangChain chat model instead of that of the settings, or several by role: `answer`, `judge`,
                `extract`, `vision`. The model of `answer` serves all roles without one.
            overrides: single settings by keyword, like `data_dir=` or `database_url=`, instead of `settings`.

        Raises:
            SettingsInvalid: a setting is invalid.
            OptionInvalid: `chat` is not a chat model or names an unknown role; or `settings` and `overrides` are both
                given.
            DatabaseUnavailable: PostgreSQL cannot be reached or started.
        """
        if settings is None:
            settings = await asyncio.to_thread(lambda: load_settings(**overrides))
        elif overrides:
            raise OptionInvalid(
                "All settings and single ones were given.",
                next_step="Leave `settings` out, or change them by `settings.model_copy(update=…)`.",
                field=next(iter(overrides)),
            )
        async with AsyncExitStack() as stack:
            if embedder is None:
                embedder = await asyncio.to_thread(build_embedder, settings)
            chat_models = ChatModels(settings, chat)
            stack.push_async_callback(chat_models.close)
            if chat_models.has(Role.VISION) and not settings.sees_images:
                settings = settings.model_copy(update={"vision_model": "given"})
            database = await stack.enter_async_context(await Database.open(settings))
            rag = cls(database, embedder, stack, chat_models)
            if settings.warm_up:
                await rag.warm_up()
            yield rag

    def as_user(self, user_id: str) -> Sextant:
        """Return a facade for another user that shares database and models with this one.

        Raises:
            OptionInvalid: the user id is not a valid name.
        """
        other = copy(self)
        other.user_id = Scope(user_id).user_id
        return other

    async def warm_up(self) -> None:
        """Load models and dictionaries now instead of at the first question; a missing model is only logged."""
        await self._parts.warm_up()

    async def dependencies(self) -> Dependencies:
        """Return the workflow's dependencies, for a graph of your own (`graph.create_query_workflow`).

        A question without a user belongs to the user of this facade.
        """
        opened, _ = await self._parts.workflow()
        if opened.settings.user_id == self.user_id:
            return opened
        settings = opened.settings.model_copy(update={"user_id": self.user_id})
        return replace(opened, settings=settings)

    async def ingest(
        self,
        paths: Paths,
        graph_id: str = DEFAULT_GRAPH,
        on_progress: OnProgress | None = None,
        *,
        sync: bool = False,
    ) -> IngestReport:
        """Ingest files, and the readable files of folders.

        Args:
            paths: files and folders, or one of them.
            graph_id: the knowledge base; created if it is new.
            on_progress: called with the progress of each file.
            sync: whether to delete documents whose files have vanished from these folders; an empty folder deletes
                none.

        Returns:
            A list with the result of each file, in order; a failed file has its error and stops no other. Its
            `warnings` say which descriptions and which parts of the graph were not updated.
        """
        from sextant.ingestion.pipeline import IngestReport

        ingestor = await self._parts.ingestor()
        paths = paths if isinstance(paths, str | Path) else list(paths)
        report = IngestReport(await ingestor.ingest(self._scope(graph_id), paths, on_progress))
        if sync:
            report.removed = await ingestor.remove_vanished(self._scope(graph_id), paths)
        describe = await self._chunks(graph_id).describe_ingested(on_progress)
        report.coded_warnings = await self._refresher.refresh(
            self._scope(graph_id), on_progress, patient=True, notes=describe
        )
        return report

    def worker(self, concurrency: int | None = None) -> Worker:
        """Return a worker, whose `run` ingests the queued documents of all users.

        Args:
            concurrency: documents at a time, at most all but one of the same user; default
                `settings.worker.concurrency`.
        """
        from sextant.facade.worker import Worker

        most = concurrency or self.settings.worker.concurrency
        opened = partial(self._parts.ingestor, working=True)
        return Worker(
            self.database, opened, self._refresh, concurrency=most, reembed=self._finish_embedding
        )

    def library(self) -> Library:
        """Return the documents of the user in all knowledge bases, to add, watch, retry and delete."""
        from sextant.facade.library import Library

        return Library(self.database, self.user_id, self._parts.page_pictures())

    async def _finish_embedding(self) -> None:
        """Embed the chunks without a vector.

        Raises:
            EmbeddingModelChanged: the other vectors come from another model.
        """
        await self._parts.check_space()
        await reembed(self.database, self.embedder)

    async def _refresh(self, scope: Scope) -> None:
        """Update descriptions and the graph of a knowledge base of any user."""
        from sextant.facade.chunks import Chunks

        chunks = Chunks(self.database, scope, self._parts.chunk_search, self.chat_models)
        describe = await chunks.describe_ingested()
        await self._refresher.refresh(scope, patient=True, notes=describe)
        read = await self._extract_waiting(scope)
        if read is not None and read.done:
            await self._refresher.refresh(
                scope, patient=True, notes=(*describe, *read.coded_warnings)
            )

    async def _extract_waiting(self, scope: Scope) -> ExtractionReport | None:
        """Let the chat model read the passages that an import left unread; None if the settings exclude it."""
        if self.settings.ingestion.graph != "llm":
            return None
        extractor = await self._parts.extractor(renewed=True)
        return await extractor.extract(scope)

    async def import_graph(
        self,
        source: Source,
        graph_id: str = DEFAULT_GRAPH,
        *,
        strict: bool = False,
        facts_as_passages: bool = False,
        on_progress: OnStage | None = None,
        patience: float | None = None,
    ) -> ImportReport:
        """Import documents, chunks, entities and relations (docs/import.md).

        Ids are your own and come back in every result; importing the same again changes nothing.

        Args:
            source: a file of JSON Lines, plain or gzip-compressed, or its lines as bytes or dicts, also as an
                asynchronous iterable.
            graph_id: the knowledge base; created if it is new.
            strict: stop at the first invalid line.
            facts_as_passages: make a passage, which questions find and answers cite, of every relation that no chunk
                states and of every entity's description and aliases.
            on_progress: called with (stage, done, total); total 0: not known.
            patience: seconds to wait for the embedding model (at least 5), and for the updates after everything is
                stored (extraction, descriptions, merged names, vectors, communities, reports, Neo4j). After that the
                report is `pending` and a worker goes on. None: wait until all is done.

        Returns:
            The numbers of imported things, and the problems by line.

        Raises:
            OptionInvalid: the file cannot be read, or with `strict` a line is invalid.
        """
        from sextant.stores.graph.record import GraphRecord

        # With `patience`, extraction by the chat model is one of the updates below.
        importer = await self._parts.importer(reads=patience is None)
        # A loaded model needs 5 s at most to embed a word on a busy machine.
        report = await importer.import_graph(
            self._scope(graph_id),
            source,
            strict=strict,
            facts_as_passages=facts_as_passages,
            on_progress=on_progress,
            patience=None if patience is None else max(patience, 5.0),
        )
        scope = self._scope(graph_id)
        try:
            async with asyncio.timeout(patience):
                if patience is not None and (read := await self._extract_waiting(scope)):
                    report.warn(read.coded_warnings)
                describe = await self._chunks(graph_id).describe_ingested(on_stage=on_progress)
                report.warn(
                    await self._refresher.refresh(scope, on_stage=on_progress, notes=describe)
                )
        except TimeoutError:
            await self._refresher.leave_to_worker(scope)
            report.pending = True
        report.graph = await GraphRecord(self.database).counts(scope)
        if report.graph.entities:
            report.graph_alone = not await self._knowledge_bases.has_passages(scope)
        return report

    def export_graph(self, graph_id: str = DEFAULT_GRAPH) -> AsyncIterator[dict[str, Any]]:
        """Return the lines of an export, one dict each; `import_graph` takes them."""
        from sextant.ingestion.exporter import export_graph

        return export_graph(self.database, self._scope(graph_id))

    async def chunks(self, graph_id: str = DEFAULT_GRAPH) -> Chunks:
        """Return the chunks: search, descriptions, sections, and the log of searches."""
        await self._require_scope(graph_id)
        return self._chunks(graph_id)

    async def communities(self, graph_id: str = DEFAULT_GRAPH) -> Communities:
        """Return the communities: the hierarchy, reports, and building them."""
        from sextant.facade.graph import Communities

        return Communities(
            self.database, await self._require_scope(graph_id), self._refresher.opened
        )

    async def entities(self, graph_id: str = DEFAULT_GRAPH) -> Entities:
        """Return the entities: show, merge and extract."""
        from sextant.facade.entities import Entities

        scope = await self._require_scope(graph_id)
        refresh = partial(self._refresher.refresh, scope)
        return Entities(self.database, scope, extractor=self._parts.extractor, refresh=refresh)

    async def graph(self, graph_id: str = DEFAULT_GRAPH) -> KnowledgeGraph:
        """Return the graph: its size, its copy in Neo4j, and parts of it."""
        from sextant.facade.graph import KnowledgeGraph

        return KnowledgeGraph(self.database, await self._require_scope(graph_id))

    async def graphs(self) -> list[GraphInfo]:
        """Return the knowledge bases, by name."""
        return await self._knowledge_bases.list(self.user_id)

    async def delete_graph(self, graph_id: str) -> None:
        """Delete a knowledge base with everything in it, for good."""
        await self._knowledge_bases.delete(self._scope(graph_id))
        await self._refresher.forget_projection(self._scope(graph_id))

    async def documents(self, graph_id: str = DEFAULT_GRAPH) -> list[Document]:
        """Return the documents of a knowledge base, oldest first."""
        return await self._documents.list(await self._require_scope(graph_id))

    async def delete_document(
        self, document_id: UUID | str, graph_id: str = DEFAULT_GRAPH
    ) -> str | None:
        """Remove a document with everything that came from it.

        Returns:
            The name under which it stays, that of another file of the same bytes; None where it is gone.

        Raises:
            DocumentNotFound: the knowledge base has no such document.
        """
        stays_as = await self._documents.delete(self._scope(graph_id), document_id_of(document_id))
        await self._refresher.refresh(self._scope(graph_id))
        return stays_as

    async def reembed(self, on_progress: OnCount | None = None) -> int:
        """Embed everything again with the configured model, after it was changed.

        Entities and reports of this user follow the chunks; those of others at their next ingestion.

        Args:
            on_progress: called after each batch with the chunks done and those to do.

        Returns:
            The number of chunks embedded.
        """
        await self.embedder.warm_up()
        number = await reembed(self.database, self.embedder, on_progress)
        for graph in await self.graphs():
            await self._refresher.refresh(self._scope(graph.graph_id))
        return number
