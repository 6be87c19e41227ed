"""Ordering the best passages anew by a model that reads question and passage together."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sextant.domain.errors import describe_reason
from sextant.domain.fair_semaphore import release_slot
from sextant.domain.questions import in_range, positive
from sextant.domain.retrieval import LaneScore, RetrievedItem, rescore
from sextant.domain.settings import RetrievalSettings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.protocols import Reranker
from sextant.retrievers.arrays import min_max
from sextant.stores.postgresql.watched import with_deadline

logger = logging.getLogger(__name__)

RERANK = "rerank"

# The worst of the reranked still ranks above all that were not.
_LOWEST = 0.5


@dataclass(frozen=True, slots=True)
class RerankLimits:
    """What a reranking model may cost.

    Attributes:
        seconds: after which its work is cancelled.
        pairs: passages that it reads at most, the best ones.
        chars: of each passage. A cross-encoder reads 512 tokens and takes time for each.

    Raises:
        OptionInvalid: one is not above 0.
    """

    seconds: float = 5.0
    pairs: int = 50
    chars: int = 2000

    def __post_init__(self) -> None:
        """Refuse what would leave nothing to read, or no time to read it."""
        positive(self.seconds, "seconds")
        in_range(self.pairs, "pairs")
        in_range(self.chars, "chars")

    @classmethod
    def of(cls, settings: RetrievalSettings) -> RerankLimits:
        """Return those that the settings name."""
        return cls(settings.rerank_timeout, settings.rerank_pairs, settings.rerank_chars)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The model's scores of the passages it read, in their order; or none, and the reason."""

    scores: tuple[float, ...] = ()
    warning: CodedWarning | None = None


async def judge(
    reranker: Reranker, question: str, texts: Sequence[str], limits: RerankLimits
) -> Judgement:
    """Let the model score the first passages; a model that is late or fails scores none.

    Late work is cancelled: requests are dropped, a local model stops after the batch it is at.
    """
    read = [text[: limits.chars] for text in texts[: limits.pairs]]
    if not read:
        return Judgement()
    try:
        async with release_slot():
            given = await with_deadline(limits.seconds, reranker.score(question, read))
        scores = tuple(map(float, given))
    except TimeoutError:
        logger.warning("%s has no scores after %g s", reranker.name, limits.seconds)
        return Judgement(
            warning=CodedWarning(WarningCode.RERANKING_TIMED_OUT, {"seconds": limits.seconds})
        )
    except Exception as error:  # anyone's model: its failure is a warning
        logger.warning("reranking failed", exc_info=error)
        reason = describe_reason(error)
        return Judgement(warning=CodedWarning(WarningCode.RERANKING_FAILED, {"reason": reason}))
    if len(scores) != len(read) or not all(map(math.isfinite, scores)):
        usable = sum(map(math.isfinite, scores))
        logger.warning("%s gave %d scores for %d passages", reranker.name, usable, len(read))
        params = {"model": reranker.name}
        return Judgement(warning=CodedWarning(WarningCode.RERANKING_INCOMPLETE, params))
    return Judgement(scores)


def reorder(scores: Sequence[float], before: Sequence[float]) -> list[tuple[int, float]]:
    """Return the order that a model's scores give: (place before, new score), scores descending.

    What was scored comes first, from 1 for the best down to a half for the worst; then the rest as it
    was, below.

    Args:
        scores: of the first results.
        before: scores of all results, above 0, descending.
    """
    share = min_max(scores)
    best_first = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    first = [(index, _LOWEST + (1 - _LOWEST) * float(share[index])) for index in best_first]
    rest = range(len(scores), len(before))
    # Not to the very half, which the worst of the scored may have.
    return [*first, *((n, _LOWEST / 2 * before[n] / before[len(scores)]) for n in rest)]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Items in their new order; in the old one where there is a warning."""

    items: list[RetrievedItem]
    warning: CodedWarning | None = None


async def rerank(
    reranker: Reranker, question: str, items: Sequence[RetrievedItem], limits: RerankLimits
) -> Reranked:
    """Put the first items into the reranker's order; the others follow as they were.

    `lanes` keeps the model's own score, and the rank that it gives.
    """
    judgement = await judge(reranker, question, [item.text for item in items], limits)
    if not judgement.scores:
        return Reranked(list(items), judgement.warning)
    order = reorder(judgement.scores, [item.score for item in items])
    return Reranked(
        [
            _apply_score(items[index], score, rank, judgement.scores[index])
            if index < len(judgement.scores)
            else rescore(items[index], score)
            for rank, (index, score) in enumerate(order, start=1)
        ]
    )


def _apply_score(item: RetrievedItem, score: float, rank: int, given: float) -> RetrievedItem:
    """Return an item whose score comes from the model alone."""
    lanes = {name: replace(lane, contribution=0.0) for name, lane in item.lanes.items()}
    lanes[RERANK] = LaneScore(rank, given, contribution=score)
    return replace(item, score=score, lanes=lanes)
