"""route, retrieve, grade and refine: what each decides, one step at a time."""

from dataclasses import replace
from typing import Any

import pytest
from langgraph.types import Command

from domain.errors import GraphNotFound
from domain.retrieval import ItemKind, RetrievedItem
from domain.scope import Scope
from domain.settings import LimitSettings, Settings
from nodes.grade import grade
from nodes.refine import first_new, refine
from nodes.retrieve import retrieve, widened
from nodes.route import route
from nodes.state import State
from tests.unit.nodes.conftest import Build, ScriptedRetriever, chat, item

SYMPTOMS = item("糖尿病的主要症状是多饮、多尿和体重下降。", "guide.md")
WEATHER = item("今天天气很好。", "weather.md", 0.4)
QUESTION = State(
    query="糖尿病的主要症状是什么？",
    question="糖尿病的主要症状是什么？",
    search="糖尿病的主要症状是什么？",
    language="zh",
    strategy="naive",
    keywords=["糖尿病", "主要症状", "症状"],
)


def changes(command: Command[Any]) -> dict[str, Any]:
    assert isinstance(command.update, dict)
    return command.update


def after(state: State, **changes: object) -> State:
    return State(**{**vars(state), **changes})


@pytest.mark.parametrize(
    ("complexity", "strategy", "goto"),
    [
        ("complex", "naive", "retrieve"),
        ("simple", "naive", "generate"),
        ("complex", "bypass", "generate"),
    ],
)
async def test_only_simple_questions_and_bypass_skip_retrieval(
    bench: Build, complexity: str, strategy: str, goto: str
) -> None:
    command = await route(State(complexity=complexity, strategy=strategy), bench().runtime)
    assert command.goto == goto
    assert (command.update == {"strategy": "bypass"}) == (goto == "generate")


async def test_retrieval_searches_the_callers_scope_and_says_what_it_found(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]], warnings=("向量检索失败，使用关键词检索降级",))
    at = bench(retriever=retriever)
    state = after(QUESTION, user_id="ann", graph_id="kb", top_k=3, filters={"tags": ["a"]})
    update = await retrieve(state, at.runtime)
    [search] = retriever.searches
    assert search["scope"] == Scope("ann", "kb")
    assert (search["top_k"], search["filters"], search["lanes"]) == (3, {"tags": ["a"]}, None)
    assert update["searched"] == [QUESTION.search]
    assert update["warnings"] == ["向量检索失败，使用关键词检索降级"]
    [event] = at.streamed
    assert (event["type"], event["mode"], event["count"]) == ("retrieval", "naive", 1)


async def test_the_runs_choice_of_top_k_stands_in_for_the_inputs(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]])
    await retrieve(QUESTION, bench(retriever=retriever, top_k=7).runtime)
    assert retriever.searches[0]["top_k"] == 7
    assert retriever.searches[0]["scope"].user_id == "local"


async def test_a_later_round_looks_wider_and_keeps_the_evidence_first(bench: Build) -> None:
    retriever = ScriptedRetriever([[WEATHER, SYMPTOMS]])
    found = [item("old", "old.md"), SYMPTOMS]
    state = after(QUESTION, attempts=1, items=found, evidence=["guide.md"], top_k=2)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md", "old.md"]
    assert retriever.searches[0]["lanes"] == ("vector", "keyword")


ALL = ("vector", "keyword", "local", "reports", "global", "mix")


@pytest.mark.parametrize(
    ("strategy", "modes"),
    [
        ("local", ["local", "hybrid", "mix", "mix"]),
        ("hybrid", ["hybrid", "mix", "mix", "mix"]),
        ("global", ["global"] * 4),
        ("naive", ["naive"] * 4),
    ],
)
def test_every_round_looks_one_step_wider(strategy: str, modes: list[str]) -> None:
    assert [widened(strategy, attempts, ALL) for attempts in range(4)] == modes


def test_a_round_looks_no_wider_than_the_retriever_can() -> None:
    without_reports = ("vector", "keyword", "local", "mix")
    assert widened("local", 1, without_reports) == "mix"
    assert widened("local", 3, ("vector", "keyword", "local")) == "local"


async def test_what_the_graph_knows_is_kept_beside_the_passages(bench: Build) -> None:
    report = RetrievedItem(ItemKind.COMMUNITY, "r", "Health", 0.9, metadata={"title": "Health"})
    named = {"name": "糖尿病", "type": "DISEASE"}
    entity = RetrievedItem(ItemKind.ENTITY, "e1", "糖尿病", 0.5, metadata=named)
    earlier = replace(entity, id="e0", score=0.7)
    retriever = ScriptedRetriever([[report, SYMPTOMS]], around=(report, entity), lanes=ALL)
    state = after(QUESTION, strategy="global", around=[earlier])
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md"]
    assert [found.id for found in update["around"]] == ["r", "e0", "e1"]
    assert update["graph_context"]["entities"][1] == {"id": "e1", **named}


async def test_rounds_are_fused_so_that_one_adds_to_the_other(bench: Build) -> None:
    before = [item("a", "a"), item("b", "b"), item("c", "c")]
    retriever = ScriptedRetriever([[item("d", "d"), item("c", "c")]])
    state = after(QUESTION, attempts=1, items=before, top_k=3)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["c", "a", "d"]


async def test_an_unknown_graph_is_the_callers_to_hear_of(bench: Build) -> None:
    retriever = ScriptedRetriever([], error=GraphNotFound("There is no graph."))
    with pytest.raises(GraphNotFound):
        await retrieve(QUESTION, bench(retriever=retriever).runtime)


async def test_passages_with_the_questions_words_are_enough_by_rule(bench: Build) -> None:
    command = await grade(after(QUESTION, items=[SYMPTOMS, WEATHER]), bench().runtime)
    assert command.goto == "generate"
    assert changes(command)["relevance"] == 1.0


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


async def test_sufficient_without_any_relevant_passage_is_not_believed(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER])
    runtime = bench(chat=chat('{"relevant": [], "sufficient": true}')).runtime
    assert (await grade(state, runtime)).goto == "refine"


async def test_a_new_query_goes_back_to_retrieval_as_one_more_round(bench: Build) -> None:
    state = after(QUESTION, searched=[QUESTION.search], missing="体重")
    command = await refine(state, bench(chat=chat('{"query": "糖尿病 体重下降"}')).runtime)
    assert command.goto == "retrieve"
    assert changes(command)["search"] == "糖尿病 体重下降"
    assert changes(command)["attempts"] == 1


async def test_a_query_that_was_run_before_is_replaced_by_rule(bench: Build) -> None:
    state = after(QUESTION, searched=[QUESTION.search], missing="体重")
    command = await refine(state, bench(chat=chat(f'{{"query": "{QUESTION.search} "}}')).runtime)
    assert changes(command)["search"] == "体重"


async def test_without_anything_new_to_try_the_answer_is_due(bench: Build) -> None:
    state = State(question="Why?", searched=["Why?"])
    command = await refine(state, bench().runtime)
    assert command.goto == "generate"
    assert "attempts" not in changes(command)


def test_queries_that_differ_in_case_or_spacing_are_the_same() -> None:
    assert first_new(["", "Rust  owner", "borrow"], ["rust owner"]) == "borrow"
    assert first_new([" "], []) is None
