"""Hits as the response shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from uuid import UUID

from sextant.domain.graph import Entity
from sextant.domain.settings import Settings
from sextant.retrievers.entity_search.lanes import LANES
from sextant.retrievers.entity_search.options import FusionWeights
from sextant.retrievers.entity_search.response import (
    EntityBody,
    EntityName,
    EntityResult,
    Explanation,
    GraphPath,
    LaneExplanation,
    RelatedEntity,
    Scores,
    SearchDebug,
)
from sextant.retrievers.entity_search.traversal import Reached
from sextant.retrievers.ranking.signals import Blended

_CONSTANTS = ("threshold", "candidates", "seeds", "depth", "neighbours", "decay", "bonus")
_OF_THE_INDEX = {"m": "entity_m", "efConstruction": "entity_ef_construction"}
_OF_THE_INDEX |= {"efSearch": "entity_ef_search"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A result: the entity, what the lanes said of it, and the score it is ranked by.

    `named`: the question is its name or alias.
    """

    entity: Entity
    blended: Blended[UUID]
    score: float
    rerank: float | None = None
    path: Reached | None = None
    named: bool = False


def result_of(hit: Hit, related: Iterable[tuple[Entity, str]], *, explain: bool) -> EntityResult:
    """Return a hit as a result."""
    one, signals = hit.entity, hit.blended.signals
    shares = {lane: signals[lane].normalised if lane in signals else 0.0 for lane in LANES}
    return EntityResult(
        entity=EntityBody(
            id=one.id, name=one.name, description=one.description, entity_type=one.entity_type
        ),
        scores=Scores(**shares, final=hit.score, rerank=hit.rerank),
        sources=tuple(lane for lane in LANES if lane in signals),
        related_entities=tuple(
            RelatedEntity(entity=EntityName(id=other.id, name=other.name), relation_type=kind)
            for other, kind in related
        ),
        explanation=_explain_hit(hit) if explain else None,
    )


def _explain_hit(hit: Hit) -> Explanation:
    path = hit.path
    return Explanation(
        lanes={
            lane: LaneExplanation(**asdict(own), contribution=own.contribution)
            for lane, own in hit.blended.signals.items()
        },
        bonus=hit.blended.bonus,
        fused=hit.blended.score,
        named=hit.named,
        path=path
        and GraphPath(
            via=path.via, relation_type=path.relation_type, weight=path.weight, depth=path.depth
        ),
    )


def constants_of(settings: Settings, weights: FusionWeights) -> dict[str, float]:
    """Return the constants that a search went by, and those that an index in PostgreSQL is built and searched by."""
    own = {name: float(getattr(settings.entity_search, name)) for name in _CONSTANTS}
    index = {name: float(getattr(settings.retrieval, of)) for name, of in _OF_THE_INDEX.items()}
    lanes = {f"{lane}Weight": weight for lane, weight in weights.by_lane.items()}
    return {**lanes, **own, **index}


def debug_of(
    constants: Mapping[str, float],
    found: Mapping[str, int],
    timings: Mapping[str, float],
    *,
    cached: bool,
) -> SearchDebug:
    """Return what `explain` adds to a response."""
    return SearchDebug(
        constants=dict(constants), found=dict(found), timings=dict(timings), cached=cached
    )
