"""Measures of a ranked list against known relevant ids, and bootstrap intervals of their means.

Definitions: recall, MRR and nDCG as in Manning, Raghavan and Schütze, "Introduction to Information
Retrieval", chapter 8; nDCG with gain 2^grade - 1 (Burges et al. 2005).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class MetricEstimate:
    """A mean with its bootstrap interval and the number of queries behind it."""

    mean: float
    low: float
    high: float
    count: int


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the relevant ids among the first `k`; `gold` must not be empty."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def all_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1.0 when every relevant id is among the first `k`, else 0.0."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 ÷ rank of the first relevant id among the first `k`; 0.0 when there is none."""
    ranks = (rank for rank, item in enumerate(ranked[:k], start=1) if item in gold)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the discounted gain of the first `k` divided by that of the best order; ids without a grade gain 0."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:k])
    return _gain([grades.get(item, 0) for item in ranked[:k]]) / ideal if ideal else 0.0


def _gain(grades: Sequence[int]) -> float:
    return math.fsum(
        (2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1)
    )


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a score of `positive` exceeds one of `negative`, ties count half (Mann-Whitney U)."""
    if not positive or not negative:
        return math.nan
    below = np.asarray(negative)[None, :]
    above = np.asarray(positive)[:, None]
    return float(np.mean((above > below) + 0.5 * (above == below)))


def estimate(values: Sequence[float], *, resamples: int = 2000) -> MetricEstimate:
    """Return the mean of `values` with a 95 % percentile bootstrap interval (Efron 1979), seeded.

    The same values in the same order give the same interval. No values give NaN throughout.
    """
    if not values:
        return MetricEstimate(math.nan, math.nan, math.nan, 0)
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(20250101)
    means = [rng.choice(sample, sample.size).mean() for _ in range(resamples)]
    low, high = np.quantile(means, [0.025, 0.975])
    return MetricEstimate(float(sample.mean()), float(low), float(high), sample.size)
