"""A lane, a rescorer and parameters of one's own: one entry each, beside those that are there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, Mode, RetrievedItem, rescore
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.sets import load_corpus
from sextant.models.protocols import Embedder
from sextant.retrievers import mode_runner, modes
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.query_context import LaneHits, QueryContext
from sextant.retrievers.modes import ModeSpec
from sextant.retrievers.ranking.mix_ranker import MixParameters, PageRankMixer
from sextant.retrievers.ranking.rescorers import RescoringQuery
from sextant.stores.postgresql.database import Database
from tests.integration.retrievers.modes_world import PASSAGES, QUESTION, files, over

MIX_SPEC = modes.MODES[Mode.MIX]


@dataclass(frozen=True)
class ShortestFirst:
    """Orders by length."""

    name: str = "shortest"
    candidates: int = len(PASSAGES)

    def rescore(
        self, query: RescoringQuery, passages: Sequence[RetrievedItem]
    ) -> list[RetrievedItem]:
        assert query.text == QUESTION
        order = sorted(passages, key=lambda one: len(one.text))
        return [rescore(one, 1 / rank) for rank, one in enumerate(order, start=1)]


def last_lane(query: LaneQuery, context: QueryContext) -> LaneHits:
    """Find the passages of the index from behind."""
    rows = list(reversed(range(len(context.index.chunk_ids))))[: query.limit]
    ids = context.index.chunk_ids.texts_of(rows)
    items = [
        RetrievedItem(ItemKind.CHUNK, one, "", max(1 / rank, LEAST_SCORE))
        for rank, one in enumerate(ids, start=1)
    ]
    return LaneHits(items)


@pytest_asyncio.fixture
async def corpus(database: Database, embedder: Embedder, scope: Scope) -> AsyncIterator[Scope]:
    await load_corpus(database, embedder, scope, PASSAGES)
    yield scope


async def test_a_new_lane_is_one_entry(
    monkeypatch: pytest.MonkeyPatch,
    database: Database,
    embedder: Embedder,
    settings: Settings,
    corpus: Scope,
) -> None:
    retriever = over(database, embedder, settings)
    before = await retriever.search(corpus, QUESTION, mode="mix", top_k=3)
    monkeypatch.setitem(mode_runner.INDEX_LANES, "last", last_lane)
    assert "last" in retriever.lanes
    alone = await retriever.search(corpus, QUESTION, lanes=["last"], top_k=3)
    assert [item.lanes["last"].rank for item in alone.results] == [1, 2, 3]
    assert all(item.text for item in alone.results)
    both = await retriever.search(corpus, QUESTION, lanes=["mix", "last"], top_k=3)
    assert {"mix", "last"} <= {name for item in both.results for name in item.lanes}
    assert files(await retriever.search(corpus, QUESTION, mode="mix", top_k=3)) == files(before)


async def test_a_new_rescorer_is_one_entry(
    monkeypatch: pytest.MonkeyPatch,
    database: Database,
    embedder: Embedder,
    settings: Settings,
    corpus: Scope,
) -> None:
    spec = replace(MIX_SPEC, rescorers=(*MIX_SPEC.rescorers, ShortestFirst()))
    monkeypatch.setitem(modes.MODES, Mode.MIX, spec)
    found = await over(database, embedder, settings).search(corpus, QUESTION, mode="mix", top_k=3)
    shortest = sorted(PASSAGES, key=lambda one: len(one.unit))
    assert files(found) == [one.id for one in shortest[:3]]
    assert found.timings.keys() >= {"restating", "shortest"}


async def test_parameters_are_a_mode_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
    database: Database,
    embedder: Embedder,
    settings: Settings,
    corpus: Scope,
) -> None:
    """Without a walk that starts from names or crosses a bridge, the second hop is not told from its double."""
    ranker = PageRankMixer(MixParameters(entity_seed=0, bridge=0))
    monkeypatch.setitem(modes.MODES, Mode.MIX, ModeSpec(signals=("mix",), ranker=ranker))
    found = await over(database, embedder, settings).search(corpus, QUESTION, mode="mix", top_k=2)
    own = {name: lane.score for name, lane in found.results[0].lanes.items()}
    assert own["mix"] == pytest.approx(1)
    assert "restating" not in found.timings
