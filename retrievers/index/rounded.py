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
# Up to so many are sooner compared as they are, and need no steps.
_FEW = 8192
# So many of the best are compared as they are, and some more, lest one that belongs to them is left out. Those
# after them only say how near the rest lies, for which steps do.
_EXACT, _SPARE = 256, 64


@dataclass(frozen=True, slots=True)
class Rounded:
    """Vectors, and the way to each from their middle in steps of a 127th of its greatest coordinate.

    From the middle c a product is v·q = (v - c)·(q - c) + v·c + c·(q - c), so only what tells vectors apart is
    rounded. Many models give all vectors one great coordinate (Timkey and van Schijndel, "All bark and no bite",
    2021), whose 127th is more than the others say: with one of 0.9 beside 1,535, steps from 0 lost a fifth of the
    1,000 nearest, with one of 0.99 half of the ten.

    A look at 100,000 vectors of 384 dimensions takes 1.4 ms of CPU, at the vectors themselves 5 to 8. A product
    by steps is off by 0.0001 (the packaged model): of the 1,000 nearest of 31,228 passages (150 questions) the
    1,000 most alike hold 99.5 %, 99.1 at worst, and 1,100 all.

    Attributes:
        vectors: as they are, shape (n, dimension).
        centre: their middle.
        along: the product of each with the middle.
        coordinates: what leads from the middle to each, in steps.
        steps: how much a step is, of each vector.
    """

    vectors: Floats
    centre: Floats
    along: Floats
    coordinates: npt.NDArray[np.int8]
    steps: Floats

    @classmethod
    def of(cls, vectors: Floats) -> Rounded:
        """The vectors and their steps; without steps where they are few."""
        many = vectors if len(vectors) > _FEW else vectors[:0]
        centre = many.sum(axis=0) / np.float32(max(len(many), 1))
        coordinates, steps = np.empty(many.shape, np.int8), np.empty(len(many), np.float32)
        for start in range(0, len(many), _BLOCK):
            own = slice(start, start + _BLOCK)
            coordinates[own], steps[own] = _rounded(many[own] - centre)
        return cls(vectors, centre, dot(many, centre), coordinates, steps)

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        arrays = (self.vectors, self.centre, self.along, self.coordinates, self.steps)
        return sum(one.nbytes for one in arrays)

    def nearest(self, question: Floats, count: int) -> tuple[Places, Floats]:
        """Rows and products of the `count` vectors that have the greatest with a question, best first.

        Past the best 256 of many vectors products are by steps.
        """
        if not len(self.steps):
            products = dot(self.vectors, question)
            best = highest(products, count)
            return best, products[best]
        way = question - self.centre
        asked, step = _rounded(way[None])
        about = np.empty(len(self.steps), np.float32)
        for start in range(0, len(about), _BLOCK):
            own = self.coordinates[start : start + _BLOCK]
            about[start : start + _BLOCK] = np.asarray(simsimd.cdist(asked, own, metric="dot"))[0]
        about *= self.steps
        about *= step
        about += self.along
        exact = min(count, _EXACT) + _SPARE
        rows = highest(about, max(count, exact))
        products = about[rows] + dot(self.centre[None], way)
        products[:exact] = dot(self.vectors.take(rows[:exact], axis=0), question)
        best = highest(products, count)
        return rows[best], products[best]


def _rounded(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    steps = np.abs(vectors).max(axis=1, initial=0) / _MOST
    divisors = np.where(steps > 0, steps, np.float32(1))[:, None]
    return np.rint(vectors / divisors).astype(np.int8), steps
