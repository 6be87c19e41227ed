"""The lanes of a search for entities, however it ends."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import cast

import pytest

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.domain.settings import EntitySearchSettings
from sextant.retrievers.entity_search.lanes import EntityLanes, EntityQuestion
from sextant.stores.graph.protocol import EVERY_ENTITY, EntityHit, GraphStore
from sextant.stores.scopes import EntityStamp
from sextant.testing.hash_embedder import HashEmbedder


class Waiting:
    """A store that never answers what is asked by words."""

    async def entities_by_alias(self, *_: object) -> list[EntityHit]:
        return []

    async def entities_by_words(self, *_: object) -> list[EntityHit]:
        await asyncio.Event().wait()
        return []


async def test_a_question_that_is_refused_leaves_no_lane_running() -> None:
    own = asyncio.all_tasks()
    stamp = EntityStamp("1", datetime.now(UTC), space="another model", dimension=8)
    asked = EntityQuestion(Scope("ann", "hr"), "who leads sales", stamp, EVERY_ENTITY)
    settings, store = EntitySearchSettings(), cast("GraphStore", Waiting())
    lanes = EntityLanes(store, HashEmbedder(8), settings, deadline=3600.0)
    with pytest.raises(EmbeddingModelChanged):
        await lanes.run(asked)
    assert asyncio.all_tasks() <= own
