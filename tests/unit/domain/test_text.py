"""Text as it is stored, compared and measured, in Chinese and English."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.characters import clean_text, estimate_tokens, language_of, normalise_name


@given(st.text())
def test_what_can_be_stored_stays_as_it_is(text: str) -> None:
    storable = text.replace("\0", "")  # hypothesis makes no surrogates
    assert clean_text(text) == clean_text(storable) == storable
    assert clean_text(f"\0{text}\udfff\ud800") == storable
    assert clean_text(f"{text}\ud835\udc49") == f"{storable}\U0001d449"  # as UTF-16 writes it


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("一abcd", "zh"),  # one letter in five
        ("一abcde", "en"),
        ("一 2025, 2026, 2027", "zh"),  # digits are no letters
        ("かな", "en"),
        ("2025", "en"),
        ("", "en"),
    ],
)
def test_a_text_is_chinese_from_one_ideograph_in_five_letters_on(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("name", "compared"),
    [
        ("“Rust  Foundation”.", "rust foundation"),
        ("• Ｒｕｓｔ", "rust"),
        ("C++", "c++"),
        (".NET", ".net"),
        ("C#!", "c#"),
        ("《红楼梦》", "红楼梦"),
        ("?!", "?!"),  # all that there is of it
        (" ", ""),
    ],
)
def test_names_are_compared_without_case_width_quotes_and_stops(name: str, compared: str) -> None:
    assert normalise_name(name) == compared


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("糖尿病的症状有哪些？", 8),  # 9 ideographs at 0.7, a mark
        ("かな", 2),
        ("owner", 2),  # a word at 0.3, 5 letters at 0.2: 1.3
        ("owner owner owner", 4),
        ("2025", 2),
        ("a_b", 2),  # two words, two letters, a mark: 2.0
        ("||", 4),
        ("größer", 2),  # 0.3 and 6 letters at 0.2: 1.5
    ],
)
def test_tokens_are_estimated_by_what_a_text_is_made_of(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_english_is_counted_like_any_other_text(text: str) -> None:
    """It has a way of its own, which is faster; a no-break space takes the other and counts nothing."""
    assert estimate_tokens(text) == estimate_tokens(text + "\u00a0")
