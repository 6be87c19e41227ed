"""What a search for entities answers, in JSON (camelCase).

Also here: hits as the response shows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from sextant.domain.graph import Entity
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning
from sextant.retrievers.entity_search.lanes import LANES, Reached
from sextant.retrievers.entity_search.options import Blended, FusionWeights

Source = Literal["vector", "fts", "graph"]


class _Body(BaseModel):
    """Serialised in camelCase; what is not there is left out."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
        from_attributes=True,
    )

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value is not None}


class EntityBody(_Body):
    """An entity."""

    id: UUID
    name: str
    description: str
    entity_type: str


class EntityName(_Body):
    """An entity, by name only."""

    id: UUID
    name: str


class RelatedEntity(_Body):
    """An entity that a result has a relation with, and what kind of relation."""

    entity: EntityName
    relation_type: str


class Scores(_Body):
    """A result's share of each lane's best, 0..1, and what they make together.

    `rerank` is the reranking model's own score, where it gave one; `final` follows it then.
    """

    vector: float
    fts: float
    graph: float
    final: float
    rerank: float | None = None


class LaneExplanation(_Body):
    """What one lane said: place, its own score, share of its best, weight, and the product."""

    rank: int
    raw: float
    normalised: float
    weight: float
    contribution: float


class GraphPath(_Body):
    """How the graph lane came to a result: from which entity, over which relation, at which depth."""

    via: UUID
    relation_type: str
    weight: float
    depth: int


class Explanation(_Body):
    """How a result's score comes about: contributions and bonus sum to `fused`.

    `named`: the question is the entity's name or alias, so it leads the lanes of meaning and words.
    """

    lanes: dict[Source, LaneExplanation]
    bonus: float
    fused: float
    named: bool = False
    path: GraphPath | None = None


class EntityResult(_Body):
    """An entity that was found; `sources` are the lanes that found it."""

    entity: EntityBody
    scores: Scores
    sources: tuple[Source, ...]
    related_entities: tuple[RelatedEntity, ...] = ()
    explanation: Explanation | None = None


class SearchDebug(_Body):
    """The constants of a search, how many hits each lane had, and milliseconds by step."""

    constants: dict[str, float]
    found: dict[Source, int]
    timings: dict[str, float]
    cached: bool


class SearchResponse(_Body):
    """One page of results, best first.

    `total` counts the results of this page; `next_cursor` is there when
    there are more. `warnings` say what the search went without, in the question's
    language; `coded_warnings` are the same as data.
    """

    results: tuple[EntityResult, ...]
    total: int
    query: str
    search_time_ms: int
    next_cursor: str | None = None
    warnings: tuple[str, ...] | None = None
    coded_warnings: tuple[CodedWarning, ...] | None = None
    debug: SearchDebug | None = None


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
        entity=EntityBody.model_validate(one),
        scores=Scores(**shares, final=hit.score, rerank=hit.rerank),
        sources=tuple(lane for lane in LANES if lane in signals),
        related_entities=tuple(
            RelatedEntity(entity=EntityName.model_validate(other), relation_type=kind)
            for other, kind in related
        ),
        explanation=_explain_hit(hit) if explain else None,
    )


def _explain_hit(hit: Hit) -> Explanation:
    path = hit.path
    return Explanation(
        lanes={
            lane: LaneExplanation.model_validate(signal)
            for lane, signal in hit.blended.signals.items()
        },
        bonus=hit.blended.bonus,
        fused=hit.blended.score,
        named=hit.named,
        path=path and GraphPath.model_validate(path),
    )


def constants_of(settings: Settings, weights: FusionWeights) -> dict[str, float]:
    """Return the constants that a search went by, and those that an index in PostgreSQL is built and searched by."""
    id_ = {name: float(getattr(settings.entity_search, name)) for name in _CONSTANTS}
    index = {name: float(getattr(settings.retrieval, of)) for name, of in _OF_THE_INDEX.items()}
    lanes = {f"{lane}Weight": weight for lane, weight in weights.by_lane.items()}
    return {**lanes, **id_, **index}
