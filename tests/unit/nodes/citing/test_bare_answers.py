"""A few words alone are an answer only where no other sentence answers the question clearly better."""

from __future__ import annotations

import pytest

from sextant.nodes.citing.citations import Verdict
from sextant.nodes.citing.cited_text import CitedText
from tests.unit.nodes.conftest import item

SCHOOL = (
    "Tamsin Ree opened the school of weaving at Holm in 1902. Its looms were built from oak of the Vard forest. Girls of"
    " twelve learned to dye with madder, weld and woad. A second hall was added when the county paid for dormitories."
    " Each pupil kept a diary of patterns."
)
PIER = "The day ticket costs 30 EUR. The locker fee is 12 EUR."
LOOMS = "What were the looms of the school of weaving built from?"
DIARY = "What did each pupil of the school of weaving keep?"


def _verdicts(question: str, passage: str, answer: str) -> list[Verdict]:
    text = CitedText([item(passage)], question=question)
    for _ in (*text.feed(answer), *text.finish()):
        pass
    return [sentence.verdict for sentence in text.finished]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (LOOMS, "Oak of the Vard forest [1]."),
        (DIARY, "A diary of patterns."),
        ("Who opened the school of weaving at Holm?", "Tamsin Ree."),
    ],
)
def test_an_answer_from_the_sentence_that_answers_best_is_supported(
    question: str, answer: str
) -> None:
    assert _verdicts(question, SCHOOL, answer) == [Verdict.SUPPORTED]


@pytest.mark.parametrize("question", [LOOMS, DIARY])
def test_an_answer_from_a_sentence_that_answers_clearly_worse_is_not_supported(
    question: str,
) -> None:
    assert _verdicts(question, SCHOOL, "Madder, weld and woad [1].") == [Verdict.PARTIAL]


def test_a_value_of_something_else_is_not_supported() -> None:
    question = "What does the day ticket cost?"
    assert _verdicts(question, PIER, "30 EUR.") == [Verdict.SUPPORTED]
    assert _verdicts(question, PIER, "12 EUR.") == [Verdict.CONTRADICTED]


def test_sentences_behind_the_first_may_say_something_else() -> None:
    answer = "A diary of patterns. Madder, weld and woad."
    assert _verdicts(DIARY, SCHOOL, answer) == [Verdict.SUPPORTED, Verdict.SUPPORTED]


@pytest.mark.parametrize(
    ("question", "passage", "answer", "verdict"),
    [
        ("Do the prices include VAT?", "Prices do not include VAT.", "No.", Verdict.SUPPORTED),
        ("报纸可以外借吗？", "报纸、地方志和工具书不外借。", "不可以。", Verdict.SUPPORTED),
        ("Do the prices include VAT?", "Prices include VAT.", "No.", Verdict.STATES_NOTHING),
        ("Are dogs allowed?", "Cats are not allowed.", "No.", Verdict.STATES_NOTHING),
        ("Which prices include VAT?", "Prices do not include VAT.", "No.", Verdict.STATES_NOTHING),
        ("Do the prices include VAT?", "Prices include VAT.", "Yes [1].", Verdict.SUPPORTED),
        (
            "Do the prices include VAT?",
            "Prices do not include VAT.",
            "Yes.",
            Verdict.STATES_NOTHING,
        ),
        ("Do the prices include tips?", "Prices include VAT.", "Yes.", Verdict.STATES_NOTHING),
        ("泵是每两年检查一次吗？", "泵每两年检查一次。", "是的。", Verdict.SUPPORTED),
        ("泵是每季度检查一次吗？", "泵每两年检查一次。", "是的。", Verdict.STATES_NOTHING),
    ],
)
def test_a_bare_yes_or_no_is_supported_where_a_passage_decides_all_that_is_asked(
    question: str, passage: str, answer: str, verdict: Verdict
) -> None:
    assert _verdicts(question, passage, answer) == [verdict]


PUMPS = "The LARK-S pump runs at 12 V. The LARK-L pump runs at 24 V and is checked every two years."
TASKS = "泵每两年检查一次，由安全部负责。维修费用由财务部承担，采购由行政部负责。"
BOARD = "At least half of the board must be present. The minutes are approved by the chair."
DUTIES = "Tell your lead soon so that they can call the bank. After this, please write to Audit about it."
BROWSER = "The oldest supported release of Fernox is 85, but 90 or above is recommended."


@pytest.mark.parametrize(
    ("question", "passage", "right", "wrong"),
    [
        ("How often is it checked?", PUMPS, "Every two years.", "It is checked monthly."),
        ("泵多久检查一次？", TASKS, "泵每两年检查一次。", "泵每季度检查一次。"),
        ("谁负责检查泵？", TASKS, "泵由安全部负责。", "安全部由泵负责。"),
        (
            "How many must be present?",
            BOARD,
            "At least half of the board.",
            "At most half of the board must be present.",
        ),
        ("Who calls the bank?", DUTIES, "Your lead calls the bank.", "Audit calls the bank soon."),
        (
            "Which Fernox is recommended?",
            BROWSER,
            "Fernox 90 or above is recommended.",
            "Fernox 85 is recommended.",
        ),
    ],
)
def test_words_of_a_sibling_do_not_support_an_answer(
    question: str, passage: str, right: str, wrong: str
) -> None:
    assert _verdicts(question, passage, f"{right[:-1]} [1].") == [Verdict.SUPPORTED]
    assert Verdict.SUPPORTED not in _verdicts(question, passage, f"{wrong[:-1]} [1].")


@pytest.mark.parametrize(
    ("passage", "answer"),
    [
        ("Sales fell by 12 percent in H2 2023.", "Sales fell in the second half of 2023 [1]."),
        ("甲方负责采购，乙方承担另一半费用。", "另一半费用由乙方承担[1]。"),
    ],
)
def test_the_other_half_is_no_share(passage: str, answer: str) -> None:
    assert _verdicts("", passage, answer) == [Verdict.SUPPORTED]


def test_a_number_within_the_bound_that_is_asked_about_answers() -> None:
    plans = "Plan Ash has 2 GB. Plan Elm has 10 GB. Exactly 5 GB has plan Oak."
    assert _verdicts("Which plan has at least 5 GB?", plans, "Plan Elm.") == [Verdict.SUPPORTED]


@pytest.mark.parametrize("endless", ["The ticket costs 30 EUR, " * 1_000, "门票30欧，" * 50])
def test_a_sentence_of_endless_facts_is_not_checked_fact_by_fact(endless: str) -> None:
    assert _verdicts("What does the day ticket cost?", PIER, f"{endless}12 EUR [1].") == [
        Verdict.PARTIAL
    ]
