from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.support import SupportedQuote, TermLookup, claim_of, is_opposed
from tests.unit.nodes.conftest import item


def test_stop_words_and_plurals_do_not_count() -> None:
    assert claim_of("What are the symptoms of the illness?") == {"symptom", "illnes"}
    assert claim_of("什么是血糖？") == {"血糖"}


@pytest.mark.parametrize(
    ("question", "pairs"),
    [
        ("公司提供什么福利？", {"公司", "司提", "提供", "福利"}),
        ("公司提供甚麼福利？", {"公司", "司提", "提供", "福利"}),
        ("网点多少家？", {"网点"}),
        ("费用如何报销？", {"费用", "报销"}),
        ("克什米尔邻接哪里？", {"克什", "什米", "米尔", "尔邻", "邻接"}),
        ("少年如何参加？", {"少年", "参加"}),
        ("任何时刻都有值班", {"时刻", "值班"}),
    ],
)
def test_no_pair_of_characters_reaches_into_a_question_word(question: str, pairs: set[str]) -> None:
    assert claim_of(question) == pairs


def test_a_number_is_one_term() -> None:
    assert claim_of("HbA1c 7.0 %，1,000 元") >= {"70", "1000"}


@pytest.mark.parametrize(
    ("statement", "other"),
    [("राजधानी दिल्ली", "राजा धनी ज़िला"), ("தமிழ் மொழி", "தாமரை மழை"), ("العَرَبِيَّة", "عَرَب")],
)
def test_other_words_of_the_same_letters_carry_nothing(statement: str, other: str) -> None:
    assert TermLookup(statement).covers(claim_of(statement)) == 1
    assert TermLookup(other).covers(claim_of(statement)) == 0


def _quote(passage: RetrievedItem, statement: str) -> SupportedQuote | None:
    return AnswerEvidence([passage]).find_quote(0, statement)


def test_the_sentence_with_most_of_a_statement_is_quoted() -> None:
    quote = _quote(
        item("Rust is safe. It has one owner. The borrow is checked.", start=7), "one owner"
    )
    assert quote is not None
    assert quote.text == "It has one owner."
    assert (quote.start, quote.support) == (7 + len("Rust is safe. "), 1.0)


def test_what_the_headings_say_counts_for_each_sentence_below_them() -> None:
    under = replace(
        item("It has one owner. The sea is blue."),
        metadata={"filename": "rust.md", "section_path": ("Values in Rust",)},
    )
    quote = _quote(under, "a Rust value has one owner")
    assert quote is not None
    assert quote.text == "It has one owner."
    assert quote.support > 0.8


def test_what_no_sentence_speaks_of_has_no_quote() -> None:
    assert _quote(item("今天天气很好。"), "血糖") is None
    assert _quote(item(""), "血糖") is None


def test_a_statement_in_simplified_characters_is_quoted_from_a_traditional_passage() -> None:
    quote = _quote(item("臺北辦公室於2019年8月啟用。"), "台北办公室于2019年8月启用。")
    assert quote is not None
    assert (quote.text, quote.support) == ("臺北辦公室於2019年8月啟用。", 1.0)


@given(st.text(max_size=200), st.text(max_size=60), st.integers(0, 1000))
def test_a_quote_is_the_documents_text_at_its_offsets(text: str, claim: str, start: int) -> None:
    quote = _quote(item(text, start=start), claim)
    if quote is not None:
        assert (" " * start + text)[quote.start : quote.end] == quote.text
        assert 0 <= quote.support <= 1
        assert quote.support > 0 or quote.foreign


@given(st.text(max_size=80))
def test_a_text_covers_itself(text: str) -> None:
    assert TermLookup(text).covers(claim_of(text)) == (1.0 if claim_of(text) else 0.0)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can pregnant women take Norvasol?", "Pregnant women can take Norvasol."),
        ("Who can take Norvasol?", "Pregnant women can take Norvasol."),
        ("Can I drive?", "You can drive."),
    ],
)
def test_what_is_denied_under_a_condition_is_not_permitted(question: str, answer: str) -> None:
    leaflet = (
        "Do not take it if you are pregnant or breast-feeding. "
        "Do not drive until you know how the tablets affect you."
    )
    assert is_opposed(answer, leaflet, question)
