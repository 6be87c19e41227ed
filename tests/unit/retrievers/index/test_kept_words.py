"""Words kept as arrays: what comes back is what was kept, and what does not fit is not taken."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.retrievers.index import kept_words
from sextant.retrievers.index.passages import PassageIndex
from sextant.stores.chunks.stored import IndexPassage

_WORDS = st.lists(
    st.sampled_from(["bread", "dough", "面包", "发酵", "of", "running", "3.14", "café", "x_y"]),
    max_size=9,
)
_LIBRARY = st.dictionaries(
    st.uuids(version=4), st.lists(_WORDS, min_size=1, max_size=4), max_size=6
)


def index_of(
    library: Mapping[UUID, list[list[str]]], state: str = "1", before: PassageIndex | None = None
) -> PassageIndex:
    """Return the index of documents whose passages are these words, from one of before or from nothing."""
    before = before or PassageIndex.empty()
    states = dict.fromkeys(library, state)
    changed = set(before.changed(states))
    fresh = [
        IndexPassage(UUID(int=(document.int + place + 1) % 2**128), document, " ".join(words))
        for document, passages in library.items()
        for place, words in enumerate(passages)
        if document in changed
    ]
    return before.updated(states, fresh)


def assert_same(one: PassageIndex, other: PassageIndex) -> None:
    """Both answer alike, and would be brought up to date alike."""
    assert dict(one.states) == dict(other.states)
    assert one.lexical.vocabulary.keys() == other.lexical.vocabulary.keys()
    own = np.array([list(one.states)[place].int % 2**32 for place in one.documents])
    others = np.array([list(other.states)[place].int % 2**32 for place in other.documents])
    np.testing.assert_array_equal(own, others)
    np.testing.assert_array_equal(one.ids.halves, other.ids.halves)
    for question in ("bread", "面包 running dough", "nothing of it"):
        mine, theirs = one.lexical.match(question), other.lexical.match(question)
        np.testing.assert_allclose(mine.scores, theirs.scores, rtol=1e-5)


@given(_LIBRARY)
def test_what_comes_back_is_what_was_kept(library: Mapping[UUID, list[list[str]]]) -> None:
    index = index_of(library)
    again = kept_words.from_arrays(kept_words.as_arrays(index))
    assert again is not None
    assert_same(again, index)


@given(_LIBRARY, _LIBRARY, st.sampled_from(["1", "2"]))
def test_kept_words_are_brought_up_to_date_as_those_in_memory(
    then: Mapping[UUID, list[list[str]]], now: Mapping[UUID, list[list[str]]], state: str
) -> None:
    now = {**dict(list(then.items())[::2]), **now}  # some stay, some go, some come
    kept = kept_words.from_arrays(kept_words.as_arrays(index_of(then)))
    assert kept is not None
    assert_same(index_of(now, state, kept), index_of(now, state))


def _library() -> PassageIndex:
    return index_of({UUID(int=7): [["bread", "dough"], ["面包"]], UUID(int=90): [["dough"]]})


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("holders", np.array([0, 1, 99, 2, 0, 1], np.int32)),
        ("starts", np.array([0, 2, 1], np.intp)),
        ("documents", np.array([0, 0, 9], np.int32)),
        ("documents", np.array([-1, 0, 0], np.int32)),
        ("ids", np.zeros((2, 2), np.uint64)),
        ("counts", np.array([1], np.uint16)),
        ("terms", np.frombuffer(b"bread\nbread", np.uint8)),
        ("terms", np.frombuffer(b"\xff\xfe", np.uint8)),
        ("document_states", np.frombuffer(b"1", np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_not_taken(
    name: str, changed: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
) -> None:
    kept = dict(kept_words.as_arrays(_library()))
    assert kept_words.from_arrays(kept) is not None
    assert kept_words.from_arrays({**kept, name: changed}) is None
    del kept[name]
    assert kept_words.from_arrays(kept) is None
