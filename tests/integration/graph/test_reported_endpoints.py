"""What endpoints do by public reports of other projects, in the table of test_failing_endpoints.py."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from sextant.testing.openai_server import Script
from sextant.testing.replies import Reply, VirtualClock
from tests.integration.graph.conftest import RunningWith
from tests.integration.graph.replying import good
from tests.integration.graph.test_failing_endpoints import (
    MODES,
    QUOTED,
    WRITTEN,
    Case,
    always,
    answering,
    check_outcome,
    clock,
    has_system_message,
    piece,
    refusing,
    streaming,
    whole,
)

__all__ = ["clock"]


def failing_with(status: int, body: object) -> Callable[[], Script]:
    """Answer everything with this body."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
    return always(Reply(raw=raw, status=status, headers={"content-type": "application/json"}))


def dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


REPORTED = {
    "repeats the whole answer in its last chunk": Case(
        streaming(lambda said: [piece(said[:5]), piece(said[5:]), piece(said, "stop")]), WRITTEN, WRITTEN
    ),
    "chunks of text and no delta": Case(
        streaming(lambda said: [
            *({"id": "x", "choices": [{"index": 0, "text": one}]} for one in said),
            {"id": "x", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}]), WRITTEN, WRITTEN
    ),
    "ends with its usage and nothing else": Case(
        answering(lambda r: Reply(raw="".join(f"data: {dump(one)}\n\n" for one in [
            piece(good(r)), {"id": "x", "choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}}
        ]).encode())), WRITTEN, WRITTEN,
    ),
    "one line end between its lines": Case(
        answering(lambda r: Reply(raw=("".join(f"data: {dump(piece(one))}\n" for one in good(r)) + f"data: {dump(piece('', 'stop'))}\ndata: [DONE]\n\n").encode())),
        WRITTEN, WRITTEN,
    ),
    "no space behind data, and CRLF": Case(
        answering(lambda r: Reply(raw=("".join(f"data:{dump(piece(one))}\r\n\r\n" for one in good(r)) + f"data:{dump(piece('', 'stop'))}\r\n\r\ndata:[DONE]\r\n\r\n").encode())),
        WRITTEN, WRITTEN,
    ),
    "blank data between": Case(
        streaming(lambda said: ["data:", "data: ", *(piece(one) for one in said), "data: {}", "data: null", piece("", "stop")]), WRITTEN, WRITTEN
    ),
    "an error as it is in a stream": Case(
        answering(lambda _: Reply(raw=dump({"error": {"message": "Our servers are overloaded", "code": "server_is_overloaded", "type": "server_error"}}).encode(), headers={"content-type": "text/event-stream"})),
        QUOTED, "model_unavailable", "overloaded", "OPENAI_BASE_URL",
    ),
    "an error without its envelope in a stream": Case(
        streaming(lambda _: [{"object": "error", "message": "CUDA out of memory", "code": 50002}]),
        QUOTED, "model_unavailable", "CUDA out of memory", "OPENAI_BASE_URL",
    ),
    "an error that is a string in a stream": Case(
        streaming(lambda _: [{"error": "runner stopped"}]),
        QUOTED, "model_unavailable", "runner stopped", "OPENAI_BASE_URL",
    ),
    "aborted in a sentence": Case(
        streaming(lambda said: [piece(said[:8]), piece("", "abort")]), QUOTED, WRITTEN, "中途断开", "OPENAI_BASE_URL",
    ),
    "aborted, with an object for a reason": Case(
        streaming(lambda said: [piece(said[:8]), piece("") | {"choices": [{"index": 0, "delta": {}, "finish_reason": {"type": "abort", "message": "x"}}]}]),
        QUOTED, WRITTEN, "中途断开", "OPENAI_BASE_URL",
    ),
    "its answer is all thought": Case(
        answering(lambda r: Reply("", thought=good(r))), WRITTEN, "model_output_invalid"
    ),
    "reasoning by another name": Case(
        streaming(lambda said: [piece(None) | {"choices": [{"index": 0, "delta": {"reasoning": "他们要症状。", "content": None}}]}, piece(said, "stop")]), WRITTEN, WRITTEN
    ),
    "usage in words": Case(
        streaming(lambda said: [piece(said, "stop"), {"id": "x", "choices": [], "usage": {"prompt_tokens": "900", "completion_tokens": "20", "total_tokens": "920"}}]), WRITTEN, WRITTEN
    ),
    "usage without its parts": Case(
        streaming(lambda said: [piece(said, "stop", usage={}), {"id": "x", "choices": [], "usage": {"total_tokens": 920}}]), WRITTEN, WRITTEN
    ),
    "half an emoji in each chunk": Case(
        answering(lambda r: Reply(raw=(f"data: {dump(piece(good(r)))}\n\n" + 'data: {"id":"x","choices":[{"index":0,"delta":{"content":"\\ud83d"}}]}\n\ndata: {"id":"x","choices":[{"index":0,"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n').encode())),
        WRITTEN, WRITTEN,
    ),
    "calls a tool in words": Case(
        answering(lambda _: '<tool_call>\n{"name": "search", "arguments": {"query": "糖尿病"}}\n</tool_call>'), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"
    ),
    "calls a tool in DeepSeek's tokens": Case(
        answering(lambda _: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n```json\n{"query":"糖尿病"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"
    ),
    "repeats the prompt first": Case(
        answering(lambda r: r.prompt + "\n" + good(r)), WRITTEN, WRITTEN,
    ),
    "no choices": Case(whole(lambda _: {"id": "x", "choices": []}), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"),
    "no message": Case(whole(lambda _: {"id": "x", "choices": [{"index": 0, "message": None, "finish_reason": "stop"}]}), QUOTED, "model_output_invalid", "没有给出任何回答", "聊天模型"),
    "lets nobody stream": Case(
        refusing(lambda r: r.streamed, 400, "Your organization must be verified to stream this model."), WRITTEN, WRITTEN
    ),
    "knows no system role": Case(refusing(has_system_message, 400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."), WRITTEN, WRITTEN),
    "knows no instruction of a developer": Case(refusing(has_system_message, 400, "Developer instruction is not enabled for models/gemma-3-27b-it"), WRITTEN, WRITTEN),
    "allows fewer tokens a minute": Case(
        failing_with(413, {"error": {"message": "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 14810", "code": "rate_limit_exceeded"}}),
        QUOTED, "context_too_long", "读不完这么长的请求", "SEXTANT_LIMITS__CONTEXT_TOKENS",
    ),
    "a byte order mark": Case(
        answering(lambda r: Reply(raw=b"\xef\xbb\xbf" + "".join(f"data: {dump(one)}\n\n" for one in [piece(good(r)), piece("", "stop")]).encode())), WRITTEN, WRITTEN,
    ),
    "a success told beside the usage": Case(
        answering(lambda r: Reply(raw="".join(f"data: {dump(one)}\n\n" for one in [piece(good(r)), piece("", "stop"), {"message": "Success", "choices": [], "usage": {"total_tokens": 9}}]).encode())), WRITTEN, WRITTEN,
    ),
    "an error in the place of choices": Case(
        failing_with(200, {"id": "x", "choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
        QUOTED, "model_rejected", "额度", "账单",
    ),
    "no money left, by a status of its own": Case(
        failing_with(403, {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None}),
        QUOTED, "model_rejected", "额度", "账单",
    ),
    "a filter refuses the prompt": Case(
        failing_with(400, {"error": {"message": "The prompt triggered the content management policy.", "param": "prompt", "code": "content_filter"}}),
        QUOTED, "model_output_invalid", "内容过滤", "换一种问法",
    ),
    "a filter refuses the prompt, by a code of its own": Case(
        failing_with(400, {"error": {"code": "data_inspection_failed", "param": None, "message": "Input data may contain inappropriate content."}}),
        QUOTED, "model_output_invalid", "内容过滤", "换一种问法",
    ),
    "too many ask, said in a stream by a number": Case(
        streaming(lambda _: [{"error": {"code": "1305", "message": "该模型当前访问量过大，请您稍后再试"}}]),
        QUOTED, "model_unavailable", "访问量过大", "请重试",
    ),
    "429 until a day and hour": Case(
        failing_with(429, {"error": {"code": "1308", "message": "已达到使用上限，将在 2026-08-25 07:41:44 重置。"}}),
        QUOTED, "model_unavailable", "07:41:44", "稍后",
    ),
    "too long, in a line that is no data": Case(
        answering(lambda _: Reply(raw=b'error: {"code": 400, "message": "the request exceeds the available context size"}\n\n')),
        QUOTED, "context_too_long", "读不完这么长的请求", "SEXTANT_LIMITS__CONTEXT_TOKENS",
    ),
    "too long, a string in a stream": Case(
        answering(lambda _: Reply(raw=b'data: {"error": "`inputs` must have less than 600 tokens", "error_type": "validation"}\n\n')),
        QUOTED, "context_too_long", "读不完这么长的请求", "SEXTANT_LIMITS__CONTEXT_TOKENS",
    ),
    "too little memory": Case(
        failing_with(500, {"error": {"message": "needs 5.6 GiB of memory"}}),
        QUOTED, "model_unavailable", "5.6 GiB", "日志",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("behaviour", REPORTED)
async def test_every_mode_ends_well_whatever_was_reported(
    running_with: RunningWith, clock: VirtualClock, behaviour: str, mode: str
) -> None:
    await check_outcome(running_with, clock, REPORTED[behaviour], mode)
