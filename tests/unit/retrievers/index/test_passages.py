"""Passages in memory: an index brought up to date is the one that is built anew."""

from __future__ import annotations

from uuid import UUID, uuid5

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.arrays import highest
from sextant.retrievers.index.lexical import LexicalIndex, LexicalMatch
from sextant.retrievers.index.passages import PassageIndex
from sextant.stores.chunks.stored import IndexPassage
from sextant.stores.graph.arrays import halves_of
from sextant.stores.postgresql.queries import Embedded

NAMES = UUID(int=7)
WORDS = ["owl", "fox", "oak", "elm", "rain", "糖尿", "病人"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
# Documents by number, each a list of passages; a document that is missing is deleted.
VERSIONS = st.dictionaries(st.integers(0, 5), st.lists(TEXTS, max_size=3), max_size=6)


def document(number: int) -> UUID:
    return uuid5(NAMES, f"document {number}")


def passages_of(version: dict[int, list[str]]) -> list[IndexPassage]:
    return sorted(
        (
            IndexPassage(uuid5(NAMES, f"{number} {place} {text}"), document(number), text)
            for number, texts in version.items()
            for place, text in enumerate(texts)
        ),
        key=lambda passage: passage.id,
    )


def vectors_of(passages: list[IndexPassage]) -> Embedded:
    rows = [np.frombuffer(passage.id.bytes, np.uint8) for passage in passages]
    vectors = np.array(rows, np.float32).reshape(len(rows), 16) + np.float32(1)
    return Embedded(halves_of(passage.id for passage in passages), vectors)


def updated(index: PassageIndex, version: dict[int, list[str]]) -> PassageIndex:
    states = {document(number): repr(texts) for number, texts in version.items()}
    changed = set(index.changed(states))
    fresh = [passage for passage in passages_of(version) if passage.document_id in changed]
    now = index.updated(states, fresh)
    every = index.vectors is None
    return now.with_vectors(index, vectors_of(passages_of(version) if every else fresh))


def parts(match: LexicalMatch) -> tuple[list[list[float]], list[float], float]:
    rows = np.arange(len(match.scores))
    return match.weights(rows).tolist(), match.information.tolist(), match.unknown


@given(st.lists(VERSIONS, min_size=2, max_size=5))
def test_after_any_changes_it_equals_one_built_from_what_is_there(
    versions: list[dict[int, list[str]]],
) -> None:
    index = PassageIndex.empty()
    for version in versions:
        index = updated(index, version)
    expected = passages_of(versions[-1])
    texts = [passage.searched for passage in expected]
    anew, question = LexicalIndex.build(texts), " ".join(WORDS)
    assert [index.ids[row] for row in range(len(index.ids))] == [one.id for one in expected]
    assert parts(index.lexical.match(question)) == parts(anew.match(question))
    assert set(index.lexical.vocabulary) == set(anew.vocabulary)
    if expected:
        assert index.vectors is not None
        own = vectors_of(expected).vectors
        own /= np.linalg.norm(own, axis=1, keepdims=True)
        np.testing.assert_allclose(index.vectors, own, atol=1e-6)


def test_passages_of_which_a_vector_is_missing_keep_none() -> None:
    version = {1: ["owl", "fox"]}
    states = {document(1): "1"}
    index = PassageIndex.empty().updated(states, passages_of(version))
    half = vectors_of(passages_of(version)[:1])
    assert index.with_vectors(PassageIndex.empty(), half).vectors is None


@given(
    st.lists(st.integers(-3, 3).map(float), max_size=30),
    st.integers(0, 35),
)
def test_the_highest_are_the_first_of_a_stable_sort(scores: list[float], count: int) -> None:
    array = np.array(scores, np.float32)
    assert highest(array, count).tolist() == np.argsort(-array, kind="stable")[:count].tolist()
