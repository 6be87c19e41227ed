"""`KnowledgeGraph.part`: what is drawn of a graph, also while its entities are merged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import Hop

NAMES = ("Heater", "Battery", "Accumulator", "Radiator")
LINES: list[dict[str, Any]] = [
    *({"type": "entity", "name": name} for name in NAMES),
    *(
        {"type": "relation", "source": "Heater", "target": name, "relationType": "NEEDS"}
        for name in NAMES[1:]
    ),
]


@pytest.fixture
async def rag(settings: Settings, scope: Scope) -> AsyncIterator[Sextant]:
    user = settings.model_copy(update={"user_id": scope.user_id})
    async with Sextant.open(user) as opened:
        await opened.import_graph(LINES)
        yield opened


@pytest.fixture
def merging(rag: Sextant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the accumulator become the battery once the relations are read, before the entities are."""
    read = PostgresGraph.neighbourhood

    async def then_merged(
        graph: PostgresGraph, scope: Scope, ids: Sequence[Any], **how: int
    ) -> list[Hop]:
        hops = await read(graph, scope, ids, **how)
        monkeypatch.setattr(PostgresGraph, "neighbourhood", read)
        await (await rag.entities()).merge("Accumulator", "Battery")
        return hops

    monkeypatch.setattr(PostgresGraph, "neighbourhood", then_merged)


@pytest.mark.usefixtures("merging")
@pytest.mark.parametrize("seed", [None, "Heater"])
async def test_what_is_drawn_joins_entities_that_are_drawn_each_once(
    rag: Sextant, seed: str | None
) -> None:
    part = await (await rag.graph()).part(seed)
    assert sorted(one.name for one in part.entities) == ["Battery", "Heater", "Radiator"]
    ids = {one.id for one in part.entities}
    assert all({hop.source_id, hop.target_id} <= ids for hop in part.hops)
    assert len(part.hops) == 2
    assert not part.cut
