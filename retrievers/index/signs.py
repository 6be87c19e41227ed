"""On which side of some directions vectors lie, a bit each: which vectors are worth a closer look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrievers.index.sparse import Floats, Places, dot

# Directions at most, so 40 bytes a vector.
_DIRECTIONS = 320
# Of n vectors so many times √n are kept: of 300 sentences about 100,000 others (all-MiniLM-L6-v2) they hold 99.9 % of the
# 10 nearest, 98.8 of the 100 and 90.8 of the 500; of 110 questions over 3,536 passages (the packaged model) 98.7 of the 10,
# 93.0 of the 50 and 77.2 of the 200. 384 directions by chance among all: 99.9, 99.2 and 92.0 (84,000);
# 98.9, 93.1 and 77.7.
_KEPT = 8
# So many vectors say along which directions vectors differ most, found in so many turns.
_TELLING, _TURNS = 8192, 2
# The least unlike are told by every so manieth vector.
_SAMPLED = 16
# Rows at a time of a build.
_BLOCK = 8192
_WORD = 64
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Signs:
    """Vectors by the signs of their products with directions taken by chance, seen from the vectors' middle.

    Two vectors lie on different sides of the more such directions the wider the angle between them (Charikar,
    "Similarity estimation techniques from rounding algorithms", 2002); of directions at right angles to each other
    fewer are needed (Ji, Li, Yan, Zhang and Tian, "Super-bit locality-sensitive hashing", 2012), and fewer still
    where they lie among those along which the vectors differ most (Gong and Lazebnik, "Iterative quantization", 2011).

    Bits lie by column, a word for each 64 directions: numpy counts what differs in one after the other sooner than
    SimSIMD compares row by row.

    Attributes:
        centre: the vectors' middle.
        directions: shape (directions, dimension), of length 1 and at right angles.
        words: 1 where the product is above 0, shape (words, vectors).
    """

    centre: Floats
    directions: Floats
    words: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, vectors: Floats, centre: Floats) -> Signs:
        """The signs of vectors, shape (n, dimension)."""
        directions = _directions(vectors[:: -(-len(vectors) // _TELLING)] - centre)
        words = np.empty((-(-len(directions) // _WORD), len(vectors)), np.uint64)
        for start in range(0, len(vectors), _BLOCK):
            own = slice(start, start + _BLOCK)
            words[:, own] = _packed((vectors[own] - centre) @ directions.T)
        return cls(centre, directions, words)

    def updated(self, vectors: Floats, fresh: Places, was: Places) -> Signs:
        """Those of vectors of which row i was row `was[i]` here, but for the `fresh` rows, which are these vectors."""
        words = self.words.take(was, axis=1, mode="clip")
        words[:, fresh] = _packed((vectors - self.centre) @ self.directions.T)
        return Signs(self.centre, self.directions, words)

    @property
    def nbytes(self) -> int:
        """Bytes that they take."""
        return self.words.nbytes + self.directions.nbytes

    def alike(self, question: Floats) -> Places:
        """Rows of about `_KEPT` √n vectors whose signs are most like the question's, rising."""
        # What it has along the middle says nearly the same of all, and its signs would drown the others'.
        middle = float(self.centre @ self.centre)
        beyond = question - self.centre * np.float32(question @ self.centre / max(middle, _TINY))
        unlike = self._unlike(_packed(dot(self.directions, beyond)[None])[:, 0])
        sample = unlike[::_SAMPLED]
        last = int(_KEPT * len(unlike) ** 0.5) // _SAMPLED
        return np.flatnonzero(unlike <= np.partition(sample, last)[last])

    def _unlike(self, asked: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint16]:
        """How many signs of each vector are others: of one that lies opposite more than a byte counts."""
        differing = np.empty_like(self.words[0])
        unlike, more = np.zeros(len(differing), np.uint16), np.empty(len(differing), np.uint8)
        for own, word in zip(self.words, asked, strict=True):
            unlike += np.bitwise_count(np.bitwise_xor(own, word, out=differing), out=more)
        return unlike


def _directions(vectors: Floats) -> Floats:
    """Directions by chance among those along which vectors differ most, which a few turns find nearly."""
    rng, dimension = np.random.default_rng(0), vectors.shape[1]
    count = min(dimension, _DIRECTIONS)
    along = np.linalg.qr(rng.standard_normal((dimension, count))).Q.astype(np.float32)
    for _ in range(_TURNS if count < dimension else 0):
        along = np.linalg.qr(vectors.T @ (vectors @ along)).Q
    turned = np.linalg.qr(rng.standard_normal((count, count))).Q.astype(np.float32)
    return np.ascontiguousarray((along @ turned).T)


def _packed(products: npt.NDArray[np.floating]) -> npt.NDArray[np.uint64]:
    """The signs of some vectors' products, a row each, as words by column."""
    octets = np.packbits(products > 0, axis=1)
    lacking = -octets.shape[1] % np.dtype(np.uint64).itemsize
    if lacking:
        octets = np.pad(octets, ((0, 0), (0, lacking)))
    return octets.view(np.uint64).T
