"""Errors under `/v1/`, in the shape that OpenAI's clients read."""

from __future__ import annotations

import httpx
import orjson
from starlette.types import Message, Receive, Scope, Send

from sextant.domain.errors import GraphNotFound, OptionInvalid
from sextant.server.edge.limits import BodyLimit
from sextant.server.problems import answer_with, problem_of


async def refusing(scope: Scope, receive: Receive, send: Send) -> None:
    """There is no such knowledge base."""
    problem = problem_of(GraphNotFound("There is none.", field="graph_id"))
    await answer_with(problem, scope["path"])(scope, receive, send)


async def test_the_field_at_fault_is_named_as_these_requests_have_it() -> None:
    transport = httpx.ASGITransport(refusing)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answered = await client.post("/v1/chat/completions")
    assert answered.json()["error"]["param"] == "graph_id"


async def refusing_an_image(scope: Scope, receive: Receive, send: Send) -> None:
    """Send an image in the last message that is damaged."""
    field = "multimodal_content[0].img_path"
    problem = problem_of(OptionInvalid(f"{field}: The image is damaged.", field=field))
    await answer_with(problem, scope["path"])(scope, receive, send)


async def test_an_image_at_fault_is_one_of_the_messages_that_brought_it() -> None:
    transport = httpx.ASGITransport(refusing_an_image)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answered = await client.post("/v1/chat/completions")
    error = answered.json()["error"]
    assert (error["param"], error["message"]) == ("messages", "messages: The image is damaged.")


async def test_a_body_that_is_too_large_is_answered_before_the_rest_of_it_is_passed_over() -> None:
    sent = list[Message]()
    before_the_rest = list[Message]()

    async def receive() -> Message:
        before_the_rest.extend(sent)
        return {"type": "http.request", "body": b"."}

    async def send(message: Message) -> None:
        sent.append(message)

    length = (b"content-length", b"11")
    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": [length]}
    await BodyLimit(refusing, lambda _: 10)(scope, receive, send)
    start, body = before_the_rest
    assert start["status"] == 413
    assert orjson.loads(body["body"])["error"]["code"] == "file_too_large"
    assert sent[-1] == {"type": "http.response.body"}
