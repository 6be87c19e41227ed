"""English words in their British and American spellings, and without inflections."""

from __future__ import annotations

import pytest

from domain.language.stems import american, stem


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
