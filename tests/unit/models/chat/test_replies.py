"""Fields of judgements as small models write them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sextant.models.chat.replies import Line, Numbers, Sentences, Words, Yes


class Reply(BaseModel):
    words: Words = []
    sentences: Sentences = []
    numbers: Numbers = []
    yes: Yes = False
    line: Line = ""


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["a b", "c"], ["a b", "c"]),
        ("a, b；c", ["a", "b", "c"]),
        (["Hinds County, Mississippi", "b"], ["Hinds County, Mississippi", "b"]),
        ([{"name": "a", "type": "X"}, {"text": "b"}, 3, None, True], ["a", "b", "3"]),
        ({"people": ["a"], "places": ["b"]}, ["a", "b"]),
        ([" a ", "a", ""], ["a"]),
        (None, []),
        (7, ["7"]),
    ],
)
def test_words_are_read_from_lists_text_and_objects(value: Any, words: list[str]) -> None:
    assert Reply(words=value).words == words


def test_sentences_keep_their_commas() -> None:
    assert Reply(sentences=["Who, and when?"]).sentences == ["Who, and when?"]
    assert Reply(sentences="Who?\nWhen, then?").sentences == ["Who?", "When, then?"]


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ([1, "2", "[3]", "passage 4", 5.0, None, True], [1, 2, 3, 4, 5]),
        ("1 and 2", [1, 2]),
        ("none", []),
        ([float("nan"), float("inf"), 10**30], []),
        ({"numbers": [1]}, [1]),
        ("[2-4], doc-7, 2024.", [2, 4, 7, 2024]),
        ("passage -1, [-2] and (−3)", []),
        (["-1", -1, 1.5, "1.5", 1e300, "v1.5.2", "123456789"], []),
    ],
)
def test_numbers_are_read_from_lists_and_text(value: Any, numbers: list[int]) -> None:
    assert Reply(numbers=value).numbers == numbers


@pytest.mark.parametrize("value", [True, "yes", "True.", 1, "是"])
def test_what_means_yes_is_read_as_yes(value: Any) -> None:
    assert Reply(yes=value).yes


@pytest.mark.parametrize("value", [False, "no", "partially", None, [], 0.5])
def test_anything_else_is_no(value: Any) -> None:
    assert not Reply(yes=value).yes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_stands_there_is_read_as_something(value: Any) -> None:
    reply = Reply(words=value, sentences=value, numbers=value, yes=value, line=value)
    assert all(word.strip() for word in [*reply.words, *reply.sentences])
