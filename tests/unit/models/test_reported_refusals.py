"""What endpoints refuse a request with, by public reports of other projects."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from openai import APIStatusError

from sextant.domain.errors import ContextTooLong, ModelRejected, ModelUnavailable, SextantError
from sextant.models.endpoint import InsecureRedirect, check_redirect
from sextant.models.failures import Service, as_sextant_error, is_transient, retry_after

SERVICE = Service("chat model m", "THE_MODEL", "THE_KEY", "THE_URL", "THE_TIMEOUT")


def refused(status: int, body: object) -> Any:
    """Return the error of OpenAI's client."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    request = httpx.Request("POST", "http://127.0.0.1/v1")
    response: Any = httpx.Response(status, text=text, request=request)
    inner = body.get("error", body) if isinstance(body, dict) else body
    message = body if isinstance(body, str) else f"Error code: {status} - {body}"
    return APIStatusError(message, response=response, body=inner)


TOO_LONG = {
    "groq": (
        413,
        {
            "error": {
                "message": "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    "openai tpm": (
        429,
        {
            "error": {
                "message": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.",
                "type": "tokens",
                "code": "rate_limit_exceeded",
            }
        },
    ),
    "github": (
        413,
        {
            "error": {
                "code": "tokens_limit_reached",
                "message": "Request body too large for gpt-4.1 model. Max size: 8000 tokens.",
            }
        },
    ),
    "siliconflow": (
        400,
        {
            "code": 20015,
            "message": "length of prompt_tokens (48322) must be less than max_seq_len (32768).",
            "data": None,
        },
    ),
    "vllm old": (
        400,
        {
            "object": "error",
            "message": "The decoder prompt (length 21535) is longer than the maximum model length of 16384",
            "code": 400,
        },
    ),
    "tgi": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
            "error_type": "validation",
        },
    ),
    "tgi inputs": (
        422,
        {
            "error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 6000",
            "error_type": "validation",
        },
    ),
    "dashscope": (
        400,
        {
            "error": {
                "code": "invalid_parameter_error",
                "message": "Range of input length should be [1, 30720]",
            }
        },
    ),
    "moonshot": (
        400,
        {
            "error": {
                "message": "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
                "type": "invalid_request_error",
            }
        },
    ),
    "gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "bedrock": (
        400,
        {"error": {"message": "ValidationException: Input is too long for requested model."}},
    ),
    "zhipu": (400, {"error": {"code": "1261", "message": "Prompt 超长"}}),
    "zhipu en": (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
    "cohere": (
        400,
        {
            "message": "too many tokens: total number of tokens in the prompt exceeds the limit of 4081."
        },
    ),
    "lm studio": (
        400,
        {
            "error": "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."
        },
    ),
    "litellm": (
        400,
        {
            "error": {
                "message": "litellm.ContextWindowExceededError: BadRequestError",
                "type": None,
                "param": None,
                "code": "400",
            }
        },
    ),
    "mistral": (
        400,
        {
            "object": "error",
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            "code": 3051,
        },
    ),
    "llama-cpp-python": (
        400,
        {
            "error": {
                "message": "Requested tokens (5000) exceed context window of 2048",
                "code": "context_length_exceeded",
            }
        },
    ),
    "sglang": (
        400,
        {
            "object": "error",
            "message": "The input (140999 tokens) is longer than the model's context length (128000 tokens).",
            "code": 400,
        },
    ),
    "vllm": (
        400,
        {
            "error": {
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 2048 tokens and your request has 500 input tokens",
                "code": 400,
                "param": "max_tokens",
            }
        },
    ),
    "llama 500": (
        500,
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing the context size or enable context shift",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 1407,
                "n_ctx": 256,
            }
        },
    ),
    "llama old": (
        500,
        {
            "error": {
                "code": 500,
                "message": "the request exceeds the available context size. try increasing the context size or enable context shift",
                "type": "server_error",
            }
        },
    ),
    "qianfan": (
        400,
        {
            "error": {
                "code": "invalid_argument",
                "message": "the length of messages must be less than 11200 characters",
            }
        },
    ),
    "spark": (400, {"error": {"code": "10907", "message": "token总数超过上限"}}),
    "hunyuan": (400, {"error": {"code": "1210", "message": "输入内容过长，请缩短后重试"}}),
    "http": (413, "<html><head><title>413 Request Entity Too Large</title></head></html>"),
}  # fmt: skip


