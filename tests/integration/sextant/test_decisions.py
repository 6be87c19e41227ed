"""Runs that stop where a person should decide, and go on: in Python, over HTTP and on the command line."""

from __future__ import annotations

from collections.abc import AsyncIterator
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
