"""The response of entity search, in camelCase, and how hits become results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from sextant.domain.graph import Entity
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning
from sextant.retrievers.entity_search.lanes import LANES, ReachedEntity
from sextant.retrievers.entity_search.options import Blended, FusionWeights

Source = Literal["vector", "fts", "graph"]


class _Body(BaseModel):
    """Serialized in camelCase, without fields that are None."""

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
    """The normalised score of each lane, 0..1, and the final score.

    `rerank` is the reranker's own score, if it gave one; `final` then follows it.
    """

    vector: float
    fts: float
    graph: float
    final: float
    rerank: float | None = None


class LaneExplanation(_Body):
    """The result of one lane: rank, raw and normalised score, weight, and their product."""

    rank: int
    raw: float
    normalised: float = Field(validation_alias="share")
    weight: float
    contribution: float


class GraphPath(_Body):
    """How the graph lane reached a result: from which entity, over which relation, at which depth."""

    via: UUID
    relation_type: str
    weight: float
    depth: int


class Explanation(_Body):
    """How a result's score is made up: contributions and bonus sum to `fused`.

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

    `total` is the number of results on this page; `next_cursor` is set if there are more. `warnings` are in the
    question's language; `coded_warnings` are the same as data.
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
_INDEX_CONSTANTS = {
    "m": "entity_m",
    "efConstruction": "entity_ef_construction",
    "efSearch": "entity_ef_search",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """An entity that was found, with its signals and the score that it is ranked by.

    `named`: the question is its name or alias.
    """

    entity: Entity
    blended: Blended[UUID]
    score: float
    rerank: float | None = None
    path: ReachedEntity | None = None
    named: bool = False


def result_of(hit: Hit, related: Iterable[tuple[Entity, str]], *, explain: bool) -> EntityResult:
    """Return a hit as a result."""
    one, signals, explanation = hit.entity, hit.blended.signals, None
    if explain:
        explanation = Explanation(
            lanes={lane: LaneExplanation.model_validate(one) for lane, one in signals.items()},
            bonus=hit.blended.bonus,
            fused=hit.blended.score,
            named=hit.named,
            path=hit.path and GraphPath.model_validate(hit.path),
        )
    shares = {lane: signals[lane].share if lane in signals else 0.0 for lane in LANES}
    return EntityResult(
        entity=EntityBody.model_validate(one),
        scores=Scores(**shares, final=hit.score, rerank=hit.rerank),
        sources=tuple(lane for lane in LANES if lane in signals),
        related_entities=tuple(
            RelatedEntity(entity=EntityName.model_validate(other), relation_type=kind)
            for other, kind in related
        ),
        explanation=explanation,
    )


def constants_of(settings: Settings, weights: FusionWeights) -> dict[str, float]:
    """Return the constants of a search, and of PostgreSQL's index over entities."""
    search = {name: float(getattr(settings.entity_search, name)) for name in _CONSTANTS}
    lanes = {f"{lane}Weight": weight for lane, weight in weights.by_lane.items()}
    index = {
        name: float(getattr(settings.retrieval, setting))
        for name, setting in _INDEX_CONSTANTS.items()
    }
    return {**lanes, **search, **index}
