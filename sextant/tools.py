"""The knowledge bases as LangChain tools (docs/agents.md): `kb_search`, `kb_ask` and `kb_related`.

They do the same as the MCP tools of these names, and return text for the model and a typed result for the program. The
user and the knowledge base are set when the tools are made; a model cannot choose them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.v1 import ValidationError as ValidationErrorV1

from sextant.domain.answers import Effort
from sextant.domain.concurrency import run_in_background, run_sync
from sextant.domain.errors import GraphNotFound, OptionInvalid, SextantError
from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.facade.chunk_reader import MOST_RELATED
from sextant.server.mcp import results
from sextant.server.mcp.results import Answered, FoundPage, RelatedPassages, answer_result
from sextant.server.mcp.tools import BOUNDS, ChunkId, Mode, Query, RankingMode
from sextant.server.schemas.answers import SearchBody

__all__ = [
    "Answered",
    "FoundPage",
    "KnowledgeTools",
    "RelatedPassages",
    "create_tools",
    "kb_ask",
    "kb_related",
    "kb_search",
]

R = TypeVar("R")
Name = str | Callable[[], str]


class KnowledgeTools(NamedTuple):
    """The three tools of one knowledge base."""

    search: BaseTool
    ask: BaseTool
    related: BaseTool


class _Arguments(BaseModel):
    """Base of a tool's arguments; unknown ones are refused, since one may be a misspelt filter."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _read_as_meant(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Models give null or "" for what they leave out, and an object as the text of one."""
        filters = given.get("filters")
        if isinstance(filters, str):
            with suppress(ValueError, RecursionError):
                given = given | {"filters": json.loads(filters or "null")}
        return {name: value for name, value in given.items() if value not in (None, "")}


class SearchArguments(_Arguments):
    """Arguments of `kb_search`."""

    query: Query
    mode: RankingMode | None = Field(
        None,
        description="Rank as this mode does; without, by meaning, words and metadata.",
    )
    limit: int = Field(10, ge=1, le=50, description="Passages wanted.")
    filters: dict[str, Any] = Field({}, description=BOUNDS)


class AskArguments(_Arguments):
    """Arguments of `kb_ask`."""

    query: Query
    mode: Mode = Field("auto", description="How to retrieve; auto lets the question decide.")
    filters: dict[str, Any] = Field({}, description=BOUNDS)
    effort: Effort = Field(
        "medium",
        description="low: one search; medium: searches until enough is found; high: a researched report, which takes minutes.",
    )


class RelatedArguments(_Arguments):
    """Arguments of `kb_related`."""

    chunk_id: ChunkId
    limit: int = Field(10, ge=1, le=MOST_RELATED, description="Passages wanted.")


