"""A knowledge base in memory finds by words what looking into every text finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sextant.models.protocols import Vectors
from sextant.retrievers.index.chunk_index import ChunkIndex, ChunkIndexBuilder
from sextant.retrievers.index.words.keyword_search import GramPostings
from sextant.stores.chunks.snapshot import Block, ChunkRow
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


def row_of(text: str) -> ChunkRow:
    """Return a chunk of a text, whose first line is its context."""
    context, _, own = text.partition("\n")
    if not (context and own):
        context, own = "", text
    names = ("document", None, "file", "Title", "source", ("Title", "Part"), "Part", "section")
    numbers = (None, 0, len(own), "text", 0)
    about = ("owl\nfox", "2026-11-22T00:00:00+00:00", ("one", "other"))
    return ChunkRow(*names, own, *numbers, context, *about)


def block_of(first: int, texts: Sequence[str], vectors: Vectors) -> Block:
    ids = np.zeros((len(texts), 2), np.uint64)
    ids[:, 1] = range(first, first + len(texts))
    return Block(ids, vectors, [row_of(text) for text in texts])


def packed(texts: Sequence[str], at_once: int = 1000) -> ChunkIndex:
    """Return texts with ids that count up, all with one vector."""
    builder = ChunkIndexBuilder("stamp", len(texts))
    for first in range(0, len(texts), at_once):
        part = texts[first : first + at_once]
        builder.add(block_of(first, part, np.ones((len(part), 3), np.float32)))
    index = builder.build()
    assert index is not None
    return index


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
    rows, scores = packed(texts, at_once).matching(words, k)
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
    [held] = scope.words.postings.holders([folded])
    true = [row for row, text in enumerate(texts) if folded in lowercase(text)]
    named = held.rows.tolist()
    assert named == sorted(named)
    assert (named == true) if held.certain else set(true) <= set(named)


def test_texts_beyond_two_bytes_of_rows_are_told_apart() -> None:
    part = GramPostings.of(["词语"] * 40_000)
    both = GramPostings.joined([part, part])
    [held] = both.holders(["词语"])
    assert held.rows.tolist() == list(range(80_000))


def test_texts_of_more_letters_than_go_together_with_their_number_are_refused() -> None:
    every = "".join(filter(str.isalnum, map(chr, range(0x110000))))
    with pytest.raises(ValueError, match="too many texts"):
        GramPostings.of([every, *["x"] * 2000])
    one = GramPostings.of([every, *["x"] * 1000])
    assert one.holders([every[-2:]])[0].rows.tolist() == [0]


def test_many_texts_that_hold_the_grams_and_not_the_word_do_not_hide_those_that_do() -> None:
    """器学习机 has all the pairs of 机器学习机 but one; the short ones look denser than what holds the word."""
    wrong, right = ["机器 器学 学习"] * 300, ["很" * 40 + "机器学习"] * 9
    rows, _ = packed([*wrong, *right]).matching(["机器学习"], 5)
    assert rows == [300, 301, 302, 303, 304]


def test_a_scope_with_a_vector_without_direction_is_left_to_the_store() -> None:
    builder = ChunkIndexBuilder("stamp", 1)
    builder.add(block_of(0, ["x"], np.zeros((1, 3), np.float32)))
    assert builder.build() is None


def test_a_scope_of_which_a_chunk_was_not_read_is_left_to_the_store() -> None:
    builder = ChunkIndexBuilder("stamp", 2)
    builder.add(block_of(0, ["x"], np.ones((1, 3), np.float32)))
    assert builder.build() is None


def test_what_is_told_of_chunks_is_what_was_read() -> None:
    index = packed(["Where owls live.\nOwls hoot.", "Foxes."], 1)
    first, second = index.ids.texts_of(range(2))
    contents = index.contents([second, first, str(UUID(int=9))])
    assert list(contents) == [second, first]
    content = contents[first]
    assert (content.text, content.document_id, content.external_id) == (
        "Owls hoot.",
        "document",
        None,
    )
    assert content.metadata == {
        "filename": "file",
        "document_title": "Title",
        "source": "source",
        "section_path": ("Title", "Part"),
        "title": "Part",
        "section_id": "section",
        "page": None,
        "start": 0,
        "end": 10,
        "modality": "text",
        "ordinal": 0,
        "context": "Where owls live.",
    }
    assert index.metadata([first, str(UUID(int=9))]) is None
    [metadata] = index.metadata([second]) or []
    assert metadata.id == second
    assert metadata.titles == ["Title", "Part"]
    assert metadata.labels == "owl\nfox"
    assert metadata.created_at == datetime(2026, 11, 22, tzinfo=UTC)
    assert metadata.neighbours == ["one", "other"]


def test_the_title_of_the_document_stands_above_those_of_sections_once() -> None:
    chunk = row_of("x")
    assert chunk.metadata("1").titles == ("Title", "Part")
    assert chunk._replace(section_path=("Part",)).metadata("1").titles == ["Title", "Part"]


def test_the_nearest_are_those_of_the_highest_cosine_with_ties_by_id() -> None:
    vectors = np.array([[0, 2], [1, 0], [3, 3], [5, 0]], np.float32)
    builder = ChunkIndexBuilder("stamp", 4)
    builder.add(block_of(0, ["a", "b", "c", "d"], vectors))
    scope = builder.build()
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
    rows, scores = packed(texts).matching(words, 15)
    expected = looked_for(texts, words, 15)
    assert rows == [row for row, _ in expected]
    assert scores == pytest.approx([score for _, score in expected], rel=1e-6)
