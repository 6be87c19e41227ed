"""The four MCP tools: search passages, read around one, preview one, and ask for a cited answer.

Their parameters have the names of the HTTP API, so ids and names of a result can be passed back unchanged.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Annotated, Any, Literal, TypeVar

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from sextant.domain.answers import (
    Effort,
    Event,
    Planned,
    ReportProgress,
    Retrieved,
    Status,
    Token,
    answer_of,
)
from sextant.domain.questions import ChunkFilters
from sextant.domain.telemetry import milliseconds_since
from sextant.facade import Sextant
from sextant.facade.chunk_reader import MOST_CHARS, MOST_RELATED
from sextant.server.answers import seconds_for
from sextant.server.mcp import results
from sextant.server.mcp.results import (
    Answered,
    FoundPage,
    Previewed,
    RelatedPassages,
    answer_result,
    preview_result,
)
from sextant.server.schemas.answers import SearchBody
from sextant.text.characters import count_noun

Call = Context[Any, Any]
Events = AsyncGenerator[Event]
Ask = Callable[[], Events]


def _at_once(ask: Ask, _seconds: float) -> Events:
    return ask()


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a tool.

    Attributes:
        rag: the caller's knowledge bases.
        run: begins an answer in a slot of its own, with the seconds that it may take.
        slot: a slot for a search.
    """

    rag: Sextant
    run: Callable[[Ask, float], Events] = _at_once
    slot: Callable[[], AbstractAsyncContextManager[None]] = nullcontext


CallerOf = Callable[[Call], Caller]

R = TypeVar("R", bound=BaseModel)

Query = Annotated[str, Field(description="The question as it was asked, or key words.")]
GraphId = Annotated[str, Field(description="The knowledge base.")]
ChunkId = Annotated[str, Field(description="The chunkId of a result.")]
BOUNDS = "Bounds on what is searched: " + "; ".join(
    f"{info.alias}: {(info.description or '').rstrip('.')}"
    for info in ChunkFilters.model_fields.values()
)
Filters = Annotated[dict[str, Any] | None, Field(description=BOUNDS)]
Debug = Annotated[bool, Field(description="Also return times, and what gave each score.")]
RankingMode = Literal["naive", "local", "global", "hybrid", "mix"]
Mode = Literal["auto", "bypass", RankingMode]


