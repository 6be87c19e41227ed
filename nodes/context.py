"""The context of a run: the user's choices and the system's dependencies."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, ConfigDict, Field

from sextant.domain.answers import Effort
from sextant.domain.retrieval import MOST_PASSAGES
from sextant.domain.scope import DEFAULT_GRAPH, Scope
from sextant.domain.settings import Settings
from sextant.domain.settings.serving import MOST_ROUNDS
from sextant.nodes.state import State

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel
    from sextant.models.chat.pictures import VisionModel
    from sextant.models.offline.extractive import ExtractiveAnswerer
    from sextant.models.protocols import Reranker
    from sextant.retrievers.graph_retriever import GraphRetriever
    from sextant.stores.chunks.stored import QuoteStore, TableStore
    from sextant.stores.documents.document_reader import DocumentReader


class Context(BaseModel):
    """The choices of a user for a run; LangGraph Studio shows them as a form.

    The user is not among them: that is who is logged in, or whom the caller's input names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Literal["auto", "naive", "local", "global", "hybrid", "mix", "bypass"] = Field(
        "auto", description="How to retrieve, where the input leaves `mode` at auto."
    )
    graph_id: str = Field(
        DEFAULT_GRAPH,
        description="The knowledge base, where the input leaves `graph_id` at default.",
    )
    top_k: int | None = Field(
        None,
        ge=1,
        le=MOST_PASSAGES,
        description="Passages per search, in global with the reports (half at most); empty: the setting retrieval.top_k.",
    )
    max_attempts: int | None = Field(
        None,
        ge=0,
        le=MOST_ROUNDS,
        description="Refinement rounds after the first search; empty: the setting limits.max_attempts.",
    )
    effort: Effort = Field(
        "medium",
        description="How much is done, where the input leaves it open: low, one search; medium, searches until enough is "
        "found; high, a researched report (docs/research.md).",
    )
    repair: bool = Field(
        default=True,
        description="Whether the chat model may revise sentences that no passage supports; otherwise they stay, marked.",
    )
    interrupts: bool = Field(
        default=False,
        description="Stop where a person should decide (a name of several things, limits.ask_above_tokens); for callers "
        "that can resume.",
    )
    approve_sources: bool = Field(
        default=False,
        description="With interrupts: stop before every answer, to have its sources approved.",
    )
    language: Literal["auto", "zh", "en"] = Field(
        "auto", description="Language of the answer; auto: that of the question."
    )


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The parts of the system that nodes call.

    Attributes:
        settings: the settings.
        retriever: searches in all modes.
        answerer: answers by quotations.
        chat: writes answers; None: no chat model is configured.
        quotes: compares citations with the stored documents; None: with the passages.
        judge: scores how well quotes support sentences; None: shared words decide.
        judge_model: reads questions and grades passages, if it is another model than `chat`.
        vision: describes images of a question.
        documents: reads uploaded documents.
        tables: reads the other parts of a table.
    """

    settings: Settings
    retriever: GraphRetriever
    answerer: ExtractiveAnswerer
    chat: ChatModel | None = None
    quotes: QuoteStore | None = None
    judge: Reranker | None = None
    judge_model: ChatModel | None = None
    vision: VisionModel | None = None
    documents: DocumentReader | None = None
    tables: TableStore | None = None

    @property
    def judging(self) -> ChatModel | None:
        """Return the chat model that is asked for judgements."""
        return self.judge_model or self.chat

    def without_chat_models(self) -> Dependencies:
        """Return the dependencies for work by rules alone."""
        return replace(self, chat=None, judge_model=None)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The `runtime.context` of nodes."""

    choices: Context
    deps: Dependencies

    def top_k(self, state: State) -> int:
        """Return passages per search: the input's wish, else the run's choice, else the setting."""
        return state.top_k or self.choices.top_k or self.deps.settings.retrieval.top_k

    @property
    def may_ask(self) -> list[str]:
        """Return what a person may be asked about."""
        choices = self.choices
        if not choices.interrupts:
            return []
        return ["names", "cost", *(["sources"] if choices.approve_sources else [])]

    def for_effort(self, effort: str) -> RunContext:
        """Return the context for an effort: no refinement for `low`, the limits of a report for `high`."""
        if effort == "low":
            return replace(self, choices=self.choices.model_copy(update={"max_attempts": 0}))
        if effort == "high":
            return replace(self, deps=replace(self.deps, settings=self.deps.settings.for_report()))
        return self

    @property
    def max_attempts(self) -> int:
        """Return refinement rounds: the run's choice within the setting's bound."""
        bound = self.deps.settings.limits.max_attempts
        return bound if self.choices.max_attempts is None else min(bound, self.choices.max_attempts)


def scope_of(state: State, runtime: Runtime[RunContext]) -> Scope:
    """Return the user and the knowledge base of a run.

    A server's login outranks the input's `user_id`. The knowledge base is that in which the turn began.

    Raises:
        OptionInvalid: a name is empty or too long.
    """
    run, login = runtime.context, runtime.server_info and runtime.server_info.user
    given = login.identity if login else state.user_id
    user_id = run.deps.settings.user_id if given is None else given
    return Scope(user_id, state.chosen_graph or choose_graph(state, run))


def choose_graph(state: State, run: RunContext) -> str:
    """Return the knowledge base of a turn that begins: what the input names, else the run's choice."""
    return state.graph_id if state.graph_id != DEFAULT_GRAPH else run.choices.graph_id


class Backpressure:
    """Holds a run back until its events are read; `ahead` of them may wait."""

    def __init__(self, ahead: int) -> None:
        self._slots = asyncio.Semaphore(ahead)

    def set(self) -> None:
        """Apply it to runs begun in the current context."""
        _pace.set(self)

    def read(self) -> None:
        """Note that an event was read."""
        self._slots.release()

    async def wait(self) -> None:
        """Wait until one more event may be written."""
        await self._slots.acquire()


_pace: ContextVar[Backpressure | None] = ContextVar("pace", default=None)


async def wait_for_reader() -> None:
    """Wait until one more event of the answer may be written, if the run is held back at all."""
    if (pace := _pace.get()) is not None:
        await pace.wait()
