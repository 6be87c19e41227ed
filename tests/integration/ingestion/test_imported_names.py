"""Entities that the user names are found in passages that spell the name, whatever came first."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.integration.ingestion.transferred import Line, exported, rows, sorted_lines, stream


@pytest.fixture
def importer(graphed: Ingestor, record: GraphRecord) -> Importer:
    """Return documents enter the graph as they do for users."""
    return Importer(graphed, record)


NAMES: list[Line] = [
    {"type": "entity", "id": "e1", "name": "zelmo drive", "entityType": "PART", "aliases": ["ZD"]},
    {"type": "entity", "id": "e2", "name": "蓝鲸阀", "description": "A valve."},
    {"type": "entity", "name": "the old gate"},
]
TEXTS = {
    "plain": "Nothing wears out like the zelmo drive, and its 蓝鲸阀.",
    "titled": "It opens slowly. Behind it lies a zelmo drive.",
    "other": "A zd passes the old gate; ZD means zelmo drive.",
}
TITLES = {"titled": "the old gate"}


def document(name: str) -> Line:
    return {
        "type": "document",
        "id": name,
        "title": TITLES.get(name, name),
        "text": TEXTS[name],
    }


async def links(database: Database, scope: Scope) -> list[Any]:
    """Return which passages of which document name what, and where."""
    columns = "t.kind, t.entity_type, t.name, t.start_offset, t.end_offset"
    said = await rows(database, scope, "mentions", columns)
    counted = await rows(
        database, scope, "entities", "t.name, t.mention_count, t.degree, t.description"
    )
    return [said, counted, await rows(database, scope, "aliases", "t.norm, t.name, t.source")]


async def test_a_passage_that_spells_the_name_mentions_the_entity(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await importer.import_graph(scope, stream([document("plain"), *NAMES]))
    mentions = await rows(database, scope, "mentions", "t.kind, t.name")
    assert {name for kind, name in mentions if kind == "alias"} == {"zelmo drive", "蓝鲸阀"}
    lines = await exported(database, scope)
    version = await GraphRecord(database).version(scope)
    await importer.import_graph(scope, stream(NAMES))
    assert await GraphRecord(database).version(scope) == version
    copy = replace(scope, graph_id="copy")
    await importer.import_graph(copy, stream(lines), strict=True)
    assert sorted_lines(await exported(database, copy)) == sorted_lines(lines)


@pytest.mark.parametrize("seed", range(4))
async def test_any_order_and_any_deletions_give_the_graph_of_what_survives(
    importer: Importer, documents: DocumentStore, database: Database, scope: Scope, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    there: set[str] = set()
    steps = [*TEXTS, "", *dice.choices(list(TEXTS), k=3)]
    dice.shuffle(steps)
    for step in steps:
        if step in there:
            await documents.delete(scope, await number(documents, scope, step))
            there.remove(step)
            continue
        await importer.import_graph(scope, stream([document(step)] if step else NAMES))
        there |= {step} - {""}

    scratch = replace(scope, graph_id="from scratch")
    left = [document(name) for name in sorted(there)]
    await importer.import_graph(scratch, stream([*left, *NAMES]))
    assert await links(database, scope) == await links(database, scratch)


async def number(documents: DocumentStore, scope: Scope, name: str) -> UUID:
    [found] = [one.id for one in await documents.list(scope) if one.external_id == name]
    return found
