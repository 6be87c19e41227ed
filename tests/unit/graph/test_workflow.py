"""The wired graph, with a scripted chat model and retriever."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import ValidationError

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    DatabaseUnavailable,
    GraphNotFound,
    ModelUnavailable,
    OptionInvalid,
    QuestionInvalid,
    SextantError,
)
from sextant.domain.retrieval import ItemKind, LaneScore, Retrieval, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.graph import create_query_workflow
from sextant.graph.workflow import Workflow
from sextant.models.chat.call_limits import charge, count_request
from sextant.models.chat.chat_model import as_chat_model
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.nodes.answers.quotations import NO_MODEL
from tests.sentences import sentence
from tests.unit.nodes.conftest import Bench, Build, ListeningModel, ScriptedRetriever, chat, item

ROOT = Path(__file__).parents[3]
QUESTION = {"query": "糖尿病的主要症状是什么？", "graph_id": "graph-123"}
SYMPTOMS = item("糖尿病的典型症状为多饮、多尿、多食和体重下降。", "guide.md", start=9)

ANALYSIS = '{"question": "糖尿病的主要症状是什么？", "keywords": ["糖尿病"]}'
ENOUGH = '{"relevant": [1], "sufficient": true}'
ANSWER = "典型症状为多饮、多尿和体重下降[1]。"


def weak(query: str) -> str:
    return f'{{"relevant": [], "sufficient": false, "query": "{query}"}}'


def workflow_of(bench: Bench) -> Workflow:
    return create_query_workflow(dependencies=bench.deps)


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_the_picture_in_the_readme_is_the_graph_that_runs(name: str) -> None:
    drawn = create_query_workflow().get_graph().draw_mermaid()
    shown = (ROOT / name).read_text(encoding="utf-8").partition("<!-- graph:start -->")[2]
    assert shown.partition("<!-- graph:end -->")[0] == f"\n```mermaid\n{drawn}```\n"


def test_studio_sees_the_graph_of_a_report_within_the_workflow() -> None:
    drawn = create_query_workflow().get_graph(xray=True)
    within = {name.partition(":")[2] for name in drawn.nodes if name.startswith("research:")}
    assert within >= {"plan", "confirm", "search", "find_gaps", "outline", "write"}


async def test_a_result_is_plain_values_but_for_its_messages_which_are_mappings(
    bench: Build,
) -> None:
    result = await workflow_of(
        bench(retriever=ScriptedRetriever([[SYMPTOMS]]), answerer=ExtractiveAnswerer())
    ).ainvoke(QUESTION)
    messages = result.pop("messages")
    json.dumps(result)
    question, answer = json.loads(json.dumps(messages, default=dict))
    assert (question["type"], question["content"]) == ("human", QUESTION["query"])
    assert (answer["type"], answer["content"]) == ("ai", result["answer"])
    assert answer["additional_kwargs"]["citations"] == result["citations"]


async def test_a_question_and_a_graph_id_are_enough(bench: Build) -> None:
    at = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=chat(ANALYSIS, ENOUGH, ANSWER))
    result = await workflow_of(at).ainvoke(QUESTION)
    assert result["answer"] == ANSWER
    [source] = result["sources"]
    assert source["filename"] == "guide.md"
    [citation] = result["citations"]
    assert citation["quote"] == SYMPTOMS.text
    assert (result["mode"], result["attempts"], result["grounded"]) == ("naive", 0, True)
    assert set(result["timings"]) == {"analyze", "route", "retrieve", "grade", "generate"}
    assert result["usage"]["calls"] == 3
    assert result["warnings"] == []


async def test_what_each_node_cost_adds_up_to_the_whole(bench: Build) -> None:
    replies = [ANALYSIS, weak("多饮"), ENOUGH, ANSWER]
    at = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=chat(*replies))
    result = await workflow_of(at).ainvoke(QUESTION)
    costs, usage = result["costs"], result["usage"]
    assert costs.keys() == result["timings"].keys()
    assert {node: cost["calls"] for node, cost in costs.items()} == {
        "analyze": 1, "route": 0, "retrieve": 0, "grade": 2, "refine": 0, "generate": 1,
    }  # fmt: skip
    for spent in ("calls", "prompt_tokens", "completion_tokens"):
        assert sum(cost[spent] for cost in costs.values()) == usage[spent]
    assert all(cost["milliseconds"] == result["timings"][node] for node, cost in costs.items())


async def test_a_grader_that_never_says_yes_stops_after_exactly_three_rounds(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]])
    rounds = [weak(f"问法 {n}") for n in range(3)]
    settings = bench().deps.settings.model_copy(
        update={"limits": bench().deps.settings.limits.model_copy(update={"model_calls": 20})}
    )
    at = bench(retriever=retriever, chat=chat(ANALYSIS, *rounds, ANSWER), settings=settings)
    result = await workflow_of(at).ainvoke(QUESTION)
    assert result["attempts"] == 3
    asked = [search["query"] for search in retriever.searches if not search["filters"]]
    assert asked == [QUESTION["query"], "问法 0", "问法 1", "问法 2"]
    assert result["answer"] == ANSWER


async def test_an_answer_costs_at_most_the_budgeted_model_calls(bench: Build) -> None:
    rounds = [weak(f"问法 {n}") for n in range(3)]
    at = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=chat(ANALYSIS, *rounds, ANSWER))
    result = await workflow_of(at).ainvoke(QUESTION)
    assert result["usage"]["calls"] <= at.deps.settings.limits.model_calls


async def test_of_two_calls_one_reads_the_question_and_one_answers(bench: Build) -> None:
    limits = bench().deps.settings.limits.model_copy(update={"model_calls": 2})
    settings = bench().deps.settings.model_copy(update={"limits": limits})
    retriever = ScriptedRetriever([[SYMPTOMS]])
    at = bench(retriever=retriever, chat=chat(ANALYSIS, ANSWER), settings=settings)
    result = await workflow_of(at).ainvoke(QUESTION)
    assert result["answer"] == ANSWER
    assert (result["costs"]["analyze"]["calls"], result["usage"]["calls"]) == (1, 2)


async def test_a_refiner_that_repeats_itself_cannot_loop(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]])
    rounds = [weak(QUESTION["query"])] * 2
    at = bench(retriever=retriever, chat=chat(ANALYSIS, *rounds, ANSWER))
    await workflow_of(at).ainvoke(QUESTION)
    asked = [(search["query"], str(search["filters"])) for search in retriever.searches]
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("query", ["你好", "hello!"])
async def test_small_talk_without_a_model_says_what_is_missing(bench: Build, query: str) -> None:
    result = await workflow_of(bench()).ainvoke({"query": query})
    assert result["answer"].startswith(tuple(NO_MODEL.values()))
    assert (result["mode"], result["model"], result["sources"]) == ("bypass", "none", [])


async def test_bypass_answers_directly_and_says_so(bench: Build) -> None:
    at = bench(chat=chat("Two [1]."))
    result = await workflow_of(at).ainvoke({"query": "How many?", "mode": "bypass"})
    assert result["answer"] == "Two."
    assert result["warnings"] == [sentence(WarningCode.NO_DOCUMENTS_USED, "en")]
    assert (result["citations"], result["sources"], result["grounded"]) == ([], [], False)
    assert result["timings"].keys() == {"analyze", "route", "generate"}


async def test_context_chooses_and_is_checked(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]])
    workflow = workflow_of(bench(retriever=retriever, chat=chat(ANALYSIS, ENOUGH, ANSWER)))
    await workflow.ainvoke(QUESTION, context={"top_k": "4", "mode": "naive"})
    assert retriever.searches[0]["top_k"] == 4
    with pytest.raises(ValidationError):
        await workflow.ainvoke(QUESTION, context={"top_k": 51})
    with pytest.raises(ValidationError):
        await workflow.ainvoke(QUESTION, context={"user_id": "someone else"})


async def test_bad_input_is_a_typed_error(bench: Build) -> None:
    with pytest.raises(QuestionInvalid):
        await workflow_of(bench()).ainvoke({})
    missing = ScriptedRetriever([], error=GraphNotFound("There is no graph `nope`."))
    with pytest.raises(GraphNotFound):
        await workflow_of(bench(retriever=missing)).ainvoke({"query": "Why?", "graph_id": "nope"})


async def test_a_database_that_comes_back_is_tried_once_more(bench: Build) -> None:
    class Recovering(ScriptedRetriever):
        async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
            if not self.warnings:
                self.warnings = (CodedWarning(WarningCode.INDEX_BEHIND),)
                raise DatabaseUnavailable("Gone.")
            return await super().search(scope, query, **options)

    at = bench(retriever=Recovering([[SYMPTOMS]]), chat=chat(ANALYSIS, ENOUGH, ANSWER))
    assert (await workflow_of(at).ainvoke(QUESTION))["answer"] == ANSWER


@pytest.mark.parametrize(
    ("error", "tries"), [(DatabaseUnavailable("Gone."), 2), (GraphNotFound("No graph."), 1)]
)
async def test_whoever_reads_the_graphs_own_stream_is_told_why_it_failed_once_it_is_final(
    bench: Build, error: SextantError, tries: int
) -> None:
    """LangGraph's server shows callers no exception's message, so the last failure is an event."""
    workflow = workflow_of(bench(retriever=ScriptedRetriever([], error=error)))
    told = list[str]()

    async def read() -> None:
        async for event in workflow.astream({"query": "Why?"}, stream_mode="custom"):
            told.append(event.get("node") or event["code"])

    with pytest.raises(type(error)):
        await read()
    assert told == ["analyze", "route", *["retrieve"] * tries, error.code]


async def test_a_model_that_fails_in_bypass_is_a_typed_error(bench: Build) -> None:
    with pytest.raises(ModelUnavailable):
        await workflow_of(bench(chat=chat())).ainvoke({"query": "How many?", "mode": "bypass"})


async def test_a_second_turn_of_a_thread_starts_afresh(
    bench: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [ANALYSIS, weak("多饮"), ENOUGH, ANSWER] * 2
    at = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=chat(*replies))
    workflow = create_query_workflow(dependencies=at.deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    first = await workflow.ainvoke({**QUESTION, "mode": "auto"}, thread)
    second = await workflow.ainvoke(QUESTION, thread)
    assert first["attempts"] == second["attempts"] == 1
    assert first["usage"]["calls"] == second["usage"]["calls"]
    assert first["usage"]["completion_tokens"] == second["usage"]["completion_tokens"]
    assert first["costs"]["analyze"]["calls"] == second["costs"]["analyze"]["calls"] == 1
    assert first["mode"] == second["mode"] == "naive"
    state = (await workflow.aget_state(thread)).values
    assert "asked for" not in state["reason"], "the second turn's mode was auto again"


SUN = item("今天天气很好。", "weather.md")
ROUND = ["refine", "retrieve", "grade"]


@pytest.mark.parametrize(
    ("behind", "edit", "then"),
    [
        ("analyze", {"complexity": "simple"}, ["route", "generate"]),
        ("analyze", {"strategy": "bypass"}, ["route", "generate"]),
        ("route", {"strategy": "bypass"}, ["generate"]),
        ("route", {"strategy": "naive"}, ["retrieve", "grade", *ROUND, "generate"]),
        ("retrieve", {"items": [SYMPTOMS]}, ["grade", "generate"]),
        ("retrieve", {"items": [asdict(SYMPTOMS)]}, ["grade", "generate"]),
        ("grade", {"sufficient": True}, ["generate"]),
        ("grade", {"rounds": 0}, ["generate"]),
        ("grade", {"missing": "体重"}, [*ROUND, "generate"]),
        ("refine", {"search": "多饮"}, ["retrieve", "grade", "generate"]),
        ("refine", {"search": "", "extra_queries": [], "next_hop_queries": [], "cross_lingual_queries": []}, ["generate"]),
        ("generate", {"answer": "Edited."}, []),
    ],
)  # fmt: skip
async def test_a_run_goes_on_from_a_state_that_was_edited_behind_any_node(
    bench: Build, behind: str, edit: dict[str, Any], then: list[str]
) -> None:
    """As Studio does it: what the state says is followed, whoever said it."""
    retriever = ScriptedRetriever([[SUN], [SYMPTOMS]])
    at = bench(retriever=retriever, answerer=ExtractiveAnswerer())
    workflow = create_query_workflow(dependencies=at.deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    await workflow.ainvoke(QUESTION, thread, interrupt_after=[behind])
    await workflow.aupdate_state(thread, edit, as_node=behind)
    assert [name async for step in workflow.astream(None, thread) for name in step] == then


@pytest.mark.parametrize("edited", ["x", [7], [{"text": "x"}], [asdict(SYMPTOMS) | {"kind": "x"}]])
async def test_passages_that_are_none_cannot_be_edited_in(bench: Build, edited: Any) -> None:
    deps = bench(retriever=ScriptedRetriever([[SUN]]), answerer=ExtractiveAnswerer()).deps
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    await workflow.ainvoke(QUESTION, thread, interrupt_after=["retrieve"])
    with pytest.raises(OptionInvalid) as refused:
        await workflow.aupdate_state(thread, {"items": edited})
    assert str(refused.value.field).startswith("items")


@pytest.mark.parametrize(
    ("behind", "edit", "said"),
    [
        ("analyze", {"search": {"query": "x"}}, "should be a valid string"),
        ("analyze", {"subquestions": ["x", 7]}, "should be a valid string"),
        ("analyze", {"filters": ["x"]}, "should be a valid dictionary"),
        ("analyze", {"language": "fr"}, "should be 'en' or 'zh'"),
        ("analyze", {"complexity": ["simple"]}, "should be 'simple' or 'complex'"),
        ("route", {"strategy": None}, "should be a valid string"),
        ("retrieve", {"costs": {"x": "y"}}, "should be a valid dictionary"),
        ("grade", {"sufficient": "no"}, "should be a valid boolean"),
        ("grade", {"rounds": "three"}, "should be a valid integer"),
        ("refine", {"extra_queries": "x"}, "should be a valid list"),
    ],
)
async def test_an_edit_of_another_type_is_named(
    bench: Build, behind: str, edit: dict[str, Any], said: str
) -> None:
    retriever = ScriptedRetriever([[SUN], [SYMPTOMS]])
    deps = bench(retriever=retriever, answerer=ExtractiveAnswerer()).deps
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    await workflow.ainvoke(QUESTION, thread, interrupt_after=[behind])

    async def goes_on() -> None:
        await workflow.aupdate_state(thread, edit, as_node=behind)
        await workflow.ainvoke(None, thread)

    with pytest.raises(OptionInvalid, match=said) as refused:
        await goes_on()
    assert [refused.value.field] == list(edit)


TABLE = {
    "type": "table",
    "table_data": "city,people\nOslo,7\nBergen,3",
    "table_caption": "cities",
}


@pytest.mark.parametrize("node", ["analyze", "route", "retrieve", "grade", "generate"])
async def test_a_run_goes_on_from_any_step_with_all_that_came_with_its_question(
    bench: Build, node: str
) -> None:
    model = ListeningModel(messages=cycle([AIMessage("Oslo [T1:r1c1].")]))
    deps = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=as_chat_model(model)).deps
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    asked = {
        "query": "And which of them is first?",
        "mode": "naive",
        "history": [{"role": "user", "content": "Do you know some cities?"}],
        "multimodal_content": [TABLE],
    }
    told = await workflow.ainvoke(asked, thread)
    steps = [step async for step in workflow.aget_state_history(thread)]
    [before, *_] = [step for step in steps if step.next == (node,)]
    model.heard.clear()
    again = await workflow.ainvoke(None, before.config)
    assert (again["answer"], again["mode"]) == (told["answer"], "naive")
    assert [one.content for one in again["messages"]] == [asked["query"], told["answer"]]
    assert "r1 | Oslo | 7" in model.heard[-1]
    assert "Do you know some cities?" in model.heard[-1]
    kept = (await workflow.aget_state(thread)).values
    assert not kept["attachments"], "what came with a question goes when it is answered"
    assert not kept["before"]


async def test_who_looks_at_a_step_for_long_still_gets_an_answer_of_the_model(
    bench: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = bench(retriever=ScriptedRetriever([[SYMPTOMS]]), chat=chat(ANALYSIS, ENOUGH, ANSWER))
    workflow = create_query_workflow(dependencies=at.deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    await workflow.ainvoke(QUESTION, thread, interrupt_before=["generate"])
    an_hour_later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: an_hour_later)
    answered = await workflow.ainvoke(None, thread)
    assert answered["answer"].startswith("典型症状为多饮")
    assert not answered["warnings"]
    assert answered["messages"][0].content == QUESTION["query"]


async def test_a_follow_up_shows_the_model_the_table_of_the_question_before(bench: Build) -> None:
    model = ListeningModel(messages=cycle([AIMessage("Bergen [T1:r2c1].")]))
    deps = bench(
        retriever=ScriptedRetriever([[SYMPTOMS]]),
        chat=as_chat_model(model),
        answerer=ExtractiveAnswerer(),
    ).deps
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    thread: RunnableConfig = {"configurable": {"thread_id": "1"}}
    html = "<table><tr><th>city<th>people<tr><td>Oslo<td>7<tr><td>Bergen<td>3</table>"
    table = {"type": "table", "table_data": html, "table_caption": "cities"}
    await workflow.ainvoke({"query": "Which is first?", "multimodal_content": [table]}, thread)
    model.heard.clear()
    followed = await workflow.ainvoke({"query": "And the second row?"}, thread)
    assert any("r2 | Bergen | 3" in prompt for prompt in model.heard)
    assert followed["answer"] == "Bergen [T1:r2c1]."
    model.heard.clear()
    await workflow.ainvoke({"query": "糖尿病的主要症状是什么？"}, thread)
    assert not any("Bergen | 3" in prompt for prompt in model.heard)


def test_importing_the_exported_graph_touches_neither_disk_nor_database(tmp_path: Path) -> None:
    """Import it where any setting would be refused, and with no data folder allowed."""
    script = (
        "import sys; from sextant.graph.workflow import graph; print(sorted(graph.nodes));"
        "print([name for name in sys.modules if name.startswith('sextant.nodes.research.')])"
    )
    environment = os.environ | {"SEXTANT_DATA_DIR": "/dev/null/no", "SEXTANT_NO_SUCH": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "'analyze'" in ran.stdout, ran.stderr
    # What makes a report is read when one is first made.
    assert "['sextant.nodes.research.state']" in ran.stdout
    assert not list(tmp_path.iterdir())


async def test_what_a_search_uses_of_chat_models_is_in_the_account(bench: Build) -> None:
    class Reranking(ScriptedRetriever):
        async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
            count_request()
            charge(Usage(1, 700, 30))
            return await super().search(scope, query, **options)

    at = bench(retriever=Reranking([[SYMPTOMS]]), chat=chat(ANALYSIS, ENOUGH, ANSWER))
    result = await workflow_of(at).ainvoke({**QUESTION, "mode": "naive"})
    costs, usage = result["costs"], result["usage"]
    spent = ("calls", "prompt_tokens", "completion_tokens")
    assert [costs["retrieve"][one] for one in spent] == [1, 700, 30]
    assert all(sum(cost[one] for cost in costs.values()) == usage[one] for one in spent)


def test_a_strict_saver_of_the_caller_restores_passages_with_their_lanes() -> None:
    serde = JsonPlusSerializer(allowed_msgpack_modules=[RetrievedItem, ItemKind])
    workflow = create_query_workflow(checkpointer=InMemorySaver(serde=serde))
    lanes = {"vector": LaneScore(1, 0.8)}
    found = RetrievedItem(ItemKind.CHUNK, id="a", text="Gulls.", score=0.8, lanes=lanes)
    saver: Any = workflow.checkpointer
    assert saver.serde.loads_typed(saver.serde.dumps_typed([found])) == [found]
