"""One ranking of what the lanes found: fused, and reranked where that is wanted."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sextant.domain.elapsed import milliseconds_since
from sextant.domain.retrieval import LEAST_SCORE
from sextant.domain.settings import Settings
from sextant.models.protocols import Reranker
from sextant.retrievers.entity_search.lanes import LANES, EntityHits, EntityLanes, EntityQuery
from sextant.retrievers.entity_search.options import FusionWeights
from sextant.retrievers.entity_search.showing import Hit
from sextant.retrievers.pages.cursor import Position
from sextant.retrievers.ranking.reranking import RerankLimits, judge, reordered
from sextant.retrievers.ranking.signals import blend
from sextant.stores.graph.notices import collect_notices
from sextant.text.characters import language_of

NO_RERANKER = {
    "zh": "未配置重排序模型，保持融合排序",
    "en": "No reranker is configured, so the order is that of fusion.",
}


@dataclass(frozen=True, slots=True)
class EntityRanking:
    """Every result of a search, best first, and how it went."""

    hits: tuple[Hit, ...]
    found: Mapping[str, int]
    timings: Mapping[str, float]
    warnings: tuple[str, ...]

    def after(self, position: Position | None) -> Sequence[Hit]:
        """Return the hits after a position."""
        if position is None:
            return self.hits
        ids = [str(hit.entity.id) for hit in self.hits]
        return self.hits[position.end_in(ids, [hit.score for hit in self.hits]) :]


@dataclass(frozen=True, slots=True)
class EntityRanker:
    """Runs the lanes and makes one ranking of them."""

    lanes: EntityLanes
    settings: Settings
    reranker: Reranker | None

    async def rank(
        self, asked: EntityQuery, weights: FusionWeights, *, rerank: bool
    ) -> EntityRanking:
        """Return every entity that a lane found, by `blend` (seed 001) or in the reranking model's order.

        Raises:
            EmbeddingModelChanged, RetrievalError: see `EntityLanes.run`.
        """
        with collect_notices() as notices:
            found = await self.lanes.run(asked)
        warnings = [*found.warnings, *notices]
        started = time.perf_counter()
        hits = _fuse_lanes(found, weights, self.settings.entity_search.bonus)
        found.timings["fusion"] = milliseconds_since(started)
        if rerank:
            started = time.perf_counter()
            hits = await self._reranked(asked.question, hits, warnings)
            found.timings["rerank"] = milliseconds_since(started)
        counts = {lane: len(found.hits.get(lane, ())) for lane in LANES}
        return EntityRanking(tuple(hits), counts, found.timings, tuple(dict.fromkeys(warnings)))

    async def _reranked(self, question: str, hits: list[Hit], warnings: list[str]) -> list[Hit]:
        """Return the hits in the model's order; as they were, and a warning, when it is late or fails."""
        if self.reranker is None:
            warnings.append(NO_RERANKER[language_of(question)])
            return hits
        texts = [f"{hit.entity.name}: {hit.entity.description}" for hit in hits]
        limits = RerankLimits.of(self.settings.retrieval)
        judgement = await judge(self.reranker, question, texts, limits)
        if judgement.warning is not None:
            warnings.append(judgement.warning)
        if not judgement.scores:
            return hits
        said = dict(enumerate(judgement.scores))
        order = reordered(judgement.scores, [max(hit.score, LEAST_SCORE) for hit in hits])
        changed = [
            replace(hits[place], score=score, rerank=said.get(place)) for place, score in order
        ]
        return sorted(changed, key=lambda hit: (-hit.score, hit.entity.id))


def _fuse_lanes(found: EntityHits, weights: FusionWeights, bonus: float) -> list[Hit]:
    blended = blend({lane: found.hits.get(lane, []) for lane in LANES}, weights.by_lane, bonus)
    return [
        Hit(
            found.entities[one.key],
            one,
            one.score,
            path=found.paths.get(one.key),
            named=one.key in found.named,
        )
        for one in blended
    ]
