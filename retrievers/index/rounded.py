"""Vectors as 8-bit integers: a quarter of the memory to read, compared by SimSIMD in a quarter of the time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import simsimd

from retrievers.index.sparse import Floats, Places, dot
from retrievers.ranking.relevance import highest

_MOST = np.float32(127)
# Rows at a time: of a build, and of a look, which holds the interpreter 0.1 ms for so many.
_BLOCK = 8192
# So many are sooner compared as they are.
_FEW = 8192
# So many of the best are compared as they are, and some more, lest one that belongs to them is left out. Those
# after them only say how near the rest lies, for which steps do.
_EXACT, _SPARE = 256, 64


@dataclass(frozen=True, slots=True)
class Rounded:
    """Vectors, and each in steps of a 127th of its greatest coordinate.

    A look at 100,000 vectors of 384 dimensions takes 1.4 ms of CPU, at the vectors themselves 5 to 8. A product
    by steps is off by 0.0004 (the packaged model): of the 1,000 nearest of 31,210 passages (150 questions) the
    1,000 most alike hold 98.9 %, 97.7 at worst, and 1,100 all.

    Attributes:
        vectors: as they are, shape (n, dimension).
        coordinates: the same in steps.
        steps: how much a step is, of each vector.
    """

    vectors: Floats
    coordinates: npt.NDArray[np.int8]
    steps: Floats

    @classmethod
    def of(cls, vectors: Floats) -> Rounded:
        """The vectors and their steps."""
        coordinates, steps = np.empty(vectors.shape, np.int8), np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), _BLOCK):
            own = slice(start, start + _BLOCK)
            coordinates[own], steps[own] = _rounded(vectors[own])
        return cls(vectors, coordinates, steps)

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.vectors.nbytes + self.coordinates.nbytes + self.steps.nbytes

    def nearest(self, question: Floats, count: int) -> tuple[Places, Floats]:
        """Rows and products of the `count` vectors that have the greatest with a question, best first.

        Past the best 256 of many vectors products are by steps.
        """
        if len(self.steps) <= _FEW:
            products = dot(self.vectors, question)
            best = highest(products, count)
            return best, products[best]
        asked, step = _rounded(question[None])
        about = np.empty(len(self.steps), np.float32)
        for start in range(0, len(about), _BLOCK):
            own = self.coordinates[start : start + _BLOCK]
            about[start : start + _BLOCK] = np.asarray(simsimd.cdist(asked, own, metric="dot"))[0]
        about *= self.steps
        exact = min(count, _EXACT) + _SPARE
        rows = highest(about, max(count, exact))
        products = about[rows] * step
        products[:exact] = dot(self.vectors.take(rows[:exact], axis=0), question)
        best = highest(products, count)
        return rows[best], products[best]


def _rounded(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    steps = np.abs(vectors).max(axis=1, initial=0) / _MOST
    divisors = np.where(steps > 0, steps, np.float32(1))[:, None]
    return np.rint(vectors / divisors).astype(np.int8), steps
