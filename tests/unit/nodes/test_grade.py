"""Whether passages suffice, by a chat model or by rule, and what happens where they do not."""

from dataclasses import replace
from typing import Any

import pytest

from domain.retrieval import ItemKind, RetrievedItem
from domain.settings import LimitSettings, Settings
from nodes.grade import grade
from tests.unit.nodes.conftest import Build, chat, item
from tests.unit.nodes.steps import (
    HOPS,
    MOUNDS,
    PARTS,
    PAST,
    QUESTION,
    STATE,
    SYMPTOMS,
    WEATHER,
    after,
    changes,
)


async def test_when_time_is_over_weak_passages_are_answered_from_and_it_is_said(
    bench: Build,
) -> None:
    command = await grade(after(QUESTION, items=[WEATHER], deadline=PAST), bench().runtime)
    assert command.goto == "generate"
    assert "limits.answer_seconds" in changes(command)["warnings"][0]


async def test_every_part_is_judged_by_what_was_found_for_it(bench: Build) -> None:
    yes = '{"relevant": [1], "sufficient": true}'
    no = '{"relevant": [], "sufficient": false, "missing": "就医时间"}'
    state = after(
        QUESTION, items=[WEATHER, SYMPTOMS], subquestions=PARTS, unanswered=PARTS,
        found_for={PARTS[0]: ["guide.md"], PARTS[1]: ["weather.md"]},
    )  # fmt: skip
    command = await grade(state, bench(chat=chat(yes, no)).runtime)
    assert command.goto == "refine"
    update = changes(command)
    assert update["unanswered"] == [PARTS[1]]
    assert update["missing"] == "就医时间"
    assert update["evidence"] == ["guide.md"]
    assert update["usage"]["calls"] == 2


async def test_parts_that_the_calls_do_not_suffice_for_are_judged_as_one_question(
    bench: Build,
) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(model_calls=2))
    state = after(QUESTION, items=[SYMPTOMS], subquestions=PARTS, unanswered=PARTS)
    made = bench(chat=chat('{"relevant": [1], "sufficient": true}'), settings=settings)
    command = await grade(state, made.runtime)
    assert command.goto == "generate"
    assert changes(command)["usage"]["calls"] == 1


async def test_what_was_relevant_once_stays_evidence(bench: Build) -> None:
    verdict = '{"relevant": ["[2]"], "sufficient": "yes"}'
    state = after(QUESTION, items=[SYMPTOMS, WEATHER], evidence=["guide.md"])
    update = changes(await grade(state, bench(chat=chat(verdict)).runtime))
    assert update["evidence"] == ["guide.md", "weather.md"]
    assert update["sufficient"] is True


async def test_a_passage_that_answers_by_itself_leads_nowhere(bench: Build) -> None:
    whole = item("Pocahontas Mounds is located in the state of Mississippi, part of the Union.")
    assert (await grade(after(HOPS, items=[whole]), bench().runtime)).goto == "generate"


@pytest.mark.parametrize(
    "known", [{"around": []}, {"attempts": 1}], ids=["nothing leads on", "a hop was made"]
)
async def test_passages_that_lead_no_further_need_not_answer_by_themselves(
    bench: Build, known: dict[str, Any]
) -> None:
    """As long as something leads on from it, a first passage that holds so little is one hop of several."""
    more = item("A state is located where it is; parts become one.", "more")
    state = after(HOPS, items=[MOUNDS, STATE, more])
    assert (await grade(state, bench().runtime)).goto == "refine"
    assert (await grade(after(state, **known), bench().runtime)).goto == "generate"


@pytest.mark.parametrize(
    ("strategy", "kind", "goes_to"),
    [
        ("global", ItemKind.COMMUNITY, "generate"),
        ("global", ItemKind.ENTITY, "refine"),
        ("naive", ItemKind.COMMUNITY, "refine"),
    ],
)
async def test_reports_are_what_was_looked_for_in_global_and_nothing_else_around_is(
    bench: Build, strategy: str, kind: ItemKind, goes_to: str
) -> None:
    around = [RetrievedItem(kind, "1", SYMPTOMS.text, 0.5)]
    state = after(QUESTION, items=[WEATHER], around=around, strategy=strategy)
    assert (await grade(state, bench().runtime)).goto == goes_to


async def test_passages_with_the_questions_words_are_enough_by_rule(bench: Build) -> None:
    command = await grade(after(QUESTION, items=[SYMPTOMS, WEATHER]), bench().runtime)
    assert command.goto == "generate"
    assert changes(command)["relevance"] == 1.0


@pytest.mark.parametrize(("before", "goes_to"), [(4, "generate"), (5, "refine")])
async def test_by_rule_the_first_five_passages_count(
    bench: Build, before: int, goes_to: str
) -> None:
    others = [replace(WEATHER, id=f"{number}.md") for number in range(before)]
    state = after(QUESTION, items=[*others, SYMPTOMS])
    assert (await grade(state, bench().runtime)).goto == goes_to


@pytest.mark.parametrize("items", [[], [WEATHER]])
async def test_passages_about_something_else_are_weak_by_rule(
    bench: Build, items: list[RetrievedItem]
) -> None:
    command = await grade(after(QUESTION, items=items), bench().runtime)
    assert command.goto == "refine"
    assert changes(command)["missing"] == "糖尿病 主要症状 症状"


async def test_weak_passages_are_answered_from_when_no_round_is_left(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER], attempts=3)
    assert (await grade(state, bench(chat=chat()).runtime)).goto == "generate"
    fewer = bench(max_attempts=1).runtime
    assert (await grade(after(state, attempts=1), fewer)).goto == "generate"
    assert (await grade(after(state, attempts=0), fewer)).goto == "refine"


async def test_the_settings_bound_outranks_the_runs_choice_of_rounds(bench: Build) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(max_attempts=0))
    runtime = bench(settings=settings, max_attempts=3).runtime
    assert (await grade(after(QUESTION, items=[WEATHER]), runtime)).goto == "generate"


async def test_a_chat_model_picks_the_evidence_and_names_what_is_missing(bench: Build) -> None:
    verdict = '{"relevant": [2, 9], "sufficient": false, "missing": "血糖标准"}'
    state = after(QUESTION, items=[WEATHER, SYMPTOMS])
    command = await grade(state, bench(chat=chat(verdict)).runtime)
    assert command.goto == "refine"
    assert changes(command)["evidence"] == ["guide.md"]
    assert [item.id for item in changes(command)["items"]] == ["guide.md", "weather.md"]
    assert changes(command)["missing"] == "血糖标准"
    assert changes(command)["usage"]["calls"] == 1


async def test_a_model_that_was_silent_before_in_this_answer_is_not_asked_again(
    bench: Build,
) -> None:
    state = after(QUESTION, items=[WEATHER], by_rule=True)
    runtime = bench(chat=chat('{"relevant": [1], "sufficient": true}')).runtime
    command = await grade(state, runtime)
    assert command.goto == "refine"
    assert "usage" not in changes(command)


async def test_sufficient_without_any_relevant_passage_is_not_believed(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER])
    runtime = bench(chat=chat('{"relevant": [], "sufficient": true}')).runtime
    assert (await grade(state, runtime)).goto == "refine"
