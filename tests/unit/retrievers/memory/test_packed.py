"""A knowledge base in memory finds by words what looking into every text finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sextant.retrievers.memory.packed import GramPostings, PackedScope, Packing
from sextant.stores.chunks.snapshot import Block
from sextant.text.characters import lowercase

PIECES = st.sampled_from(
    [
        *(
            "糖尿病",
            "患者",
            "机器学习",
            "器学",
            "GPU加速",
            "Rust",
            "ownership",
            "own",
            "30%",
            "a_b",
        ),
        *("C++", "\\", "\n", " ", "，", "的", "x", "AI", "Straße", "ΣΊΣΥΦΟΣ", "İstanbul", "2型"),
        *("型ai型", "5g", "日本語テスト", "𠀀𠀁", "🙂", "e\u0301", "ﬁ", "."),
    ]
)
TEXTS = st.lists(st.lists(PIECES, max_size=8).map("".join), min_size=1, max_size=30)


def packed(texts: Sequence[str], at_once: int = 1000) -> PackedScope:
    """Return texts with ids that count up, all with one vector."""
    folded = [lowercase(text) for text in texts]
    packing = Packing("stamp", len(folded))
    for first in range(0, len(folded), at_once):
        part = folded[first : first + at_once]
        ids = np.zeros((len(part), 2), np.uint64)
        ids[:, 1] = range(first, first + len(part))
        octets = np.array([len(text.encode()) for text in part], np.int64)
        packing.add(Block(ids, np.ones((len(part), 3), np.float32), octets, "\n".join(part)))
    scope = packing.packed()
    assert scope is not None
    return scope


def looked_for(texts: Sequence[str], words: Sequence[str], k: int) -> list[tuple[int, float]]:
    """Return most distinct words first, then the densest by bytes, then by id."""
    distinct = list(dict.fromkeys(folded for word in words if (folded := lowercase(word))))
    found = []
    for row, text in enumerate(map(lowercase, texts)):
        held = [len(word.encode()) for word in distinct if word in text]
        density = sum(held) / max(1, len(text.encode()))
        if held:
            found.append((-len(held), -density, row))
    return [(row, -count - density / (1 - density)) for count, density, row in sorted(found)[:k]]


@given(TEXTS, st.data(), st.integers(1, 40), st.sampled_from([1, 4, 1000]))
def test_the_best_by_words_are_those_that_looking_into_every_text_gives(
    texts: list[str], data: st.DataObject, k: int, at_once: int
) -> None:
    part = st.sampled_from(texts).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(1, 6)).map(
            lambda cut: text[cut[0] : cut[0] + cut[1]]
        )
    )
    words = data.draw(st.lists(part | PIECES, max_size=8))
    rows, scores = packed(texts, at_once).keyword_arrays(words, k)
    expected = looked_for(texts, words, k)
    assert rows == [row for row, _ in expected]
    assert scores == pytest.approx([score for _, score in expected], rel=1e-6)


@given(TEXTS, PIECES)
@example(["爱ai型"], "ai")
@example(["cafe\u0301"], "e\u0301")
@example([""], "x")
def test_every_text_that_holds_a_word_is_named_and_only_those_where_it_is_certain(
    texts: list[str], word: str
) -> None:
    scope, folded = packed(texts, 5), lowercase(word)
    [held] = scope.postings.holders([folded])
    true = [row for row, text in enumerate(texts) if folded in lowercase(text)]
    named = held.rows.tolist()
    assert named == sorted(named)
    assert (named == true) if held.certain else set(true) <= set(named)


def test_texts_beyond_two_bytes_of_rows_are_told_apart() -> None:
    part = GramPostings.of("\n".join(["词语"] * 40_000), np.full(40_000, 2))
    both = GramPostings.joined([part, part])
    [held] = both.holders(["词语"])
    assert held.rows.tolist() == list(range(80_000))


def test_texts_of_more_letters_than_go_together_with_their_number_are_refused() -> None:
    every = "".join(filter(str.isalnum, map(chr, range(0x110000))))
    with pytest.raises(ValueError, match="too many texts"):
        GramPostings.of("\n".join([every, *["x"] * 2000]), np.array([len(every), *[1] * 2000]))
    one = GramPostings.of("\n".join([every, *["x"] * 1000]), np.array([len(every), *[1] * 1000]))
    assert one.holders([every[-2:]])[0].rows.tolist() == [0]


def test_many_texts_that_hold_the_grams_and_not_the_word_do_not_hide_those_that_do() -> None:
    """器学习机 has all the pairs of 机器学习机 but one; the short ones look denser than what holds the word."""
    wrong, right = ["机器 器学 学习"] * 300, ["很" * 40 + "机器学习"] * 9
    rows, _ = packed([*wrong, *right]).keyword_arrays(["机器学习"], 5)
    assert rows == [300, 301, 302, 303, 304]


def test_a_scope_with_a_vector_without_direction_is_left_to_the_store() -> None:
    packing = Packing("stamp", 1)
    ids, octets = np.zeros((1, 2), np.uint64), np.array([1], np.int64)
    packing.add(Block(ids, np.zeros((1, 3), np.float32), octets, "x"))
    assert packing.packed() is None


def test_the_nearest_are_those_of_the_highest_cosine_with_ties_by_id() -> None:
    vectors = np.array([[0, 2], [1, 0], [3, 3], [5, 0]], np.float32)
    packing = Packing("stamp", 4)
    ids = np.array([[1, 1], [1, 2], [1, 3], [2, 0]], np.uint64)
    packing.add(Block(ids, vectors, np.array([1] * 4, np.int64), "a\nb\nc\nd"))
    scope = packing.packed()
    assert scope is not None
    near = scope.nearest(np.array([2, 0], np.float32), 3)
    assert near is not None
    assert near[0] == [1, 3, 2]
    assert near[1] == pytest.approx([1, 1, 0.5**0.5])
    every = scope.nearest(np.array([2, 0], np.float32), 9)
    assert every is not None
    assert every[0] == [1, 3, 2, 0]
    assert scope.nearest(np.zeros(2, np.float32), 3) is None
    assert scope.nearest(np.ones(3, np.float32), 3) is None


@given(st.lists(st.lists(PIECES, max_size=3).map("".join), min_size=1, max_size=60))
def test_words_beyond_twenty_count_as_the_first_do(texts: list[str]) -> None:
    words = [word for text in texts for word in (text, text[:3], text[-4:])] + ["absent"] * 3
    rows, scores = packed(texts).keyword_arrays(words, 15)
    expected = looked_for(texts, words, 15)
    assert rows == [row for row, _ in expected]
    assert scores == pytest.approx([score for _, score in expected], rel=1e-6)
