"""The chunks of a knowledge base: search, descriptions, sections, and the log of searches."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sextant.domain.documents import JobStage, Section
from sextant.domain.errors import (
    DatabaseUnavailable,
    SettingsInvalid,
    SextantError,
    describe_reason,
)
from sextant.domain.retrieval import ItemKind, Retrieval, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.facade.chunk_reader import ChunkReader
from sextant.models.chat.roles import ChatModels, Role
from sextant.stores.documents.document_reader import DocumentReader, document_id_of, not_found
from sextant.stores.documents.model_descriptions import ModelDescriptions
from sextant.stores.postgresql.database import Database
from sextant.stores.search_log import LoggedSearch, SearchLog, item_to_log

if TYPE_CHECKING:
    from sextant.ingestion.model_describer import (
        DescribedByModel,
        DescriptionEstimate,
    )
    from sextant.ingestion.progress import OnProgress, OnStage
    from sextant.retrievers.chunk_search.hits import SearchHit
    from sextant.retrievers.chunk_search.search import (
        ChunkSearch,
        ChunkSearchResponse,
        SearchRequest,
    )

log = logging.getLogger(__name__)

# The name in progress instead of a file's.
_DESCRIPTIONS = "descriptions"


class Chunks:
    """The chunks of one knowledge base; `reading` reads around them.

    Args:
        database: holds the chunks.
        scope: the knowledge base.
        opened: opens the search, which loads models.
        chat_models: the chat models by role.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        opened: Callable[[], Awaitable[ChunkSearch]],
        chat_models: ChatModels,
    ) -> None:
        self._database = database
        self._documents = DocumentReader(database)
        self._log = SearchLog(database)
        self._scope = scope
        self._opened = opened
        self._chat_models = chat_models
        self.reading = ChunkReader(database, scope)

    async def search(self, request: SearchRequest) -> ChunkSearchResponse:
        """Return the best chunks with their semantic metadata; see `sextant.retrievers.chunk_search.search`.

        Raises:
            QuestionInvalid, OptionInvalid: the request is wrong.
            EmbeddingModelChanged: the stored vectors come from another embedding model.
            RetrievalError: both lanes failed.
        """
        found = await (await self._opened()).search(self._scope, request)
        results = (
            {
                "kind": "chunk",
                "id": hit.chunk_id,
                "document_id": hit.document_id,
                "score": hit.score,
            }
            for hit in found.results
        )
        options = request.model_dump(exclude={"query"}, exclude_defaults=True)
        await self._note(
            request.query,
            options,
            results,
            warnings=found.warnings,
            milliseconds=found.search_time_ms,
        )
        return found

    async def hits_of_mode(
        self, items: Iterable[RetrievedItem], *, neighbors: bool = False, debug: bool = False
    ) -> tuple[tuple[SearchHit, ...], list[CodedWarning]]:
        """Return chunks that a mode has found as hits of `search`, and warnings.

        Args:
            items: results of the mode; reports are left out.
            neighbors: whether to add the chunks near each and linked to it.
            debug: whether to add the scores of each lane.
        """
        from sextant.retrievers.chunk_search.hits import as_ranked

        warnings = list[CodedWarning]()
        best = [as_ranked(one) for one in items if one.kind is ItemKind.CHUNK]
        hits = (await self._opened()).hits
        shown = await hits.of(self._scope, best, warnings, neighbors=neighbors, debug=debug)
        return shown, warnings

    async def structure(self, document_id: UUID | str) -> tuple[Section, ...]:
        """Return the sections of a document in reading order, each after the one it lies in.

        Raises:
            DocumentNotFound: the knowledge base has no such document, or no section of it yet.
        """
        sections = await self._documents.structure(self._scope, document_id_of(document_id))
        if not sections:
            raise not_found(document_id)
        return sections

    async def describe(
        self,
        *,
        budget_tokens: int | None = None,
        on_progress: OnStage | None = None,
    ) -> DescribedByModel:
        """Let the chat model describe the chunks and sections that it has not described.

        Args:
            budget_tokens: tokens after which to stop; by default those of the settings.
            on_progress: called with "passages" or "sections", the number done and the total.

        Raises:
            SettingsInvalid: `ingestion.metadata` is not `llm`, or no chat model is set.
            ModelUnavailable: the chat model does not answer; finished descriptions stay.
        """
        if not self.by_model:
            raise SettingsInvalid(
                "Passages were described by extraction when they were ingested.",
                next_step="Set SEXTANT_INGESTION__METADATA=llm to let a chat model describe them.",
                field="ingestion.metadata",
            )
        await ModelDescriptions(self._database, self._scope).retry()
        return await self._describe(on_progress, budget_tokens)

    async def estimate_describing(self) -> DescriptionEstimate:
        """Return an estimate of the tokens of `describe`, without calling the model."""
        from sextant.ingestion.model_describer import estimate_descriptions

        return await estimate_descriptions(self._database, self._scope, self._database.settings)

    async def describe_ingested(
        self, on_progress: OnProgress | None = None, *, on_stage: OnStage | None = None
    ) -> tuple[CodedWarning, ...]:
        """Let the chat model describe new chunks, if configured; if it fails, extracted descriptions stay.

        Args:
            on_progress: called with the progress and at the end.
            on_stage: called with the stages instead, as by `describe`.

        Returns:
            Warnings about what was not described.
        """
        if not self.by_model:
            return ()
        from sextant.ingestion.progress import LaterStage, Progress

        def report(
            stage: JobStage | LaterStage, done: int = 0, total: int = 0, note: str = ""
        ) -> None:
            if on_progress is not None:
                on_progress(Progress(_DESCRIPTIONS, stage, done, total, note))

        def show(_: str, done: int, total: int) -> None:
            report(LaterStage.DESCRIBE, done, total)

        try:
            by_model = await self._describe(on_stage or show)
        except SextantError as error:
            log.warning("%s: described by extraction alone: %s", self._scope.graph_id, error)
            reason = {"reason": describe_reason(error)}
            warning = CodedWarning(WarningCode.DESCRIPTIONS_INCOMPLETE, reason)
            report(JobStage.FAILED, note=str(warning))
            return (warning,)
        if not (by_model.asked or by_model.left):
            return ()
        report(JobStage.DONE, note=" ".join((f"{by_model.summary}.", *by_model.warnings)))
        return by_model.coded_warnings

    @property
    def by_model(self) -> bool:
        """Return whether the settings let a chat model describe (`ingestion.metadata` is `llm`)."""
        return self._database.settings.ingestion.metadata == "llm"

    async def _describe(
        self,
        on_progress: OnStage | None,
        budget_tokens: int | None = None,
    ) -> DescribedByModel:
        from sextant.ingestion.model_describer import ModelDescriber

        chat = await self._chat_models.get(Role.EXTRACT)
        if chat is None:
            raise SettingsInvalid(
                "Passages are to be described by a chat model, and none is named.",
                next_step="Set SEXTANT_CHAT_MODEL, or SEXTANT_INGESTION__METADATA=extract.",
                field="ingestion.metadata",
            )
        describer = ModelDescriber(self._database, chat, self._database.settings)
        describer.budget.tokens = budget_tokens or describer.budget.tokens
        return await describer.describe(self._scope, on_progress)

    async def searches(self, limit: int = 50) -> list[LoggedSearch]:
        """Return the last searches that were logged, newest first."""
        return await self._log.list(self._scope, limit)

    async def forget_searches(self) -> int:
        """Empty the log of searches; return how many it had."""
        return await self._log.clear(self._scope)

    async def note_retrieval(
        self, query: str, options: Mapping[str, Any], found: Retrieval
    ) -> None:
        """Log the results of a mode."""
        await self._note(
            query,
            options,
            map(item_to_log, found.results),
            warnings=found.warnings,
            milliseconds=found.timings["total"],
        )

    async def _note(
        self,
        query: str,
        options: Mapping[str, Any],
        results: Iterable[Mapping[str, Any]],
        *,
        warnings: Iterable[str],
        milliseconds: float,
    ) -> None:
        """Log a search if configured; a failure of the log does not fail the search."""
        try:
            await self._log.record(
                self._scope, query, options, results, warnings=warnings, milliseconds=milliseconds
            )
        except DatabaseUnavailable as error:
            log.warning("a search was not logged: %s", error)