def create_tools(
    rag: Sextant | None = None,
    *,
    graph_id: Name = DEFAULT_GRAPH,
    user_id: Name | None = None,
    settings: Settings | None = None,
) -> KnowledgeTools:
    """Return the tools over one knowledge base, for `create_agent` and other users of LangChain tools.

    Each returns text for the model, and its typed result as the message's `artifact`. An expected error (unknown
    knowledge base, unavailable model) is a message of status `error` that says what to do.

    Args:
        rag: an open `Sextant`, which the caller closes. None: one is opened at the first call, on an event loop of its
            own, and stays open until the process ends.
        graph_id: the knowledge base, or a function that returns it at each call.
        user_id: the user, or a function that returns it; by default the user of `rag` or of the settings.
        settings: to open `Sextant` with; by default those of the environment and `.env`.
    """
    calls = _Calls(rag, settings, graph_id, user_id)
    return KnowledgeTools(
        calls.tool(
            "kb_search",
            calls.search,
            SearchArguments,
            "Find the passages of the team's documents that fit a query best. Each has a chunk id, which kb_related takes.",
        ),
        calls.tool(
            "kb_ask",
            calls.ask,
            AskArguments,
            "Answer a question from the team's documents. Every sentence is cited; the markers [n] are those of the sources below it.",
        ),
        calls.tool(
            "kb_related",
            calls.related,
            RelatedArguments,
            "Find the passages around one: before and after it, in its section, and those that mention the same things.",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls of the tools; each returns text and a typed result."""

    rag: Sextant | None
    settings: Settings | None
    graph_id: Name
    user_id: Name | None

    def tool(
        self,
        name: str,
        call: Callable[..., Coroutine[Any, Any, tuple[str, Any]]],
        arguments: type[BaseModel],
        description: str,
    ) -> BaseTool:
        """Return a call as a tool for synchronous and asynchronous callers."""

        async def arun(config: RunnableConfig, **given: Any) -> tuple[str, Any]:  # noqa: ANN401 - the fields of `arguments`
            if self.rag is not None:
                return await _raise_to_model(call(**given))
            with _detach_from_caller(config):
                return await run_in_background(lambda: _raise_to_model(call(**given)))

        def run(config: RunnableConfig, **given: Any) -> tuple[str, Any]:  # noqa: ANN401
            with _detach_from_caller(config):
                return run_sync(lambda: _raise_to_model(call(**given)))

        return StructuredTool.from_function(
            run,
            arun,
            name=name,
            description=description,
            args_schema=arguments,
            response_format="content_and_artifact",
            handle_tool_error=True,
            handle_validation_error=_describe_arguments,
        )

    async def search(
        self, query: str, mode: str | None, limit: int, filters: dict[str, Any]
    ) -> tuple[str, FoundPage]:
        """Search passages."""
        rag, graph_id = await self._bound()
        bounds = ChunkFilters.read(filters)
        body = SearchBody.model_validate(
            {"query": query, "mode": mode, "limit": limit, "filters": bounds, "graph_id": graph_id}
        )
        found = await results.find_passages(rag, body)
        return results.search_text(found), found

    async def ask(
        self, query: str, mode: str, filters: dict[str, Any], effort: Effort = "medium"
    ) -> tuple[str, Answered]:
        """Answer a question."""
        rag, graph_id = await self._bound()
        answer = await rag.query(
            query, graph_id=graph_id, mode=mode, filters=filters, effort=effort
        )
        found = answer_result(graph_id, answer, debug=False)
        return results.answer_text(found), found

    async def related(self, chunk_id: str, limit: int) -> tuple[str, RelatedPassages]:
        """Find passages around one."""
        rag, graph_id = await self._bound()
        found = await results.find_related(rag, chunk_id, graph_id, limit)
        return results.related_text(found), found

    async def _bound(self) -> tuple[Sextant, str]:
        """Return the user's `Sextant` and the knowledge base of the tools."""
        rag = await _open_shared(self.settings) if self.rag is None else self.rag
        if self.user_id is not None:
            rag = rag.as_user(_name_of(self.user_id))
        return rag, await rag.find_graph(_name_of(self.graph_id))


def _name_of(name: Name) -> str:
    return name() if callable(name) else name


# For the model, which cannot choose the knowledge base of its tools.
_NO_KNOWLEDGE_BASE = "Say so; the developer of these tools names one by create_tools(graph_id=…)."


async def _raise_to_model(call: Awaitable[R]) -> R:
    """Return the result of a call; raise an expected error as one that the model sees."""
    try:
        return await call
    except SextantError as error:
        step = _NO_KNOWLEDGE_BASE if isinstance(error, GraphNotFound) else error.next_step
        parts = [f"{error.code}: {error.message}", step]
        raise ToolException(" ".join(filter(None, parts))) from error


def _describe_arguments(error: ValidationError | ValidationErrorV1) -> str:
    """Return a message for the model about its wrong arguments."""
    wrong = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return f"{OptionInvalid.code}: {'; '.join(wrong)}. Call the tool again with other arguments."


@contextmanager
def _detach_from_caller(config: RunnableConfig) -> Iterator[None]:
    """Run a workflow on another loop apart from the caller's run.

    Within the caller's run it would write to checkpointers and streams of the caller's loop. The caller's tracers still
    see its steps.
    """
    token = var_child_runnable_config.set({"callbacks": config.get("callbacks")})
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


# The `Sextant` of each settings, opened for tools without one, on the loop of `run_sync`; open until the process ends.
_opened: list[tuple[Settings | None, Sextant]] = []
_opening = asyncio.Lock()
_left_open = AsyncExitStack()


async def _open_shared(settings: Settings | None) -> Sextant:
    """Return the shared `Sextant` of these settings."""
    async with _opening:
        for known, rag in _opened:
            if known == settings:
                return rag
        rag = await _left_open.enter_async_context(Sextant.open(settings))
        _opened.append((settings, rag))
        return rag


kb_search, kb_ask, kb_related = create_tools()
