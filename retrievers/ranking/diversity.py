"""Diversity: maximal marginal relevance, and the removal of near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sextant.retrievers.arrays import Scores, Vectors, unit
from sextant.stores.chunks.grams import salt_grams
from sextant.text.characters import lowercase

# Carbonell and Goldstein ("The Use of MMR, Diversity-Based Reranking", SIGIR 1998) suggest 0.3 for browsing and 0.7
# for a focused search.
DEFAULT_BALANCE = 0.7
# Manning, Raghavan and Schütze, "Introduction to Information Retrieval", §19.6: near duplicates share
# nine tenths of their shingles.
TWIN_TEXTS = 0.9
# In multilingual-e5 unrelated passages have a cosine of 0.7 to 0.8, paraphrases 0.93 to 0.97.
TWIN_VECTORS = 0.98


class Likeness(Protocol):
    """Similarity of passages, 0 (nothing in common) to 1 (the same)."""

    @property
    def twins_from(self) -> float:
        """Return the similarity from which on two passages are duplicates."""
        ...

    def to(self, index: int) -> Scores:
        """Return the similarity of every passage to passage `index`, itself included."""
        ...


class VectorLikeness:
    """Cosine similarity of embeddings; a negative cosine counts as 0.

    Args:
        vectors: shape (passages, dimension), of any length.
        twins_from: cosine from which on two passages are duplicates.
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
    """Jaccard similarity of the sets of character n-grams, cut as the keyword index cuts them.

    Shingling: Broder, "On the resemblance and containment of documents", 1997. Grams are hashed to 15 bits, so that
    unrelated texts of 500 characters may seem to share 1 % of them.

    Args:
        texts: of the passages.
        twins_from: similarity from which on two passages are duplicates.
    """

    def __init__(self, texts: Sequence[str], twins_from: float = TWIN_TEXTS) -> None:
        grams = salt_grams([lowercase(text) for text in texts], 0) if texts else []
        self._sizes = np.array([len(grams_of_text) for grams_of_text in grams], np.intp)
        self._grams = np.concatenate(grams) if grams else np.empty(0, np.int32)
        self._ends = np.cumsum(self._sizes)
        self.twins_from = twins_from

    def to(self, index: int) -> Scores:
        """Return the Jaccard similarity to one passage; 0 for a text without grams."""
        end = self._ends[index]
        shared = np.isin(self._grams, self._grams[end - self._sizes[index] : end])
        counts = np.diff(
            np.concatenate([[0], np.cumsum(shared)])[np.concatenate([[0], self._ends])]
        )
        together = self._sizes + self._sizes[index] - counts
        found: Scores = counts / np.maximum(together, 1)
        return found


def marginal(
    relevance: Scores, likeness: Sequence[Likeness], *, count: int, balance: float = DEFAULT_BALANCE
) -> list[tuple[int, float]]:
    """Choose `count` passages by maximal marginal relevance, without duplicates of chosen ones.

    The next passage has the highest `λ·relevance + (1 - λ)·(1 - similarity to the most similar chosen one)`. With
    λ = 1 that is the order of relevance; ties go by position.

    Args:
        relevance: of each passage, 0..1.
        likeness: similarities; the first is the one in the formula, each detects duplicates.
        count: number of passages.
        balance: λ, 0..1.

    Returns:
        (position, value of the formula) of the chosen passages; values descend.
    """
    left: npt.NDArray[np.bool_] = np.ones(len(relevance), bool)
    highest: Scores = np.zeros(len(relevance))
    chosen: list[tuple[int, float]] = []
    while len(chosen) < count and left.any():
        value = balance * relevance + (1 - balance) * (1 - highest)
        index = int(np.argmax(np.where(left, value, -np.inf)))
        chosen.append((index, float(value[index])))
        left[index] = False
        for number, likes in enumerate(likeness):
            like = likes.to(index)
            left &= like < likes.twins_from
            if number == 0:
                highest = np.maximum(highest, like)
    return chosen
