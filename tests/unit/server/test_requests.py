"""What is told of a request when it is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from starlette.types import Message, Receive, Scope, Send

from sextant.server.observe import logs
from sextant.server.observe.logs import RequestMeasurements
from sextant.server.observe.metrics import Metrics

SCOPE = {"type": "http", "method": "POST", "path": "/documents", "headers": []}
START: Message = {"type": "http.response.start", "status": 413, "headers": []}
WORDS: Message = {"type": "http.response.body", "body": b"Too large.", "more_body": True}
END: Message = {"type": "http.response.body"}


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        """See `time`."""
        return self.now


Timed = Callable[..., Awaitable[float]]


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Timed:
    """Answer with these messages, each after so many seconds; returns the seconds that were told."""
    clock = Clock()
    monkeypatch.setattr(logs, "time", clock)

    async def run(*messages: tuple[float, Message | None]) -> float:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            for seconds, message in messages:
                clock.now += seconds
                if message is not None:
                    await send(message)

        async def receive() -> Message:
            return {}

        async def send(_: Message) -> None:
            return

        metrics = Metrics()
        await RequestMeasurements(app, metrics)(dict(SCOPE), receive, send)
        [family] = metrics.requests.collect()
        return sum(one.value for one in family.samples if one.name.endswith("_sum"))

    return run


async def test_a_request_lasts_until_its_last_byte_is_out(timed: Timed) -> None:
    """What is passed over after a refusal, for two seconds, made refusals look slow."""
    assert await timed((0.5, START), (1.0, WORDS), (2.0, END)) == 1.5
    assert await timed((0.5, START), (1.0, {**WORDS, "more_body": False}), (4.0, None)) == 1.5


async def test_an_answer_without_a_body_lasts_until_its_head_is_out(timed: Timed) -> None:
    assert await timed((0.5, START), (1.0, END)) == 0.5


async def test_an_answer_that_breaks_off_lasts_until_then(timed: Timed) -> None:
    assert await timed((0.5, START), (1.0, WORDS), (2.0, None)) == 3.5
