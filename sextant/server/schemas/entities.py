"""Entities over the wire: searched, looked at one by one, and drawn as a graph."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from sextant.domain.scope import DEFAULT_GRAPH
from sextant.facade.knowledge.chunk_reader import EntityQuote
from sextant.facade.knowledge.entities import Duplicates, EntityRelation, EntityView
from sextant.facade.knowledge.graph import DEEPEST, MOST_ENTITIES, DrawnGraph
from sextant.retrievers.entity_search.options import MAX_TOP_K, FusionWeights, SearchOptions
from sextant.server.schemas.wire import Cursor, GraphName, OfGraph, Wire


class Weights(Wire):
    """What each lane's share counts; one that is left out keeps its default, as in Python."""

    vector: float = Field(0.5, ge=0, allow_inf_nan=False, strict=True)
    fts: float = Field(0.3, ge=0, allow_inf_nan=False, strict=True)
    graph: float = Field(0.2, ge=0, allow_inf_nan=False, strict=True)


class EntitySearchBody(Wire):
    """What entities are searched for."""

    query: str = Field(min_length=1, max_length=20_000, description="In Chinese or English.")
    graph_id: GraphName = DEFAULT_GRAPH
    top_k: int = Field(10, ge=1, le=MAX_TOP_K, strict=True, description="Results on a page.")
    weights: Weights | None = Field(
        None,
        description="Without any, those of the settings count; one that is left out is 0.5 (`vector`), "
        "0.3 (`fts`) or 0.2 (`graph`).",
    )
    filters: dict[str, Any] | None = Field(
        None, description="`entityTypes`, `createdAfter`, `createdBefore`."
    )
    include_related: bool = Field(
        default=False, description="Give each result the entities it is most related to."
    )
    rerank: bool = Field(
        default=False, description="Let the reranking model order the results, if there is one."
    )
    cursor: Cursor = None
    debug: bool = Field(default=False, description="Say how each score came about.")

    def options(self) -> SearchOptions:
        """Return the options of the search.

        Raises:
            OptionInvalid: the weights cannot be used.
        """
        weights = FusionWeights(**self.weights.model_dump()) if self.weights else None
        return SearchOptions(
            weights=weights,
            top_k=self.top_k,
            rerank=self.rerank,
            include_related=self.include_related,
            filters=self.filters,
            cursor=self.cursor,
            explain=self.debug,
        )


class EntityQuery(OfGraph):
    """Which knowledge base, and how much of the entity."""

    limit: int = Field(20, ge=1, le=100, description="Relations and passages at most.")


class EntityNode(Wire):
    """An entity; `degree` counts its relations."""

    id: UUID
    name: str
    entity_type: str
    description: str
    degree: int
    centrality: float


class MergedBody(Wire):
    """A name that was found to be this entity's, and why."""

    id: UUID
    name: str
    reason: str
    automatic: bool


class CommunityName(Wire):
    """A community that the entity is in."""

    id: UUID
    level: int
    title: str


class EntityDetail(EntityNode):
    """An entity with its heaviest relations, its passages, and its communities."""

    aliases: tuple[str, ...]
    mention_count: int
    external_id: str | None
    relations: tuple[EntityRelation, ...]
    mentions: tuple[EntityQuote, ...]
    merged: tuple[MergedBody, ...]
    communities: tuple[CommunityName, ...]

    @classmethod
    def of_view(cls, view: EntityView) -> EntityDetail:
        """Return the body for an entity."""
        return cls.shown(
            view.entity,
            relations=view.relations,
            mentions=view.mentions,
            merged=[MergedBody.shown(one, id=one.from_id) for one in view.merged],
            communities=view.communities,
        )


class DuplicatesQuery(OfGraph):
    """Which page of the list."""

    limit: int = Field(50, ge=1, le=1000, description="Pairs on a page.")
    cursor: Cursor = None


class DuplicateBody(Wire):
    """Two entities that may be one thing, why, and how alike they are, 0 to 1."""

    one_id: UUID
    one_name: str
    other_id: UUID
    other_name: str
    reason: str
    score: float


class DuplicatePage(Wire):
    """A page of pairs, those alike in spelling first, the likeliest first."""

    pairs: tuple[DuplicateBody, ...]
    next_cursor: str | None

    @classmethod
    def of(cls, page: Duplicates) -> DuplicatePage:
        """Return the body for a page."""
        return cls.shown(page, pairs=tuple(map(DuplicateBody.shown, page.pairs)))


class SubGraphQuery(OfGraph):
    """Which part of a graph."""

    seed: str | None = Field(
        None,
        min_length=1,
        max_length=1000,
        description="What it is around: a name, an alias or an id; without, the entities with most "
        "relations.",
        examples=["所有权系统"],
    )
    depth: int = Field(1, ge=1, le=DEEPEST, description="Relations away from the seed.")
    limit: int = Field(100, ge=1, le=MOST_ENTITIES, description="Most entities.")


class EdgeBody(Wire):
    """A relation between two of the nodes."""

    id: UUID
    source: UUID
    target: UUID
    relation_type: str
    weight: float


class SubGraphBody(Wire):
    """A part of a graph that can be drawn; `truncated`: there is more around it."""

    nodes: tuple[EntityNode, ...]
    edges: tuple[EdgeBody, ...]
    truncated: bool

    @classmethod
    def of(cls, part: DrawnGraph) -> SubGraphBody:
        """Return the body for a part of a graph."""
        edges = [
            EdgeBody.shown(hop, id=hop.relation_id, source=hop.source_id, target=hop.target_id)
            for hop in part.hops
        ]
        return cls.shown(part, nodes=part.entities, edges=edges, truncated=part.cut)
