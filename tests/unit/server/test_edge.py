"""What every request passes: its id, its size, its headers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from sextant.server.edge import HEADERS, ResponseHeaders
from sextant.server.edge import limits as body_limit
from sextant.server.edge.limits import BodyLimit
from sextant.server.observe.logs import request_id

MOST = 10


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer the number of bytes that came, and the request's id; what goes wrong is a 400."""
    request = Request(scope, receive)
    try:
        told = {"bytes": len(await request.body()), "id": request_id.get()}
    except Exception:  # noqa: BLE001 - as frameworks do
        await PlainTextResponse("broken", 400)(scope, receive, send)
        return
    await JSONResponse(told)(scope, receive, send)


async def hasty(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers before it has read what came."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while True:
        message = await receive()
        await send({"type": "http.response.body", "body": message["body"], "more_body": True})


def client(app: object) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


async def drops(number: int) -> AsyncIterator[bytes]:
    for _ in range(number):
        yield b"."


@pytest.mark.parametrize(("size", "status"), [(MOST - 1, 200), (MOST, 200), (MOST + 1, 413)])
async def test_a_body_may_be_so_large_and_no_larger(size: int, status: int) -> None:
    async with client(BodyLimit(echo, lambda _: MOST)) as asked:
        declared = await asked.post("/", content=b"." * size)
        undeclared = await asked.post("/", content=drops(size))
    assert (declared.status_code, undeclared.status_code) == (status, status)
    if status == 413:
        assert undeclared.headers["content-type"] == "application/problem+json"
        assert undeclared.headers["connection"] == "close"
    else:
        assert undeclared.json()["bytes"] == size


async def test_an_answer_that_has_begun_breaks_off() -> None:
    sent = list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b".", "more_body": True}

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(Exception) as broken:  # noqa: PT011 - whatever ends a connection
        await BodyLimit(hasty, lambda _: MOST)(scope, receive, send)
    assert not isinstance(broken.value, AssertionError)
    assert len(sent) == 1 + MOST
    assert sent[-1]["more_body"]


@pytest.mark.parametrize("given", ["a", "req-1", "8f14e45f.CEEA_467", "x" * 100])
async def test_a_harmless_id_is_kept(given: str) -> None:
    async with client(ResponseHeaders(echo)) as asked:
        answer = await asked.get("/", headers={"X-Request-Id": given})
    assert answer.headers["X-Request-Id"] == given == answer.json()["id"]


@pytest.mark.parametrize(
    "given", ["", " ", "x" * 101, "a b", "<script>", 'a"b', "a;b", "é", "-a", "a\tb", "${jndi:x}"]
)
async def test_any_other_id_is_replaced(given: str) -> None:
    async with client(ResponseHeaders(echo)) as asked:
        answer = await asked.get("/", headers={b"X-Request-Id": given.encode("latin-1")})
    own = answer.headers["X-Request-Id"]
    assert own == answer.json()["id"]
    assert len(own) == 32
    assert own.isalnum()


async def test_every_answer_has_the_headers_unless_it_says_otherwise() -> None:
    async def cached(scope: Scope, receive: Receive, send: Send) -> None:
        answer = PlainTextResponse("", headers={"Cache-Control": "max-age=60"})
        await answer(scope, receive, send)

    async with client(ResponseHeaders(echo)) as asked:
        headers = (await asked.get("/")).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert headers["cache-control"] == "no-store"
    async with client(ResponseHeaders(cached)) as asked:
        assert (await asked.get("/")).headers["cache-control"] == "max-age=60"


async def test_a_body_that_comes_too_slowly_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It held its connection, and what had been read of it, for as long as its sender liked."""
    monkeypatch.setattr(body_limit, "_PATIENCE", 0.2)

    async def drip() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with client(BodyLimit(echo, lambda _: MOST)) as asked:
        answer = await asked.post("/", content=drip())
    assert (answer.status_code, answer.headers["connection"]) == (408, "close")
    assert answer.json()["code"] == "timed_out"


async def test_whoever_waits_for_an_answer_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its last part a body is not waited for: what is received then is that the client left."""

    async def patient(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()
        monkeypatch.setattr(body_limit, "_PATIENCE", -1.0)  # what has a time is late from now on
        leaving = asyncio.ensure_future(receive())
        for _ in range(10):
            await asyncio.sleep(0)
        await PlainTextResponse("late" if leaving.done() else "waits")(scope, receive, send)
        leaving.cancel()
        await asyncio.wait([leaving])

    async with client(BodyLimit(patient, lambda _: MOST)) as asked:
        assert (await asked.post("/", content=b"x")).text == "waits"
