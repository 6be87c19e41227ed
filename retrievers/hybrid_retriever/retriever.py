"""Hybrid search over any LangChain `PGVectorStore`: vectors and keywords, then BM25 reranking."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import AliasChoices, ConfigDict, Field, PrivateAttr, SkipValidation, field_validator

from sextant.domain.concurrency import run_sync
from sextant.domain.errors import EmbeddingModelChanged, OptionInvalid
from sextant.domain.questions import check_question
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.settings import LimitSettings
from sextant.domain.telemetry import milliseconds_since
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, word_warnings
from sextant.retrievers.arrays import BM25
from sextant.retrievers.hybrid_retriever.bm25 import (
    BM25Indexes,
    get_shared_indexes,
    rerank_linear,
    rerank_rrf,
)
from sextant.retrievers.hybrid_retriever.options import (
    FilteredStore,
    HybridRetrieverOptions,
    hybrid_store,
)
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    Lane,
    LaneQuery,
    LaneRun,
    counts_of,
    list_scores,
    log_failures,
    log_found,
    log_warning,
    run_lanes,
)
from sextant.retrievers.lanes.warnings import require_one, warn_of_failures
from sextant.retrievers.ranking.fusion import fuse
from sextant.stores.rows import StoredTexts

logger = logging.getLogger(__name__)

SLOW = "混合检索耗时超过阈值"

# Lanes overlap: each returns twice what is wanted, so that enough documents are left after fusion.
_OVERFETCH = 2
_FUSION, _BM25, _TOTAL = "fusion", "bm25", "total"


@dataclass(frozen=True, slots=True)
class HybridSearch:
    """The result of a hybrid search.

    Attributes:
        documents: best first; `metadata["score"]` descends, `metadata["lanes"]` has rank, score and weight by lane.
        keywords: keywords of the question.
        found: lane → number of documents that it found.
        warnings: warnings in the question's language.
        coded_warnings: the same as data.
        timings: milliseconds of `vector`, `keyword`, `fusion`, `bm25` and `total`.
    """

    documents: tuple[Document, ...]
    keywords: tuple[str, ...]
    found: Mapping[str, int]
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict[str, float])


class HybridRetriever(BaseRetriever):
    """A LangChain retriever: vector and keyword search at the same time, fused by weighted reciprocal ranks.

    A store of `sextant.stores.langchain.open_vector_store` has an index for keywords; any other `PGVectorStore` is
    searched by ILIKE, with the same matches.

    Args:
        vector_store: an open `PGVectorStore` (or `AsyncPGVectorStore`, for `ainvoke` only).
        user_id: the user whose documents may be found.
        options: see `HybridRetrieverOptions`.
        user_field: the column, or key of the JSON metadata, that holds the user of a row.
        bm25: cache of BM25 indexes; by default one for the process.

    Raises:
        OptionInvalid: an option, the store or the user is invalid; `field` names it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True, populate_by_name=True)

    lc_namespace: ClassVar[list[str]] = ["mirror", "retrievers"]

    vector_store: SkipValidation[VectorStore] = Field(
        validation_alias=AliasChoices("vector_store", "vectorStore")
    )
    user_id: SkipValidation[int | str] = Field(validation_alias=AliasChoices("user_id", "userId"))
    options: SkipValidation[HybridRetrieverOptions] = Field(default_factory=HybridRetrieverOptions)
    user_field: str = "user_id"
    bm25: SkipValidation[BM25Indexes] = Field(default_factory=get_shared_indexes)
    _store: FilteredStore = PrivateAttr()

    @field_validator("options", mode="before")
    @classmethod
    def _read(cls, options: object) -> HybridRetrieverOptions:
        if isinstance(options, HybridRetrieverOptions):
            return options
        return HybridRetrieverOptions.model_validate({} if options is None else options)

    def model_post_init(self, _: object) -> None:
        """Check store and user."""
        self._store = hybrid_store(self.vector_store, self.user_id, self.user_field)

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return LangChain's namespace of this class."""
        return cls.lc_namespace

    async def search(self, query: str) -> HybridSearch:
        """Search, and return documents with keywords, counts, warnings and timings.

        Raises:
            QuestionInvalid: the question is empty or too long.
            EmbeddingModelChanged: the store's vectors have another length than the question's.
            RetrievalError: both lanes failed; carries both causes.
        """
        started = time.perf_counter()
        request = self._request(query)
        lanes: list[Lane] = [
            StoreVectorLane(self._store, self.options.min_similarity),
            StoreKeywordLane(self._store.rows),
        ]
        runs = await run_lanes(lanes, request, self.options.lane_timeout)
        await require_one(runs)
        timings = {run.name: run.milliseconds for run in runs}
        fusing = time.perf_counter()
        weights = {VECTOR: self.options.vector_weight, KEYWORD: self.options.keyword_weight}
        items = fuse({run.name: run.hits for run in runs}, weights, self.options.rrf_k)
        timings[_FUSION] = milliseconds_since(fusing)
        if not any(run.hits or run.error for run in runs) and not await self._store.rows.states():
            # The user is unknown, or `user_field` names the wrong field.
            self._warn(request, WarningCode.USER_WITHOUT_DOCUMENTS)
        items = await self._reranked(request, items, timings)
        items = items[: self.options.limit]
        timings[_TOTAL] = milliseconds_since(started)
        self._log(request, runs, items, timings)
        warnings = distinct([*warn_of_failures(runs), *request.warnings])
        return HybridSearch(
            tuple(map(_as_document, items)),
            tuple(request.keywords),
            {run.name: len(run.hits) for run in runs},
            warnings=word_warnings(warnings, request.language),
            coded_warnings=tuple(warnings),
            timings=timings,
        )

    async def rebuild_bm25(self) -> None:
        """Build the BM25 index of this user now, before the first question."""
        await self.bm25.get(self._store.rows)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
    ) -> list[Document]:
        return list((await self.search(query)).documents)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
    ) -> list[Document]:
        if not self._store.any_loop:
            raise OptionInvalid(
                "The vector store's engine belongs to one event loop, so it cannot be used without it.",
                next_step="Call ainvoke on that loop, or make the engine by PGEngine.from_connection_string.",
                field="vector_store",
            )
        return list(run_sync(lambda: self.search(query)).documents)

    def _request(self, query: str) -> LaneQuery:
        request = LaneQuery(
            scope=Scope(str(self.user_id)),
            text=check_question(query, LimitSettings().question_chars),
            limit=self.options.limit * _OVERFETCH,
            max_keywords=self.options.max_keywords,
        )
        if not request.keywords:
            self._warn(request, WarningCode.KEYWORDS_MISSING)
        return request

    def _warn(self, request: LaneQuery, code: WarningCode) -> None:
        request.warn(code)
        log_warning(CodedWarning(code))

    async def _reranked(
        self, request: LaneQuery, items: list[RetrievedItem], timings: dict[str, float]
    ) -> list[RetrievedItem]:
        """Return the items reranked by BM25; unchanged if that is off, fails, or is not ready in time."""
        if not self.options.bm25_rerank or not items:
            return items
        started = time.perf_counter()
        try:
            index = await asyncio.wait_for(
                self.bm25.get(self._store.rows), self.options.bm25_patience
            )
            ids = [item.id for item in items]
            bm25 = BM25(self.options.bm25_k1, self.options.bm25_b)
            scores = index.score(request.text, ids, bm25)
            given, weight = self.options.bm25_vector_weight, self.options.bm25_weight
            if self.options.bm25_fusion == "rrf":
                k = self.options.rrf_k
                return rerank_rrf(items, scores, given_weight=given, weight=weight, k=k)
            return rerank_linear(items, scores, lane=VECTOR, lane_weight=given, weight=weight)
        except TimeoutError:
            self._warn(request, WarningCode.BM25_BUILDING)
        except Exception as error:  # noqa: BLE001 - the order of RRF stands without it
            self._warn(request, WarningCode.BM25_FAILED)
            log_failures({"bm25": error})
        finally:
            timings[_BM25] = milliseconds_since(started)
        return items

    def _log(
        self,
        request: LaneQuery,
        runs: Sequence[LaneRun],
        items: Sequence[RetrievedItem],
        timings: Mapping[str, float],
    ) -> None:
        milliseconds_of = {step: round(milliseconds, 1) for step, milliseconds in timings.items()}
        log_found(
            logger,
            "hybrid search",
            request,
            counts=counts_of(runs),
            found=list_scores(items),
            timings=timings,
        )
        if self.options.debug:
            logger.info("hybrid search options: %s", self.options.model_dump())
            for step, milliseconds in timings.items():
                logger.info("hybrid search step %s took %.2f ms", step, milliseconds)
            if request.keywords:
                statement = self._store.rows.statement(request.keywords, request.limit)
                logger.info("hybrid search keyword statement: %s", statement)
        if timings[_TOTAL] > self.options.slow_ms:
            logger.warning("%s：%.0f ms，%s", SLOW, timings[_TOTAL], milliseconds_of)


