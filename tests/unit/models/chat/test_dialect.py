"""What a request to an OpenAI-compatible endpoint carries, and what is learnt of a refused one."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from openai import BadRequestError
from pydantic import SecretStr

from sextant.domain.settings import LimitSettings, Settings
from sextant.models.chat import endpoint_memory
from sextant.models.chat.chat_model import as_chat_model
from sextant.models.chat.dialect import Dialect
from sextant.models.chat.endpoint_memory import EndpointMemory, RequestForm
from sextant.models.chat.factory import build_chat_model
from sextant.models.chat.structured import ModelReply

OPENAI = "https://api.openai.com/v1"
COMPATIBLE = "http://127.0.0.1:9/v1"


class Route(ModelReply):
    mode: str


@pytest.fixture(autouse=True)
def nothing_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_memory, "MEMORY", EndpointMemory())


def built(base_url: str) -> ChatOpenAI:
    settings = Settings(
        _env_file=None,
        chat_model="qwen",
        openai_base_url=base_url,
        openai_api_key="k",
        limits=LimitSettings(answer_tokens=321),
    )
    chat = build_chat_model(settings)
    assert chat is not None
    assert isinstance(chat.llm, ChatOpenAI)
    return chat.llm


def sent(llm: ChatOpenAI, options: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a request, as LangChain and OpenAI's client put it together."""
    payload: dict[str, Any] = llm._get_request_payload([HumanMessage("?")], **options)
    return {key: value for key, value in payload.items() if key != "extra_body"} | (
        payload.get("extra_body") or {}
    )


def refusing(message: str, param: str | None = None) -> BadRequestError:
    response: Any = SimpleNamespace(status_code=400, request=None, headers={})
    return BadRequestError(
        message, response=response, body={"message": message, "param": param, "code": None}
    )


@pytest.mark.parametrize(
    ("base_url", "name"), [(OPENAI, "max_completion_tokens"), (COMPATIBLE, "max_tokens")]
)
def test_every_call_carries_the_token_limit_by_the_endpoints_name(base_url: str, name: str) -> None:
    llm = built(base_url)
    known = Dialect(llm, 321)
    form = known.form
    calls = (
        known.json_options(Route, form),
        known.json_options(Route, RequestForm(1, limits=form.limits)),
        known.json_options(Route, RequestForm(2, limits=form.limits)),
        known.text_options(form),
    )
    for options in calls:
        body = sent(llm, options)
        limits = {key: value for key, value in body.items() if key.startswith("max_")}
        assert limits == {name: 321}
    assert sent(llm, calls[0])["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("base_url", "message", "other"),
    [
        (
            COMPATIBLE,
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "max_completion_tokens",
        ),
        (OPENAI, "Extra inputs are not permitted: max_completion_tokens", "max_tokens"),
    ],
)
def test_a_refused_name_of_the_limit_is_replaced_by_the_other(
    base_url: str, message: str, other: str
) -> None:
    llm = built(base_url)
    known = Dialect(llm, 321)
    begun = known.form
    options = known.json_options(Route, begun)
    form = known.lesser(refusing(message), options, begun)
    assert form is not None
    known.worked(form, begun)
    later = Dialect(llm, 321)
    body = sent(llm, later.json_options(Route, later.form))
    assert {key: value for key, value in body.items() if key.startswith("max_")} == {other: 321}
    assert body["response_format"]["type"] == "json_schema"


def test_an_endpoint_that_refuses_both_names_is_asked_with_neither() -> None:
    known = Dialect(built(COMPATIBLE), 321)
    form: RequestForm | None = known.form
    for name in ("max_tokens", "max_completion_tokens"):
        assert form is not None
        form = known.lesser(refusing("Unknown field.", param=name), known.text_options(form), form)
    assert form is not None
    assert known.text_options(form) == {"stream_usage": True}


def test_a_prompt_that_is_too_long_is_no_matter_of_the_limits_name() -> None:
    known = Dialect(built(COMPATIBLE), 321)
    error = refusing("max_tokens: this model's maximum context length is 4096 tokens.")
    assert known.lesser(error, known.text_options(known.form), known.form) is None


def test_a_models_own_body_and_limit_stay_as_they_are() -> None:
    own = ChatOpenAI(model="x", api_key=SecretStr("k"), extra_body={"top_k": 5, "max_tokens": 77})
    body = sent(own, Dialect(own, 321).json_options(Route, RequestForm()))
    assert (body["top_k"], body["max_tokens"]) == (5, 77)
    assert "response_format" in body
    assert 321 not in body.values()


