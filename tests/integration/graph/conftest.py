"""The workflow over a real PostgreSQL and a scripted OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
import pytest_asyncio

from sextant.domain.scope import Scope
from sextant.domain.settings import AnswerSettings
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.graph.dependencies import dependencies_over
from sextant.graph.workflow import Workflow, create_query_workflow
from sextant.models.chat.roles import ChatModels, Role
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import Script, ScriptedOpenAI
from sextant.testing.replies import EndpointPace, VirtualClock

PASSAGES = [
    CorpusPassage("symptoms", "典型症状", "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。"),
    CorpusPassage("insulin", "胰岛素", "胰岛素由胰腺的β细胞分泌，降低血糖。"),
    CorpusPassage("payment", "付款节点", "合同签订后支付 30%，终验合格后支付 15%。"),
    CorpusPassage("ownership", "Rust", "Each value in Rust has exactly one owner at a time."),
    CorpusPassage("weather", "Weather", "The weather in London was mild that week."),
]


@dataclass(frozen=True)
class Running:
    """A workflow and the endpoint that its chat model asks."""

    workflow: Workflow
    endpoint: ScriptedOpenAI
    scope: Scope

    def asking(self, query: str, **more: Any) -> dict[str, Any]:
        """Return the input that asks `query` of the filled knowledge base."""
        return {
            "query": query,
            "graph_id": self.scope.graph_id,
            "user_id": self.scope.user_id,
        } | more


JUDGED = AnswerSettings(judgements="always")
"""The chat model is asked at each step; what `auto` makes of it has tests of its own."""

RunningWith = Callable[..., AbstractAsyncContextManager[Running]]


@pytest_asyncio.fixture
async def filled(database: Database, scope: Scope) -> Scope:
    """Return a knowledge base with `PASSAGES`."""
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    return scope


@pytest.fixture
def running_with(database: Database, filled: Scope) -> RunningWith:
    """Start the workflow with a scripted chat model; without a script it has none."""

    @asynccontextmanager
    async def start(
        script: Script | None = None,
        *,
        pace: EndpointPace | None = None,
        clock: VirtualClock | None = None,
        **settings: Any,
    ) -> AsyncIterator[Running]:
        async with (
            ScriptedOpenAI(script or (), pace=pace, clock=clock) as endpoint,
            dependencies_over(database, HashEmbedder(384)) as offline,
        ):
            chosen = offline.settings.model_copy(
                update={"openai_base_url": endpoint.base_url, "model_retries": 0, "answers": JUDGED}
                | settings
            )
            if script is not None:
                chosen = chosen.model_copy(update={"chat_model": "scripted"})
            models = ChatModels(chosen)
            chat, vision = await models.get(Role.ANSWER), await models.vision()
            deps = replace(offline, settings=chosen, chat=chat, vision=vision)
            yield Running(create_query_workflow(dependencies=deps), endpoint, filled)
            await models.close()

    return start
