"""On which side of some directions vectors lie, a bit each: which vectors are worth a closer look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sextant.retrievers.numeric.sparse import Floats, Places, dot, few_true

# Directions at most, so 24 bytes a vector, and no more of them differ than a byte counts.
_DIRECTIONS = 192
# So many of them, to which a question is most nearly at right angles, are not counted for it.
_IDLE = 0.4
# Of n vectors so many times √n are kept: of 300 sentences about 100,000 others (all-MiniLM-L6-v2) they hold 99.9 %
# of the 10 nearest, 98.9 of the 100 and 90.8 of the 500; of 110 questions over 3,536 passages (the packaged model)
# 99.0 of the 10, 94.9 of the 50 and 80.6 of the 200. All signs of 320 directions by chance held as much, or less,
# with 8.
_KEPT = 7
# So many vectors say along which directions vectors differ most and how to turn them, found in so many turns each.
_TELLING, _TURNS, _TURNED = 8192, 2, 10
# The least unlike are told by every so manieth vector.
_SAMPLED = 16
# Rows at a time of a build.
_BLOCK = 8192
_WORD = 64
_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Signs:
    """Vectors by the signs of their products with some directions, seen from the vectors' middle.

    Two vectors lie on different sides of the more directions the wider the angle between them (Charikar,
    "Similarity estimation techniques from rounding algorithms", 2002); of directions at right angles to each other
    fewer are needed (Ji, Li, Yan, Zhang and Tian, "Super-bit locality-sensitive hashing", 2012), and fewer still
    where they lie among those along which the vectors differ most, turned so that few vectors are nearly at right
    angles to them (Gong and Lazebnik, "Iterative quantization", 2011). To which side of a direction such a vector
    leans says little. Of a question it is known to which directions it is, and these are not counted.

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
        """Return the signs of vectors, shape (n, dimension)."""
        directions = _directions(vectors[:: -(-len(vectors) // _TELLING)] - centre)
        words = np.empty((-(-len(directions) // _WORD), len(vectors)), np.uint64)
        for start in range(0, len(vectors), _BLOCK):
            own = slice(start, start + _BLOCK)
            words[:, own] = _pack_bits((vectors[own] - centre) @ directions.T > 0)
        return cls(centre, directions, words)

    def updated(self, vectors: Floats, fresh: Places, was: Places) -> Signs:
        """Return the signs after a change.

        Args:
            vectors: those that are new, shape (len(fresh), dimension).
            fresh: their rows from now on.
            was: of every row from now on, the row it had here; any number for a fresh one.
        """
        words = self.words.take(was, axis=1, mode="clip")
        words[:, fresh] = _pack_bits((vectors - self.centre) @ self.directions.T > 0)
        return Signs(self.centre, self.directions, words)

    @property
    def nbytes(self) -> int:
        """Return bytes that they take."""
        return self.words.nbytes + self.directions.nbytes

    def alike(self, question: Floats) -> Places:
        """Return rows, rising, of about `_KEPT` √n vectors whose signs are most like those of a question, shape (dimension,)."""
        # What it has along the middle says nearly the same of all, and its signs would drown the others'.
        middle = float(self.centre @ self.centre)
        beyond = question - self.centre * np.float32(question @ self.centre / max(middle, _TINY))
        along = dot(self.directions, beyond)
        far, idle = np.abs(along), int(_IDLE * len(along))
        unlike = self._unlike(along > 0, far >= np.partition(far, idle)[idle])
        # Among bytes numpy selects five times as slowly.
        sample = unlike[::_SAMPLED].astype(np.uint16)
        last = int(_KEPT * len(unlike) ** 0.5) // _SAMPLED
        return few_true(unlike <= np.uint8(np.partition(sample, last)[last]))

    def _unlike(
        self, sides: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.uint8]:
        """Return how many signs of each vector are others, of those that are counted."""
        differing = np.empty_like(self.words[0])
        unlike, more = np.zeros(len(differing), np.uint8), np.empty(len(differing), np.uint8)
        for own, side, count in zip(
            self.words, *_pack_bits(np.stack([sides, counted])).T, strict=True
        ):
            np.bitwise_xor(own, side, out=differing)
            np.bitwise_and(differing, count, out=differing)
            unlike += np.bitwise_count(differing, out=more)
        return unlike


def _directions(vectors: Floats) -> Floats:
    """Return directions among those along which vectors differ most, turned so that few vectors are at right angles to one.

    A few turns find both nearly.
    """
    rng, dimension = np.random.default_rng(0), vectors.shape[1]
    count = min(dimension, _DIRECTIONS)
    along = np.linalg.qr(rng.standard_normal((dimension, count))).Q.astype(np.float32)
    for _ in range(_TURNS if count < dimension else 0):
        along = np.linalg.qr(vectors.T @ (vectors @ along)).Q
    along = along @ np.linalg.qr(rng.standard_normal((count, count))).Q.astype(np.float32)
    for _ in range(_TURNED):
        seen = vectors @ along
        left, _, right = np.linalg.svd(seen.T @ np.sign(seen))
        along = along @ (left @ right)
    return np.ascontiguousarray(along.T)


def _pack_bits(bits: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Return the bits of some vectors, a row each, as words by column."""
    octets = np.packbits(bits, axis=1)
    lacking = -octets.shape[1] % np.dtype(np.uint64).itemsize
    if lacking:
        octets = np.pad(octets, ((0, 0), (0, lacking)))
    return octets.view(np.uint64).T
