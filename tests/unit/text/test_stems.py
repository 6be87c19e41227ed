"""English words in their British and American spellings, and without inflections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.word_forms import american, stem


@pytest.mark.parametrize(
    ("british", "spelt"),
    [
        ("organise", "organize"),
        ("organisations", "organizations"),
        ("colours", "colors"),
        ("favourite", "favorite"),
        ("centres", "centers"),
        ("licence", "license"),
        ("licenced", "licensed"),
        ("analysed", "analyzed"),
        ("catalogue", "catalog"),
        ("metre", "meter"),
        ("defence", "defense"),
    ],
)
def test_either_spelling_is_the_same_word(british: str, spelt: str) -> None:
    assert american(british) == american(spelt)
    assert stem(american(british)) == stem(american(spelt))


@pytest.mark.parametrize(
    "word", ["hour", "four", "this", "island", "list", "raise", "paris", "wise"]
)
def test_words_that_only_look_british_stay(word: str) -> None:
    assert american(word) == word


@given(st.from_regex(r"[a-z]{2}[bcdfghjklmnpqrstvwxz]", fullmatch=True))
def test_what_ends_in_y_is_the_same_word_in_the_plural_and_the_past(beginning: str) -> None:
    assert stem(f"{beginning}y") == stem(f"{beginning}ies") == stem(f"{beginning}ied")


@pytest.mark.parametrize("word", ["day", "key", "survey", "buy", "by", "fly"])
def test_a_y_behind_a_vowel_or_two_letters_stays(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    "word",
    ["speed", "need", "feed", "seed", "breed", "indeed", "exceed", "glass", "process", "spring"],
)
def test_what_only_looks_inflected_is_a_word_of_its_own(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("exceed", ["exceeds", "exceeded", "exceeding"]),
        ("process", ["processes", "processed", "processing"]),
        ("glass", ["glasses"]),
        ("string", ["strings"]),
        ("agree", ["agrees", "agreed"]),
        ("guarantee", ["guarantees", "guaranteed"]),
        ("free", ["freed", "freeing"]),
        ("page", ["pages", "paged", "paging"]),
        ("rope", ["ropes"]),
        ("1990", ["1990s"]),
        ("pdf", ["pdfs"]),
    ],
)
def test_the_forms_of_a_word_are_one(word: str, forms: list[str]) -> None:
    assert {stem(form) for form in forms} == {stem(word)}