@pytest.mark.parametrize("by", TOO_LONG)
def test_a_prompt_that_is_too_long_is_known_by_whatever_words(by: str) -> None:
    status, body = TOO_LONG[by]
    assert type(as_sextant_error(refused(status, body), SERVICE)) is ContextTooLong
    assert not is_transient(refused(status, body))


NO_MONEY = [
    (403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}),
    (429, {"error": {"code": "1113", "message": "您的账户已欠费，请充值后重试。"}}),
    (400, {"error": {"code": "Arrearage", "message": "Access denied, please make sure your account is in good standing."}}),
    (429, {"error": {"type": "exceeded_current_quota_error", "message": "You exceeded your token quota, please check your account balance"}}),
    (403, {"error": {"type": "new_api_error", "message": "该令牌额度已用尽 (request id: 2026)"}}),
    (403, {"error": {"code": "AllocationQuota.FreeTierOnly", "message": "The free tier of the model has been exhausted."}}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), NO_MONEY)
def test_an_empty_account_is_known_by_whatever_status(status: int, body: Any) -> None:
    error = as_sextant_error(refused(status, body), SERVICE)
    assert "quota" in error.message
    assert not is_transient(refused(status, body))


OTHERS: list[tuple[int, Any, type[SextantError], str]] = [
    (429, [{"error": {"code": 429, "message": "Resource has been exhausted (e.g. check quota)."}}], ModelUnavailable, "429"),
    (429, {"error": {"message": "Too many tokens, please wait before trying again."}}, ModelUnavailable, "429"),
    (429, {"error": {"message": "Rate limit reached on requests per min. Limit: 3 / min."}}, ModelUnavailable, "429"),
    (500, {"error": {"message": "model requires more system memory (5.6 GiB) than is available (3.9 GiB)"}}, ModelUnavailable, "system memory"),
    (500, {"error": {"message": "Error code: 429 - Quota exceeded for tokens_per_minute", "code": 500}}, ModelUnavailable, "tokens_per_minute"),
    (404, {"error": "model 'qwen' not found"}, ModelRejected, "model 'qwen' not found"),
    (400, {"detail": "Invalid model 'x'."}, ModelRejected, "Invalid model 'x'."),
    (403, "<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>", ModelRejected, "(403): Just a moment."),
    (422, {"detail": [{"loc": ["body", "temperature"], "msg": "Input should be less than or equal to 2"}]}, ModelRejected, "Input should be"),
    (400, {"errors": [{"code": 10000, "message": "No such account"}], "success": False}, ModelRejected, "No such account"),
    (400, {"error": {"message": "max_tokens must be less than or equal to 8192"}}, ModelRejected, "max_tokens"),
    (400, {"error": {"message": "max_tokens超出限制，最大值为4096"}}, ModelRejected, "max_tokens"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind", "said"), OTHERS)
def test_a_refusal_is_told_in_the_endpoints_words(
    status: int, body: Any, kind: type[SextantError], said: str
) -> None:
    error = as_sextant_error(refused(status, body), SERVICE)
    assert type(error) is kind
    assert said in error.message


@pytest.mark.parametrize(
    ("secret", "told", "shown"),
    [
        ("x", "The key ax: x, or Bearer x.", "The key ax: ********, or Bearer ********."),
        ("sk-4711-0815", "无效的令牌sk-4711-0815，请检查", "无效的令牌********，请检查"),
    ],
)
def test_a_key_is_left_out_of_what_is_told(secret: str, told: str, shown: str) -> None:
    error = as_sextant_error(
        refused(400, {"error": {"message": told}}), replace(SERVICE, secret=secret)
    )
    assert shown in error.message


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Rate limit reached. Please try again in 4.77s.", 4.77),
        ("Please try again in 1m30.002s.", 90.002),
        ("You exceeded your current quota. Please retry in 34.07s.", 34.07),
        ("Please try again later.", None),
    ],
)
def test_a_wait_may_be_asked_for_in_words(message: str, seconds: float | None) -> None:
    assert retry_after(refused(429, {"error": {"message": message}})) == seconds


