"""BM25: the one formula, for every index that counts terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

_Real = TypeVar("_Real", np.float32, np.float64)


@dataclass(frozen=True, slots=True)
class BM25:
    """How much a term's repetition and a passage's length count.

    A passage scores, for every distinct term of the question,
    `idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))`, summed up.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
    §3.2, with its defaults; the idf is Lucene's, which stays positive for terms of most passages.

    Attributes:
        k1: 0: a term counts once; larger: repetitions count for longer.
        b: 0: length does not matter; 1: a passage of twice the length needs twice the repetitions.
    """

    k1: float = 1.2
    b: float = 0.75

    def saturation(self, lengths: npt.NDArray[_Real], mean: float) -> npt.NDArray[_Real]:
        """Return what is added to a frequency under the fraction, for passages of these lengths."""
        relative = lengths / lengths.dtype.type(mean)
        added: npt.NDArray[_Real] = self.k1 * (1 - self.b + self.b * relative)
        return added

    def weights(
        self,
        information: npt.NDArray[_Real] | _Real,
        frequencies: npt.NDArray[_Real],
        saturation: npt.NDArray[_Real],
    ) -> npt.NDArray[_Real]:
        """Return what terms of this idf and frequency give passages of this saturation; shapes broadcast."""
        given: npt.NDArray[_Real] = (
            information * frequencies * self.most / (frequencies + saturation)
        )
        return given

    @property
    def most(self) -> float:
        """Return what a term's weight comes to, in units of its idf, when it is repeated without end."""
        return self.k1 + 1


def idf(
    frequencies: npt.NDArray[np.integer] | int, passages: int
) -> npt.NDArray[np.float64] | np.float64:
    """Return `ln(1 + (N − n + ½) / (n + ½))` for terms that n of N passages hold; always above 0."""
    information: npt.NDArray[np.float64] | np.float64 = np.log1p(
        (passages - frequencies + 0.5) / (frequencies + 0.5)
    )
    return information
