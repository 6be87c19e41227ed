"""Runs that stop where a person should decide, and go on: in Python, over HTTP and on the command line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from sextant import Sextant, create_query_workflow
from sextant.domain.answers import Interrupted, Status, answer_of
from sextant.domain.errors import ConversationNotFound, DecisionNeeded, OptionInvalid
from sextant.domain.settings import Settings
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json

MERCURY: list[dict[str, Any]] = [
    {"type": "document", "id": "d1", "title": "Sky"},
    {"type": "chunk", "id": "c1", "documentId": "d1", "text": "The planet Mercury orbits the sun in 88 days."},
    {"type": "document", "id": "d2", "title": "Metals"},
    {"type": "chunk", "id": "c2", "documentId": "d2", "text": "The metal quicksilver, or mercury, melts at -39 degrees."},
    {"type": "entity", "id": "e1", "name": "Planet Mercury", "entityType": "planet", "aliases": ["Mercury"], "description": "The innermost planet.", "chunkIds": ["c1"]},
    {"type": "entity", "id": "e2", "name": "Quicksilver", "entityType": "metal", "aliases": ["Mercury"], "description": "A liquid metal.", "chunkIds": ["c2"]},
]  # fmt: skip
# A name that most passages hold names nothing.
OTHERS: list[dict[str, Any]] = [
    line
    for number, bird in enumerate(("Heron", "Stork", "Egret", "Crane", "Ibis", "Bittern"), start=3)
    for line in (
        {"type": "document", "id": f"d{number}", "title": bird},
        {
            "type": "chunk",
            "id": f"c{number}",
            "documentId": f"d{number}",
            "text": f"The {bird} wades.",
        },
    )
]
QUESTION = "At how many degrees does Mercury melt?"


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings) -> AsyncIterator[Sextant]:
    """Yield a knowledge base in which Mercury is a planet and a metal."""
    async with Sextant.open(settings) as opened:
        await opened.import_graph([*MERCURY, *OTHERS], "sky", strict=True)
        yield opened


async def interrupted(events: Any) -> dict[str, Any]:
    """Return what a person is asked, at the end of these events."""
    *_, last = [event async for event in events]
    assert isinstance(last, Interrupted), last
    return dict(last.request)


def edited(choice: str) -> dict[str, Any]:
    """Return an edit as agent-chat-ui sends it."""
    return {
        "decisions": [{"type": "edit", "edited_action": {"name": "x", "args": {"choice": choice}}}]
    }


async def test_a_name_of_two_things_is_asked_about_and_the_choice_is_searched_for(
    rag: Sextant,
) -> None:
    thread = str(uuid4())
    request = await interrupted(
        rag.stream(QUESTION, graph_id="sky", thread_id=thread, interrupts=True)
    )
    [action], [config] = request["action_requests"], request["review_configs"]
    assert (action["name"], config["action_name"]) == ("choose_meaning", "choose_meaning")
    assert action["args"]["name"] == "Mercury"
    assert sorted(action["args"]["options"]) == ["Planet Mercury", "Quicksilver"]
    assert "The innermost planet." in action["description"]
    assert config["allowed_decisions"] == ["approve", "edit"]

    answer = await answer_of(rag.resume(thread, edited("quicksilver")))
    assert "melts" in answer.answer
    assert "88 days" not in answer.answer
    with pytest.raises(ConversationNotFound):
        await answer_of(rag.resume(thread, edited("1")))
    assert [turn.role for turn in await rag.conversations().turns(thread)] == ["user", "assistant"]


def told_of(name: str, kind: str, *told: str, aliases: Sequence[str] = ()) -> dict[str, Any]:
    """Return an entity of an import."""
    description = " ".join(told)
    key = f"{name} {kind} {description}"
    return {
        "type": "entity", "id": key, "name": name, "entityType": kind, "description": description,
        "aliases": list(aliases),
    }  # fmt: skip


def passages(*texts: str) -> list[dict[str, Any]]:
    """Return each text as a document of an import."""
    return [
        line
        for at, text in enumerate(texts)
        for line in (
            {"type": "document", "id": f"d{at}", "title": f"Note {at}"},
            {"type": "chunk", "id": f"c{at}", "documentId": f"d{at}", "text": text},
        )
    ]


@pytest.mark.parametrize(
    ("lines", "question", "answers"),
    [
        (
            [
                *passages(
                    "张伟是销售部经理，电话是 13800001111。", "张伟是研发部工程师，电话是 13900002222。"
                ),
                told_of("张伟", "PERSON", "销售部经理"),
                told_of("张伟", "PERSON", "研发部工程师"),
            ],
            "张伟的电话是多少？",
            {"张伟 (销售部经理)": "13800001111", "张伟 (研发部工程师)": "13900002222"},
        ),
        (
            [
                *passages(
                    "The planet Mercury is 58 million km away.", "The metal Mercury melts early."
                ),
                told_of("Mercury", "planet"),
                told_of("Quicksilver", "metal", aliases=["Mercury"]),
            ],
            "What about Mercury?",
            {"Mercury (planet)": "58 million km", "Quicksilver": "melts early"},
        ),
        (
            passages(
                "John Smith is the head of sales. John Smith works in Boston.",
                "John Smith is a legal counsel. John Smith works in Denver.",
            ),
            "Where does John Smith work?",
            {"John Smith (is the head of sales)": "Boston", "John Smith (is a legal counsel)": "Denver"},
        ),
        (
            passages(
                "Random Access Memory (RAM) keeps data. The RAM is checked daily.",
                "The Risk Assessment Matrix (RAM) rates hazards. The RAM is checked yearly.",
            ),
            "How often is the RAM checked?",
            {"Random Access Memory": "daily", "Risk Assessment Matrix": "yearly"},
        ),
    ],
    ids=["people of one name", "another's alias", "people that texts define", "abbreviations"],
)  # fmt: skip
async def test_in_two_documents_a_name_of_two_things_is_asked_about_too(
    settings: Settings, lines: list[dict[str, Any]], question: str, answers: dict[str, str]
) -> None:
    graph_id = f"small-{uuid4()}"
    async with Sextant.open(settings) as rag:
        await rag.import_graph(lines, graph_id, strict=True)
        for meaning, told in answers.items():
            thread = str(uuid4())
            request = await interrupted(
                rag.stream(question, graph_id=graph_id, thread_id=thread, interrupts=True)
            )
            [action] = request["action_requests"]
            assert sorted(action["args"]["options"]) == sorted(answers)
            answer = (await answer_of(rag.resume(thread, edited(meaning)))).answer
            assert [one for one in answers.values() if one in answer] == [told]


@pytest.mark.parametrize(
    ("texts", "question", "told"),
    [
        (
            ["John Smith is the head of sales.", "John Smith is head of sales in Boston."],
            "Who is John Smith?",
            "head of sales",
        ),
        (
            [
                "Our Optimized Berth Plan (OBP) has two pages. The OBP is short.",
                "The optimised berth plans (OBP) are valid for a week.",
            ],
            "How long is the OBP valid?",
            "a week",
        ),
    ],
    ids=["definitions", "spellings of a full form"],
)
async def test_what_texts_agree_on_leaves_nothing_to_choose(
    settings: Settings, texts: list[str], question: str, told: str
) -> None:
    graph_id = f"agreed-{uuid4()}"
    async with Sextant.open(settings) as rag:
        await rag.import_graph(passages(*texts), graph_id, strict=True)
        events = rag.stream(question, graph_id=graph_id, thread_id=str(uuid4()), interrupts=True)
        assert told in (await answer_of(events)).answer


async def test_rows_of_several_tables_tell_of_one_thing(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "prices.md").write_text("| Part | Price |\n| --- | --- |\n| HP-77 | 445 |\n")
    (tmp_path / "stock.md").write_text("| Part | Stock |\n| --- | --- |\n| HP-77 | 11 |\n")
    async with Sextant.open(settings) as rag:
        await rag.ingest([tmp_path], graph_id="parts")
        question = "What is the price of HP-77?"
        thread = str(uuid4())
        events = rag.stream(question, graph_id="parts", thread_id=thread, interrupts=True)
        assert "445" in (await answer_of(events)).answer


@pytest.mark.parametrize("mode", ["bypass", "naive"])
async def test_where_no_graph_is_searched_no_name_is_asked_about(rag: Sextant, mode: str) -> None:
    events = rag.stream(
        QUESTION, graph_id="sky", mode=mode, thread_id=str(uuid4()), interrupts=True
    )
    assert (await answer_of(events)).mode == mode


async def test_a_decision_holds_although_the_names_cannot_be_looked_up_again(
    rag: Sextant, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = str(uuid4())
    await interrupted(rag.stream(QUESTION, graph_id="sky", thread_id=thread, interrupts=True))

    async def find_none(*_: object) -> dict[str, Any]:
        return {}  # as where the index of a large knowledge base is built anew

    monkeypatch.setattr("sextant.retrievers.graph_retriever.find_meanings", find_none)
    answer = await answer_of(rag.resume(thread, edited("planet mercury")))
    assert "melts" not in answer.answer


async def test_a_wrong_decision_is_refused_and_may_be_made_again(rag: Sextant) -> None:
    thread = str(uuid4())
    await interrupted(rag.stream(QUESTION, graph_id="sky", thread_id=thread, interrupts=True))
    for wrong in ({"decisions": [{"type": "reject"}]}, edited("3"), edited("gold"), {}):
        with pytest.raises(OptionInvalid) as refused:
            await answer_of(rag.resume(thread, wrong))
        assert refused.value.field == "decisions"
    answer = await answer_of(rag.resume(thread, {"decisions": [{"type": "approve"}]}))
    assert "melts" in answer.answer


async def test_who_cannot_resume_is_asked_nothing(rag: Sextant) -> None:
    assert "melts" in (await rag.query(QUESTION, graph_id="sky")).answer
    with pytest.raises(OptionInvalid) as refused:
        await rag.query(QUESTION, graph_id="sky", interrupts=True)
    assert refused.value.field == "thread_id"


async def test_sources_are_approved_and_the_answer_rests_on_those(rag: Sextant) -> None:
    thread = str(uuid4())
    with pytest.raises(DecisionNeeded) as asked:
        await rag.query(
            "How long does the planet take around the sun?", graph_id="sky", thread_id=thread,
            interrupts=True, approve_sources=True, mode="naive",
        )  # fmt: skip
    [action] = asked.value.request["action_requests"]
    lines = action["description"].splitlines()
    planet = next(line for line in lines if "88 days" in line).partition(".")[0]
    others = [one for one in action["args"]["options"] if one != planet]
    answer = await answer_of(rag.resume(thread, edited(", ".join(others))))
    assert "88 days" not in answer.answer

    await interrupted(
        rag.stream(
            "How long does the planet take around the sun?",
            graph_id="sky",
            thread_id=thread,
            interrupts=True,
            approve_sources=True,
            mode="naive",
        )
    )
    answer = await answer_of(rag.resume(thread, edited(planet)))
    assert "88 days" in answer.answer


async def test_a_graph_of_ones_own_is_resumed_by_a_command_as_studio_sends_it(rag: Sextant) -> None:
    deps = await rag.dependencies()
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    # As an assistant has it, in whose runs neither is given.
    chosen: Any = {"interrupts": True, "graph_id": "sky"}
    stopped = await workflow.ainvoke({"query": QUESTION}, config, context=chosen)
    [request] = stopped["__interrupt__"]
    assert request.value["action_requests"][0]["name"] == "choose_meaning"
    # A person types a number into Studio; the run that is resumed brings no context.
    done = await workflow.ainvoke(Command(resume=2), config)
    state = (await workflow.aget_state(config)).values
    meaning = request.value["action_requests"][0]["args"]["options"][1]
    assert meaning in state["question"]
    assert "-39" in done["answer"] or "88" in done["answer"]
    assert done["sources"]


async def test_a_wrong_decision_in_a_graph_of_ones_own_may_be_made_again(rag: Sextant) -> None:
    deps = await rag.dependencies()
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    asked = {"query": QUESTION, "graph_id": "sky"}
    await workflow.ainvoke(asked, config, context={"interrupts": True})
    [again] = (await workflow.ainvoke(Command(resume="gold"), config))["__interrupt__"]
    assert "'gold' chooses none of the 2" in again.value["action_requests"][0]["description"]
    done = await workflow.ainvoke(Command(resume="Quicksilver"), config)
    assert "melts" in done["answer"]


@pytest.mark.parametrize("approved", [True, False])
async def test_an_answer_that_costs_more_than_was_set_is_asked_about(
    settings: Settings, rag: Sextant, *, approved: bool
) -> None:
    def reply(request: ApiRequest) -> Reply | str:
        return as_json({"relevant": [1], "sufficient": True}) if request.wants_json else "It melts."

    async with ScriptedOpenAI(reply) as server:
        asking = settings.model_copy(
            update={
                "chat_model": "scripted",
                "openai_base_url": server.base_url,
                "limits": settings.limits.model_copy(update={"ask_above_tokens": 500}),
            }
        )
        async with Sextant.open(asking) as opened:
            thread = str(uuid4())
            request = await interrupted(
                opened.stream(
                    "When does quicksilver melt?", graph_id="sky", thread_id=thread, interrupts=True
                )
            )
            [action] = request["action_requests"]
            assert action["name"] == "approve_cost"
            assert action["args"]["tokens"] > 500
            before = len(server.chat_requests)
            decision = "approve" if approved else "reject"
            resumed = opened.resume(thread, {"decisions": [{"type": decision}]})
            answer = await answer_of(resumed)
    assert (len(server.chat_requests) > before) is approved
    if not approved:
        assert "melts at -39 degrees" in answer.answer
        assert any("not approved" in warning for warning in answer.warnings)


async def test_resuming_does_not_repeat_what_was_done_before(rag: Sextant) -> None:
    thread = str(uuid4())
    await interrupted(rag.stream(QUESTION, graph_id="sky", thread_id=thread, interrupts=True))
    events = [event async for event in rag.resume(thread, {"decisions": [{"type": "approve"}]})]
    nodes = [event.node for event in events if isinstance(event, Status)]
    assert nodes[0] == "route"
    assert "analyze" not in nodes