class Tools:
    """The tools, over the knowledge bases of the caller.

    Args:
        caller_of: returns the caller of a call.
    """

    def __init__(self, caller_of: CallerOf) -> None:
        self._caller_of = caller_of

    async def search(
        self,
        call: Call,
        query: Query,
        graphId: GraphId = "default",
        mode: Annotated[
            RankingMode | None,
            Field(description="Rank as this mode does; without, by meaning, words and metadata."),
        ] = None,
        limit: Annotated[int, Field(ge=1, le=50, description="Passages wanted.")] = 10,
        filters: Filters = None,
        includeNeighbors: Annotated[
            bool, Field(description="Also return the passages beside each.")
        ] = False,
        rerank: Annotated[
            bool, Field(description="Let the reranker have its share, if there is one.")
        ] = True,
        bm25Rerank: Annotated[
            bool | None,
            Field(
                description="Let BM25 have its share; without, as the server is set. Not with mode."
            ),
        ] = None,
        cursor: Annotated[
            str | None, Field(description="The nextCursor of the page before, of the same search.")
        ] = None,
        debug: Debug = False,
    ) -> Annotated[CallToolResult, FoundPage]:
        """Find the passages of a knowledge base that fit a query best, with what each is about.

        Every passage has a chunkId, which the other tools take.
        """
        caller = self._caller_of(call)
        graphId = await caller.rag.find_graph(graphId)  # noqa: N806 - the tool's own name
        body = SearchBody.model_validate({
            "query": query, "graphId": graphId, "mode": mode, "limit": limit, "filters": filters,
            "includeNeighbors": includeNeighbors, "rerank": rerank, "bm25Rerank": bm25Rerank,
            "cursor": cursor, "debug": debug,
        })  # fmt: skip
        async with caller.slot():
            found = await results.find_passages(caller.rag, body)
        return _result(found, results.search_text(found))

    async def related(
        self,
        call: Call,
        chunkId: ChunkId,
        graphId: GraphId = "default",
        limit: Annotated[int, Field(ge=1, le=MOST_RELATED, description="Passages wanted.")] = 10,
        debug: Debug = False,
    ) -> Annotated[CallToolResult, RelatedPassages]:
        """Find the passages around one: in the document's section tree, and through shared entities.

        Relations: previous and next in reading order; section, in the same one; parent, in the section
        above; linked, by the entities that both mention.
        """
        started = time.perf_counter()
        caller = self._caller_of(call)
        graphId = await caller.rag.find_graph(graphId)  # noqa: N806 - the tool's own name
        found = await results.find_related(caller.rag, chunkId, graphId, limit)
        if debug:
            found = found.model_copy(update={"debug": _measure_call(started)})
        return _result(found, results.related_text(found))

    async def preview(
        self,
        call: Call,
        chunkId: ChunkId,
        graphId: GraphId = "default",
        contextChars: Annotated[
            int,
            Field(ge=0, le=MOST_CHARS, description="Characters of the text before and after it."),
        ] = 1000,
        debug: Debug = False,
    ) -> Annotated[CallToolResult, Previewed]:
        """Read one passage with its section and the text right before and after it."""
        started = time.perf_counter()
        caller = self._caller_of(call)
        graphId = await caller.rag.find_graph(graphId)  # noqa: N806 - the tool's own name
        chunks = await caller.rag.chunks(graphId)
        found = preview_result(graphId, await chunks.reading.preview(chunkId, contextChars))
        found = results.shorten_text(found)
        if debug:
            found = found.model_copy(update={"debug": _measure_call(started)})
        return _result(found, results.preview_text(found))

    async def ask(
        self,
        call: Call,
        query: Query,
        graphId: GraphId = "default",
        mode: Annotated[
            Mode, Field(description="How to retrieve; auto lets the question decide.")
        ] = "auto",
        topK: Annotated[
            int | None, Field(ge=1, le=50, description="Passages the answer may use.")
        ] = None,
        filters: Filters = None,
        effort: Annotated[
            Effort,
            Field(
                description="low: one search; medium: searches until enough is found; high: a researched report of several "
                "sections, which takes minutes."
            ),
        ] = "medium",
        debug: Debug = False,
    ) -> Annotated[CallToolResult, Answered]:
        """Answer a question from a knowledge base, every sentence cited.

        Reports its progress while it works. The markers [n] of the answer are those of `sources`.
        """
        caller = self._caller_of(call)
        named, graphId = graphId, await caller.rag.find_graph(graphId)  # noqa: N806 - the tool's own name
        ask = partial(caller.rag.stream, query, graph_id=graphId, mode=mode, filters=filters)
        events = caller.run(
            partial(ask, top_k=topK, effort=effort), seconds_for(effort, caller.rag)
        )
        answer = await answer_of(events, _progress(call))
        found = answer_result(graphId, answer, debug=debug)
        return _result(found, results.answer_text(found, chosen=graphId != named))


def _progress(call: Call) -> Callable[[Event], Awaitable[None]]:
    """Return a callback that reports each step to the client, and only the first token."""
    steps, writing = count(1), False

    async def report(event: Event) -> None:
        nonlocal writing
        if writing and isinstance(event, Token):
            return
        writing = writing or isinstance(event, Token)
        if message := _describe_step(event):
            await call.report_progress(next(steps), message=message)

    return report


def _describe_step(event: Event) -> str | None:
    match event:
        case Status(node=node, detail=detail, attempt=attempt):
            again = f", round {attempt + 1}" if attempt else ""
            return f"{node}{again}{': ' + detail if detail else ''}"
        case Retrieved(mode=mode, count=count):
            return f"found {count_noun(count, 'passage')} ({mode})"
        case Planned(questions=questions, calls=calls):
            taking = f", about {count_noun(calls, 'model call')}" if calls else ""
            return f"planned {count_noun(len(questions), 'question')}{taking}"
        case ReportProgress(step="section", done=done, total=total, title=title):
            return f"section {done} of {total}{': ' if title else ''}{title}"
        case Token():
            return "writing the answer"
        case _:
            return None


def _measure_call(started: float) -> dict[str, Any]:
    return {"timings": {"total": round(milliseconds_since(started), 3)}}


def _result(found: BaseModel, text: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=found.model_dump(mode="json", by_alias=True),
    )
