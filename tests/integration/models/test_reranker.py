"""Reranking through an HTTP endpoint in the shape that Cohere, Jina and vLLM share."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.errors import ModelRejected, ModelUnavailable
from sextant.models.endpoint import Endpoint
from sextant.models.reranker import build_reranker
from sextant.testing.openai_server import ScriptedOpenAI
from sextant.testing.replies import Reply, failing, rate_limited

TEXTS = ["雨天的菜谱", "糖尿病的主要症状", "糖尿病的治疗"]


async def test_every_text_is_scored_in_its_own_place(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        url = f"{server.base_url}/rerank#bge-reranker"
        reranker = build_reranker(settings_for(server, reranker=url, reranker_api_key="rr-key"))
        assert reranker is not None
        scores = await reranker.score("糖尿病的主要症状是什么？", TEXTS)
        request = server.requests[0]
    assert reranker.name == "bge-reranker"
    assert len(scores) == 3
    assert scores.index(max(scores)) == 1
    assert scores.index(min(scores)) == 0
    assert request.body["model"] == "bge-reranker"
    assert request.headers["authorization"] == "Bearer rr-key"


async def test_the_key_of_the_chat_endpoint_is_not_sent_to_the_reranker(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        reranker = build_reranker(settings_for(server, reranker=f"{server.base_url}/rerank"))
        assert reranker is not None
        await reranker.score("q", TEXTS)
        assert "authorization" not in server.requests[0].headers


async def test_nothing_is_asked_when_there_is_nothing_to_score(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        reranker = build_reranker(settings_for(server, reranker=f"{server.base_url}/rerank"))
        assert reranker is not None
        assert await reranker.score("q", []) == []
        assert server.requests == []


async def test_many_texts_go_in_several_requests_and_keep_their_places(settings_for: Any) -> None:
    texts = [f"text {number}" for number in range(70)]
    async with ScriptedOpenAI() as server:
        reranker = build_reranker(settings_for(server, reranker=f"{server.base_url}/rerank"))
        assert reranker is not None
        scores = await reranker.score("text 69", texts)
        sizes = [len(request.body["documents"]) for request in server.requests]
    assert sorted(sizes) == [6, 32, 32]
    assert scores.index(max(scores)) == 69


async def test_failures_are_retried_or_typed(settings_for: Any) -> None:
    script = [rate_limited(0), Reply(), failing(404, "No such model.")]
    async with ScriptedOpenAI(rerank=script) as server:
        reranker = build_reranker(settings_for(server, reranker=f"{server.base_url}/rerank"))
        assert reranker is not None
        assert len(await reranker.score("q", TEXTS)) == 3
        with pytest.raises(ModelRejected, match="No such model") as caught:
            await reranker.score("q", TEXTS)
    assert "SEXTANT_RERANKER" in caught.value.next_step


async def test_an_endpoint_of_another_kind_is_a_typed_error(settings_for: Any) -> None:
    async with ScriptedOpenAI(lambda _: "I am a chat model.") as server:
        url = f"{server.base_url}/chat/completions"
        reranker = build_reranker(settings_for(server, reranker=url))
        assert reranker is not None
        with pytest.raises(ModelUnavailable, match="does not score every passage once"):
            await reranker.score("q", TEXTS)


@pytest.mark.parametrize(
    "places", [[0, 1], [0, 1, 2, 2], [0, 1, 2, 3], [-1, 0, 1], ["0", "1", "2"]]
)
async def test_scores_that_do_not_go_with_the_passages_one_by_one_are_none(
    settings_for: Any, monkeypatch: pytest.MonkeyPatch, places: list[Any]
) -> None:
    """Of two scores for one passage nobody knows which is meant."""

    async def answer(*_: object) -> object:
        return {"results": [{"index": place, "relevance_score": 0.5} for place in places]}

    async with ScriptedOpenAI() as server:
        reranker = build_reranker(settings_for(server, reranker=f"{server.base_url}/rerank"))
    monkeypatch.setattr(Endpoint, "post", answer)
    assert reranker is not None
    with pytest.raises(ModelUnavailable, match="does not score every passage once"):
        await reranker.score("q", TEXTS)