def _as_document(item: RetrievedItem) -> Document:
    lanes = {lane: asdict(score) for lane, score in item.lanes.items()}
    metadata: dict[str, Any] = {**item.metadata, "score": item.score, "lanes": lanes}
    return Document(id=item.id, page_content=item.text, metadata=metadata)


# Error messages of pgvector for vectors of different lengths.
_DIMENSIONS = ("different vector dimensions", "different halfvec dimensions")
_EXPECTED = ("expected", "dimensions")


@dataclass(frozen=True, slots=True)
class StoreVectorLane:
    """The documents nearest to the question by the store's own search; the score is cosine similarity.

    Raises:
        EmbeddingModelChanged: question and stored vectors differ in length.
    """

    store: FilteredStore
    min_similarity: float
    name: str = VECTOR

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Return the nearest of the user's documents, without those below `min_similarity`."""
        try:
            found = await self.store.nearest(query.text, query.limit)
        except Exception as error:
            text = str(error)
            is_expected = all(part in text for part in _EXPECTED)
            if is_expected or any(words in text for words in _DIMENSIONS):
                reason, *_ = text.splitlines()  # the rest is SQL, with the question's vector
                raise EmbeddingModelChanged(
                    f"The question's vector does not have the length of the stored ones: {reason}.",
                    next_step="Open the vector store with the embedding model it was filled with.",
                    field="vector_store",
                ) from error
            raise
        return [
            document_item(document, similarity)
            for document, similarity in found
            if similarity >= self.min_similarity
        ]


@dataclass(frozen=True, slots=True)
class StoreKeywordLane:
    """The documents that contain most of the question's keywords."""

    rows: StoredTexts
    name: str = KEYWORD

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Search the user's texts; a question of stop words only finds nothing."""
        if not query.keywords:
            return []
        found = await self.rows.keyword_search(query.keywords, query.limit)
        return [document_item(document, score) for document, score in found]


def document_item(document: Document, score: float) -> RetrievedItem:
    """Return a LangChain document as a retrieved item."""
    owner = document.metadata.get("document_id")
    return RetrievedItem(
        kind=ItemKind.CHUNK,
        id=str(document.id),
        text=document.page_content,
        score=max(score, LEAST_SCORE),
        document_id=None if owner is None else str(owner),
        external_id=document.metadata.get("external_id"),
        metadata=document.metadata,
    )
