"""Rank the results of any search: by relevance, diversity and freshness, or by a reranker."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document
from pydantic import Field

from sextant.domain.concurrency import run_sync
from sextant.domain.configuration import CheckedOptions
from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import in_range, require_type
from sextant.domain.retrieval import RetrievedItem, rescore
from sextant.models.protocols import Reranker
from sextant.models.reranker import as_reranker
from sextant.retrievers.arrays import Scores, Vectors, min_max
from sextant.retrievers.ranking.diversity import (
    DEFAULT_BALANCE,
    TWIN_TEXTS,
    TWIN_VECTORS,
    Likeness,
    TextLikeness,
    VectorLikeness,
    marginal,
)
from sextant.retrievers.ranking.reranking import RerankLimits, judge, reorder

# The worst score, where scores that are not all above 0 are mapped to 0..1.
_LEAST = 1e-6

Result = TypeVar("Result", RetrievedItem, Document)


class RankOptions(CheckedOptions):
    """Weights of `rank_results`.

    Raises:
        OptionInvalid: an option is unknown, of the wrong type or out of range; `field` names it.
    """

    balance: float = Field(
        DEFAULT_BALANCE,
        ge=0,
        le=1,
        strict=True,
        description="λ: 1 is relevance, 0 diversity alone.",
    )
    twin_texts: float = Field(
        TWIN_TEXTS,
        ge=0,
        strict=True,
        description="Results that share so much text (Jaccard over n-grams) are duplicates.",
    )
    twin_vectors: float = Field(
        TWIN_VECTORS, ge=0, strict=True, description="The same for the cosine of embeddings."
    )
    freshness: float = Field(
        0.1, ge=0, le=1, strict=True, description="Share of a score that age can take at most."
    )
    half_life: float = Field(
        365.0, gt=0, strict=True, description="Days after which age has taken half of that."
    )


def rank_results(
    results: Sequence[Result],
    *,
    top_k: int | None = None,
    embeddings: Mapping[str, Sequence[float]] | None = None,
    options: RankOptions | None = None,
    now: datetime | None = None,
) -> list[Result]:
    """Rank results by relevance, diversity and freshness.

    Relevance is a result's score, of which age takes up to `freshness` if the result has a date. Maximal marginal
    relevance then chooses one result after the other and leaves out duplicates of chosen ones. The given order
    does not matter; ties go by id.

    Args:
        results: retrieved items, or documents with `score` in their metadata (higher is better; without scores
            documents count as given best first). The date is `created_at` of the metadata, a datetime or
            ISO 8601 text.
        top_k: number of results; default all.
        embeddings: id → vector of every result; similarity is then that of vectors, else of texts.
        options: weights.
        now: the moment from which ages count.

    Returns:
        The chosen results with new, descending scores: the score after ageing, less for what repeats results
        before it.

    Raises:
        OptionInvalid: top_k is below 1, a result is neither item nor document, a score is not a number, or an
            embedding is missing.
    """
    chosen = options or RankOptions()
    require_type(chosen, RankOptions, "options", "balance=1, freshness=0.5")
    _check(results, top_k)
    moment = now or datetime.now(UTC)
    unique, scores = _by_score(results)
    if not unique:
        return []
    aged = scores * [_freshness_factor(result, chosen, moment) for result in unique]
    # Ties go by position, which must follow from scores and ids alone.
    order = sorted(range(len(unique)), key=lambda index: (-aged[index], _id(unique[index]), index))
    ordered, aged = [unique[index] for index in order], aged[order]
    best = float(aged[0])
    picks = marginal(
        aged / best,
        _likenesses(ordered, embeddings, chosen),
        count=len(ordered) if top_k is None else top_k,
        balance=chosen.balance,
    )
    # With λ = 1 the value is relevance itself, except for rounding.
    exact = chosen.balance == 1
    return [
        _with_score(ordered[index], float(aged[index]) if exact else value * best)
        for index, value in picks
    ]


class ResultRanker:
    """Ranks results by a reranker; if it is late or fails, the order stays.

    Args:
        reranker: a reranker, or a `CrossEncoder` of sentence-transformers or LangChain; None leaves the order.
        limits: limits of the reranker.

    Raises:
        OptionInvalid: the object is not a reranker.
    """

    def __init__(
        self,
        reranker: Reranker | BaseCrossEncoder | None = None,
        limits: RerankLimits | None = None,
    ) -> None:
        self._reranker = None if reranker is None else as_reranker(reranker)
        self._limits = limits or RerankLimits()

    async def arerank(
        self, query: str, results: Sequence[Result], top_k: int | None = None
    ) -> list[Result]:
        """Return the `top_k` best results by the reranker, scores descending from 1.

        It reads the first `limits.pairs`; the others follow in their order. If it fails or is late, the results
        are unchanged, and a warning is logged.

        Args:
            query: the question.
            results: best first, as for `rank_results`.
            top_k: number of results; default all.

        Raises:
            OptionInvalid: top_k is below 1, or a result is neither item nor document.
        """
        _check(results, top_k)
        if self._reranker is None:
            return list(results[:top_k])
        texts = [_text(result) for result in results]
        judgement = await judge(self._reranker, query, texts, self._limits)
        if not judgement.scores:
            return list(results[:top_k])
        reciprocal_ranks = [1 / rank for rank in range(1, len(results) + 1)]
        order = reorder(judgement.scores, reciprocal_ranks)[:top_k]
        return [_with_score(results[index], score) for index, score in order]

    def rerank(
        self, query: str, results: Sequence[Result], top_k: int | None = None
    ) -> list[Result]:
        """Call `arerank` from synchronous code, and block."""
        return run_sync(lambda: self.arerank(query, results, top_k))

    def rank_results(self, results: Sequence[Result], top_k: int | None = None) -> list[Result]:
        """Rank by relevance, diversity and freshness with the default weights, without the reranker."""
        return rank_results(results, top_k=top_k)


def _check(results: object, top_k: int | None) -> None:
    if top_k is not None:
        in_range(top_k, "top_k")
    if not isinstance(results, Sequence):
        raise _unfit(f"results are {results!r:.80}, which is not a list.")
    for one in results:
        if not isinstance(one, RetrievedItem | Document):
            raise _unfit(
                f"results hold {one!r:.80}, which is neither a retrieved item nor a document."
            )


def _unfit(reason: str) -> OptionInvalid:
    advice = "Give `results` of a search, or LangChain documents with `score` in their metadata."
    return OptionInvalid(reason, next_step=advice, field="results")


def _by_score(results: Sequence[Result]) -> tuple[list[Result], Scores]:
    """Return each result once, with its highest score; scores are above 0."""
    best: dict[str, tuple[float, Result]] = {}
    for index, result in enumerate(results):
        score, known = _score(result, index), best.get(_id(result))
        if known is None or score > known[0]:
            best[_id(result)] = (score, result)
    unique = [result for _, result in best.values()]
    scores = np.array([score for score, _ in best.values()])
    if len(scores) and scores.min() <= 0:  # logits, or negated distances
        scores = _LEAST + (1 - _LEAST) * min_max(scores)
    return unique, scores


def _likenesses(
    results: Sequence[Result],
    embeddings: Mapping[str, Sequence[float]] | None,
    options: RankOptions,
) -> list[Likeness]:
    by_text = TextLikeness([_text(result) for result in results], options.twin_texts)
    if embeddings is None:
        return [by_text]
    ids = [_id(result) for result in results]
    if missing := [one for one in ids if one not in embeddings]:
        raise OptionInvalid(
            f"There is no embedding of {missing[0]!r:.80}.",
            next_step="Give that of every result, by its id, or none.",
            field="embeddings",
        )
    return [
        VectorLikeness(_vectors([embeddings[one] for one in ids]), options.twin_vectors),
        by_text,
    ]


def _vectors(given: Sequence[Sequence[float]]) -> Vectors:
    """Return the vectors as rows of a matrix."""
    with suppress(TypeError, ValueError), np.errstate(over="ignore"):
        rows = np.asarray(given, np.float32)
        if rows.ndim == 2 and np.isfinite(rows).all():
            return rows
    raise OptionInvalid(
        "The embeddings are not all vectors of finite numbers and of one length.",
        next_step="Give vectors of one model, or none: likeness is then that of texts.",
        field="embeddings",
    )


def _freshness_factor(
    result: RetrievedItem | Document, options: RankOptions, now: datetime
) -> float:
    """Return the share of a score that age leaves; 1 without a date."""
    created_at = _moment(result.metadata.get("created_at"))
    if created_at is None:
        return 1.0
    return 1 - options.freshness * (1 - time_decay(age_in_days(created_at, now), options.half_life))


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    with suppress(ValueError):
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    return None


def _text(result: RetrievedItem | Document) -> str:
    return result.text if isinstance(result, RetrievedItem) else result.page_content


def _id(result: RetrievedItem | Document) -> str:
    return str(result.id or _text(result))


def _score(result: RetrievedItem | Document, index: int) -> float:
    """Return the score of the result at a position, from 0."""
    score = result.score if isinstance(result, RetrievedItem) else result.metadata.get("score")
    if score is None:
        return 1 / (index + 1)
    with suppress(TypeError, ValueError, OverflowError):
        if math.isfinite(number := float(score)):
            return number
    raise OptionInvalid(
        f"The score of {_id(result)!r:.80} is {score!r:.40}.",
        next_step="Give numbers, or none: documents then count as given best first.",
        field="score",
    )


def _with_score(result: Result, score: float) -> Result:
    if isinstance(result, RetrievedItem):
        return rescore(result, score)
    return result.model_copy(update={"metadata": {**result.metadata, "score": score}})


_DAY = 86_400.0  # seconds


def time_decay(age_days: float, half_life: float) -> float:
    """Return `0.5 ** (age_days / half_life)`, 0..1; a date in the future counts as now.

    Args:
        age_days: age in days.
        half_life: days, above 0.
    """
    return float(0.5 ** (max(age_days, 0.0) / half_life))


def age_in_days(created_at: datetime, now: datetime) -> float:
    """Return days from `created_at` to `now`, negative for the future; a time without zone is UTC."""
    return (_in_utc(now) - _in_utc(created_at)).total_seconds() / _DAY


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
