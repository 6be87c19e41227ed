"""Embeddings from an OpenAI-compatible endpoint over real TCP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sextant.domain.errors import ContextTooLong, ModelRejected, ModelUnavailable, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.models.embedding.remote import RemoteEmbedder
from sextant.testing.hash_embedder import hash_vector
from sextant.testing.openai_server import ScriptedOpenAI
from sextant.testing.replies import Reply, failing, rate_limited


async def test_passages_come_back_in_order_normalised_and_in_batches(settings_for: Any) -> None:
    texts = [f"第{number}段：糖尿病 {number}" for number in range(75)]
    async with ScriptedOpenAI(dimension=48) as server:
        embedder = RemoteEmbedder("scripted", settings_for(server))
        vectors = await embedder.embed_passages(texts)
        await embedder.close()
        sizes = sorted(len(request.body["input"]) for request in server.requests)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [hash_vector(text, 48) for text in texts], atol=1e-6)
    assert sizes == [11, 32, 32]


async def test_the_dimension_is_learnt_from_the_first_answer(settings_for: Any) -> None:
    async with ScriptedOpenAI(dimension=48) as server:
        embedder = RemoteEmbedder("scripted", settings_for(server))
        with pytest.raises(RuntimeError, match="warm_up"):
            _ = embedder.dimension
        await embedder.warm_up()
        await embedder.warm_up()
        assert embedder.dimension == 48
        assert (await embedder.embed_passages([])).shape == (0, 48)
        assert len(server.requests) == 1
        await embedder.close()


async def test_a_model_of_the_e5_family_gets_its_prefixes(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        embedder = RemoteEmbedder("intfloat/multilingual-e5-small", settings_for(server))
        await embedder.embed_query("血糖")
        await embedder.embed_passages(["血糖", ""])
        await embedder.close()
    sent = [request.body["input"] for request in server.requests]
    assert sent == [["query: 血糖"], ["passage: 血糖", "passage: "]]


async def test_transient_failures_are_tried_again_and_refusals_are_not(settings_for: Any) -> None:
    script = [rate_limited(0), Reply(), failing(401, "no")]
    async with ScriptedOpenAI(embeddings=script) as server:
        embedder = RemoteEmbedder("scripted", settings_for(server))
        await embedder.embed_query("a")
        with pytest.raises(ModelRejected) as caught:
            await embedder.embed_query("b")
        await embedder.close()
        assert len(server.requests) == 3
    assert "OPENAI_API_KEY" in caught.value.next_step


async def test_one_failed_batch_fails_the_whole_with_a_typed_error(settings_for: Any) -> None:
    def second_fails(request: Any) -> Reply:
        return failing(400, "Odd input.") if "text 40" in request.body["input"] else Reply()

    async with ScriptedOpenAI(embeddings=second_fails) as server:
        embedder = RemoteEmbedder("scripted", settings_for(server))
        with pytest.raises(ModelRejected, match="Odd input"):
            await embedder.embed_passages([f"text {number}" for number in range(64)])
        await embedder.close()


async def test_a_text_that_is_too_long_names_the_setting_of_chunks(settings_for: Any) -> None:
    long = failing(400, "This model's maximum context length is 512 tokens.")
    async with ScriptedOpenAI(embeddings=[long]) as server:
        embedder = RemoteEmbedder("m", settings_for(server))
        with pytest.raises(ContextTooLong) as error:
            await embedder.embed_query("text")
        await embedder.close()
    assert "SEXTANT_INGESTION__CHUNK_TOKENS" in error.value.next_step


async def test_an_endpoint_that_embeds_nothing_is_a_typed_error(settings_for: Any) -> None:
    async with ScriptedOpenAI() as server:
        settings = settings_for(server, openai_base_url=f"{server.base_url}/elsewhere")
        embedder = RemoteEmbedder("scripted", settings)
        with pytest.raises(ModelUnavailable) as caught:
            await embedder.embed_query("a")
        await embedder.close()
    assert "OPENAI_BASE_URL" in caught.value.next_step


async def test_a_silent_endpoint_is_left_after_the_time_limit_and_not_asked_again(
    settings_for: Any,
) -> None:
    async with ScriptedOpenAI(embeddings=[Reply(pause_after=0)]) as server:
        settings = settings_for(server, model_timeout=1, model_retries=2)
        embedder = RemoteEmbedder("scripted", settings)
        with pytest.raises(ModelUnavailable, match="in time") as caught:
            await embedder.warm_up()
        assert caught.value.in_language("zh") == (
            "嵌入模型 scripted 未能及时回答。请调高 SEXTANT_MODEL_TIMEOUT，或检查模型服务的负载。"
        )
        await server.wait_for_disconnects(1)
        assert len(server.requests) == 1
        await embedder.close()


async def test_a_question_waits_half_a_lane_for_a_silent_endpoint_and_the_next_not_at_all(
    settings_for: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedOpenAI() as server:
        embedder = RemoteEmbedder("scripted", settings_for(server))
        with monkeypatch.context() as patch:
            patch.setattr(embedder, "_patience", 0.0)
            with pytest.raises(ModelUnavailable, match="did not answer in time") as caught:
                await embedder.embed_query("a")
        assert "SEXTANT_RETRIEVAL__LANE_TIMEOUT" in caught.value.next_step
        assert embedder.is_silent
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            await embedder.embed_query("b")
        await embedder.embed_passages(["A document waits, and finds it awake."])
        assert not embedder.is_silent
        await embedder.embed_query("c")
        sent = [request.body["input"] for request in server.requests]
        await embedder.close()
    assert ["b"] not in sent
    assert ["c"] in sent


def test_an_endpoint_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SettingsInvalid, match="no endpoint"):
        RemoteEmbedder("scripted", Settings(_env_file=None))
