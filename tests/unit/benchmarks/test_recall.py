"""Recall of the chunk search benchmark: of vectors equal to the tenth nearest any are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.hybrid.bench import Recall
from benchmarks.hybrid.corpus import Library, Question

ASKED = Question(0, "L", off=False, keywords=(), vector=np.array([1, 0], np.float32))


def library(cosines: list[float]) -> Library:
    near = np.array(cosines, np.float32)
    vectors = np.stack([near, np.sqrt(1 - near**2)], axis=1)
    return Library([], vectors, np.zeros(len(near), np.intp), [ASKED])


@pytest.mark.parametrize(
    ("cosines", "found", "share", "short"),
    [
        ([0.9] * 30, range(20, 30), 1.0, 0),  # equal vectors: none is nearer than another
        ([0.95, *[0.9] * 30], range(11, 21), 0.9, 0),
        ([0.95, *[0.9] * 30], [0, *range(11, 20)], 1.0, 0),
        ([*[0.9] * 10, *[0.8] * 10], range(5, 15), 0.5, 0),
        ([*[0.9] * 30, 0.1], [*range(9), 30], 0.9, 0),
        ([0.9] * 30, range(4), 0.4, 1),
        ([0.9, 0.8, 0.7], range(3), 1.0, 0),  # a tenant of three
        ([0.9, 0.8, 0.7], [0, 1], 2 / 3, 1),
    ],
)
def test_recall_asks_for_what_is_nearer_and_any_that_are_as_near(
    cosines: list[float], found: range | list[int], share: float, short: int
) -> None:
    recall = Recall()
    recall.add(ASKED, list(found), *library(cosines).nearest(ASKED))
    assert recall.least == pytest.approx(share)
    assert recall.short == short


def test_recall_is_that_of_the_size_and_kind_that_fares_worst() -> None:
    small, seen = replace(ASKED, bucket="S"), Recall()
    for question, found in [*[(ASKED, range(10))] * 99, (small, range(1, 11))]:
        near = library([0.9 - row / 100 for row in range(20)]).nearest(ASKED)
        seen.add(question, found, *near)
    assert seen.least == pytest.approx(0.9)  # 0.999 of all
