"""Names in text: which are found, where, and which only look like names."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.analysis import NAMES
from sextant.text.name_linker import NameTrie, is_linkable, name_key, names_of_title


def found(names: list[str], text: str) -> list[str]:
    """Return the spans of `text` that a trie of `names` finds."""
    trie = NameTrie({name: [name] for name in names})
    return [text[match.start : match.end] for match in trie.find(text)]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Beyoncé", "BEYONCE"),
        ("《红楼梦》", "红楼梦"),
        ("ＡＢＣ公司", "abc公司"),
        ("Al-Zahra", "al zahra"),
    ],
)
def test_spellings_of_one_name_have_one_key(name: str, other: str) -> None:
    assert name_key(name) == name_key(other)


@pytest.mark.parametrize("name", ["हिन्दी", "தமிழ்", "বাংলা", "العَرَبِيَّة", "עִבְרִית"])
def test_vowel_signs_do_not_split_a_word(name: str) -> None:
    assert len(NAMES.tokens(name)) == 1
    assert found([name], f"« {name} », 2024") == [name]
    assert found([name], f"{name}{name[0]}") == []


def test_a_pointed_word_is_the_word_without_points() -> None:
    assert name_key("العَرَبِيَّة") == name_key("العربية")
    assert name_key("עִבְרִית") == name_key("עברית")


def test_a_title_is_also_called_by_its_name_without_the_bracket() -> None:
    assert names_of_title("Mercury (planet)") == ("Mercury (planet)", "Mercury")
    assert names_of_title("胜利（小说）") == ("胜利（小说）", "胜利")
    assert names_of_title("1984 (opera)") == ("1984 (opera)",)


@pytest.mark.parametrize(
    "name", ["", "the", "The", "2024", "肾", "of", "ab", "什么", "20260817_1215"]
)
def test_what_would_be_found_everywhere_is_not_linkable(name: str) -> None:
    assert not is_linkable(name)


@pytest.mark.parametrize("name", ["UK", "WHO", "糖尿", "Rome", "C3PO", "John Knox"])
def test_what_names_one_thing_is_linkable(name: str) -> None:
    assert is_linkable(name)


def test_the_longest_name_wins() -> None:
    assert found(["糖尿病", "2型糖尿病", "糖尿病肾病"], "2型糖尿病与糖尿病肾病、糖尿病") == [
        "2型糖尿病",
        "糖尿病肾病",
        "糖尿病",
    ]


def test_what_is_longer_than_a_name_is_not_looked_for() -> None:
    name, sentence = "长" * 200, "长" * 201
    assert found([name, sentence], sentence) == [name]
    trie = NameTrie({"长" * 30_000: [1]})
    assert trie.occurrences("长" * 30_000) == []


def test_a_single_word_needs_the_capital_of_its_name() -> None:
    assert found(["Turkey"], "We ate turkey in Turkey.") == ["Turkey"]


def test_an_abbreviation_needs_its_capitals() -> None:
    assert found(["WHO"], "Ask the man who works for the WHO.") == ["WHO"]


def test_a_part_of_a_longer_capitalised_name_is_not_the_name() -> None:
    assert found(["John"], "He met John Knox, Pope John and then John.") == ["John"]


def test_several_words_are_found_in_any_case() -> None:
    assert found(["Political party"], "Every Political Party is a political party") == [
        "Political Party",
        "political party",
    ]


def test_a_text_without_capitals_is_not_held_to_them() -> None:
    assert found(["Turkey", "WHO"], "does the who advise turkey") == ["who", "Turkey".lower()]


def test_latin_names_match_whole_words_only() -> None:
    assert found(["Rome"], "Romeo went to Rome") == ["Rome"]


def test_homonyms_are_all_borne() -> None:
    trie = NameTrie({"Mercury": ["planet", "element"], "mercury": ["god"]})
    [match] = trie.find("the planet Mercury")
    assert set(match.bearers) == {"planet", "element", "god"}


def test_the_least_demanding_spelling_decides() -> None:
    trie = NameTrie({"Insulin": ["drug"], "insulin": ["drug"]})
    assert trie.find("Patients need insulin.") != []


@given(
    st.lists(st.text("ab 北京大学糖", min_size=1, max_size=6), max_size=8),
    st.text("ab 北京大学糖，.", max_size=40),
)
def test_matches_do_not_overlap_and_bear_the_name_that_stands_there(
    names: list[str], text: str
) -> None:
    matches = NameTrie({name: [name_key(name)] for name in names}).find(text)
    assert all(one.end <= other.start for one, other in pairwise(matches))
    for match in matches:
        assert match.bearers == (name_key(text[match.start : match.end]),)
