"""What the table of quotations says of the outcomes behind it."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.quality.answers import AnswerOutcome, astray, judged_line, line
from sextant.evals.dataset import EvalQuestion

ANSWERABLE = EvalQuestion("q", "Who built it?", gold_ids=("a",), answers=("Mira",))
UNANSWERABLE = EvalQuestion("n", "Who sank it?", gold_ids=())
NOT_ANSWERED = AnswerOutcome(UNANSWERABLE, found=False, in_gold=(), holds=(), declined_without=None)


def outcome(in_gold: tuple[bool, ...], holds: tuple[bool, ...]) -> AnswerOutcome:
    return AnswerOutcome(
        ANSWERABLE, found=True, in_gold=in_gold, holds=holds, declined_without=False
    )


def test_only_quotations_behind_the_first_can_be_astray() -> None:
    assert astray([outcome((False,), (False,))]) == []


def test_a_quotation_from_elsewhere_that_holds_the_answer_is_not_astray() -> None:
    one = outcome((True, False, False, True), (True, True, False, False))
    assert astray([one]) == [False, True, False]


def test_a_row_counts_answers_among_the_answerable_and_refusals_among_the_rest() -> None:
    outcomes = [
        outcome((True, False), (True, False)),
        outcome((False,), (False,)),
        outcome((), ()),
        AnswerOutcome(
            ANSWERABLE, found=False, in_gold=(False,), holds=(True,), declined_without=None
        ),
        NOT_ANSWERED,
        replace(NOT_ANSWERED, in_gold=(False,), holds=(False,)),
    ]
    assert line("set", outcomes) == (
        "| set | 6 | 75 % | 33 % (50 %) | 67 % | 67 % | 1.3 | 100 % | 0 % | 50 % |"
    )


def test_a_set_without_answers_has_dashes() -> None:
    assert line("none", [NOT_ANSWERED]) == ("| none | 1 | – | – (–) | – | – | – | – | – | 100 % |")


def test_a_row_of_judged_passages_means_both_kinds_of_question_equally() -> None:
    outcomes = [
        (True, True),
        (True, True),
        (True, False),
        (True, True),
        (False, False),
        (False, True),
    ]
    assert judged_line("en", outcomes) == "| en | 6 | 75.0 % | 50.0 % | 62.5 % |"
