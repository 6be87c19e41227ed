"""BM25 in memory: known weights, and what a question shares with passages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.arrays import BM25, idf
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.text.analysis import terms


def test_scores_are_those_of_bm25() -> None:
    index = LexicalIndex.build(["apple apple pear", "pear plum kiwi", "plum plum plum"])
    # One of three passages holds "apple", twice among three terms, and the mean length is 3.
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    weight = idf * 2 * 2.2 / (2 + 1.2)
    assert index.match("apple").scores.tolist() == pytest.approx([weight, 0, 0])


def test_a_passage_that_says_all_of_the_question_covers_more_than_one_that_says_part() -> None:
    index = LexicalIndex.build(["red apple", "green apple", "blue plum"])
    assert index.match("red apple").coverage > index.match("red kiwi").coverage > 0


@pytest.mark.parametrize(
    "question", ["Which suppliers?", "哪些供应商？"], ids=["in its language", "in the other one"]
)
def test_a_word_in_other_words_counts_half(question: str) -> None:
    index = LexicalIndex.build(["supplier 供应商", "vendor", "city", "no one"])
    both, other, *none = index.match(question).scores.tolist()
    assert both > other > 0
    assert none == [0, 0]


@pytest.mark.parametrize(
    ("question", "coded"),
    [
        ("What does E47 mean?", [[0]]),
        ("E47 和 BM-40 有关吗", [[0], [1]]),
        ("motor 40 of BM", []),  # is no code
        ("Is E99 known?", []),  # nobody holds it
        ("Which BM-41 fits?", []),  # nor both of its parts
        ("Is A-40 known?", []),  # a stop word is not looked for, and 40 alone names nothing
        ("When did X1 come?", []),  # many hold it
    ],
)
def test_few_passages_hold_the_code_that_a_question_names(
    question: str, coded: list[list[int]]
) -> None:
    passages = ["E47 belt slips", "motor BM-40", "E48", *["X1 of many"] * 20]
    match = LexicalIndex.build(passages).match(question)
    assert [rows.tolist() for rows in match.coded] == coded


def test_a_question_in_another_language_is_not_covered() -> None:
    index = LexicalIndex.build(["格林兰签署了条约", "另一个段落"])
    match = index.match("When did Greenland sign the treaty?")
    assert match.coverage == 0
    assert match.scores.tolist() == [0, 0]


def test_a_question_of_stop_words_and_an_empty_index_score_nothing() -> None:
    assert LexicalIndex.build(["red apple"]).match("what is the").coverage == 0
    assert LexicalIndex.build([]).match("red apple").scores.size == 0


def test_what_a_passage_holds_is_not_asked_again() -> None:
    index = LexicalIndex.build(["pocahontas mounds", "become part", "part part mounds"])
    match = index.match("pocahontas mounds become part")
    [left] = match.residuals(np.array([0]), np.arange(3))
    assert left[1] == pytest.approx(match.scores[1])  # shares nothing with the first passage
    assert left[2] < match.scores[2]  # "mounds" is known already
    assert left[0] == pytest.approx(0)


def test_rare_words_tell_more() -> None:
    index = LexicalIndex.build(["time kraus", "time flies", "time goes"])
    assert index.information_of("Kraus") > index.information_of("time") > 0
    assert index.information_of("unheard") == 0
    assert index.information_of_term("unheard") == index.most_information


@given(
    st.lists(st.text("abc 北京大学", max_size=20), max_size=8), st.text("abc 北京大学", max_size=12)
)
def test_scores_are_finite_and_coverage_is_a_share(texts: list[str], question: str) -> None:
    match = LexicalIndex.build(texts).match(question)
    assert match.scores.shape == (len(texts),)
    assert np.isfinite(match.scores).all()
    assert (match.scores >= 0).all()
    assert 0 <= match.coverage <= 1
    rows = np.arange(len(texts))
    left = match.residuals(rows, rows)
    assert ((left >= 0) & (left <= match.scores + 1e-4)).all()


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=40),
    st.lists(st.sampled_from("abcdefgh"), max_size=5),
    st.data(),
)
def test_common_and_rare_words_weigh_what_bm25_says(
    texts: list[list[str]], question: list[str], data: st.DataObject
) -> None:
    match = LexicalIndex.build(map(" ".join, texts)).match(" ".join(question))
    asked = [term for term in dict.fromkeys(question) if any(term in text for text in texts)]
    asked = [term for term in asked if terms(term)]  # "a" is a stop word
    lengths = np.array([len(terms(" ".join(text))) for text in texts], np.float64)
    saturation = BM25().saturation(lengths, max(lengths.mean(), 1.0))
    counts = np.array([[text.count(term) for text in texts] for term in asked], np.float64)
    counts = counts.reshape(len(asked), len(texts))
    information = idf((counts > 0).sum(axis=1), len(texts))
    expected = BM25().weights(np.asarray(information)[:, None], counts, saturation)
    rows = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), unique=True)), np.intp)
    np.testing.assert_allclose(match.weights(rows), expected[:, rows], rtol=1e-4)
    np.testing.assert_allclose(match.scores, expected.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 200])
def test_weights_are_those_of_as_many_passages_as_are_asked_for(rows: int) -> None:
    texts = ["apple" if row % 9 else "pear apple" for row in range(300)]
    weights = LexicalIndex.build(texts).match("pear").weights(np.arange(rows))
    assert (weights[0] > 0).tolist() == [row % 9 == 0 for row in range(rows)]


def test_passages_of_different_batches_are_told_apart() -> None:
    fillers = [f"plum {number}" for number in range(1100)]
    index = LexicalIndex.build(["apple pie", *fillers, "apple apple"])
    scores = index.match("apple").scores
    assert np.flatnonzero(scores).tolist() == [0, 1101]
    assert scores[1101] > scores[0]
    assert index.passages == 1102


@given(st.text(st.sampled_from("aZé ß_9'’—K\u212aＡ\u0345İ٣.")))
def test_a_text_has_the_same_words_whether_ideographs_follow_or_not(text: str) -> None:
    assert terms(f"{text} 知识") == [*terms(text), "知识"]
