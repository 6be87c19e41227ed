"""Bringing scores of different scales to 0..1, and vectors to length 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

_Real = TypeVar("_Real", np.float32, np.float64)

# Shorter vectors have no direction to speak of.
LEAST_LENGTH = 1e-12


def min_max(scores: Sequence[float] | npt.NDArray[np.floating]) -> Scores:
    """Map scores to 0..1: the lowest to 0, the highest to 1; all equal: all 1 (seed 001).

    Args:
        scores: finite numbers, in any order; none gives none.
    """
    given = np.asarray(scores, dtype=np.float64)
    if not given.size:
        return given
    low, high = float(given.min()), float(given.max())
    if low == high:
        return np.ones_like(given)
    if not np.isfinite(high - low):  # two huge numbers of unlike sign
        return min_max(given / 2)
    share: Scores = (given - low) / (high - low)
    return share


def scale_scores(scores: npt.NDArray[np.float32], floor: float = 0.0) -> npt.NDArray[np.float32]:
    """Map scores to 0..1: `floor` and less to 0, the best to 1; all 0 when none exceeds the floor."""
    best = float(scores.max(initial=floor))
    if best <= floor:
        return np.zeros_like(scores)
    if not floor:  # one rounded division, which is the same in either width
        share_of_best: npt.NDArray[np.float32] = scores / np.float32(best)
        if scores.min() < 0:  # seldom, and looked for in a sixth of the time
            np.maximum(share_of_best, 0, out=share_of_best)
        return share_of_best
    # In float32 the quotient can exceed 1, and a tiny range can vanish.
    share = (scores.astype(np.float64) - floor) / (best - floor)
    above: npt.NDArray[np.float32] = np.maximum(share, 0.0, out=share).astype(np.float32)
    return above


def unit(vectors: npt.NDArray[_Real]) -> npt.NDArray[_Real]:
    """Return vectors of length 1 in the same directions, along the last axis; those of length 0 stay so."""
    # What `np.linalg.norm` reckons, in a third of the time for one vector.
    length = np.sqrt(np.add.reduce(vectors * vectors, axis=-1, keepdims=True))
    directions: npt.NDArray[_Real] = (vectors / np.maximum(length, LEAST_LENGTH)).astype(
        vectors.dtype, copy=False
    )
    return directions
