"""What an answer may still cost, and what is kept back for writing it."""

import time

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.settings import AnswerSettings, LimitSettings, Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.endpoint_memory import INSTRUCTION_TOKENS
from sextant.nodes.budget import (
    Limit,
    budget_of,
    calls_to_read,
    deadline,
    estimate_answer,
    judging_budget,
    limit_warning,
    merge_warnings,
    passage_tokens,
    reserve_for_answer,
)
from sextant.nodes.context import RunContext
from sextant.nodes.state import State
from sextant.text.characters import estimate_tokens
from tests.unit.nodes.conftest import Build, chat

FAR = 1e12
PROMPT = 6000 + INSTRUCTION_TOKENS  # passages, and the instructions around them


def run_with(bench: Build, **limits: int | float) -> RunContext:
    answers = AnswerSettings(passage_tokens=6000)
    settings = Settings(
        _env_file=None, limits=LimitSettings.model_validate(limits), answers=answers
    )
    context = bench(settings=settings).runtime.context
    assert context is not None
    return context


def test_judging_leaves_the_answer_a_call_its_prompt_and_a_third_of_the_time(bench: Build) -> None:
    run = run_with(bench, model_calls=8, prompt_tokens=32_000, context_tokens=6000)
    state = State(usage={"calls": 5, "prompt_tokens": 20_000}, deadline=FAR)
    whole, judging = budget_of(state, run), judging_budget(state, run)
    assert (whole.calls, whole.prompt_tokens) == (3, 12_000)
    assert (judging.calls, judging.prompt_tokens) == (2, 6000 - INSTRUCTION_TOKENS)
    assert whole.seconds - judging.seconds == pytest.approx(20, abs=1)


def test_the_conversation_has_its_part_in_what_is_left_to_the_answer(bench: Build) -> None:
    said = "The pump was serviced in May. " * 100
    state = State(before=[{"role": "user", "content": said}], deadline=FAR)
    left = reserve_for_answer(state, run_with(bench)).prompt_tokens
    assert left == PROMPT + estimate_tokens(said)


def report(text: str) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.COMMUNITY, id=text[:20], text=text, score=1.0, metadata={"findings": ()}
    )


SHORT = [report(f"Report {number}.") for number in range(5)]
LONG = [
    report(" ".join(f"Report {number} says much of {thing}." for thing in range(300)))
    for number in range(5)
]


@pytest.mark.parametrize(
    ("state", "limits", "kept"),
    [
        (State(strategy="mix", graph_items=SHORT), {}, (1, PROMPT)),
        (State(strategy="global"), {}, (1, PROMPT)),
        (State(strategy="global", graph_items=SHORT), {}, (2, 2 * PROMPT)),
        (State(strategy="global", graph_items=LONG), {}, (4, 2 * PROMPT)),
        (State(strategy="global", graph_items=LONG), {"report_calls": 16}, (4, 2 * PROMPT)),
        (State(strategy="global", graph_items=LONG), {"model_calls": 3}, (1, 2 * PROMPT)),
        (State(strategy="global", graph_items=LONG), {"prompt_tokens": 4000}, (4, 2000)),
    ],
    ids=[
        "no reports to be read",
        "none found",
        "short ones: one call",
        "long ones: several",
        "at most half of the calls",
        "of few calls one",
        "at most half of the tokens",
    ],
)
def test_in_global_the_answer_keeps_calls_to_read_the_reports_by(
    bench: Build, state: State, limits: dict[str, int], kept: tuple[int, int]
) -> None:
    answers = reserve_for_answer(state, run_with(bench, **limits))
    assert (answers.calls, answers.prompt_tokens) == kept


def test_short_reports_are_read_by_one_call_and_long_ones_by_no_more_than_there_are() -> None:
    assert [calls_to_read(reports, 16) for reports in ([], SHORT, LONG)] == [0, 1, 5]
    assert calls_to_read(LONG[:2], 16) == 2
    assert calls_to_read(LONG, 3) == 3


