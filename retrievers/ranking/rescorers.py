"""Rescorers: steps that change the scores of passages once their texts are read.

A mode lists its rescorers (`sextant.retrievers.modes.ModeSpec`). Each declares the scale of the scores that it
takes and keeps to, and gets them on it, whichever lanes found the passages and whichever rescorers came before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from sextant.domain.retrieval import RetrievedItem, rescore


class ScoreScale(Enum):
    """The scale of scores, all above 0."""

    SHARE_OF_BEST = (
        auto()
    )  # up to 1, the score of the best in the scope, which a filter may keep out
    AS_RANKED = auto()  # any; only their order says something


@dataclass(frozen=True, slots=True)
class RescoringQuery:
    """What rescorers know of a question.

    Attributes:
        text: the question.
        information: how much a term of it tells among the passages, 0 or more.
    """

    text: str
    information: Callable[[str], float]


class Rescorer(Protocol):
    """One step of rescoring."""

    @property
    def name(self) -> str:
        """Return its name in timings and `RetrievedItem.lanes`."""
        ...

    @property
    def scale(self) -> ScoreScale:
        """Return the scale of the scores that it takes."""
        ...

    @property
    def candidates(self) -> int:
        """Return how many passages it wants to read at least, however few are asked for."""
        ...

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        """Return the passages in their new order, scores descending and above 0.

        Args:
            query: the question.
            passages: best first, with their texts, and with scores on `scale`.
        """
        ...


def run_rescorer(
    rescorer: Rescorer,
    query: RescoringQuery,
    passages: Sequence[RetrievedItem],
    scale: ScoreScale = ScoreScale.AS_RANKED,
) -> list[RetrievedItem]:
    """Run one rescorer over passages, best first, whose scores are on `scale`."""
    if rescorer.scale is ScoreScale.SHARE_OF_BEST and scale is not rescorer.scale and passages:
        best = passages[0].score
        passages = [rescore(one, one.score / best) for one in passages]
    return rescorer.rescore(query, passages)
