"""A graph alone, asked: its facts are found in every mode and cited, in English and Chinese."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from sextant.domain.settings import Settings
from sextant.facade import Sextant

MODES = ["auto", "naive", "local", "hybrid", "mix"]


def lines() -> list[dict[str, Any]]:
    """Return films and illnesses, as a graph database has them."""
    facts = [
        ("Titanic", "DIRECTED_BY", "James Cameron"),
        ("Avatar", "DIRECTED_BY", "James Cameron"),
        ("James Cameron", "BORN_IN", "Kapuskasing"),
        ("Cast Away", "DIRECTED_BY", "Robert Zemeckis"),
        ("Tom Hanks", "ACTED_IN", "Cast Away"),
        ("Tom Hanks", "ACTED_IN", "Forrest Gump"),
        ("Tom Hanks", "ACTED_IN", "Big"),
        ("糖尿病", "并发症", "糖尿病肾病"),
        ("糖尿病", "并发症", "视网膜病变"),
        ("二甲双胍", "治疗", "糖尿病"),
        ("阿司匹林", "禁忌", "活动性出血"),
        ("阿司匹林", "治疗", "冠心病"),
    ]
    names = dict.fromkeys(name for source, _, target in facts for name in (source, target))
    said: list[dict[str, Any]] = [{"type": "entity", "name": name} for name in names]
    said += [
        {"type": "relation", "source": source, "target": target, "relationType": kind}
        for source, kind, target in facts
    ]
    return said


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings) -> AsyncIterator[Sextant]:
    async with Sextant.open(settings) as opened:
        alone = await opened.import_graph(lines(), "alone")
        assert alone.graph_alone
        report = await opened.import_graph(lines(), "films", facts_as_passages=True)
        # The words of the passages (film, 治疗) have become no entities, nor has what stands in one list relations.
        assert report.graph is not None
        assert alone.graph is not None
        assert report.graph.entities == alone.graph.entities == report.entities
        assert report.graph.relations == alone.graph.relations == report.relations
        assert not report.graph_alone
        called = [
            {"type": "entity", "name": name, "aliases": [alias]}
            for name, alias in (
                ("James Cameron", "Jim Cameron"), ("Type 2 diabetes", "T2DM"), ("糖尿病", "消渴症")
            )
        ]  # fmt: skip
        treats: dict[str, Any] = {
            "type": "relation", "source": "Metformin", "target": "T2DM", "relationType": "TREATS"
        }  # fmt: skip
        more = [*lines(), *called, {"type": "entity", "name": "Metformin"}, treats]
        await opened.import_graph(more, "called", facts_as_passages=True)
        yield opened


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "said", "source"),
    [
        ("Who directed Titanic?", "Titanic is directed by James Cameron.", "Titanic (graph)"),
        (
            "Which films did Tom Hanks act in?",
            "Tom Hanks acted in Big, Cast Away and Forrest Gump.",
            "Tom Hanks (graph)",
        ),
        ("糖尿病有哪些并发症？", "糖尿病的并发症是糖尿病肾病、视网膜病变。", "糖尿病（图谱）"),
        ("阿司匹林的禁忌是什么？", "阿司匹林的禁忌是活动性出血。", "阿司匹林（图谱）"),
    ],
)
async def test_a_fact_answers_and_is_cited(
    rag: Sextant, question: str, said: str, source: str, mode: str
) -> None:
    answer = await rag.query(question, graph_id="films", mode=mode)

    assert (answer.trust, answer.grounded) == ("quoted", False)
    assert said in answer.answer
    assert source in [one.filename for one in answer.sources]
    assert said in [one.quote for one in answer.citations]


@pytest.mark.parametrize("mode", ["local", "hybrid", "mix"])
async def test_modes_that_walk_the_graph_find_the_fact_behind_a_fact(
    rag: Sextant, mode: str
) -> None:
    found = await rag.search("Where was the director of Titanic born?", graph_id="films", mode=mode)

    texts = [one.text for one in found.results]
    assert "Titanic is directed by James Cameron." in texts
    assert "James Cameron was born in Kapuskasing." in texts
    relations = [one for one in found.graph_items if one.metadata.get("type") == "DIRECTED_BY"]
    assert relations


@pytest.mark.parametrize("mode", ["auto", "local", "mix"])
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where was Jim Cameron born?", "James Cameron was born in Kapuskasing."),
        ("What treats T2DM?", "Metformin treats Type 2 diabetes."),
        ("消渴症有哪些并发症？", "糖尿病的并发症是糖尿病肾病、视网膜病变。"),
    ],
)
async def test_who_asks_by_an_alias_is_told_what_is_asked(
    rag: Sextant, question: str, said: str, mode: str
) -> None:
    answer = await rag.query(question, graph_id="called", mode=mode)

    assert [one.quote for one in answer.citations] == [said]


async def test_what_the_graph_does_not_say_is_said_so(rag: Sextant) -> None:
    answer = await rag.query("Who directed Jaws?", graph_id="films")

    assert not answer.grounded


async def test_an_entity_shows_the_passage_that_states_its_relation(rag: Sextant) -> None:
    view = await (await rag.entities("films")).show("Titanic")

    assert [one.relation_type for one in view.relations] == ["DIRECTED_BY"]


async def test_a_graph_alone_names_the_way_out(rag: Sextant) -> None:
    answer = await rag.query("Who directed Titanic?", graph_id="alone")

    assert not answer.sources
    assert any("--facts-as-passages" in warning for warning in answer.warnings)
