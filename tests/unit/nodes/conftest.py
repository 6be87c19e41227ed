"""Nodes as plain functions: a scripted chat model, a scripted retriever, and what was streamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.runtime import Runtime
from pydantic import Field

from sextant.domain.retrieval import ItemKind, LaneScore, Mode, Retrieval, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.settings import AnswerSettings, Settings
from sextant.domain.warnings import CodedWarning
from sextant.models.chat.chat_model import ChatModel, as_chat_model
from sextant.nodes.context import Context, Dependencies, RunContext

JUDGED = AnswerSettings(judgements="always")
"""A chat model is asked at each step; what `auto` makes of it has tests of its own."""


def item(text: str, name: str = "a.md", score: float = 0.8, start: int = 0) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.CHUNK,
        id=name,
        text=text,
        score=score,
        document_id=f"document of {name}",
        lanes={"vector": LaneScore(1, score)},
        metadata={"filename": name, "title": name, "start": start, "section_path": ("一", "二")},
    )


def chat(*replies: str) -> ChatModel:
    """Return a chat model that says `replies` in turn, and fails when asked beyond them."""
    return as_chat_model(GenericFakeChatModel(messages=iter(map(AIMessage, replies))))


class ListeningModel(GenericFakeChatModel):
    """Says its messages in turn, and keeps what it was asked."""

    heard: list[str] = Field(default_factory=list[str])

    def _generate(self, messages: list[BaseMessage], *given: Any, **options: Any) -> ChatResult:
        self.heard.append("\n".join(str(message.content) for message in messages))
        return super()._generate(messages, *given, **options)


@dataclass
class ScriptedRetriever:
    """Finds `rounds[n]` in the nth search, the last one from then on; keeps what it was asked."""

    rounds: Sequence[Sequence[RetrievedItem]]
    warnings: tuple[CodedWarning, ...] = ()
    error: Exception | None = None
    searches: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    lanes: tuple[str, ...] = ("vector", "keyword")
    around: tuple[RetrievedItem, ...] = ()
    names: tuple[str, ...] = ()

    async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
        if self.error:
            raise self.error
        found = self.rounds[min(len(self.searches), len(self.rounds) - 1)]
        self.searches.append({"scope": scope, "query": query, **options})
        return Retrieval(
            tuple(found),
            Mode.NAIVE,
            graph_items=self.around,
            coded_warnings=self.warnings,
            timings={"total": 1.0},
        )

    async def known_names(self, _scope: Scope, text: str) -> list[str]:
        return [name for name in self.names if name in text]


@dataclass
class Bench:
    """Everything a node run needs, and everything it streamed."""

    deps: Dependencies
    runtime: Runtime[RunContext]
    streamed: list[dict[str, Any]]

    def types(self) -> list[str]:
        return [event["type"] for event in self.streamed]


Build = Callable[..., Bench]


@pytest.fixture
def bench() -> Build:
    """Build a bench: `bench(retriever=…, chat=…, **choices)`."""

    def build(
        *,
        retriever: ScriptedRetriever | None = None,
        chat: ChatModel | None = None,
        answerer: Any = None,
        settings: Settings | None = None,
        **choices: Any,
    ) -> Bench:
        found = retriever or ScriptedRetriever([[]])
        deps = Dependencies(
            settings or Settings(_env_file=None, answers=JUDGED), cast("Any", found), answerer, chat
        )
        streamed: list[dict[str, Any]] = []
        context = RunContext(Context(**choices), deps)
        return Bench(deps, Runtime(context=context, stream_writer=streamed.append), streamed)

    return build
