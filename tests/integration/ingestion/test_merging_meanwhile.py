"""Entities become one while documents come in: the graph is that of the documents and the merges."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.postgresql.database import Database
from tests.integration.ingestion.test_graph_index import WORLD, add, aliases, relations, rows
from tests.integration.stored_state import GraphRecord

# The last meets an entity that the first has made another; both are named in several documents.
MERGES = [("蓄电池", "蓄电池组"), ("检修报告", "New York City"), ("蓄电池组", "热控系统（TCS）")]
TAKEN_BACK = "检修报告"


@pytest.mark.parametrize("seed", range(3))
async def test_merges_decided_while_documents_enter_hold_as_if_decided_before(
    graphed: Ingestor, database: Database, scope: Scope, seed: int
) -> None:
    record, dice = GraphRecord(database), random.Random(seed)  # noqa: S311 - a test's dice
    entering = [add(graphed, scope, name, text) for name, text in WORLD.items()]
    deciding = decide(record, scope)
    at_once = [*entering, deciding]
    dice.shuffle(at_once)
    await asyncio.gather(*at_once)

    built = Scope(scope.user_id, "merged before")
    await decide(record, built)
    for name, text in WORLD.items():
        await add(graphed, built, name, text)
    lived, wanted = await graph(database, scope), await graph(database, built)
    assert lived == wanted
    names = {row[0] for row in wanted["entities"]}
    assert "热控系统（TCS）" in names
    assert not names & {"蓄电池", "蓄电池组"}
    assert TAKEN_BACK in names


async def decide(record: GraphRecord, scope: Scope) -> None:
    """Merge step by step, and take one merge back."""
    for one, other in MERGES:
        merge = Merge(entity_id(scope, one), entity_id(scope, other), "test")
        await record.merge(scope, [merge])
    await record.unmerge(scope, [entity_id(scope, TAKEN_BACK)])


async def graph(database: Database, scope: Scope) -> dict[str, Any]:
    """Everything that is derived, without the ids and the numbers of one scope."""
    entities = """select name, entity_type, description, mention_count, asserted_count, degree, shown
      from entities join graphs g using (scope_id) where g.graph_id = %s"""
    names = """select e.name, n.name, n.entity_type, n.spare, n.times
      from entity_names n join graphs g using (scope_id)
      join entities e on e.scope_id = n.scope_id and e.id = n.entity_id where g.graph_id = %s"""
    return {
        "entities": await rows(database, scope, entities),
        "names": await rows(database, scope, names),
        "relations": Counter(await relations(database, scope)),
        "aliases": await aliases(database, scope),
    }
