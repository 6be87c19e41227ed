"""POST /api/query over TCP: whole answers, streams, and failures before the first byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sextant.testing.replies import broken_after, failing, silent_after
from tests.integration.server.served import Served, asking, judging, sent, serving_with


async def test_a_whole_answer_has_everything_that_it_rests_on(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(stream=False))
    assert answer.status_code == 200
    body = answer.json()
    assert body["answer"].startswith("Each value in Rust has exactly one owner [1].")
    [citation], [source] = body["citations"], body["sources"]
    assert citation["marker"] == source["marker"] == 1
    assert source["sectionPath"]
    assert citation["quote"] in source["text"]
    assert {
        "mode",
        "graphContext",
        "attempts",
        "trust",
        "grounded",
        "warnings",
        "codedWarnings",
        "language",
        "timings",
    } <= body.keys()
    assert body["usage"]["completionTokens"] > 0
    assert "trace" not in body


async def test_the_trace_says_what_was_done_when(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(stream=False, debug=True))
    trace = answer.json()["trace"]
    nodes = [step["node"] for step in trace if step["event"] == "status"]
    assert nodes == ["analyze", "route", "retrieve", "grade", "generate"]
    times = [step["ms"] for step in trace]
    assert times == sorted(times)


@pytest.mark.parametrize("rerank", [True, False])
async def test_a_question_may_leave_the_reranker_out(
    streaming_folder: Path,
    served: Served,  # fills the knowledge base
    rerank: bool,
) -> None:
    async with serving_with(streaming_folder, reranker="llm") as ranked, ranked.client() as client:
        body = asking(stream=False, debug=True, mode="mix", rerank=rerank)
        answer = await client.post("/api/query", json=body)
    found = [step for step in answer.json()["trace"] if step["event"] == "retrieval"]
    assert [("rerank" in step["timings"]) for step in found] == [rerank]


@pytest.mark.parametrize("accepting", [{}, {"Accept": "text/event-stream"}])
async def test_a_stream_is_the_whole_answer_piece_by_piece(
    served: Served, accepting: dict[str, str]
) -> None:
    async with served.client() as client:
        body = asking(stream=not accepting)
        answer = await client.post("/api/query", json=body, headers=accepting)
        whole = await client.post("/api/query", json=asking(stream=False))
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    events = sent(answer.text)
    done = events[-1]
    assert done.name == "done"
    assert done.data["answer"] == "".join(e.data["text"] for e in events if e.name == "token")
    assert done.data["citations"] == [e.data["citation"] for e in events if e.name == "citation"]
    assert [done.data["sources"]] == [e.data["sources"] for e in events if e.name == "sources"]
    assert done.data.keys() == whole.json().keys()
    assert done.data["answer"] == whole.json()["answer"]


async def test_every_event_has_an_id_of_its_own_in_order(served: Served) -> None:
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking())
    events = sent(answer.text)
    run_id = events[0].id.partition("-")[0]
    assert [event.id for event in events] == [f"{run_id}-{n + 1}" for n in range(len(events))]
    assert answer.headers["content-location"] == f"/api/query/{run_id}/events"


FAULTS: list[tuple[dict[str, Any], int, str]] = [
    ({"graphId": "nowhere"}, 404, "graph_not_found"),
    ({"query": " "}, 422, "question_invalid"),
    ({"query": "x" * 3000}, 422, "question_invalid"),
    ({"mode": "telepathy"}, 422, "request_invalid"),
    ({"topK": 51}, 422, "request_invalid"),
    ({"filters": {"tag": ["a"]}}, 422, "option_invalid"),
    ({"surprise": 1}, 422, "request_invalid"),
]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(("fault", "status", "code"), FAULTS)
async def test_a_bad_request_is_a_problem_document_streamed_or_not(
    served: Served, fault: dict[str, Any], status: int, code: str, streaming: bool
) -> None:
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(**fault) | {"stream": streaming})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert served.runs.live == 0


@pytest.mark.parametrize("path", ["/api/query", "/v1/chat/completions"])
async def test_a_misspelt_filter_is_refused_with_the_one_that_was_meant(
    served: Served, path: str
) -> None:
    messages = [{"role": "user", "content": "?"}]
    asked = {"model": "sextant", "messages": messages} if "v1" in path else asking()
    async with served.client() as client:
        answer = await client.post(path, json={**asked, "filters": {"topicLabel": ["x"]}})
    assert answer.status_code in {400, 422}
    assert "Did you mean `topicLabels`?" in answer.text


async def test_a_model_that_fails_before_its_first_word_has_its_own_status(served: Served) -> None:
    served.script = lambda _: failing(500)
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(mode="bypass"))
    assert (answer.status_code, answer.json()["code"]) == (503, "model_unavailable")
    assert int(answer.headers["retry-after"]) > 0


FAILURES = pytest.mark.parametrize(
    ("question", "message", "next_step"),
    [
        (
            "Say hello to the reader.",
            "The chat model scripted failed with status 500: Something broke.",
            "Try again; if it stays, look into that server's log.",
        ),
        (
            "请向读者问好。",
            "聊天模型 scripted 出错，状态码 500：Something broke。",
            "请重试；若仍然如此，请查看该服务的日志。",
        ),
    ],
)


@FAILURES
@pytest.mark.parametrize("stream", [True, False])
async def test_a_problem_and_its_next_step_are_told_in_the_questions_language(
    served: Served, question: str, message: str, next_step: str, stream: bool
) -> None:
    served.script = lambda _: failing(500)
    async with served.client() as client:
        body = asking(query=question, mode="bypass", stream=stream)
        problem = (await client.post("/api/query", json=body)).json()
    assert (problem["detail"], problem["nextStep"]) == (message, next_step)


@FAILURES
async def test_so_they_are_by_the_event_that_ends_a_stream(
    served: Served, question: str, message: str, next_step: str
) -> None:
    served.script = lambda _: replace(failing(500), delay=1.0)  # by then the stream has begun
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(query=question, mode="bypass"))
    [*_, last] = sent(answer.text)
    assert (last.name, last.data["code"]) == ("error", "model_unavailable")
    assert (last.data["message"], last.data["nextStep"]) == (message, next_step)
    assert last.data["detail"]["next_step"] == next_step


async def test_a_model_that_fails_in_mid_answer_leaves_an_answer_with_a_note(
    served: Served,
) -> None:
    served.script = judging(broken_after(4))
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking())
    assert answer.status_code == 200
    events = sent(answer.text)
    assert any(event.name == "token" for event in events)
    assert events[-1].name == "done"
    assert events[-1].data["answer"]
    assert any("chat model" in warning for warning in events[-1].data["warnings"])


async def test_a_graph_that_is_not_there_is_told_while_a_slow_model_analyses(
    served: Served,
) -> None:
    served.script = lambda _: silent_after(0)
    async with served.client() as client:
        answer = await client.post("/api/query", json=asking(graphId="nowhere"))
    assert (answer.status_code, answer.json()["code"]) == (404, "graph_not_found")
    await served.endpoint.wait_for_streams(0)