def test_of_a_callers_own_model_calls_for_json_are_limited() -> None:
    own = ChatOpenAI(model="x", api_key=SecretStr("k"), base_url=COMPATIBLE)
    known = as_chat_model(own).dialect
    assert sent(own, known.json_options(Route, known.form))["max_tokens"] == 2000
    assert "max_tokens" not in sent(own, known.text_options(known.form))


async def test_what_is_learnt_of_thoughts_outlasts_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "endpoints.json"

    def begin_process() -> Dialect:
        memory = EndpointMemory()
        memory.remember_in(file)
        monkeypatch.setattr(endpoint_memory, "MEMORY", memory)
        return Dialect(built(COMPATIBLE), 1)

    one = begin_process()
    assert one.known.thinks_unopened is None
    one.known.thinks_unopened = True
    await one.save_news()
    assert one.known.thinks_unopened is True
    assert begin_process().known.thinks_unopened is True
    file.write_text("no JSON")
    assert begin_process().known.thinks_unopened is None


async def test_the_file_is_written_only_where_something_was_learnt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, saved = EndpointMemory(), list[tuple[str, str]]()
    memory.remember_in(tmp_path / "endpoints.json")
    save = memory.save

    def noting(endpoint: str, model: str) -> None:
        saved.append((endpoint, model))
        save(endpoint, model)

    monkeypatch.setattr(memory, "save", noting)
    monkeypatch.setattr(endpoint_memory, "MEMORY", memory)
    for _ in range(3):
        one = Dialect(built(COMPATIBLE), 1)
        one.known.thinks_unopened = True
        await one.save_news()
    assert saved == [(COMPATIBLE, "qwen")]


def test_the_file_may_say_that_a_model_never_thinks_and_a_count_in_it_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, memory = tmp_path / "endpoints.json", EndpointMemory()
    file.write_text(json.dumps({COMPATIBLE: {"a": 1, "b": False, "c": True}}))
    memory.remember_in(file)
    known = {model: memory.of(COMPATIBLE, model).thinks_unopened for model in "abc"}
    assert known == {"a": None, "b": False, "c": True}


def test_openai_keeps_thoughts_apart() -> None:
    assert Dialect(built(OPENAI), 1).known.thinks_unopened is False


async def test_what_is_learnt_of_speed_length_and_refusals_outlasts_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_process() -> Dialect:
        memory = EndpointMemory()
        memory.remember_in(tmp_path / "endpoints.json")
        monkeypatch.setattr(endpoint_memory, "MEMORY", memory)
        return Dialect(built(COMPATIBLE), 2000)

    one = begin_process()
    one.known.speed.observe_stream(prompt=2000, shown=100, written=100, first=25.0, rest=12.5)
    one.worked(RequestForm(json_format=1, temperature=False), RequestForm())
    await one.learn_refused_length(refusing("maximum context length is 3072 tokens."), 2500)
    other = begin_process()
    assert (other.known.speed.prompt, other.known.speed.answer) == (80, 8)
    assert (other.form.json_format, other.form.temperature) == (1, False)
    assert other.known.context is not None
    assert (other.known.context.tokens, other.known.context.is_cut) == (3072, False)
    assert other.text_options(other.form)["extra_body"] == {"max_tokens": 1024}


REFUSALS = {
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.": 4096,
    "the request exceeds the available context size (2048 tokens), try increasing it": 2048,
    "Requested tokens (2285) exceed context window of 2048": 2048,
    "prompt is too long: 208310 tokens > 200000 maximum": 200_000,
    "the request exceeds the available context size. try increasing the context size": 2000,
    "This model's maximum context length is 3 tokens. However, your request has 8 input tokens.": 2000,
}


@pytest.mark.parametrize("message", REFUSALS)
async def test_the_length_of_a_context_is_read_from_a_refusal_or_taken_for_half(
    message: str,
) -> None:
    known = Dialect(built(COMPATIBLE), 1000)
    await known.learn_refused_length(refusing(message), 3000)
    assert known.known.context is not None
    assert known.known.context.tokens == REFUSALS[message]


def test_a_prompt_that_was_read_by_less_than_half_was_cut_until_more_is_read() -> None:
    known = Dialect(built(COMPATIBLE), 1000)
    assert not known.learn_read(300, 500), "too short to tell from another tokenizer"
    assert not known.learn_read(3000, 4000)
    assert not known.learn_read(1, 4000), "a count that nobody made"
    assert known.known.context is None
    assert known.learn_read(4096, 9000)
    assert known.known.context is not None
    assert (known.known.context.tokens, known.known.context.is_cut) == (4096, True)
    assert not known.learn_read(6000, 6000)
    assert known.known.context is None
