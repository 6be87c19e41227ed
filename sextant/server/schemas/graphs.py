"""Knowledge bases over the wire: listed, and what an import brought.

Also here: communities over the wire.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from sextant.domain.documents import GraphInfo
from sextant.facade.conversations import Example
from sextant.ingestion.importer import ImportReport
from sextant.server.schemas.wire import Cursor, OfGraph, WarningBody, Wire, show_warnings
from sextant.stores.graph.communities.store import ListedCommunity
from sextant.stores.graph.record import GraphCounts


class CommunityQuery(OfGraph):
    """Which communities."""

    level: int | None = Field(
        None, ge=0, le=100, description="Of this level only; 0 is the coarsest.", examples=[0]
    )
    parent_id: UUID | None = Field(None, description="Only those right inside of this one.")
    limit: int = Field(20, ge=1, le=100, description="Communities on a page.")
    cursor: Cursor = None


class CommunityPage(Wire):
    """A page of communities, by level, then rating falling."""

    communities: tuple[ListedCommunity, ...]
    next_cursor: str | None


class GraphQuery(Wire):
    """Which page of the list."""

    limit: int = Field(100, ge=1, le=1000, description="Knowledge bases on a page.")
    cursor: Cursor = None


class GraphBody(Wire):
    """A knowledge base and its size.

    `pending`: descriptions by model, names, communities and reports are still to follow, which a worker sees to;
    `unattended`: it is pending, and no worker runs.
    `warnings`: what of them did not follow the last time, and how to mend it, in the language of
    `Accept-Language` (`zh`, else English); `codedWarnings`: the same as data.
    """

    graph_id: str
    documents: int
    chunks: int
    created_at: datetime | None
    pending: bool = False
    unattended: bool = False
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[WarningBody, ...] = ()

    @classmethod
    def of(cls, graph: GraphInfo, language: str) -> GraphBody:
        """Return the body for a knowledge base."""
        return cls.shown(graph, **show_warnings(graph.coded_warnings, language))


class GraphPage(Wire):
    """A page of knowledge bases, by name."""

    graphs: tuple[GraphBody, ...]
    next_cursor: str | None


class ExamplesQuery(Wire):
    """How many questions, and which documents they are made of first."""

    language: Literal["zh", "en"] | None = Field(
        None, description="Documents in this language come first."
    )
    limit: int = Field(3, ge=1, le=20, description="Questions at most.")


class ExamplesBody(Wire):
    """Questions to begin with, made from what the documents' headings say."""

    questions: tuple[Example, ...]


class ImportQuery(Wire):
    """How to import."""

    strict: bool = Field(
        default=False, description="Stop at the first line that cannot be used, and store nothing."
    )
    facts_as_passages: bool = Field(
        default=False,
        description="Make a passage, which questions find, of every relation that no chunk states and of every "
        "entity's description and aliases.",
    )


class LineProblemBody(Wire):
    """What is wrong with line number `line`; `kept`: it was taken all the same."""

    line: int
    reason: str
    kept: bool


class ImportBody(Wire):
    """What an import brought; `problemCount` also counts those beyond the thousand that are listed.

    `graph` is the size of the whole graph then, with what was found in the texts. `pending`: everything is
    stored and can be searched; names, communities and reports follow, and `GET /api/graphs` says when they have.
    `graphAlone`: the knowledge base has no passage, so that no question finds anything in it.
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
    coded_warnings: tuple[WarningBody, ...] = ()
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
        return cls.shown(report, graph_id=graph_id, problems=problems, **worded)
