from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.citing.support import (
    COMPUTED,
    ComputedSentence,
    QuotedPassage,
    Wording,
    claim_of,
    opposed,
)
from tests.unit.nodes.conftest import item


def test_stop_words_and_plurals_do_not_count() -> None:
    assert claim_of("What are the symptoms of the illness?").words == {"symptom", "illnes"}
    assert claim_of("什么是血糖？").pairs == {"血糖"}


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
    assert claim_of(question).pairs == pairs


def test_a_number_is_one_term() -> None:
    assert claim_of("HbA1c 7.0 %，1,000 元").words >= {"7.0", "1000"}


@pytest.mark.parametrize(
    ("statement", "other"),
    [("राजधानी दिल्ली", "राजा धनी ज़िला"), ("தமிழ் மொழி", "தாமரை மழை"), ("العَرَبِيَّة", "عَرَب")],
)
def test_other_words_of_the_same_letters_carry_nothing(statement: str, other: str) -> None:
    assert Wording(statement).covers(claim_of(statement)) == 1
    assert Wording(other).covers(claim_of(statement)) == 0


def test_two_sentences_are_quoted_only_when_one_carries_too_little() -> None:
    passage = QuotedPassage(item("Rust is safe. It has one owner. The borrow is checked.", start=7))
    one = passage.best_quote(claim_of("one owner"))
    assert one is not None
    assert one.text == "It has one owner."
    two = passage.best_quote(claim_of("one owner, borrow checked"))
    assert two is not None
    assert two.text == "It has one owner. The borrow is checked."
    assert (two.start, two.support) == (7 + len("Rust is safe. "), 1.0)


def test_what_the_headings_say_counts_for_each_sentence_below_them() -> None:
    under = replace(
        item("It has one owner. The sea is blue."),
        metadata={"filename": "rust.md", "section_path": ("Values in Rust",)},
    )
    quote = QuotedPassage(under).best_quote(claim_of("a Rust value has one owner"))
    assert quote is not None
    assert (quote.text, quote.support) == ("It has one owner.", 1.0)


def test_what_no_sentence_speaks_of_has_no_quote() -> None:
    assert QuotedPassage(item("今天天气很好。")).best_quote(claim_of("血糖")) is None
    assert QuotedPassage(item("")).best_quote(claim_of("血糖")) is None


def test_a_statement_in_simplified_characters_is_carried_by_a_traditional_passage() -> None:
    quote = QuotedPassage(item("臺北辦公室於2019年8月啟用。")).best_quote(
        claim_of("台北办公室于2019年8月启用。")
    )
    assert quote is not None
    assert (quote.text, quote.support) == ("臺北辦公室於2019年8月啟用。", 1.0)


@given(st.text(max_size=200), st.text(max_size=60), st.integers(0, 1000))
def test_a_quote_is_the_documents_text_at_its_offsets(text: str, claim: str, start: int) -> None:
    quote = QuotedPassage(item(text, start=start)).best_quote(claim_of(claim))
    if quote is not None:
        assert (" " * start + text)[quote.start : quote.end] == quote.text
        assert 0 <= quote.support <= 1
        assert quote.support > 0 or quote.foreign


@given(st.text(max_size=80))
def test_a_text_covers_itself(text: str) -> None:
    assert Wording(text).covers(claim_of(text)) == (1.0 if claim_of(text) else 0.0)


DOSE = "肾功能减退者不可服用二甲双胍。"
OWNER = "Rust keeps memory safe without a garbage collector by giving every value one owner."
LEAVE = "Unused days may not be carried over to the next year."


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("肾功能减退者可服用二甲双胍。", DOSE),
        ("Unused days may be carried over to the next year.", LEAVE),
        ("这台设备没有接地保护。", "这台设备有接地保护。"),
        ("The belt can't be replaced.", "The belt can be replaced by the operator."),
        ("Rust does not keep memory safe by giving values one owner.", OWNER),
        ("Rust keeps memory safe with a garbage collector.", OWNER),
        ("Visitors may not park in the yard.", "Visitors may park in the yard, but not overnight."),
    ],
)
def test_a_statement_that_denies_what_the_passage_says_or_the_reverse_is_not_carried(
    statement: str, passage: str
) -> None:
    quote = QuotedPassage(item(passage)).best_quote(claim_of(statement))
    assert quote is not None
    assert quote.support == 0.3


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("肾功能减退者不可服用二甲双胍。", DOSE),
        ("二甲双胍是一线用药。", "没有禁忌证时，二甲双胍是一线用药。"),
        ("每次最多报销 500 元。", "每次报销不超过 500 元。"),
        ("They are paid on the 10th.", "They are paid on the 10th, but not in cash."),
        ("The station needs no cable.", "The station runs without a cable."),
        ("Rust keeps memory safe by giving values one owner.", OWNER),
        ("Rust does not use a garbage collector.", OWNER),
        ("图表的别称是曲棍球杆曲线。", "图表的名字是曲棍球杆曲线。"),
        ("The response takes up to 2 hours.", "The response takes no more than 2 hours."),
        ("特别的设备在无人机上。", "特别的设备装在无人机上。"),
    ],
)
def test_denial_of_something_else_and_bounds_contradict_nothing(
    statement: str, passage: str
) -> None:
    assert not opposed(statement, passage)
    quote = QuotedPassage(item(passage)).best_quote(claim_of(statement))
    assert quote is not None
    assert quote.support > 0.35


TABLE = "| Plan | Price (EUR) |\n| --- | --- |\n| Basic | 20 |\n| Team | 90 |"


@pytest.mark.parametrize("start", [0, 70])
@pytest.mark.parametrize(
    ("statement", "carried"),
    [
        ("The largest price is 90, of the plan Team", True),
        ("最贵的是 Team，90", True),
        ("The largest price is 90, of Basic", False),
        ("Guests stay 90 days", False),
        ("The largest price is 91 (Team)", False),
    ],
)
def test_a_computed_sentence_carries_only_what_it_says(
    statement: str, carried: bool, start: int
) -> None:
    row = start + TABLE.index("Team"), start + len(TABLE) - 2
    told = ComputedSentence("the largest Price (EUR) is 90 (Team)", *row)
    passage = item(TABLE, start=start)
    passage = replace(passage, metadata={**passage.metadata, COMPUTED: (told,)})
    quote = QuotedPassage(passage).best_quote(claim_of(statement))
    assert (quote is not None and quote.text == "Team | 90" and quote.support == 1.0) is carried
