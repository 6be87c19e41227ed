"""What a search for entities answers, as seed 001 writes it in JSON (camelCase)."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

Source = Literal["vector", "fts", "graph"]


class _Body(BaseModel):
    """Serialised in camelCase; what is not there is left out."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
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

    `total` counts the results of this page, as the seed's service does; `next_cursor` is there when
    there are more. `warnings` say what the search went without.
    """

    results: tuple[EntityResult, ...]
    total: int
    query: str
    search_time_ms: int
    next_cursor: str | None = None
    warnings: tuple[str, ...] | None = None
    debug: SearchDebug | None = None
