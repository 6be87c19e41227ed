"""What a report asks, how its sections are arranged, what it will cost, what is searched next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.settings import AnswerSettings, ResearchSettings, Settings
from sextant.models.chat.call_limits import AdaptiveLimit
from sextant.nodes.context import Context, RunContext
from sextant.nodes.research.outline import SectionChoice, arrange_sections, outline
from sextant.nodes.research.plan import estimate_report, plan, plan_by_rules
from sextant.nodes.research.search import find_gaps, search
from sextant.nodes.research.state import (
    ResearchState,
    Topic,
    after_gaps,
    outline_of,
    plain,
    topics_of,
)
from tests.unit.nodes.conftest import Build, ScriptedRetriever, chat, item

QUESTION = "What is known of the bridge of Arta?"


def under(text: str, name: str, *path: str, score: float = 0.8) -> RetrievedItem:
    """Return a passage that stands under these headings."""
    found = item(text, name, score)
    return replace(found, metadata={**found.metadata, "section_path": path})


BRIDGE = under("The bridge of Arta spans the Arachthos.", "bridge")
RIVER = under("The Arachthos rises in the Pindus.", "river")


def named(name: str) -> RetrievedItem:
    return RetrievedItem(ItemKind.ENTITY, name, name, 0.5, metadata={"name": name})


def report_on(title: str) -> RetrievedItem:
    metadata = {"title": title, "findings": []}
    return RetrievedItem(ItemKind.COMMUNITY, title, title, 0.5, metadata=metadata)


def state(**values: Any) -> ResearchState:
    begun: dict[str, Any] = {
        "question": QUESTION,
        "search": QUESTION,
        "strategy": "mix",
        "chosen_effort": "high",
        "items": [BRIDGE],
        "graph_items": [named("Arta"), named("Arachthos"), named("London"), report_on("Bridges")],
    }
    return ResearchState(**begun | values)


def titles(of: ResearchState) -> list[str]:
    return [topic.title for topic in plan_by_rules(of)]


def test_rules_plan_by_parts_and_subjects() -> None:
    assert titles(state()) == ["Arachthos"]
    parts = ["when was it built? (Arta)"]
    assert titles(state(subquestions=parts)) == ["When was it built?"]
    parts = ["When was it built?", "who built it?"]
    several = "When was Arta's bridge built, and who built it?"
    assert titles(state(question=several, subquestions=parts)) == [
        "When was it built?", "Who built it?",
    ]  # fmt: skip
    joined = state(question="Compare the river and the bridge of Arta.")
    assert titles(joined) == ["River of Arta", "Bridge of Arta"]
    assert titles(state(items=[], graph_items=[])) == []
    assert titles(state(question="What is the deposit?")) == []


async def test_only_what_was_asked_is_missing(bench: Build) -> None:
    topics = [
        Topic("Repairs", "Who made repairs?", "repairs"),
        Topic("Pindus", "On?", "", "Pindus"),
    ]
    update = await outline(state(topics=plain(topics)), bench().runtime)
    assert update["not_found"] == ["Who made repairs?"]


def test_rules_plan_by_the_sections_of_what_was_found_the_best_first() -> None:
    text = "The bridge of Arta."
    items = [
        under(text, "p1", "Arta", "2 Repairs", "2.1 Costs", score=0.2),
        under(text, "p2", "Arta", score=0.9),
        under(text, "p3", "Arta", "1.2.0 (March)", "New", score=0.5),
        under(text, "p4", "Arta", "2 Repairs", "2.1 Costs", score=0.1),
        under(text, "p5", score=1.0),
        under(text, "p6", "Arta", "1. Summary", score=0.05),
    ]
    topics = list(plan_by_rules(state(items=items, graph_items=[report_on("Bridges")])))
    assert [(topic.title, topic.found) for topic in topics] == [
        ("Arta", ["p2"]),
        ("1.2.0 (March) › New", ["p3"]),
        ("Repairs › Costs", ["p1", "p4"]),
        ("p6 › Summary", ["p6"]),  # named as its document is
    ]


def test_what_the_whole_tells_is_planned_by_the_documents() -> None:
    report = report_on("Arta, Pindus and 27 more")
    first, second = [under("The Pindus is high.", name, "Part") for name in ("p1", "p2")]
    first = replace(
        first, metadata={**first.metadata, "document_title": "A journey", "filename": "j.md"}
    )
    topics = list(
        plan_by_rules(state(strategy="global", items=[first, second], graph_items=[report]))
    )
    assert [(topic.title, topic.subject, topic.found) for topic in topics] == [
        ("A journey", "j.md", ["p1"]),
        ("p2", "p2", ["p2"]),
    ]


async def test_parts_of_the_question_that_a_model_forgets_are_planned_all_the_same(
    bench: Build,
) -> None:
    reply = '{"questions": ["What is the river of Arta?", "What is the Arachthos?"]}'
    asked = "Compare the river and the bridge of Arta."
    update = await plan(state(question=asked), bench(chat=chat(reply)).runtime)
    assert [one["question"] for one in update["topics"]] == [
        "bridge of Arta",
        "What is the river of Arta?",
        "What is the Arachthos?",
    ]


async def test_a_models_questions_come_from_what_it_was_shown(bench: Build) -> None:
    again = "What is known about the bridge of Arta?"
    questions = [
        QUESTION, again, "Who lives in Atlantis?", "What is the Arachthos?", "How old is Arta?",
    ]  # fmt: skip
    reply = str({"questions": questions}).replace("'", '"')
    at = bench(chat=chat(reply))
    update = await plan(state(), at.runtime)
    assert [one["question"] for one in update["topics"]] == questions[3:]
    assert [one["query"] for one in update["due"]] == questions[3:]
    [planned] = at.streamed
    assert planned["type"] == "plan"
    assert planned["questions"] == tuple(questions[3:])


async def test_a_plan_has_as_many_questions_as_the_settings_say(bench: Build) -> None:
    settings = Settings(_env_file=None, research=ResearchSettings(questions=1))
    update = await plan(state(), bench(settings=settings).runtime)
    assert [one["title"] for one in update["topics"]] == ["Arachthos"]


def test_the_cost_is_bounded_and_nothing_without_a_model(bench: Build) -> None:
    topics = [Topic(str(number), f"What is {number}?", "") for number in range(6)]
    offline = estimate_report(state(), bench().runtime.context, topics)
    assert (offline.calls, offline.prompt_tokens, offline.seconds) == (0, 0, 0.0)
    settings = Settings(
        _env_file=None,
        answers=AnswerSettings(passage_tokens=1000),
        research=ResearchSettings(model_calls=5, prompt_tokens=2000, seconds=60.0),
    )
    at = bench(chat=chat(), settings=settings)
    run = RunContext(Context(), at.deps).for_effort("high")
    planned = estimate_report(state(), run, topics)
    assert (planned.calls, planned.prompt_tokens, planned.seconds) == (5, 2000, None)
    assert planned.limits == {"calls": 5, "prompt_tokens": 2000, "seconds": 60.0}
    assert at.deps.chat is not None
    at.deps.chat.speed.observe_stream(1000, 100, 100, 1.0, 1.0)
    alone = estimate_report(state(), run, topics).seconds
    at.deps.chat.parallel = AdaptiveLimit(8, size=2)
    side_by_side = estimate_report(state(), run, topics).seconds
    assert alone is not None
    assert side_by_side is not None
    assert 7 * 1.5 < alone < 60
    assert 7 * 1.5 / 2 < side_by_side < alone
    slow = bench(chat=chat(), settings=settings)
    assert slow.deps.chat is not None
    for _ in range(9):  # rates are blended with those before
        slow.deps.chat.speed.observe_stream(1000, 100, 100, 100.0, 100.0)
    run = RunContext(Context(), slow.deps).for_effort("high")
    assert estimate_report(state(), run, topics).seconds == 60.0


TOPICS = [Topic(name, f"What of {name}?", "", found=[f"{name}1", f"{name}2"]) for name in "abc"]


@pytest.mark.parametrize(
    ("choices", "arranged"),
    [
        ([], [("a", ["a1", "a2"]), ("b", ["b1", "b2"]), ("c", ["c1", "c2"])]),
        (
            [SectionChoice(title="Both", questions=[3, 1, 3, 9])],
            [("Both", ["c1", "a1", "c2", "a2"]), ("b", ["b1", "b2"])],
        ),
        (
            [SectionChoice(title="", questions=[2]), SectionChoice(title="Twice", questions=[2])],
            [("b", ["b1", "b2"]), ("a", ["a1", "a2"]), ("c", ["c1", "c2"])],
        ),
    ],
)
def test_every_topic_stands_in_exactly_one_section(
    choices: list[SectionChoice], arranged: list[tuple[str, list[str]]]
) -> None:
    sections = arrange_sections(TOPICS, choices)
    assert [(one.title, one.found) for one in sections] == arranged


async def test_an_outline_begins_with_the_question_and_its_headings_are_plain_lines(
    bench: Build,
) -> None:
    topics = [
        Topic("## [x](https://evil.example) a\nb [1]", "What?", "", found=["river"]),
        Topic("Nothing", "Where?", ""),
    ]
    begun = state(items=[BRIDGE, RIVER], evidence_count=1, topics=plain(topics))
    update = await outline(begun, bench().runtime)
    lead, section = outline_of(ResearchState(outline=update["outline"]))
    assert (lead.title, lead.questions, lead.found) == ("", [QUESTION], ["bridge", "river"])
    assert "](" not in section.title
    assert "\n" not in section.title
    assert not section.title.startswith("#")
    assert update["not_found"] == ["Where?"]


async def test_what_is_found_goes_to_its_topic_and_the_model_fills_gaps(bench: Build) -> None:
    retriever = ScriptedRetriever([[BRIDGE]], around=(named("Arachthos"),))
    reply = '{"query": "Where does the Arachthos rise?"}'
    at = bench(retriever=retriever, chat=chat(reply))
    source = "Where does the river below the bridge rise?"
    begun = state(
        topics=plain([Topic("Source", source, source)]), due=[{"topic": 0, "query": source}]
    )
    found = ResearchState(**vars(begun) | await search(begun, at.runtime))
    assert topics_of(found)[0].found == ["bridge"]
    assert (found.due, found.searched) == ([], [source])
    gaps = ResearchState(**vars(found) | await find_gaps(found, at.runtime))
    assert gaps.due == [{"topic": 0, "query": "Where does the Arachthos rise?"}]
    assert (gaps.rounds_done, after_gaps(gaps)) == (1, "another search")
    again = ResearchState(**vars(gaps) | await find_gaps(gaps, at.runtime))
    assert after_gaps(again) == "outline", "one round is all there is"
    assert (await find_gaps(found, bench(retriever=retriever).runtime))["due"] == []
