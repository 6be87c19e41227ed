"""The searches of one round, run at the same time as branches of a graph of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from operator import add, itemgetter
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from sextant.domain.answers import SearchKind, SearchReport
from sextant.domain.errors import describe_reason
from sextant.domain.retrieval import ItemKind, Retrieval, RetrievalError, RetrievedItem
from sextant.domain.warnings import CodedWarning, WarningCode, word_warnings


@dataclass(frozen=True, slots=True)
class DueSearch:
    """One query of a round, and the call that runs it."""

    query: str
    kind: SearchKind
    run: Callable[[], Awaitable[Retrieval]]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What one query found, or the error that it ended with."""

    query: str
    kind: SearchKind
    found: Retrieval | None = None
    error: RetrievalError | None = None

    @property
    def cause(self) -> CodedWarning | None:
        """Return why the search failed, if it did."""
        if self.error is None:
            return None
        return CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(self.error)})

    def report(self, language: str) -> SearchReport:
        """Return how the search fared."""
        if self.found is None:
            causes = () if self.cause is None else (self.cause,)
            return SearchReport(
                self.query, self.kind, error=" ".join(word_warnings(causes, language))
            )
        count = len(passages_of(self.found))
        mode = str(self.found.mode)  # no enum: checkpoints hold plain values
        return SearchReport(self.query, self.kind, mode, count, self.found.timings)


class _SearchTask(TypedDict):
    """One branch: the query, and its index among those of the round."""

    index: int
    query: str
    kind: SearchKind


class _Branches(TypedDict):
    """The state of the round's graph: its tasks, and the outcome of each as it comes."""

    tasks: list[_SearchTask]
    outcomes: Annotated[list[tuple[int, SearchOutcome]], add]


@dataclass(frozen=True, slots=True)
class _BranchContext:
    """The searches that the branches run, by their index."""

    searches: Sequence[DueSearch]


async def run_searches(searches: Sequence[DueSearch]) -> list[SearchOutcome]:
    """Run searches at the same time; return their outcomes in order.

    Several are branches of a graph of their own, so that Studio and tracers show each with its query and time.

    Raises:
        What the first query raised, when none but that of tables was answered; what is the request's fault.
    """
    if len(searches) == 1:
        [search] = searches
        return [SearchOutcome(search.query, search.kind, await search.run())]
    tasks = [
        _SearchTask(index=at, query=one.query, kind=one.kind) for at, one in enumerate(searches)
    ]
    ended = await _SEARCHES.ainvoke({"tasks": tasks}, context=_BranchContext(searches))
    outcomes = [outcome for _, outcome in sorted(ended["outcomes"], key=itemgetter(0))]
    if all(one.found is None for one in outcomes if one.kind != "table"):
        raise next(one.error for one in outcomes if one.error is not None)
    return outcomes


async def _search_branch(state: _SearchTask, runtime: Runtime[_BranchContext]) -> dict[str, Any]:
    """Run one search; a failure is its outcome, unless the request is at fault."""
    found, error = None, None
    try:
        found = await runtime.context.searches[state["index"]].run()
    except RetrievalError as failure:
        error = failure
    return {
        "outcomes": [(state["index"], SearchOutcome(state["query"], state["kind"], found, error))]
    }


def _start_branches(state: _Branches) -> list[Send]:
    return [Send("search", task) for task in state["tasks"]]


def _build_searches() -> CompiledStateGraph[_Branches, _BranchContext, Any, Any]:
    builder: Any = StateGraph(_Branches, context_schema=_BranchContext)
    builder.add_node("search", _search_branch, input_schema=_SearchTask)
    builder.add_conditional_edges(START, _start_branches, ["search"])
    builder.add_edge("search", END)
    # What branches find goes into the state of the workflow; a checkpoint of their own would hold it twice.
    return cast(
        "CompiledStateGraph[_Branches, _BranchContext, Any, Any]",
        builder.compile(checkpointer=False, name="searches"),
    )


_SEARCHES = _build_searches()


def passages_of(found: Retrieval) -> list[RetrievedItem]:
    """Return the passages among the results."""
    return [item for item in found.results if item.kind is ItemKind.CHUNK]