@pytest.mark.parametrize("location", ["http://model.example/v1", "http://other.example/"])
async def test_keys_and_prompts_are_not_sent_on_in_clear(location: str) -> None:
    async def redirect(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.scheme)
        return httpx.Response(307, headers={"location": location})

    asked: list[str] = []
    client = httpx.AsyncClient(
        transport=httpx.MockTransport(redirect),
        follow_redirects=True,
        event_hooks={"response": [check_redirect]},
    )
    with pytest.raises(InsecureRedirect) as caught:
        await client.post("https://model.example/v1", json={"messages": []})
    assert asked == ["https"]
    told = as_sextant_error(caught.value, SERVICE)
    assert isinstance(told, ModelRejected)
    assert "from https to http" in told.message
    assert "THE_URL" in told.next_step
    assert not is_transient(caught.value)


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [
        (400, "API key not valid. Please pass a valid API key.", "拒绝了密钥"),
        (503, "当前分组 default 下对于模型 m 无可用渠道", "没有该模型"),
        (400, "Model does not exist. Please check it carefully.", "没有该模型"),
        (403, 'm requires moderation. Your input was flagged for "violence".', "内容过滤"),
        (451, "Blocked by censorship.", "内容过滤"),
        (400, "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "额度"),
        (400, "资源包余量已用尽，请购买资源包。", "额度"),
        (
            429,
            "Requests have exceeded the token rate limit. Please retry after 20 seconds.",
            "20 秒",
        ),
    ],
)
def test_what_a_refusal_means_is_read_from_its_words_whatever_its_status(
    status: int, words: str, said: str
) -> None:
    error = refused(status, {"error": {"message": words}})
    assert said in "".join(as_sextant_error(error, SERVICE).wording("zh"))
    assert is_transient(error) is (status == 429)


@pytest.mark.parametrize(
    "asked", ["Is it model_not_found?", "Why 'incorrect API key'?", "My balance?", "余额不足？"]
)
def test_what_a_refusal_repeats_of_the_question_does_not_tell_what_it_means(asked: str) -> None:
    request = {"messages": [{"role": "user", "content": asked}]}
    for body in (
        {"detail": [{"msg": "Extra inputs are not permitted", "input": request}]},
        {"error": {"message": f"Input should be valid [input_value={asked!r}, input_type=str]"}},
        {"error": {"message": json.dumps({"msg": "Field required", "input": request})}},
    ):
        assert "(400)" in as_sextant_error(refused(400, body), SERVICE).message
    assert is_transient(refused(429, {"error": {"message": "Rate limit reached"}, "input": asked}))
    assert isinstance(as_sextant_error(ValueError(asked), SERVICE), ModelUnavailable)


def test_a_rate_limit_stays_one_whatever_its_words() -> None:
    assert is_transient(refused(429, {"error": {"message": "An incorrect API key, too often."}}))


def test_a_failed_dependency_of_the_endpoint_is_tried_again() -> None:
    error = refused(424, {"error": "Request failed during generation", "error_type": "generation"})
    assert is_transient(error)
    assert isinstance(as_sextant_error(error, SERVICE), ModelUnavailable)