@pytest.mark.parametrize(
    ("usage", "until", "lacking"),
    [
        ({}, FAR, None),
        ({"calls": 7}, FAR, Limit.CALLS),
        ({"prompt_tokens": 25_000}, FAR, Limit.TOKENS),
        ({}, 1.0, Limit.TIME),
        ({"calls": 7}, 1.0, Limit.TIME),
    ],
)
def test_the_limit_in_the_way_is_named(
    bench: Build, usage: dict[str, int], until: float, lacking: Limit | None
) -> None:
    run = run_with(bench)
    assert judging_budget(State(usage=usage, deadline=until), run).lacks(1000) == lacking


def test_a_small_allowance_of_prompts_is_halved_between_judging_and_answering(bench: Build) -> None:
    run = run_with(bench, prompt_tokens=1000)
    assert judging_budget(State(deadline=FAR), run).prompt_tokens == 500


def test_models_and_searches_leave_two_of_sixty_seconds_to_end_the_answer_with(
    bench: Build,
) -> None:
    before = time.time()
    assert before + 58 <= deadline(run_with(bench)) <= time.time() + 58


def test_nodes_that_are_called_without_a_begun_turn_have_the_whole_time(bench: Build) -> None:
    assert budget_of(State(), run_with(bench, answer_seconds=7)).seconds == 7


@pytest.mark.parametrize(
    ("limit", "words"),
    [(Limit.CALLS, "8 model calls"), (Limit.TOKENS, "32000 prompt"), (Limit.TIME, "60 seconds")],
)
def test_a_reached_limit_is_told_with_its_setting(limit: Limit, words: str) -> None:
    warning = limit_warning(limit, LimitSettings())
    sentence = warning.in_language("en")
    assert words in sentence
    assert f"limits.{limit}" in sentence
    in_chinese = warning.in_language("zh")
    assert "上限" in in_chinese
    assert f"SEXTANT_LIMITS__{limit.upper()}" in in_chinese


def test_each_warning_is_given_once() -> None:
    a, b, c = (CodedWarning(WarningCode.CAUSE, {"reason": letter}) for letter in "abc")
    assert merge_warnings([a.to_json(), b.to_json()], b, c) == [one.to_json() for one in (a, b, c)]


@pytest.mark.parametrize(
    ("state", "tokens"),
    [
        (State(question="How long is the probation period?"), 1000),
        (State(question="How long is it?", subquestions=["a?", "b?", "c?"]), 3000),
        (State(question="How long is it?", attempts=1), 2000),
        (State(question="What are the main themes of these documents?"), 6000),
    ],
    ids=["one part", "three parts", "two rounds", "broad"],
)
def test_a_prompt_shows_as_many_passages_as_the_question_needs(
    bench: Build, state: State, tokens: int
) -> None:
    settings = Settings(_env_file=None, answers=AnswerSettings(passage_tokens=1000))
    run = bench(settings=settings).runtime.context
    assert run is not None
    assert passage_tokens(state, run) == tokens


def test_fewer_passages_are_shown_to_an_unknown_model_and_to_one_that_begins_late(
    bench: Build,
) -> None:
    def shown(seconds: float = 8.0, parts: tuple[str, ...] = ()) -> int:
        limits = LimitSettings(first_words_seconds=seconds)
        settings = Settings(_env_file=None, limits=limits)
        run = bench(chat=model, settings=settings).runtime.context
        assert run is not None
        question = "How long is the probation?"
        return passage_tokens(State(question=question, subquestions=[*parts]), run)

    model = chat()
    wanted = Settings(_env_file=None).answers.passage_tokens
    assert wanted > shown() >= 0.7 * wanted
    model.speed.observe_stream(prompt=3000, shown=150, written=150, first=10.0, rest=10.0)
    assert wanted > shown() >= 0.7 * wanted
    assert shown(30.0) == wanted
    assert shown(parts=("a?", "b?")) == shown()
    assert shown(30.0, ("a?", "b?")) == 2 * wanted
    model.speed.forget()


def test_what_an_answer_may_cost_counts_the_conversation_in_its_prompt(bench: Build) -> None:
    run, said = run_with(bench), [{"role": "user", "content": "How long is the probation?"}]
    alone, later = (
        estimate_answer(State(question="And then?", before=before), run) for before in ([], said)
    )
    assert later - alone == estimate_tokens(said[0]["content"])
