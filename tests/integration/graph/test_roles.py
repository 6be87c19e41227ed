"""An answer whose judgements come from another model than its text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from sextant.domain.answers import Trust
from sextant.domain.scope import Scope
from sextant.domain.settings import AnswerSettings, ModelSettings, RoleSettings
from sextant.facade.sextant import Sextant
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json
from tests.provider_servers import ScriptedOllama

QUESTION = "糖尿病患者的主要症状是什么？"
ANSWER = "主要症状是多饮、多尿、多食和体重下降[1]。"
VERDICT = {"question": QUESTION, "relevant": [1], "sufficient": True, "missing": "", "queries": [], "scores": [9, 1]}  # fmt: skip


@asynccontextmanager
async def asking(
    database: Database, scope: Scope, *, given: Any = None, **settings: Any
) -> AsyncIterator[Sextant]:
    common = {"model_retries": 0, "user_id": scope.user_id}
    always = {"answers": AnswerSettings(judgements="always")}
    chosen = database.settings.model_copy(update=common | always | settings)
    embedder: Any = HashEmbedder(384)
    async with Sextant.open(chosen, embedder=embedder, chat=given) as rag:
        yield rag


@pytest.mark.parametrize("is_useful", [True, False])
async def test_judgements_go_to_the_judge_and_the_text_comes_from_the_answers_model(
    is_useful: bool, database: Database, filled: Scope
) -> None:
    def judged(_: ApiRequest) -> Reply:
        return as_json(VERDICT) if is_useful else Reply("Hm, let me see.")

    async with ScriptedOpenAI(lambda _: ANSWER) as large, ScriptedOllama(judged) as small:
        judge = ModelSettings(name="ollama:qwen3:4b", base_url=small.base_url)
        async with asking(
            database,
            filled,
            chat_model="large",
            openai_base_url=large.base_url,
            reranker="llm",
            models=RoleSettings(judge=judge),
        ) as rag:
            answer = await rag.query(QUESTION, graph_id=filled.graph_id, mode="naive")
    assert (answer.model, answer.trust) == ("large", Trust.SUPPORTED)
    assert [request.wants_json for request in large.chat_requests] == [False]
    assert len(small.requests) >= 2
    assert answer.usage.calls == len(large.chat_requests) + len(small.requests)
    assert bool(answer.warnings) is not is_useful
    by_model = answer.usage.models
    assert by_model.keys() == {"large", "qwen3:4b"}
    for kind in ("prompt_tokens", "completion_tokens"):
        total = getattr(answer.usage, kind)
        assert sum(used[kind] for used in by_model.values()) == total > 0


async def test_a_judge_that_is_away_leaves_the_answers_model_its_answer(
    database: Database, filled: Scope
) -> None:
    async with ScriptedOpenAI(lambda _: ANSWER) as large:
        judge = ModelSettings(name="small", base_url="http://127.0.0.1:9/v1")
        async with asking(
            database,
            filled,
            chat_model="large",
            openai_base_url=large.base_url,
            models=RoleSettings(judge=judge),
        ) as rag:
            answer = await rag.query(QUESTION, graph_id=filled.graph_id, mode="naive")
    assert (answer.model, answer.trust) == ("large", Trust.SUPPORTED)
    assert "small" in " ".join(answer.warnings)


async def test_a_judge_alone_judges_and_the_documents_are_quoted(
    database: Database, filled: Scope
) -> None:
    async with ScriptedOpenAI(lambda _: as_json(VERDICT)) as small:
        judge = ModelSettings(name="small", base_url=small.base_url)
        async with asking(database, filled, models=RoleSettings(judge=judge)) as rag:
            answer = await rag.query(QUESTION, graph_id=filled.graph_id, mode="naive")
    assert (answer.model, answer.trust) == ("extractive", Trust.QUOTED)
    assert small.chat_requests


class Reluctant(FakeListChatModel):
    """Has no use for streams, and raises where LangChain's class would help."""

    def _stream(self, *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        raise NotImplementedError

    def with_structured_output(self, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        raise NotImplementedError
        yield ChatGenerationChunk(message=AIMessageChunk(content=""))


class InBlocks(FakeListChatModel):
    """Answers in a list of blocks, of which the first is a thought."""

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        for block in (
            {"type": "thinking", "thinking": "It says so.", "signature": "c2ln"},
            {"type": "text", "text": ANSWER},
        ):
            yield ChatGenerationChunk(message=AIMessageChunk(content=[block]))


async def test_any_langchain_model_is_given_by_role(database: Database, filled: Scope) -> None:
    for model in (Reluctant, InBlocks, FakeListChatModel):
        given = {
            "answer": model(responses=[ANSWER]),
            "judge": Reluctant(responses=[as_json(VERDICT).text]),
        }
        async with asking(database, filled, given=given) as rag:
            answer = await rag.query(QUESTION, graph_id=filled.graph_id, mode="naive")
        assert answer.answer.startswith(ANSWER[:10]), model
        assert (answer.model, answer.trust) == (model.__name__, Trust.SUPPORTED)
        assert "says so" not in answer.answer


async def test_one_given_model_judges_and_writes(database: Database, filled: Scope) -> None:
    model = Reluctant(responses=[as_json(VERDICT).text, as_json(VERDICT).text, ANSWER])
    async with asking(database, filled, given=model) as rag:
        answer = await rag.query(QUESTION, graph_id=filled.graph_id, mode="naive")
    assert answer.model == "Reluctant"
    assert answer.usage.calls == 3


async def test_work_by_rules_alone_has_no_chat_model_of_any_role(
    database: Database, filled: Scope
) -> None:
    given = {role: FakeListChatModel(responses=["x"]) for role in ("answer", "judge")}
    async with asking(database, filled, given=given) as rag:
        several = await rag.dependencies()
    async with asking(database, filled, given=given["answer"]) as rag:
        one = await rag.dependencies()
    assert several.judging is several.judge_model is not None
    assert (one.judging, one.judge_model) == (one.chat, None)
    for dependencies in (several, one):
        without = dependencies.without_chat_models()
        assert without.chat is without.judging is None
