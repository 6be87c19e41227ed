"""What a hostile or careless import says: each line is refused with its reason, or taken exactly."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.testing.openai_server import ScriptedOpenAI

NASTY = [
    'Robert"); DROP TABLE entities;--',
    "title:(AND OR NOT) ~2 ^3 [a TO b] {",
    "}) MATCH (n) DETACH DELETE n //",
    "' OR '1'='1",
    "a\\",
    "%_%",
    "🧬🚀",
    "👩‍🔬 Ada",
    "糖尿病🩺",
    "\u202eevil",
    "+ - && || ! ( )",
    "NOT",
    "x" * 5000,
    "长" * 5000,
    "Tab\tand\nline",
]


@pytest.fixture
async def rag(settings: Settings, scope: Scope) -> AsyncIterator[Sextant]:
    """With vectors that cost nothing: of names of thousands of characters real ones take most of the time."""
    async with ScriptedOpenAI(dimension=384) as server:
        own = {
            "user_id": scope.user_id,
            "embedding": "openai:scripted",
            "openai_base_url": server.base_url,
        }
        async with Sextant.open(settings.model_copy(update=own)) as opened:
            yield opened


async def stream(lines: Iterable[dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    for line in lines:
        yield line


async def test_names_of_any_kind_are_stored_found_shown_and_exported(rag: Sextant) -> None:
    lines = [
        {"type": "entity", "id": f"e{place}", "name": name, "entityType": "THING"}
        for place, name in enumerate(NASTY)
    ]
    lines += [
        {"type": "relation", "source": f"e{place}", "target": "e0", "relationType": name[:100]}
        for place, name in enumerate(NASTY)
        if place
    ]
    report = await rag.import_graph(stream(lines), "nasty")
    assert (report.entities, report.relations, report.problems) == (
        len(NASTY),
        len(NASTY) - 1,
        [],
    )
    entities = await rag.entities("nasty")
    for place, name in enumerate(NASTY):
        view = await entities.show(name)
        assert view.entity.external_id == f"e{place}"
        await rag.search(name[:2000], graph_id="nasty", mode="mix")
    first = await entities.show(NASTY[0])
    assert len(first.relations) == min(20, len(NASTY) - 1)
    exported = [line async for line in rag.export_graph("nasty")]
    assert {line["id"] for line in exported if line["type"] == "entity"} == {
        line["id"] for line in lines if line["type"] == "entity"
    }
    assert (await entities.duplicates()).pairs == ()


async def test_what_is_asked_where_names_are_longer_than_a_question_may_be_is_answered(
    rag: Sextant,
) -> None:
    name = "长" * 5000
    lines: list[dict[str, Any]] = [
        {"type": "entity", "id": "long", "name": name},
        {"type": "chunk", "id": "c1", "text": f"Here {name} stands beside Legion in Rome."},
        {"type": "chunk", "id": "c2", "text": "Legion is a river in Rome."},
    ]
    await rag.import_graph(stream(lines), "long")
    for question in ["--", "Where does Legion stand?"]:
        assert (await rag.query(question, graph_id="long", mode="mix")).answer


async def test_a_chunk_of_a_section_that_is_not_there_is_kept_and_told(rag: Sextant) -> None:
    lines: list[dict[str, Any]] = [
        {"type": "document", "id": "d1", "text": "Alpha beta."},
        {
            "type": "chunk",
            "id": "c1",
            "documentId": "d1",
            "text": "Alpha",
            "start": 0,
            "section": 7,
        },
    ]
    report = await rag.import_graph(stream(lines), "sections")
    [problem] = report.problems
    assert (report.documents, report.chunks, problem.line, problem.kept) == (1, 1, 1, True)
    assert "'c1' names section 7" in problem.reason


async def test_faulty_lines_are_told_by_number_and_good_ones_kept(rag: Sextant) -> None:
    lines: list[dict[str, Any]] = [
        {"type": "entity", "id": "a", "name": "Ada", "description": ""},
        {"type": "entity", "id": "b", "name": "Bob", "description": "   "},
        {"type": "relation", "source": "a", "target": "a", "relationType": "IS"},
        {"type": "relation", "source": "a", "target": "nobody", "relationType": "KNOWS"},
        {"type": "relation", "source": "a", "target": "b", "relationType": "W", "weight": "nan"},
        {
            "type": "relation",
            "source": "a",
            "target": "b",
            "relationType": "W",
            "weight": float("nan"),
        },
        {
            "type": "relation",
            "source": "a",
            "target": "b",
            "relationType": "W",
            "weight": float("inf"),
        },
        {"type": "relation", "source": "a", "target": "b", "relationType": "W", "weight": -1},
        {"type": "relation", "source": "a", "target": "b", "relationType": "W", "weight": 0},
        {"type": "relation", "source": "a", "target": "b", "relationType": " "},
        {"type": "entity", "id": "c", "name": " \u0000 "},
        {"type": "entity", "id": "d", "name": "x" * 200_000},
        {"type": "relation", "source": "a", "target": "b", "relationType": "KNOWS"},
        {"type": "relation", "source": "b", "target": "a", "relationType": "KNOWS"},
    ]
    report = await rag.import_graph(stream(lines), "faulty")
    assert (report.entities, report.relations) == (2, 2)
    assert {problem.line for problem in report.problems if not problem.kept} == set(range(3, 13))
    reasons = {problem.line: problem.reason for problem in report.problems}
    assert "itself" in reasons[3]
    assert "nobody" in reasons[4]
    assert all("weight" in reasons[line] for line in range(5, 10))
    view = await (await rag.entities("faulty")).show("Ada")
    assert sorted((one.source, one.weight) for one in view.relations) == [("Ada", 1), ("Bob", 1)]


async def test_ten_thousand_aliases_are_one_entity(rag: Sextant) -> None:
    aliases = [f"Alias number {place}" for place in range(10_000)]
    lines: list[dict[str, Any]] = [
        {"type": "entity", "id": "many", "name": "Legion", "aliases": aliases},
        {"type": "chunk", "id": "c", "text": "Alias number 77 met Alias number 9999 in Rome."},
    ]
    report = await rag.import_graph(stream(lines), "legion")
    assert (report.entities, report.chunks, report.problems) == (1, 1, [])
    entities = await rag.entities("legion")
    assert (await entities.show("alias number 9999")).entity.name == "Legion"
    again = await rag.import_graph(stream(lines), "legion")
    assert again.problems == []


async def test_an_entity_is_shown_by_the_users_own_id(rag: Sextant) -> None:
    await rag.import_graph(stream([{"type": "entity", "id": "drug-7", "name": "Insulin"}]), "own")
    entities = await rag.entities("own")
    assert (await entities.show("drug-7")).entity.name == "Insulin"
