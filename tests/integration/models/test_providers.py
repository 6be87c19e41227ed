"""Chat models of other providers, by LangChain's packages, against endpoints that speak their wires."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ContextTooLong,
    ModelOutputInvalid,
    ModelRejected,
    ModelUnavailable,
    SextantError,
)
from sextant.domain.settings import ModelSettings, RoleSettings, Settings
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.roles import ChatModels, Role
from sextant.models.chat.structured import ModelReply
from sextant.testing.openai_server import ApiRequest, Script, ScriptedOpenAI
from sextant.testing.replies import (
    Reply,
    as_json,
    broken_after,
    empty,
    endless,
    failing,
    rate_limited,
    silent_after,
)
from tests.pictures import picture
from tests.provider_servers import (
    ScriptedAnthropic,
    ScriptedGoogle,
    ScriptedOllama,
    ScriptedProvider,
)

ASK = [("system", "Be short."), ("user", "How many owners can a value have?")]
KEY = "key-that-nobody-else-may-see"

SERVERS: dict[str, Callable[..., ScriptedProvider | ScriptedOpenAI]] = {
    "anthropic": ScriptedAnthropic,
    "azure_openai": ScriptedOpenAI,
    "deepseek": ScriptedOpenAI,
    "google_genai": ScriptedGoogle,
    "mistralai": ScriptedOpenAI,
    "ollama": ScriptedOllama,
    "openai": ScriptedOpenAI,
}
providers = pytest.mark.parametrize("provider", SERVERS)


@asynccontextmanager
async def asking(
    provider: str, script: Script, *, seconds: float = 60.0, **options: Any
) -> AsyncIterator[tuple[ScriptedProvider | ScriptedOpenAI, ChatModel]]:
    async with SERVERS[provider](script, api_key=options.pop("accepted", None)) as server:
        base_url = server.base_url
        if provider == "azure_openai":
            base_url = base_url.removesuffix("/v1")
            options["extra_body"] = options.get("extra_body", {}) | {"api_version": "2024-10-21"}
        named = ModelSettings(
            name=f"{provider}:model-1",
            base_url=base_url,
            api_key=SecretStr(options.pop("api_key", KEY)),
            **options,
        )
        settings = Settings(
            _env_file=None,
            model_retries=0,
            model_timeout=seconds,
            models=RoleSettings(answer=named),
        )
        models = ChatModels(settings)
        chat = await models.get(Role.ANSWER)
        assert chat is not None
        yield server, chat
        await models.close()


async def streamed(chat: ChatModel) -> tuple[str, Usage]:
    *pieces, usage = [piece async for piece in chat.stream(ASK)]
    assert isinstance(usage, Usage)
    return "".join(map(str, pieces)), usage


@providers
async def test_an_answer_comes_without_its_thought_and_with_its_tokens(provider: str) -> None:
    reply = Reply("One owner [1].", thought="The passage says so. ")
    async with asking(provider, lambda _: reply, accepted=KEY) as (server, chat):
        whole = await chat.complete(ASK)
        text, usage = await streamed(chat)
        assert whole.text == text == "One owner [1]."
        assert whole.usage.completion_tokens == usage.completion_tokens > 0
        assert server.requests[0].body["model"] == "model-1" == chat.name
        assert not whole.usage.truncated


@providers
async def test_a_cut_answer_is_known_to_be_cut(provider: str) -> None:
    async with asking(provider, lambda _: Reply("One own", finish_reason="length")) as (_, chat):
        assert (await chat.complete(ASK)).usage.truncated
        assert (await streamed(chat))[1].truncated


FAILURES: list[tuple[Reply, tuple[type[SextantError], bool, str]]] = [
    (failing(401, f"The key {KEY} is wrong."), (ModelRejected, False, "API_KEY")),
    (failing(403, f"{KEY} may not."), (ModelRejected, False, "API_KEY")),
    (failing(404, "There is no model-1."), (ModelRejected, False, "SEXTANT_MODELS__ANSWER__NAME")),
    (failing(400, f"A field is wrong ({KEY})."), (ModelRejected, False, "A field is wrong")),
    (rate_limited(7), (ModelUnavailable, True, "429")),
    (failing(500), (ModelUnavailable, True, "500")),
    (failing(529, "Overloaded"), (ModelUnavailable, True, "529")),
    (
        failing(400, "prompt is too long: 9000 tokens > 8000 maximum"),
        (ContextTooLong, False, "SEXTANT_LIMITS__CONTEXT_TOKENS"),
    ),
    (
        failing(400, "This model's maximum context length is 8000 tokens."),
        (ContextTooLong, False, "SEXTANT_LIMITS__CONTEXT_TOKENS"),
    ),
    (broken_after(2), (ModelUnavailable, True, "SEXTANT_MODELS__ANSWER__BASE_URL")),
    (empty(), (ModelOutputInvalid, True, "nothing")),
    (Reply("", finish_reason="content_filter"), (ModelOutputInvalid, True, "filter")),
]


@providers
@pytest.mark.parametrize(("reply", "expected"), FAILURES)
@pytest.mark.parametrize("how", ["whole", "streamed"])
async def test_a_failure_is_the_same_typed_error_whoever_the_provider_is(
    provider: str,
    how: str,
    reply: Reply,
    expected: tuple[type[SextantError], bool, str],
    *,
    caplog: pytest.LogCaptureFixture,
) -> None:
    kind, retryable, named = expected
    async with asking(provider, lambda _: reply) as (_, chat):
        with pytest.raises(kind) as caught:
            await (chat.complete(ASK) if how == "whole" else streamed(chat))
    error = caught.value
    assert type(error) is kind
    assert error.retryable is retryable
    for language in ("en", "zh"):
        said = " ".join(error.wording(language))
        assert KEY not in said
        assert "model-1" in said
    assert named in str(error)
    assert KEY not in caplog.text


@providers
async def test_silence_and_an_absent_server_are_told_apart(provider: str) -> None:
    async with asking(provider, lambda _: silent_after(0), seconds=0.5) as (server, chat):
        with pytest.raises(ModelUnavailable, match="SEXTANT_MODEL_TIMEOUT") as caught:
            await streamed(chat)
        assert not caught.value.unreachable
        await server.wait_for_disconnects(1)
        await server.__aexit__(None, None, None)
        with pytest.raises(ModelUnavailable) as caught:
            await chat.complete(ASK)
        assert caught.value.unreachable


@providers
async def test_a_reader_who_leaves_stops_the_model(provider: str) -> None:
    script: list[Reply | str] = [*["One owner."] * 3, endless()]
    async with asking(provider, script) as (server, chat):
        for _ in range(3):
            await streamed(chat)
        async with aclosing(chat.stream(ASK)) as pieces:  # type: ignore[type-var]
            await anext(pieces)
        await server.wait_for_disconnects(1)


class Verdict(ModelReply):
    relevant: list[int]


@providers
async def test_judgements_are_read_from_any_provider(provider: str) -> None:
    async with asking(provider, lambda _: as_json({"relevant": [1, 3]})) as (server, chat):
        reply, usage = await chat.structured(ASK, Verdict)
        assert reply.relevant == [1, 3]
        assert usage.calls == 1
        assert '"relevant": {"type": "array"' in json.dumps(dict(server.requests[0].body))


@pytest.mark.parametrize("provider", ["anthropic", "mistralai", "ollama"])
async def test_a_schema_that_is_refused_is_asked_for_in_words_from_then_on(provider: str) -> None:
    def reply(request: ApiRequest) -> Reply:
        config = request.body.get("output_config", {})
        is_bound = "format" in request.body or "response_format" in request.body or config
        return (
            failing(400, "This model takes no schema.") if is_bound else as_json({"relevant": [2]})
        )

    async with asking(provider, reply) as (server, chat):
        first, usage = await chat.structured(ASK, Verdict)
        second, _ = await chat.structured(ASK, Verdict)
    assert (first.relevant, second.relevant, usage.calls) == ([2], [2], 2)
    assert len(server.requests) == 3


@providers
async def test_pictures_are_shown_to_any_provider(provider: str) -> None:
    from sextant.models.chat.pictures import PictureLimits, VisionModel, read_picture

    shown = read_picture(picture("red"), PictureLimits())
    async with asking(provider, lambda _: "A red square.") as (server, chat):
        said = await VisionModel(chat).describe(shown, [("system", "Look."), ("user", "What?")])
        assert said.text == "A red square."
        # Google's base64 is that of addresses.
        sent = str(server.requests[0].body).replace("_", "/").replace("-", "+")
        assert shown.data_uri.partition(",")[2].replace("_", "/").replace("-", "+") in sent


PARAMETERS: dict[str, dict[str, Any]] = {
    "anthropic": {"max_tokens": 50, "temperature": 0.5, "top_k": 3},
    "azure_openai": {"max_tokens": 50, "temperature": 0.5, "reasoning_effort": "low", "top_k": 3},
    "deepseek": {"max_tokens": 50, "temperature": 0.5, "reasoning_effort": "low", "top_k": 3},
    "google_genai": {"maxOutputTokens": 50, "temperature": 0.5, "topK": 3},
    "mistralai": {"max_tokens": 50, "temperature": 0.5, "top_k": 3},
    "ollama": {"num_predict": 50, "temperature": 0.5, "top_k": 3, "num_ctx": 16384},
    "openai": {"max_tokens": 50, "temperature": 0.5, "reasoning_effort": "low", "top_k": 3},
}


@providers
async def test_parameters_reach_the_request_under_the_providers_own_names(provider: str) -> None:
    extra = {"top_k": 3} | ({"num_ctx": 16384} if provider == "ollama" else {})
    effort = {"reasoning_effort": "low"} if "reasoning_effort" in PARAMETERS[provider] else {}
    options: dict[str, Any] = {"max_tokens": 50, "temperature": 0.5, "extra_body": extra, **effort}
    async with asking(provider, lambda _: "One.", **options) as (server, chat):
        await chat.complete(ASK)
        await streamed(chat)
    for request in server.requests:
        sent = request.body | request.body.get("options", request.body.get("generationConfig", {}))
        assert PARAMETERS[provider].items() <= sent.items()


@pytest.mark.parametrize("provider", ["azure_openai", "deepseek"])
async def test_the_name_of_the_token_limit_is_learnt_of_openais_family(provider: str) -> None:
    def reply(request: ApiRequest) -> Reply:
        is_refused = "max_tokens" in request.body
        return failing(400, "max_tokens is not supported.") if is_refused else Reply("One.")

    async with asking(provider, reply) as (server, chat):
        assert (await chat.complete(ASK)).text == "One."
    assert server.requests[-1].body["max_completion_tokens"] == 2000


async def test_anthropic_and_ollama_are_asked_to_think_by_their_own_fields() -> None:
    async with asking("anthropic", lambda _: "One.", reasoning_effort="low") as (server, chat):
        await chat.complete(ASK)
    assert server.requests[0].body["output_config"]["effort"] == "low"
    async with asking("ollama", lambda _: "One.", reasoning_effort="low") as (server, chat):
        await chat.complete(ASK)
    assert server.requests[0].body["think"] == "low"


async def test_roles_ask_their_own_models_and_equal_ones_are_shared() -> None:
    async with ScriptedOllama(lambda _: "judged") as local, ScriptedOpenAI(["written"]) as hosted:
        settings = Settings(
            _env_file=None,
            chat_model="large",
            openai_base_url=hosted.base_url,
            openai_api_key=SecretStr(KEY),
            models=RoleSettings(
                judge=ModelSettings(name="ollama:qwen3:4b", base_url=local.base_url),
            ),
        )
        models = ChatModels(settings)
        answer, judge = await models.get(Role.ANSWER), await models.get(Role.JUDGE)
        assert answer is not None
        assert judge is not None
        assert (await judge.complete(ASK)).text == "judged"
        assert (await answer.complete(ASK)).text == "written"
        assert await models.get(Role.EXTRACT) is answer
        assert await models.vision() is None
        await models.close()
        assert local.requests[0].body["model"] == "qwen3:4b"
        assert KEY not in str(local.requests[0].headers)
        assert hosted.requests[0].headers["authorization"] == f"Bearer {KEY}"
