"""Whether passages suffice, by a chat model or by rule, and what happens where they do not."""

from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.settings import LimitSettings, Settings
from sextant.models.chat.chat_model import as_chat_model
from sextant.nodes.answers.passages import lay_out_passages, number_passages
from sextant.nodes.budget import passage_tokens
from sextant.nodes.grade import after_grade
from sextant.nodes.refine import refine
from tests.sentences import sentences_of
from tests.unit.nodes.conftest import Build, ListeningModel, chat, item
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
    graded,
)


async def test_when_time_is_over_weak_passages_are_answered_from_and_it_is_said(
    bench: Build,
) -> None:
    found = await graded(after(QUESTION, items=[WEATHER], deadline=PAST), bench().runtime)
    assert after_grade(found) == "enough"
    assert "limits.answer_seconds" in sentences_of(vars(found))[0]


async def test_a_question_of_several_parts_is_judged_in_one_call(bench: Build) -> None:
    no = '{"relevant": [2], "sufficient": false, "queries": ["何时 就医"]}'
    state = after(QUESTION, items=[WEATHER, SYMPTOMS], subquestions=PARTS, unanswered=PARTS)
    found = await graded(state, bench(chat=chat(no)).runtime)
    assert after_grade(found) == "weak"
    assert found.suggested == ["何时 就医"]
    assert found.evidence == ["guide.md"]
    assert found.usage["calls"] == 1


async def test_an_answer_is_written_from_the_passages_that_were_judged(bench: Build) -> None:
    """Its prompt begins as that of the judgement did, which the endpoint has in its cache."""
    long = item("糖尿病的主要症状是多饮、多尿和体重下降。" * 200, "long.md")
    state = after(QUESTION, items=[long, WEATHER])
    model = ListeningModel(messages=iter([AIMessage('{"relevant": [1], "sufficient": true}')]))
    made = bench(chat=as_chat_model(model)).runtime
    found = await graded(state, made)
    tokens = passage_tokens(found, made.context)
    assert tokens == found.judged_tokens < passage_tokens(state, made.context)
    shown = lay_out_passages(found.question, found.items, tokens).passages
    assert number_passages(shown) in model.heard[0]


async def test_queries_that_were_run_are_shown_to_the_model(bench: Build) -> None:
    model = ListeningModel(messages=iter([AIMessage("{}")]))
    searched = [QUESTION.search, "体重"]
    state = after(QUESTION, items=[WEATHER], searched=searched)
    await graded(state, bench(chat=as_chat_model(model)).runtime)
    assert "<already-run>\n体重\n</already-run>" in model.heard[0]


async def test_what_was_relevant_once_stays_evidence(bench: Build) -> None:
    verdict = '{"relevant": ["[2]"], "sufficient": "yes"}'
    state = after(QUESTION, items=[SYMPTOMS, WEATHER], evidence=["guide.md"])
    found = await graded(state, bench(chat=chat(verdict)).runtime)
    assert found.evidence == ["guide.md", "weather.md"]
    assert found.sufficient is True


async def test_a_passage_that_answers_by_itself_leads_nowhere(bench: Build) -> None:
    whole = item("Pocahontas Mounds is located in the state of Mississippi, part of the Union.")
    assert after_grade(await graded(after(HOPS, items=[whole]), bench().runtime)) == "enough"


@pytest.mark.parametrize(
    "known", [{"graph_items": []}, {"attempts": 1}], ids=["nothing leads on", "a hop was made"]
)
async def test_passages_that_lead_no_further_need_not_answer_by_themselves(
    bench: Build, known: dict[str, Any]
) -> None:
    """As long as something leads on from it, a first passage that holds so little is one hop of several."""
    more = item("A state is located where it is; parts become one.", "more")
    state = after(HOPS, items=[MOUNDS, STATE, more])
    assert after_grade(await graded(state, bench().runtime)) == "weak"
    assert after_grade(await graded(after(state, **known), bench().runtime)) == "enough"


