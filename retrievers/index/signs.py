"""Which vectors may be nearest to a question, told by the signs of their coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrievers.index.sparse import Floats, Places

Words = npt.NDArray[np.uint64]

# A coordinate counts once if it is not among the least fifth of the question's, and twice if it is among
# the greatest two fifths.
_COUNTING = np.array([0.2, 0.6])


@dataclass(frozen=True, slots=True)
class Signs:
    """On which side of the mean each vector lies in every coordinate, one bit each.

    How many signs differ tells the angle between two vectors (Charikar, "Similarity Estimation Techniques
    from Rounding Algorithms", STOC 2002); here the vectors' own axes take the place of random ones, and
    an axis counts by how far the question lies along it. A look at 100,000 vectors of 384 dimensions takes
    1.2 ms of CPU, at the vectors themselves 8. Of the 1,000 nearest of 42,491 passages (200 questions,
    the packaged model), the 5,000 most alike hold 97.5 %, of the 500 nearest 99.2 %, of the 100 nearest
    99.95 %; axes turned at random gain 0.3 points, signs alone lose 4.

    Attributes:
        mean: of the vectors.
        words: 64 signs a word, shape (words, vectors).
    """

    mean: Floats
    words: Words

    @classmethod
    def of(cls, vectors: Floats) -> Signs:
        """The signs of vectors, shape (n, dimension)."""
        mean: Floats = vectors.mean(axis=0, dtype=np.float32)
        return cls(mean, np.ascontiguousarray(_packed(vectors > mean).T))

    def alike(self, question: Floats, count: int) -> Places:
        """Rows, rising, of the `count` vectors most like a question, and those that are as like as the last."""
        # What all vectors have in common says nothing of any.
        length = float(self.mean @ self.mean) or 1.0
        own = question - self.mean * np.float32(question @ self.mean / length)
        size = np.abs(own)
        least = np.sort(size)[np.ceil(_COUNTING * (len(size) - 1)).astype(np.intp)]
        counting = [_packed(size >= one) for one in least]
        differing = np.zeros(self.words.shape[1], np.uint16)
        for word, sign, *masks in zip(self.words, _packed(own > 0), *counting, strict=True):
            other = word ^ sign
            for mask in masks:
                differing += np.bitwise_count(other & mask)
        held = np.cumsum(np.bincount(differing))
        return np.flatnonzero(differing <= np.searchsorted(held, min(count, len(differing))))


def _packed(signs: npt.NDArray[np.bool_]) -> Words:
    """Bits along the last axis as words; the last is filled up with zeros."""
    missing = -signs.shape[-1] % 64
    bits = np.pad(signs, [(0, 0)] * (signs.ndim - 1) + [(0, missing)]) if missing else signs
    return np.packbits(bits, axis=-1).view(np.uint64)
