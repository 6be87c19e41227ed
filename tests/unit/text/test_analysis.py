"""Texts cut into terms: words of any script, ideographs as each analyzer has them, filters, places."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.analysis import NAMES, SEGMENTED, Analyzer, Tokenizer, fold, pairs, terms
from sextant.text.characters import remember_short


def test_chinese_is_cut_into_pairs_and_english_into_stems() -> None:
    assert terms("北京大学 was founded by the Founders") == [
        "北京",
        "京大",
        "大学",
        "found",
        "founder",
    ]


@pytest.mark.parametrize("text", ["Fixed in v1.4.2.", "版本1.4.2修复", "cache 1.4.2-rc1"])
def test_the_number_of_a_version_is_a_term_beside_its_parts(text: str) -> None:
    assert {"1.4.2", "2"} <= set(terms(text))


def test_a_part_of_a_version_a_date_and_a_decimal_are_no_version() -> None:
    assert not {"1.4.2", "2024.11.18", "3.14"} & set(terms("1.4.21, 21.4.2, 2024.11.18, 3.14"))


def test_traditional_and_simplified_characters_are_the_same_terms() -> None:
    assert terms("臺北辦公室") == terms("台北办公室")


def test_words_of_india_and_arabia_are_one_term_each_with_or_without_points() -> None:
    assert terms("हिन्दी भाषा") == ["हिनदी", "भाषा"]
    assert terms("اللُّغَةُ") == terms("اللغة") == ["اللغة"]


def test_a_single_ideograph_is_a_term() -> None:
    assert terms("肾，liver") == ["肾", "liver"]


def test_an_ideograph_is_a_token_and_a_latin_word_is_one() -> None:
    assert [token.term for token in NAMES.tokens("患2型糖尿病 since May")] == [
        *("患", "2", "型", "糖", "尿", "病"),
        *("since", "may"),
    ]


def test_offsets_are_those_of_the_text_as_given() -> None:
    text = "Ｔhe café，北京大学！"
    assert [text[t.start : t.end] for t in NAMES.tokens(text)] == ["Ｔhe", "café", *"北京大学"]


def test_decomposed_accents_do_not_split_a_word() -> None:
    assert [token.term for token in NAMES.tokens("Akinoshu\u0304 Kenji")] == ["akinoshu", "kenji"]


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text(max_size=80))
def test_tokens_lie_in_order_within_the_text(text: str) -> None:
    cut = NAMES.tokens(text)
    assert all(0 <= token.start < token.end <= len(text) for token in cut)
    assert all(one.end <= other.start for one, other in pairwise(cut))


def test_filters_follow_one_another_and_drop_a_token_by_leaving_nothing() -> None:
    analyzer = Analyzer(Tokenizer(pairs), (fold, lambda word: word.removesuffix("s"), str.strip))
    assert analyzer.terms("Cats S 猫狗") == ["cat", "猫狗"]


def test_a_joiner_holds_the_parts_of_a_word_together_only_inside_it() -> None:
    tokenizer = Tokenizer(pairs, joiners="-.")
    assert tokenizer.words("e-mail v1.2. -dash") == ["e-mail", "v1.2", "dash"]
    assert tokenizer.runs("用e-mail") == [("用", ""), ("", "e-mail")]


def test_a_word_of_any_length_is_filtered() -> None:
    long = "Ａ" * 5_000
    assert NAMES.terms(f"{long} b") == ["a" * 5_000, "b"]


def test_words_of_the_segmenter_take_the_place_of_pairs() -> None:
    assert SEGMENTED.terms("糖尿病患者 waited") == ["糖尿病", "患者", "wait"]


def test_only_short_texts_are_remembered() -> None:
    asked = list[str]()

    @remember_short(2, longest=3)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    for _ in range(2):
        assert [length("abc"), length("abcd")] == [3, 4]
    assert asked == ["abc", "abcd", "abcd"]
