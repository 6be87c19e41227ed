"""Ordering results that any search returned: relevance, diversity, freshness, and a reranking model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document

from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import in_range, require_type
from sextant.domain.retrieval import RetrievedItem, rescore
from sextant.domain.tasks import run_sync
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

# What the worst of scores that are not all above 0 gets.
_LEAST = 1e-6

Result = TypeVar("Result", RetrievedItem, Document)


@dataclass(frozen=True, slots=True)
class RankOptions:
    """How `rank_results` weighs what it knows.

    Attributes:
        balance: λ of maximal marginal relevance: 1 heeds relevance alone, 0 diversity alone.
        twin_texts: results that share so much of their text (Jaccard over n-grams) are one; above 1,
            none are.
        twin_vectors: the same for the cosine of embeddings, where they are given.
        freshness: the most that age can take from a score, as a share of it. A tenth lets the newer
            of two equally good results win and no stale one hide a much better one.
        half_life: days after which half of that is taken; a year, as handbooks and rules age.
    """

    balance: float = DEFAULT_BALANCE
    twin_texts: float = TWIN_TEXTS
    twin_vectors: float = TWIN_VECTORS
    freshness: float = 0.1
    half_life: float = 365.0

    def __post_init__(self) -> None:
        """Refuse what has no meaning, by name."""
        for name, lowest, highest in (
            ("balance", 0.0, 1.0),
            ("freshness", 0.0, 1.0),
            ("half_life", 1e-6, math.inf),
            ("twin_texts", 0.0, math.inf),
            ("twin_vectors", 0.0, math.inf),
        ):
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not (is_number and lowest <= value <= highest):  # NaN neither
                raise OptionInvalid(
                    f"{name} is {value!r:.40}; it must lie between {lowest:g} and {highest:g}.",
                    next_step=f"Leave {name} out to use its default.",
                    field=name,
                )


def rank_results(
    results: Sequence[Result],
    *,
    top_k: int | None = None,
    embeddings: Mapping[str, Sequence[float]] | None = None,
    options: RankOptions | None = None,
    now: datetime | None = None,
) -> list[Result]:
    """Order results by relevance, with regard to repetition and age.

    Relevance is a result's score; age takes up to `freshness` of it where a result is dated; maximal
    marginal relevance then chooses one result after the other, and leaves out twins of chosen ones.
    The order in which results come does not matter, ties go by id, and scores descend.

    Args:
        results: retrieved items, or documents with `score` in their metadata (higher is better;
            without one, documents count as given best first). A date is read from the metadata's
            `created_at`, a datetime or ISO 8601 text.
        top_k: how many at most; all that remain by default.
        embeddings: id → vector, of every result; likeness is then that of vectors, else of texts.
        options: weights.
        now: what age is measured from.

    Returns:
        The chosen, with their new scores: for a result unlike those before it, its score times what
        age leaves of it; less, the more it repeats them.

    Raises:
        OptionInvalid: top_k is below 1, a result is neither item nor document, a score is no number, or
            an embedding is missing.
    """
    chosen = options or RankOptions()
    require_type(chosen, RankOptions, "options", "balance=1, freshness=0.5")
    _check(results, top_k)
    moment = now or datetime.now(UTC)
    unique, scores = _by_score(results)
    if not unique:
        return []
    aged = scores * [_freshness_factor(result, chosen, moment) for result in unique]
    # Places decide ties, so they must follow from the scores and ids alone.
    order = sorted(range(len(unique)), key=lambda index: (-aged[index], _id(unique[index]), index))
    ordered, aged = [unique[index] for index in order], aged[order]
    best = float(aged[0])
    picks = marginal(
        aged / best,
        _likenesses(ordered, embeddings, chosen),
        count=len(ordered) if top_k is None else top_k,
        balance=chosen.balance,
    )
    # With λ = 1 the value is relevance itself, but for rounding.
    exact = chosen.balance == 1
    return [
        _with_score(ordered[index], float(aged[index]) if exact else value * best)
        for index, value in picks
    ]


class ResultRanker:
    """Orders results by a reranking model; late or broken, it leaves them as they were.

    Args:
        reranker: scores passages against the question, or a `CrossEncoder` of sentence-transformers or
            LangChain; None leaves the order as it is.
        limits: how long it may take, and how much it reads.

    Raises:
        OptionInvalid: the reranker scores nothing.
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
        """Return the `top_k` best results by the model's judgement, scores descending from 1.

        The model reads the first `limits.pairs`; those beyond follow in their order. When the model
        fails or is late, results come as they were, and a warning is logged.

        Args:
            query: the question.
            results: best first; documents as `rank_results` takes them.
            top_k: how many at most; all by default.

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
        """Return the twin of `arerank` for synchronous callers."""
        return run_sync(lambda: self.arerank(query, results, top_k))

    def rank_results(self, results: Sequence[Result], top_k: int | None = None) -> list[Result]:
        """Return `rank_results` by its defaults: relevance, diversity, freshness, without a model."""
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
    """Return each result once, as it scores highest, with scores above 0."""
    best: dict[str, tuple[float, Result]] = {}
    for index, result in enumerate(results):
        score, known = _score(result, index), best.get(_id(result))
        if known is None or score > known[0]:
            best[_id(result)] = (score, result)
    unique = [result for _, result in best.values()]
    scores = np.array([score for score, _ in best.values()])
    if len(scores) and scores.min() <= 0:  # logits, or distances turned round
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
    """As rows; what is no vector like the others would be like everything, and be left out as a twin."""
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
    """Return what age leaves of the score; all of it where there is no date."""
    written = _moment(result.metadata.get("created_at"))
    if written is None:
        return 1.0
    return 1 - options.freshness * (1 - time_decay(age_in_days(written, now), options.half_life))


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
    """Of a result at a place, from 0."""
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
    """Return what is left after `age_days` of something that halves every `half_life` days, 0..1.

    `0.5 ** (age / half_life)`; what is dated in the future counts as new.

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
