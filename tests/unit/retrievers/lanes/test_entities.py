"""The entities of a question, and how much they matter."""

from __future__ import annotations

import asyncio
from typing import cast

import numpy as np
import pytest

from sextant.domain.scope import Scope
from sextant.domain.warnings import WarningCode
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.retrievers.lanes.entities import find_nearest_entities, importance
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.stores.graph.protocol import EntityHit, GraphStore


def test_an_entity_matters_by_relevance_and_by_what_is_related_to_it() -> None:
    relevance = np.array([1.0, 1.0, 0.5, 1.0, 0.0], np.float32)
    centrality = np.array([1.0, 0.5, 0.5, 0.0, 1.0], np.float32)
    found = importance(relevance, centrality)
    assert found[0] == 1.0
    assert found[0] > found[1] > found[2] > found[4] == 0.0
    assert found[3] > 0, "one that nothing is related to is not lost"


class _HangingGraph:
    async def entities_by_words(self, *_: object) -> list[EntityHit]:
        await asyncio.Event().wait()
        return []


class _BrokenGraph:
    async def entities_by_words(self, *_: object) -> list[EntityHit]:
        raise ValueError("an index is missing")


@pytest.mark.parametrize("graph", [_HangingGraph(), _BrokenGraph()])
async def test_a_graph_store_that_hangs_or_breaks_costs_the_nearest_entities_and_gives_a_warning(
    graph: object,
) -> None:
    query = LaneQuery(Scope("u", "g"), "Who froze the ledger?", 5, 5)
    store, index = cast(GraphStore, graph), cast(ScopeIndex, None)
    assert await find_nearest_entities(store, query, index, None, seconds=0.01) == {}
    assert query.warnings[0].code is WarningCode.GRAPH_STORE_FAILED
