"""Mixing words and meaning: whom to trust how far."""

from __future__ import annotations

import numpy as np
import pytest

from sextant.retrievers.arrays import BM25, SparseScores
from sextant.retrievers.index.lexical import LexicalIndex, LexicalMatch
from sextant.retrievers.ranking.mix_ranker import (
    MixParameters,
    blend,
    count_nearest,
    lexical_weight,
    semantic_scores,
)

PARAMETERS = MixParameters()
# No passage is near, so none contends.
FAR = SparseScores(np.empty(0, np.intp), np.empty(0, np.float32))


def test_the_farthest_found_and_the_rest_are_not_near() -> None:
    near = semantic_scores(
        SparseScores(np.array([0, 2, 3]), np.array([0.8, 0.85, 0.9], np.float32))
    )
    assert near.at(np.arange(5)) == pytest.approx(np.array([0, 0, 0.5, 1, 0]))


def test_nothing_found_is_near_nothing() -> None:
    near = semantic_scores(FAR)
    assert near.at(np.arange(3)).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("passages", "wanted"), [(3, 3), (40, 10), (500, 50), (10**6, 300)])
def test_a_tenth_of_the_passages_is_asked_of_the_vectors(passages: int, wanted: int) -> None:
    assert count_nearest(passages) == wanted


def test_without_vectors_the_words_rank() -> None:
    match = LexicalIndex.build(["red apple", "red plum", "kiwi"]).match("red apple")
    assert np.argsort(-blend(match, None, PARAMETERS)).tolist() == [0, 1, 2]


def test_without_common_words_the_meaning_ranks() -> None:
    match = LexicalIndex.build(["苹果是红的", "李子是蓝的", "别的"]).match("which plum is blue")
    near = np.array([0.2, 1.0, 0], np.float32)
    assert lexical_weight(match, FAR, PARAMETERS) == 0
    assert blend(match, _near(near), PARAMETERS) == pytest.approx(near)


@pytest.mark.parametrize(("score", "weight"), [(0.286, 1), (0.572, 2), (0, 0)])
def test_words_weigh_by_the_share_of_the_question_that_a_passage_holds(
    score: float, weight: float
) -> None:
    # The one term has idf 1, and its weight can be 2.2 at most: 0.286 covers 0.13 of the question.
    scores, information = np.array([0, score], np.float32), np.ones(1, np.float32)
    match = LexicalMatch((), scores, information, 0)
    assert lexical_weight(match, FAR, PARAMETERS) == pytest.approx(weight)


def test_words_that_cover_the_question_outweigh_meaning() -> None:
    match = LexicalIndex.build(["invoice INC-2025-017 paid", "some invoice", "a bill"]).match(
        "INC-2025-017 paid invoice"
    )
    assert lexical_weight(match, FAR, PARAMETERS) > 1
    assert blend(match, _near(np.array([0, 0.9, 1.0], np.float32)), PARAMETERS).argmax() == 0


def test_a_code_is_evidence_in_any_language() -> None:
    """Of a Chinese question English passages share the code alone, the Chinese ones its common words."""
    others = [f"第{number}章是什么意思" for number in range(20)]
    passages = ["E47 belt slips", "E48 belt too hot", *others]
    near = _near(np.linspace(0, 1, len(passages), dtype=np.float32))
    fit = blend(LexicalIndex.build(passages).match("E47 是什么意思？"), near, PARAMETERS)
    assert fit.argmax() == 0
    assert fit[1] < fit[2:].min()


def test_each_of_several_codes_is_worth_its_share_of_what_is_nearest() -> None:
    """Of two codes the first passage holds both, the second one; the third is nearest, and holds none."""
    coded = [np.array([0, 1]), np.array([0])]
    match = LexicalMatch((), np.zeros(3, np.float32), np.ones(1, np.float32), 0, coded)
    assert blend(match, _near(np.array([0, 0, 1], np.float32)), PARAMETERS) == pytest.approx(
        [1, 0.5, 1]
    )


def test_what_fits_best_by_words_and_meaning_together_fits_wholly() -> None:
    match = LexicalIndex.build(["red apple", "red plum", "kiwi"]).match("red apple")
    fit = blend(match, _near(np.array([0.5, 1, 0], np.float32)), PARAMETERS)
    assert fit.max() == pytest.approx(1)
    assert fit[2] == 0


def test_where_neither_words_nor_meaning_find_anything_nothing_fits() -> None:
    match = LexicalIndex.build(["red apple", "kiwi"]).match("which plum")
    assert blend(match, _near(np.zeros(2, np.float32)), PARAMETERS).tolist() == [0, 0]


@pytest.mark.parametrize(("holding", "share"), [(1, 1), (2, 1), (3, 4 / 9), (4, 1 / 4)])
def test_words_that_several_near_passages_hold_tell_them_apart_less(
    holding: int, share: float
) -> None:
    match = _holding_half(holding)
    near = _near(np.full(len(match.scores), 0.5, np.float32))
    assert lexical_weight(match, near, PARAMETERS) == pytest.approx(
        share * lexical_weight(match, FAR, PARAMETERS)
    )


def test_words_that_very_many_hold_still_settle_what_meaning_leaves_even() -> None:
    match = _holding_half(20)
    near = _near(np.full(len(match.scores), 0.5, np.float32))
    assert lexical_weight(match, near, PARAMETERS) == pytest.approx(0.4)
    assert blend(match, near, PARAMETERS).argmin() == len(match.scores) - 1


def _near(values: np.ndarray) -> SparseScores:
    """Return relevance by meaning of every passage."""
    return SparseScores(np.arange(len(values)), values)


def _holding_half(passages: int) -> LexicalMatch:
    """So many passages that hold half of what a question says, and one that holds a tenth."""
    scores = np.array([0.5] * passages + [0.1], np.float32) * np.float32(BM25().max_tf)
    return LexicalMatch((), scores, np.ones(1, np.float32), 0)
