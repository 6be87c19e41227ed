"""Options of hybrid search, and the LangChain vector store that it searches."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from sextant.domain.configuration import CheckedOptions
from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import LARGEST, LARGEST_WEIGHT, LEAST_WEIGHT
from sextant.domain.settings import RetrievalSettings
from sextant.stores.rows import KnowsRows, StoredTexts


@dataclass(frozen=True, slots=True)
class FilteredStore:
    """A vector store restricted to the rows of one user.

    Attributes:
        store: the vector store.
        user_field: the column or metadata key of the filter.
        rows: the user's texts.
        similarity: converts a distance of the store to cosine similarity.
        any_loop: whether the store can be used from any event loop.
    """

    store: VectorStore
    user_field: str
    rows: StoredTexts
    similarity: Callable[[float], float] = lambda distance: 1 - distance
    any_loop: bool = True

    async def nearest(self, question: str, k: int) -> Sequence[tuple[Document, float]]:
        """Return the nearest documents with their cosine similarities.

        The store's own hybrid search is switched off: its scores are no distances, and its `HybridSearchConfig`
        keeps the words of the first question for all others.
        """
        found = await self.store.asimilarity_search_with_score(
            question,
            k,
            filter={self.user_field: {"$eq": await self.rows.owner()}},
            hybrid_search_config=None,
        )
        return [(document, self.similarity(float(score))) for document, score in found]


def hybrid_store(store: VectorStore, user_id: int | str, user_field: str) -> FilteredStore:
    """Return a vector store restricted to one user.

    Raises:
        OptionInvalid: it is no `PGVectorStore`, or the user or field is invalid.
    """
    if isinstance(user_id, bool) or not isinstance(user_id, int | str) or user_id == "":
        raise OptionInvalid(
            f"user_id is {user_id!r}; it must be the number or name of a user.",
            next_step="Say whose documents may be found.",
            field="user_id",
        )
    if not user_field.isidentifier():
        raise OptionInvalid(
            f"user_field is {user_field!r:.60}; it must be the name of a column or metadata key.",
            next_step="Name the one that says whose a row is, like `user_id`.",
            field="user_field",
        )
    if isinstance(store, KnowsRows):
        return FilteredStore(store, user_field, store.rows_of(user_id))
    from sextant.stores.langchain import TableRows, is_supported, runs_its_loop, similarity_of

    if not is_supported(store):
        raise OptionInvalid(
            f"vector_store is a {type(store).__name__}; it must be a langchain_postgres PGVectorStore.",
            next_step="Open one with PGVectorStore.create or sextant.stores.langchain.open_vector_store.",
            field="vector_store",
        )
    rows = TableRows(store, user_id, user_field)
    return FilteredStore(store, user_field, rows, similarity_of(store), runs_its_loop(store))


logger = logging.getLogger(__name__)

UNEVEN = "权重总和不为 1，建议调整"

Weight = Annotated[float, Field(ge=0, le=LARGEST_WEIGHT)]


class HybridRetrieverOptions(CheckedOptions):
    """Options of `HybridRetriever`, in snake_case or camelCase.

    If the weights of the lanes do not sum to 1, `权重总和不为 1，建议调整` is logged.

    Raises:
        OptionInvalid: an option is unknown, of the wrong type or out of range; `field` names it.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    limit: int = Field(5, ge=1, le=1000, strict=True, description="Documents returned.")
    min_similarity: float = Field(
        0.3, ge=-1, le=1, description="Vector hits below this cosine similarity are dropped."
    )
    rrf_k: int = Field(60, ge=0, le=LARGEST, description="The k of reciprocal rank fusion.")
    vector_weight: Weight = Field(0.7, description="Weight of the vector lane.")
    keyword_weight: Weight = Field(0.3, description="Weight of the keyword lane.")
    max_keywords: int = Field(10, ge=1, le=50, description="Keywords taken from one question.")
    bm25_rerank: bool = Field(
        default=True,
        description="Order what the lanes found by BM25, too; off: the order of RRF exactly.",
    )
    bm25_fusion: Literal["linear", "rrf"] = Field(
        "linear",
        description="Weighted sum of similarity and BM25, each brought to 0..1; or a second RRF.",
    )
    bm25_vector_weight: Weight = Field(
        0.7, description="Weight of the similarity (rrf: of the fused order) beside BM25."
    )
    bm25_weight: Weight = Field(0.3, description="Weight of BM25.")
    bm25_k1: float = Field(
        1.2, ge=0, le=LARGEST_WEIGHT, description="How long repetitions of a term count."
    )
    bm25_b: float = Field(0.75, ge=0, le=1, description="How much the length of a text counts.")
    bm25_patience: float = Field(
        2.0,
        gt=0,
        description="Seconds that a question waits for an index that is not built yet; after them the order of RRF stays and a warning says so.",
    )
    lane_timeout: float = Field(10.0, gt=0, description="Seconds after which a lane is given up.")
    slow_ms: float = Field(500.0, gt=0, description="A search slower than this logs a warning.")
    debug: bool = Field(default=False, description="Log the time of each step and the statements.")

    @classmethod
    def of(cls, settings: RetrievalSettings, **options: object) -> Self:
        """Return the options of the settings, except those given here."""
        values = {
            name: getattr(settings, name)
            for name in cls.model_fields
            if name in type(settings).model_fields and to_camel(name) not in options
        }
        return cls.model_validate(values | options)

    @model_validator(mode="after")
    def _check_weights(self) -> Self:
        if self.vector_weight + self.keyword_weight < LEAST_WEIGHT:
            raise OptionInvalid(
                "vector_weight and keyword_weight are both 0, so nothing could be found.",
                next_step="Give at least one lane a weight above 0.",
                field="vector_weight",
            )
        if self.bm25_rerank and self.bm25_vector_weight + self.bm25_weight < LEAST_WEIGHT:
            raise OptionInvalid(
                "bm25_vector_weight and bm25_weight are both 0, so nothing would be ordered.",
                next_step="Give one a weight above 0, or switch bm25_rerank off.",
                field="bm25_weight",
            )
        if not math.isclose(self.vector_weight + self.keyword_weight, 1, abs_tol=1e-9):
            logger.warning(UNEVEN)
        return self
