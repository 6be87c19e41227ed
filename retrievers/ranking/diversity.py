"""Diversity: a list that does not say the same thing twice (maximal marginal relevance, near-duplicates)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sextant.retrievers.arrays import Scores, Vectors, unit
from sextant.stores.chunks.grams import salt_grams
from sextant.text.characters import lowercase

# Carbonell and Goldstein ("The Use of MMR, Diversity-Based Reranking", SIGIR 1998) browse with 0.3
# and close in on what is looked for with 0.7.
DEFAULT_BALANCE = 0.7
# Manning, Raghavan and Schütze, "Introduction to Information Retrieval", §19.6: near duplicates share
# nine tenths of their shingles.
TWIN_TEXTS = 0.9
# multilingual-e5 puts unrelated passages at 0.7 to 0.8 and paraphrases of a sentence at 0.93 to 0.97.
TWIN_VECTORS = 0.98


class Likeness(Protocol):
    """How like each other some passages are, 0 (nothing in common) to 1 (the same)."""

    @property
    def twins_from(self) -> float:
        """Return the likeness from which on two passages say the same."""
        ...

    def to(self, index: int) -> Scores:
        """Return how like passage `index` every passage is, itself included."""
        ...


class VectorLikeness:
    """Cosine similarity of embeddings; what points apart counts as unlike, not as less than that.

    Args:
        vectors: shape (passages, dimension), of any length.
        twins_from: from this cosine on two passages say the same.
    """

    def __init__(self, vectors: Vectors, twins_from: float = TWIN_VECTORS) -> None:
        self._vectors = unit(np.asarray(vectors, np.float64))
        self.twins_from = twins_from

    def to(self, index: int) -> Scores:
        """Return cosines to one passage, 0..1."""
        cosines = np.einsum("ij,j->i", self._vectors, self._vectors[index])
        found: Scores = np.clip(cosines, 0.0, 1.0)
        return found


class TextLikeness:
    """Jaccard similarity of the sets of character n-grams that the keyword index cuts texts into.

    Shingling: Broder, "On the resemblance and containment of documents", 1997. Grams are hashed to 15
    bits, so unlike texts of 500 characters may seem to share a hundredth of them.

    Args:
        texts: of the passages.
        twins_from: from this share on two passages say the same.
    """

    def __init__(self, texts: Sequence[str], twins_from: float = TWIN_TEXTS) -> None:
        grams = salt_grams([lowercase(text) for text in texts], 0) if texts else []
        self._sizes = np.array([len(grams_of_text) for grams_of_text in grams], np.intp)
        self._grams = np.concatenate(grams) if grams else np.empty(0, np.int32)
        self._ends = np.cumsum(self._sizes)
        self.twins_from = twins_from

    def to(self, index: int) -> Scores:
        """Shared share of grams with one passage; a text without grams is like none."""
        end = self._ends[index]
        shared = np.isin(self._grams, self._grams[end - self._sizes[index] : end])
        counts = np.diff(
            np.concatenate([[0], np.cumsum(shared)])[np.concatenate([[0], self._ends])]
        )
        together = self._sizes + self._sizes[index] - counts
        found: Scores = counts / np.maximum(together, 1)
        return found


def marginal(
    relevance: Scores,
    likeness: Sequence[Likeness],
    *,
    count: int,
    balance: float = DEFAULT_BALANCE,
) -> list[tuple[int, float]]:
    """Choose `count` passages one by one: relevant, and unlike those chosen before.

    The next is the one with the highest `λ·relevance - (1 - λ)·likeness to the most like chosen one`
    (maximal marginal relevance), left out if it is a twin of a chosen one. λ = 1 gives the order of
    relevance; ties go by place. The value of a passage only falls while others are chosen, so the
    returned ones descend.

    Args:
        relevance: of each passage, 0..1.
        likeness: the first is what relevance is weighed against; each can tell twins.
        count: how many at most.
        balance: λ, 0..1.

    Returns:
        (place, value) of the chosen, values `λ·relevance + (1 - λ)·(1 - likeness)`, 0..1.
    """
    left: npt.NDArray[np.bool_] = np.ones(len(relevance), bool)
    nearest: Scores = np.zeros(len(relevance))
    chosen: list[tuple[int, float]] = []
    while len(chosen) < count and left.any():
        value = balance * relevance + (1 - balance) * (1 - nearest)
        index = int(np.argmax(np.where(left, value, -np.inf)))
        chosen.append((index, float(value[index])))
        left[index] = False
        for number, likes in enumerate(likeness):
            like = likes.to(index)
            left &= like < likes.twins_from
            if number == 0:
                nearest = np.maximum(nearest, like)
    return chosen
