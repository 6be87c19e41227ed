"""JSON of knowledge bases, imports, communities, entities and parts of the graph."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from sextant.domain.documents import GraphInfo
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.domain.warnings import CodedWarning
from sextant.facade.chunk_reader import EntityQuote
from sextant.facade.conversations import Example
from sextant.facade.entities import EntityRelation
from sextant.facade.graph import DEEPEST, MOST_ENTITIES
from sextant.ingestion.importer import ImportReport
from sextant.retrievers.entity_search.options import MAX_TOP_K, FusionWeights, SearchOptions
from sextant.server.schemas.wire import Cursor, GraphName, OfGraph, Wire, show_warnings
from sextant.stores.graph.community_store import ListedCommunity
from sextant.stores.graph.record import GraphCounts


class CommunityQuery(OfGraph):
    """A page of communities."""

    level: int | None = Field(None, ge=0, le=100, examples=[0])
    """Of this level only; 0 is the coarsest."""
    parent_id: UUID | None = None
    """Only those right inside of this one."""
    limit: int = Field(20, ge=1, le=100)
    """Communities on a page."""
    cursor: Cursor = None


class CommunityPage(Wire):
    """A page of communities, by level, then rating falling."""

    communities: tuple[ListedCommunity, ...]
    next_cursor: str | None


class GraphQuery(Wire):
    """A page of knowledge bases."""

    limit: int = Field(100, ge=1, le=1000)
    """Knowledge bases on a page."""
    cursor: Cursor = None


class GraphBody(Wire):
    """A knowledge base and its size.

    `underWay`: documents that cannot be searched yet. `pending`: a worker must still update descriptions, names,
    communities and reports; `unattended`: it is pending and no worker runs. `warnings`: updates that failed the last
    time and the way out, in the language of `Accept-Language` (`zh`, else English); `codedWarnings`: the same as data.
    """

    graph_id: str
    documents: int
    chunks: int
    created_at: datetime | None
    under_way: int = 0
    pending: bool = False
    unattended: bool = False
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()

    @classmethod
    def of(cls, graph: GraphInfo, language: str) -> GraphBody:
        """Return the body for a knowledge base."""
        return cls.from_domain(graph, **show_warnings(graph.coded_warnings, language))


class GraphPage(Wire):
    """A page of knowledge bases, by name."""

    graphs: tuple[GraphBody, ...]
    next_cursor: str | None


class ExamplesQuery(Wire):
    """The number of example questions and their language."""

    language: Literal["zh", "en"] | None = None
    """Documents in this language come first."""
    limit: int = Field(3, ge=1, le=20)
    """Questions at most."""


class ExamplesBody(Wire):
    """Example questions made from headings of the documents."""

    questions: tuple[Example, ...]


class ImportQuery(Wire):
    """Options of an import."""

    strict: bool = False
    """Stop at the first line that cannot be used, and store nothing."""
    facts_as_passages: bool = Field(
        default=False,
        description="Make a passage, which questions find, of every relation that no chunk states and of every "
        "entity's description and aliases.",
    )


class LineProblemBody(Wire):
    """What is wrong with a line; `kept`: it was imported in spite of this."""

    line: int
    reason: str
    kept: bool


class ImportBody(Wire):
    """The result of an import; `problemCount` also counts problems beyond the thousand that are listed.

    `graph` is the size of the whole graph after the import. `pending`: everything is stored and can be searched, but
    names, communities and reports are still to be updated; `GET /api/graphs` says when they are. `graphAlone`: the
    knowledge base has no passages, so no question finds anything in it.
    Reasons and `warnings` are in the language of `Accept-Language` (`zh`, else English); `codedWarnings`: the same as data.
    """

    graph_id: str
    documents: int
    unchanged: int
    chunks: int
    entities: int
    relations: int
    problem_count: int
    problems: tuple[LineProblemBody, ...]
    warnings: tuple[str, ...]
    coded_warnings: tuple[CodedWarning, ...] = ()
    pending: bool = False
    graph: GraphCounts | None = None
    graph_alone: bool = False

    @classmethod
    def of(cls, report: ImportReport, graph_id: str, language: str) -> ImportBody:
        """Return the body for a report."""
        problems = tuple(
            LineProblemBody(line=one.line, reason=one.coded.in_language(language), kept=one.kept)
            for one in report.problems
        )
        worded = show_warnings(report.coded_warnings, language)
        return cls.from_domain(report, graph_id=graph_id, problems=problems, **worded)


class Weights(Wire):
    """Weights of the lanes; one that is left out keeps its default."""

    vector: float = Field(0.5, ge=0, allow_inf_nan=False, strict=True)
    fts: float = Field(0.3, ge=0, allow_inf_nan=False, strict=True)
    graph: float = Field(0.2, ge=0, allow_inf_nan=False, strict=True)


class EntitySearchBody(Wire):
    """A search for entities."""

    query: str = Field(min_length=1, max_length=20_000)
    """In Chinese or English."""
    graph_id: GraphName = DEFAULT_GRAPH
    top_k: int = Field(10, ge=1, le=MAX_TOP_K, strict=True)
    """Results on a page."""
    weights: Weights | None = Field(
        None,
        description="Without any, those of the settings count; one that is left out is 0.5 (`vector`), "
        "0.3 (`fts`) or 0.2 (`graph`).",
    )
    filters: dict[str, Any] | None = None
    """`entityTypes`, `createdAfter`, `createdBefore`."""
    include_related: bool = False
    """Give each result the entities it is most related to."""
    rerank: bool = False
    """Let the reranking model order the results, if there is one."""
    cursor: Cursor = None
    debug: bool = False
    """Say how each score came about."""

    def options(self) -> SearchOptions:
        """Return the options of the search.

        Raises:
            OptionInvalid: the weights cannot be used.
        """
        weights = FusionWeights(**self.weights.model_dump(by_alias=False)) if self.weights else None
        others = self.model_dump(by_alias=False, exclude={"query", "graph_id", "weights", "debug"})
        return SearchOptions(weights=weights, explain=self.debug, **others)


class EntityQuery(OfGraph):
    """The knowledge base, and how many relations and passages to return."""

    limit: int = Field(20, ge=1, le=100)
    """Relations and passages at most."""


class EntityNode(Wire):
    """An entity; `degree` counts its relations."""

    id: UUID
    name: str
    entity_type: str
    description: str
    degree: int
    centrality: float


class MergedBody(Wire):
    """An entity that was merged into this one, and why."""

    id: UUID = Field(validation_alias="from_id")
    name: str
    reason: str
    automatic: bool


class CommunityName(Wire):
    """A community of the entity."""

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


class DuplicatesQuery(OfGraph):
    """A page of pairs."""

    limit: int = Field(50, ge=1, le=1000)
    """Pairs on a page."""
    cursor: Cursor = None


class DuplicateBody(Wire):
    """Two entities that may be one thing: why, and their similarity, 0 to 1."""

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


class SubGraphQuery(OfGraph):
    """A part of the graph."""

    seed: str | None = Field(None, min_length=1, max_length=1000, examples=["所有权系统"])
    """What it is around: a name, an alias or an id; without, the entities with most relations."""
    depth: int = Field(1, ge=1, le=DEEPEST)
    """Relations away from the seed."""
    limit: int = Field(100, ge=1, le=MOST_ENTITIES)
    """Most entities."""


class EdgeBody(Wire):
    """A relation between two of the nodes."""

    id: UUID = Field(validation_alias="relation_id")
    source: UUID = Field(validation_alias="source_id")
    target: UUID = Field(validation_alias="target_id")
    relation_type: str
    weight: float


class SubGraphBody(Wire):
    """A part of a graph to draw; `truncated`: relations lead beyond it."""

    nodes: tuple[EntityNode, ...] = Field(validation_alias="entities")
    edges: tuple[EdgeBody, ...] = Field(validation_alias="hops")
    truncated: bool = Field(validation_alias="cut")
