"""Keywords of a question."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.analysis import extract_keywords
from sextant.text.characters import has_cjk, lowercase
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

questions = st.text(
    alphabet=st.sampled_from("糖尿病患者的主要症状是什么所有权GPUrust ownership's 2.5-?！，😀é"),
    max_size=60,
)


def test_a_chinese_question_gives_words_before_the_grams_between_them() -> None:
    keywords = extract_keywords("糖尿病患者的主要症状是什么？")
    assert keywords[:3] == ["主要症状", "糖尿病", "患者"]
    assert "病患" in keywords[3:]


def test_question_words_and_particles_are_left_out() -> None:
    keywords = extract_keywords("合同的付款节点有哪些")
    assert keywords[:4] == ["合同", "付款", "节点", "付款节点"]
    assert not any("的" in keyword or "有" in keyword for keyword in keywords)


def test_english_words_come_names_and_numbers_first_without_stop_words_or_possessives() -> None:
    assert extract_keywords("What is the capital of Rust's borrow-checker in 2021?") == [
        "rust",
        "2021",
        "borrow-checker",
        "capital",
    ]


def test_a_mixed_question_gives_words_of_both_scripts_in_turn() -> None:
    keywords = extract_keywords("How does Rust check 所有权 and GPU 加速?")
    assert keywords[:4] == ["rust", "所有权", "check", "加速"] or keywords[0] in {"rust", "gpu"}
    assert {"rust", "gpu", "check", "所有权", "加速"} <= set(keywords)


@pytest.mark.parametrize(
    ("word", "plain", "own"),
    [
        ("ＧＰＵ", "gpu", "ｇｐｕ"),
        ("Straße", "strasse", "straße"),
        ("İstanbul", "i\u0307stanbul", "istanbul"),
        ("cafe\u0301", "café", "cafe\u0301"),
        ("Σίσυφος", "σίσυφοσ", "σίσυφος"),
    ],
)
def test_words_are_looked_for_in_plain_letters_and_as_they_are_written(
    word: str, plain: str, own: str
) -> None:
    """A text that holds the word as it stands holds its plain form, in the sense of ILIKE, or does not."""
    assert extract_keywords(word) == [plain, own]
    assert lowercase(word) == own
    assert plain in extract_keywords(f"{word}的歷史")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # in pieces of one letter none was left
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("اللُّغَةُ", ["اللُّغَةُ"]),
        ("история языка", ["история", "языка"]),
        ("한국어 역사", ["한국어", "역사"]),
    ],
)
def test_words_of_other_scripts_stay_whole_with_the_marks_in_them(
    query: str, words: list[str]
) -> None:
    assert extract_keywords(query) == words


@pytest.mark.parametrize("query", ["", "   ", "！？…", "😀😀", "的了吗呢", "what is the", "a b c"])
def test_a_question_without_content_gives_no_keyword(query: str) -> None:
    assert extract_keywords(query) == []


def test_a_long_question_gives_no_more_than_asked_for() -> None:
    query = "糖尿病患者的主要症状与并发症的长期管理方案" * 50 + " diabetes symptoms" * 50
    assert len(extract_keywords(query)) == 10
    assert len(extract_keywords(query, limit=3)) == 3


@given(questions, st.integers(1, 12))
def test_keywords_are_few_distinct_short_and_contained_in_the_question(
    query: str, limit: int
) -> None:
    keywords = extract_keywords(query, limit)
    assert len(keywords) <= limit
    assert len(set(keywords)) == len(keywords)
    for keyword in keywords:
        assert keyword in query.casefold()
        assert keyword not in ENGLISH_STOP_WORDS | CHINESE_STOP_WORDS
        assert not has_cjk(keyword) or re.fullmatch(r"[\u4e00-\u9fff]{2,4}", keyword)


@given(questions)
def test_a_smaller_limit_takes_the_first_of_the_same_keywords(query: str) -> None:
    assert extract_keywords(query, 3) == extract_keywords(query, 10)[:3]
