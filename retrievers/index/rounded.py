"""Vectors as 8-bit integers and as signs: less memory to read, compared by SimSIMD in less time."""

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
# More than so many are sifted by their signs first.
_MANY = 32768
# Of n vectors so many times √n are kept by their signs: of 300 questions over 31,228 passages they hold 99.6 % of
# the 10 nearest, 97 of the 100 and 87 of the 500. Their number at equal recall grows about so (3,900 to 31,228 passages).
_SIFTED = 16
# The least unlike are told by every so manieth vector.
_SAMPLED = 16
# So many more than wanted are compared as they are, lest one that belongs to them is left out.
_SPARE = 64
_TINY = 1e-12


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

    Of many vectors even that look drives all else out of the processor's caches. There those whose signs differ
    in the fewest coordinates from the question's are looked at alone (Charikar, "Similarity estimation techniques
    from rounding algorithms", 2002, with the coordinates as directions).

    Attributes:
        vectors: as they are, shape (n, dimension).
        centre: their middle.
        along: the product of each with the middle.
        coordinates: what leads from the middle to each, in steps.
        steps: how much a step is, of each vector.
        signs: one bit a coordinate, of many vectors.
    """

    vectors: Floats
    centre: Floats
    along: Floats
    coordinates: npt.NDArray[np.int8]
    steps: Floats
    signs: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, vectors: Floats, *, sifted: bool = False) -> Rounded:
        """The vectors, and their steps where they are not few.

        Args:
            vectors: shape (n, dimension).
            sifted: where they are many, a question may miss a few in a hundred of those past its best ten.
        """
        many = vectors if len(vectors) > _FEW else vectors[:0]
        centre = many.sum(axis=0) / np.float32(max(len(many), 1))
        coordinates, steps = np.empty(many.shape, np.int8), np.empty(len(many), np.float32)
        for start in range(0, len(many), _BLOCK):
            own = slice(start, start + _BLOCK)
            coordinates[own], steps[own] = _rounded(many[own] - centre)
        signs = _signs(coordinates[: len(many) if sifted and len(many) > _MANY else 0])
        return cls(vectors, centre, dot(many, centre), coordinates, steps, signs)

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        arrays = (self.vectors, self.centre, self.along, self.coordinates, self.steps)
        return self.signs.nbytes + sum(one.nbytes for one in arrays)

    def nearest(self, question: Floats, count: int) -> tuple[Places, Floats]:
        """Rows and products of the `count` vectors that have the greatest with a question, best first.

        Of many vectors an approximation, see `_SIFTED`; the products are exact.
        """
        if not len(self.steps):
            products = dot(self.vectors, question)
            best = highest(products, count)
            return best, products[best]
        rows = self._alike(question) if len(self.signs) else None
        about = self._about(question, rows)
        best = highest(about, count + _SPARE)
        rows = best if rows is None else rows[best]
        products = dot(self.vectors.take(rows, axis=0), question)
        best = highest(products, count)
        return rows[best], products[best]

    def _alike(self, question: Floats) -> Places:
        """Rows of about `_SIFTED` √n vectors whose signs are most like the question's, rising."""
        # What it has along the middle says nearly the same of all, and its signs would drown the others'.
        along = self.centre * (
            question @ self.centre / max(float(self.centre @ self.centre), _TINY)
        )
        asked = _signs((question - along)[None])
        unlike = np.asarray(
            simsimd.cdist(asked, self.signs, metric="hamming", dtype="bin8", out_dtype="float32")
        )[0]
        sample = unlike[::_SAMPLED]
        last = int(_SIFTED * len(unlike) ** 0.5) // _SAMPLED
        return np.flatnonzero(unlike <= np.partition(sample, last)[last])

    def _about(self, question: Floats, rows: Places | None) -> Floats:
        """The products by steps with these vectors, or all, less what all have in common."""
        asked, step = _rounded((question - self.centre)[None])
        if rows is None:
            about, steps, along = np.empty(len(self.steps), np.float32), self.steps, self.along
            for start in range(0, len(about), _BLOCK):
                own = slice(start, start + _BLOCK)
                about[own] = _products(asked, self.coordinates[own])
        else:
            about = _products(asked, self.coordinates.take(rows, axis=0)).astype(np.float32)
            steps, along = self.steps.take(rows), self.along.take(rows)
        about *= steps
        about *= step
        about += along
        return about


def _products(
    asked: npt.NDArray[np.int8], coordinates: npt.NDArray[np.int8]
) -> npt.NDArray[np.float64]:
    products: npt.NDArray[np.float64] = np.asarray(simsimd.cdist(asked, coordinates, metric="dot"))[
        0
    ]
    return products


def _signs(vectors: npt.NDArray[np.floating] | npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    return np.packbits(vectors > 0, axis=1)


def _rounded(vectors: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    steps = np.abs(vectors).max(axis=1, initial=0) / _MOST
    divisors = np.where(steps > 0, steps, np.float32(1))[:, None]
    return np.rint(vectors / divisors).astype(np.int8), steps
