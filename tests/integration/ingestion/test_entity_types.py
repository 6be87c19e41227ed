"""Without any chat model the graph knows what its entities are, what passages say of them, and how they are related."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.ingestion.pipeline import Ingestor
from sextant.retrievers.entity_search.options import SearchOptions
from sextant.retrievers.entity_search.search import EntitySearch
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import GraphRecord

TOOLS = """# Building

Borrow Check is a concept of Rust Lang. Cargo Build is the build tool of Rust Lang.

何静在杭州的砚溪科技有限公司工作。
"""
MORE = """# More

Everybody uses Cargo Build, and Borrow Check is explained by Rust Lang.

何静认识杭州和砚溪科技有限公司。
"""
PARTS = """# Parts

| Article | Supplier | Lead time |
| --- | --- | --- |
| BM-40 | Brenner Antriebstechnik | 35 days |
| Wheel Foo | Halden Works | 20 days |

Brenner Antriebstechnik sends BM-40 in time.
"""
USED = "# Used\n\nFor the BM-40 call Brenner Antriebstechnik; the Wheel Foo is of Halden Works.\n"


@pytest.fixture
def opened(graphed: Ingestor, database: Database, scope: Scope) -> tuple[Ingestor, Database, Scope]:
    return graphed, database, scope


async def entities(database: Database, scope: Scope) -> dict[str, tuple[str, str]]:
    """Return types and descriptions of the entities that readers see, by name."""
    query = """select name, entity_type, description from entities join graphs g using (scope_id)
      where g.graph_id = %s and shown"""
    return {name: (kind, said) for name, kind, said in await rows(database, scope, query)}


async def relations(database: Database, scope: Scope) -> set[tuple[str, str, str]]:
    query = """select s.name, r.relation_type, t.name from relations r join graphs g using (scope_id)
      join entities s on s.scope_id = r.scope_id and s.id = r.source_id
      join entities t on t.scope_id = r.scope_id and t.id = r.target_id where g.graph_id = %s"""
    return set(await rows(database, scope, query))


async def rows(database: Database, scope: Scope, query: str) -> list[Any]:
    async with database.transaction(scope.user_id) as connection:
        return await (await connection.execute(query.encode(), [scope.graph_id])).fetchall()


async def ingest(graphed: Ingestor, scope: Scope, **files: str) -> None:
    for name, text in files.items():
        await ingest_bytes(graphed, scope, text.encode(), f"{name}.md")


async def test_names_and_definitions_give_types_and_descriptions(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await ingest(graphed, scope, tools=TOOLS, more=MORE)
    found = await entities(database, scope)

    assert found["Borrow Check"] == ("CONCEPT", "Borrow Check is a concept of Rust Lang.")
    assert found["Cargo Build"] == ("TOOL", "Cargo Build is the build tool of Rust Lang.")
    kinds = {name: kind for name, (kind, _) in found.items()}
    assert kinds["何静"] == "PERSON"
    assert kinds["杭州"] == "LOCATION"
    assert kinds["砚溪科技有限公司"] == "ORGANIZATION"
    assert kinds["Rust Lang"] == "TERM"


@pytest.mark.parametrize("types", [["concept", "tool"], ["Concept", "TOOL"]])
async def test_entities_are_found_by_the_types_that_passages_give_them(
    graphed: Ingestor, database: Database, scope: Scope, types: list[str]
) -> None:
    await ingest(graphed, scope, tools=TOOLS, more=MORE)
    embedder = HashEmbedder(384)
    await GraphUpkeep(database, embedder).refresh(scope)
    search = EntitySearch(database, PostgresGraph(database), embedder, database.settings)

    options = SearchOptions(filters={"entityTypes": types})
    found = await search.search("Borrow Check, Cargo Build and Rust Lang", scope, options)
    assert {one.entity.name for one in found.results} == {"Borrow Check", "Cargo Build"}


async def test_dates_and_amounts_describe_what_they_are_of_and_are_no_entities(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    table = """# Plan

| Step | Due | Budget |
| --- | --- | --- |
| Kickoff Round | March 2025 | EUR 1,200 |

Kickoff Round comes first.
"""
    await ingest(graphed, scope, plan=table, used="# Used\n\nKickoff Round: March 2025.\n")
    found = await entities(database, scope)
    assert found["Kickoff Round"] == ("STEP", "Due: March 2025; Budget: EUR 1,200")
    assert found.keys().isdisjoint({"March 2025", "EUR 1,200"})


async def test_a_table_says_what_its_things_are_and_how_they_are_related(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await ingest(graphed, scope, parts=PARTS, used=USED)
    found = await entities(database, scope)

    assert found["BM-40"] == ("CODE", "Lead time: 35 days")
    assert found["Brenner Antriebstechnik"][0] == "ORGANIZATION"
    assert found["Wheel Foo"][0] == "ARTICLE"
    stated = await relations(database, scope)
    assert ("BM-40", "Supplier", "Brenner Antriebstechnik") in stated


async def test_a_relation_with_a_type_stands_in_place_of_sharing_a_sentence(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await ingest(
        graphed,
        scope,
        one="# One\n\nCargo Build is a kind of Make Program. Ada Marsh met Ben Tilney.",
    )
    ends = {(source, target): kind for source, kind, target in await relations(database, scope)}

    assert {frozenset(pair) for pair, kind in ends.items() if kind == "CO_OCCURS"} >= {
        frozenset({"Ada Marsh", "Ben Tilney"})
    }
    await ingest(graphed, scope, two="# Two\n\nCargo Build is a Make Program.")
    stated = await relations(database, scope)
    assert ("Cargo Build", "IS_A", "Make Program") in stated
    evidence = """select d.source, e.relation_type from relation_evidence e join graphs g using (scope_id)
      join documents d on d.id = e.document_id where g.graph_id = %s and d.source = 'two.md'"""
    assert await rows(database, scope, evidence) == [("two.md", "IS_A")]


async def test_a_type_that_a_model_gives_comes_before_what_names_show(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await ingest(graphed, scope, parts=PARTS, used=USED)
    [chunk] = await rows(
        database,
        scope,
        "select c.id from chunks c join graphs g using (scope_id) where g.graph_id = %s limit 1",
    )
    product = MentionRow(entity_id(scope, "BM-40"), chunk[0], MentionKind.MODEL, "BM-40", "PRODUCT")
    await GraphRecord(database).add(scope, GraphEvidence([product]))
    assert (await entities(database, scope))["BM-40"][0] == "PRODUCT"


NOTES = """# 所有权笔记

所有权系统是一种独占关系。

## 借用规则

联系人：何静。Reviewed by Dr. Yining Fang.
"""
AGAIN = """# 再记

所有权系统由何静说明，Yining Fang 已审阅。借用规则不变。
"""


async def test_definitions_and_named_contacts_are_read_without_a_model(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await ingest(graphed, scope, notes=NOTES, again=AGAIN)
    kinds = {name: kind for name, (kind, _) in (await entities(database, scope)).items()}

    assert {name for name, kind in kinds.items() if kind == "CONCEPT"} == {"借用规则"}
    assert {name for name, kind in kinds.items() if kind == "PERSON"} == {"何静"}
    assert "Yining Fang" in kinds
    assert "Dr" not in kinds