@pytest.mark.parametrize(
    ("strategy", "kind", "goes_to"),
    [
        ("global", ItemKind.COMMUNITY, "enough"),
        ("global", ItemKind.ENTITY, "weak"),
        ("naive", ItemKind.COMMUNITY, "weak"),
    ],
)
async def test_reports_are_what_was_looked_for_in_global_and_nothing_else_around_is(
    bench: Build, strategy: str, kind: ItemKind, goes_to: str
) -> None:
    around = [RetrievedItem(kind, "1", SYMPTOMS.text, 0.5)]
    state = after(QUESTION, items=[WEATHER], graph_items=around, strategy=strategy)
    assert after_grade(await graded(state, bench().runtime)) == goes_to


async def test_passages_with_the_questions_words_are_enough_by_rule(bench: Build) -> None:
    found = await graded(after(QUESTION, items=[SYMPTOMS, WEATHER]), bench().runtime)
    assert after_grade(found) == "enough"
    assert found.relevance == 1.0


@pytest.mark.parametrize(("before", "goes_to"), [(4, "enough"), (5, "weak")])
async def test_by_rule_the_first_five_passages_count(
    bench: Build, before: int, goes_to: str
) -> None:
    others = [replace(WEATHER, id=f"{number}.md") for number in range(before)]
    state = after(QUESTION, items=[*others, SYMPTOMS])
    assert after_grade(await graded(state, bench().runtime)) == goes_to


async def test_a_version_that_no_passage_names_is_searched_by_itself(bench: Build) -> None:
    question = "What is new in Relay 2.5.1?"
    other = item("What is new in Relay is faster.", "2.4.0")
    named = replace(other, metadata={"section_path": ("2.5.1 (2024-12-02)",)})
    runtime = bench().runtime
    weak = await graded(after(HOPS, question=question, items=[other], graph_items=[]), runtime)
    assert after_grade(weak) == "weak"
    assert (await refine(weak, runtime))["search"] == "2.5.1"
    enough = await graded(
        after(HOPS, question=question, items=[other, named], graph_items=[]), runtime
    )
    assert after_grade(enough) == "enough"


@pytest.mark.parametrize("items", [[], [WEATHER]])
async def test_passages_about_something_else_are_weak_by_rule(
    bench: Build, items: list[RetrievedItem]
) -> None:
    found = await graded(after(QUESTION, items=items), bench().runtime)
    assert after_grade(found) == "weak"
    assert found.missing == "糖尿病 主要症状 症状"


async def test_weak_passages_are_answered_from_when_no_round_is_left(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER], attempts=3)
    assert after_grade(await graded(state, bench(chat=chat()).runtime)) == "enough"
    fewer = bench(max_attempts=1).runtime
    assert after_grade(await graded(after(state, attempts=1), fewer)) == "enough"
    assert after_grade(await graded(after(state, attempts=0), fewer)) == "weak"


async def test_the_settings_bound_outranks_the_runs_choice_of_rounds(bench: Build) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(max_attempts=0))
    runtime = bench(settings=settings, max_attempts=3).runtime
    assert after_grade(await graded(after(QUESTION, items=[WEATHER]), runtime)) == "enough"


async def test_a_chat_model_picks_the_evidence_and_searches_what_is_missing(bench: Build) -> None:
    verdict = '{"relevant": [2, 9], "sufficient": false, "queries": ["血糖标准"]}'
    state = after(QUESTION, items=[WEATHER, SYMPTOMS])
    found = await graded(state, bench(chat=chat(verdict)).runtime)
    assert after_grade(found) == "weak"
    assert found.evidence == ["guide.md"]
    assert [item.id for item in found.items] == ["guide.md", "weather.md"]
    assert found.suggested == ["血糖标准"]
    assert found.usage["calls"] == 1


async def test_a_model_that_was_silent_before_in_this_answer_is_not_asked_again(
    bench: Build,
) -> None:
    state = after(QUESTION, items=[WEATHER], by_rule=True)
    runtime = bench(chat=chat('{"relevant": [1], "sufficient": true}')).runtime
    found = await graded(state, runtime)
    assert after_grade(found) == "weak"
    assert found.usage == {}


async def test_sufficient_without_any_relevant_passage_is_not_believed(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER])
    runtime = bench(chat=chat('{"relevant": [], "sufficient": true}')).runtime
    assert after_grade(await graded(state, runtime)) == "weak"
