"""Streaming from a chat model over real TCP: tokens, accounting, failures, and letting go."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import orjson
import pytest

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, ModelRejected, ModelUnavailable
from sextant.domain.settings import Settings
from sextant.models.chat.chat_model import ChatModel, Restart
from sextant.models.chat.factory import build_chat_model
from sextant.testing.http import CutConnection, HttpRequest, HttpResponse, LoopbackServer
from sextant.testing.replies import (
    Reply,
    broken_after,
    empty,
    endless,
    failing,
    rate_limited,
    silent_after,
)

ASK = [("user", "Who owns a value in Rust?")]


async def collected(chat: ChatModel) -> tuple[list[str], Usage]:
    *pieces, usage = [item async for item in chat.stream(ASK)]
    assert isinstance(usage, Usage)
    return [piece for piece in pieces if isinstance(piece, str)], usage


async def test_pieces_come_as_they_are_sent_and_the_usage_last(chat_with: Any) -> None:
    _, chat = await chat_with([Reply(tokens=["Each value ", "has one ", "owner [", "1]", "。"])])
    pieces, usage = await collected(chat)
    # A bracket may be the first half of a tag, and waits for the next piece.
    assert pieces == ["Each value ", "has one ", "owner ", "[1]", "。"]
    assert usage == Usage(calls=1, prompt_tokens=usage.prompt_tokens, completion_tokens=5)
    assert usage.prompt_tokens > 0


async def test_the_first_piece_is_there_before_the_answer_is_complete(chat_with: Any) -> None:
    resume = asyncio.Event()
    _, chat = await chat_with([silent_after(1, "One two", resume)])
    async with aclosing(chat.stream(ASK)) as items:
        assert await anext(items) == "One"
        resume.set()
        assert await anext(items) == " two"


async def shown(chat: ChatModel, messages: Any = ASK) -> tuple[str, int]:
    """Return what a reader has at the end, and how often the text was taken back."""
    text, restarts = "", 0
    async for item in chat.stream(messages):
        if isinstance(item, Restart):
            text, restarts = "", restarts + 1
        elif isinstance(item, str):
            text += item
    return text, restarts


THOUGHT = "They ask for the owner. Passage 1 has it.\n</think>\n\nOne owner [1]."


async def test_a_thought_without_a_beginning_is_taken_back_once_and_held_back_from_then_on(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([THOUGHT, THOUGHT, "One owner [1].", THOUGHT])
    answer = "One owner [1]."
    assert [await shown(chat) for _ in range(4)] == [(answer, 1), *[(answer, 0)] * 3]


@pytest.mark.usefixtures("unknown_endpoints")
async def test_the_first_answer_of_an_endpoint_is_held_back_until_it_is_known_to_be_no_thought(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([THOUGHT, THOUGHT])
    assert await shown(chat) == ("One owner [1].", 0)
    assert await shown(chat) == ("One owner [1].", 0)


@pytest.mark.usefixtures("unknown_endpoints")
async def test_an_answer_is_streamed_from_where_it_is_known_to_be_one(chat_with: Any) -> None:
    _, chat = await chat_with([Reply(tokens=["One ", "owner", ". ", "It ", "is so."])])
    stream = chat.stream(ASK, is_answer=lambda text: text.rstrip().endswith("owner."))
    pieces = [item async for item in stream if isinstance(item, str)]
    assert pieces == ["One owner. ", "It ", "is so."]


@pytest.mark.usefixtures("unknown_endpoints")
async def test_where_nothing_tells_answers_are_streamed_once_some_came_without_a_thought(
    chat_with: Any,
) -> None:
    _, chat = await chat_with(["One owner [1]."] * 4)
    assert [len((await collected(chat))[0]) > 1 for _ in range(4)] == [False, False, False, True]


@pytest.mark.usefixtures("unknown_endpoints")
async def test_a_thought_is_not_shown_however_many_answers_came_without_one(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([*["One owner [1]."] * 4, THOUGHT, THOUGHT])
    for _ in range(6):
        stream = chat.stream(ASK, is_answer=lambda text: text.startswith("One owner"))
        items = [item async for item in stream if not isinstance(item, Usage)]
        assert "".join(map(str, items)) == "One owner [1]."


@pytest.mark.usefixtures("unknown_endpoints")
async def test_a_first_answer_that_opens_its_thought_is_streamed_behind_it(chat_with: Any) -> None:
    _, chat = await chat_with(["<think>They ask.</think>Each value has one owner [1]."])
    pieces, _ = await collected(chat)
    assert "".join(pieces) == "Each value has one owner [1]."
    assert len(pieces) > 1


async def test_a_whole_answer_is_what_follows_the_thought_and_warns_of_the_next_stream(
    chat_with: Any,
) -> None:
    _, chat = await chat_with([THOUGHT, THOUGHT])
    assert (await chat.complete(ASK)).text == "One owner [1]."
    assert await shown(chat) == ("One owner [1].", 0)


async def test_an_answer_about_such_tags_is_none(chat_with: Any) -> None:
    said = "Thoughts end with </think> [1]."
    _, chat = await chat_with([said])
    assert await shown(chat, [("user", "What does </think> mean?")]) == (said, 0)


async def test_a_failure_before_the_first_piece_is_tried_again(chat_with: Any) -> None:
    server, chat = await chat_with([rate_limited(0), broken_after(0), "At last."])
    pieces, usage = await collected(chat)
    assert "".join(pieces) == "At last."
    assert usage.calls == len(server.chat_requests) == 3


async def test_a_failure_after_the_first_piece_is_not(chat_with: Any) -> None:
    server, chat = await chat_with([broken_after(2, "One two three"), "Never asked for."])
    async with aclosing(chat.stream(ASK)) as items:
        assert [await anext(items), await anext(items)] == ["One", " two"]
        with pytest.raises(ModelUnavailable, match="broke off"):
            await anext(items)
    assert len(server.chat_requests) == 1


async def test_a_refused_request_is_raised_at_once(chat_with: Any) -> None:
    server, chat = await chat_with([failing(404, "No such model."), "no"])
    with pytest.raises(ModelRejected, match="No such model"):
        await collected(chat)
    assert len(server.chat_requests) == 1


async def test_silence_in_the_middle_ends_after_the_time_limit(chat_with: Any) -> None:
    server, chat = await chat_with([silent_after(1)], model_timeout=1)
    with pytest.raises(ModelUnavailable, match="in time"):
        await collected(chat)
    await server.wait_for_disconnects(1)
    assert len(server.chat_requests) == 1


async def test_an_endpoint_that_never_stops_is_cut_off_and_the_answer_marked(
    chat_with: Any,
) -> None:
    server, chat = await chat_with([endless("和 so on ")], limits={"answer_tokens": 16})
    pieces, usage = await collected(chat)
    assert usage.truncated
    assert len("".join(pieces)) < 16 * 8 + 10
    await server.wait_for_disconnects(1)


async def test_thoughts_before_the_answer_are_not_streamed(chat_with: Any) -> None:
    _, chat = await chat_with(["<think>They ask about [9].</think>\n\nOne owner [1]."])
    pieces, _ = await collected(chat)
    assert "".join(pieces) == "One owner [1]."


async def test_a_stream_that_breaks_while_thinking_is_tried_again(chat_with: Any) -> None:
    broken = Reply("<think>Let me see", break_after=3)
    server, chat = await chat_with([broken, "One owner."])
    pieces, _ = await collected(chat)
    assert "".join(pieces) == "One owner."
    assert len(server.chat_requests) == 2


async def test_an_empty_stream_is_an_error(chat_with: Any) -> None:
    _, chat = await chat_with([empty()])
    with pytest.raises(ModelOutputInvalid, match="answered nothing"):
        await collected(chat)


async def test_an_endpoint_that_refuses_stream_options_is_asked_without_them(
    chat_with: Any,
) -> None:
    def fussy(request: Any) -> Reply | str:
        return failing(400, "stream_options?") if "stream_options" in request.body else "ok then"

    server, chat = await chat_with(fussy)
    pieces, usage = await collected(chat)
    assert "".join(pieces) == "ok then"
    assert usage.estimated
    await collected(chat)
    assert ["stream_options" in request.body for request in server.chat_requests] == [
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("pieces_before", [0, 1, 5])
async def test_cancelling_the_reader_closes_the_connection(
    chat_with: Any, pieces_before: int
) -> None:
    server, chat = await chat_with([silent_after(pieces_before, "one two three four five six")])
    enough = asyncio.Event()

    async def read() -> None:
        count = 0
        if pieces_before == 0:
            enough.set()
        async for _ in chat.stream(ASK):
            count += 1
            if count == pieces_before:
                enough.set()

    task = asyncio.create_task(read())
    await enough.wait()
    await server.wait_for_streams(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.wait_for_disconnects(1)
    await server.wait_for_streams(0)


async def test_a_cancellation_that_meets_waiting_pieces_is_never_lost(chat_with: Any) -> None:
    """`asyncio.wait_for` on Python 3.11 loses a cancel when a chunk is ready; nothing here may."""
    server, chat = await chat_with(lambda _: endless("x"), limits={"answer_tokens": 100_000})
    for round_ in range(20):
        began = asyncio.Event()

        async def read(began: asyncio.Event = began) -> None:
            async for _ in chat.stream(ASK):
                began.set()

        task = asyncio.create_task(read())
        await began.wait()
        for _ in range(round_):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task}, timeout=60)
        assert task.cancelled()
    await server.wait_for_disconnects(20)


async def test_a_reader_that_stops_early_closes_the_connection(chat_with: Any) -> None:
    server, chat = await chat_with([endless()])
    async with aclosing(chat.stream(ASK)) as items:
        await anext(items)
    await server.wait_for_disconnects(1)


Body = bytes | AsyncIterator[bytes]


@asynccontextmanager
async def streaming(body: Callable[[], Body], **settings: Any) -> AsyncIterator[ChatModel]:
    """Provide the chat model of an endpoint that streams `body()`, whatever it is, to each request."""

    async def answer(_: HttpRequest) -> HttpResponse:
        return HttpResponse(headers={"Content-Type": "text/event-stream"}, body=body())

    endpoint = LoopbackServer(answer)
    await endpoint.start()
    url = f"http://127.0.0.1:{endpoint.port}/v1"
    chat = build_chat_model(
        Settings(_env_file=None, chat_model="odd", openai_base_url=url, **settings)
    )
    assert chat is not None
    try:
        yield chat
    finally:
        await chat.close()
        await endpoint.stop()


def events(*chunks: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % orjson.dumps(chunk) for chunk in chunks)


def says(text: str | None, ended: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": ended}], **more}


def costing(asked: int | None, said: int | None) -> dict[str, Any]:
    return {"usage": {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": 0}}


async def test_chunks_need_not_be_as_openai_writes_them() -> None:
    said = {"role": "assistant", "content": "One owner"}
    body = events(
        {},
        {"choices": None},
        {"choices": [{"delta": said}], "object": "text", "more": 1},
        {"choices": [{"delta": None}]},
        {"choices": [{"index": 0, "finish_reason": "stop"}]},
        {"choices": [], **costing(3, 2)},
    )
    async with streaming(lambda: body) as chat:
        pieces, usage = await collected(chat)
    assert (pieces, usage) == (["One owner"], Usage(calls=1, prompt_tokens=3, completion_tokens=2))


async def test_comments_and_empty_pieces_say_nothing() -> None:
    body = (
        b": ping\n\n"
        + events(says(None), says("One"))
        + b"\n: ping\n\n"
        + events(says(None, "stop"))
    )
    async with streaming(lambda: body) as chat:
        pieces, _ = await collected(chat)
    assert pieces == ["One"]


@pytest.mark.parametrize(
    "body", [events(says("One owner.", "stop")), events(says("One owner.")) + b"data: [DONE]\n\n"]
)
async def test_a_stream_may_say_in_either_way_that_it_has_ended(body: bytes) -> None:
    async with streaming(lambda: body) as chat:
        pieces, _ = await collected(chat)
    assert pieces == ["One owner."]


async def test_a_stream_that_ends_in_good_order_without_saying_so_is_broken() -> None:
    """As a proxy ends it whose worker was killed: half an answer is not taken for a whole one."""
    async with streaming(lambda: events(says("Staff get 25 days, but not"))) as chat:
        with pytest.raises(ModelUnavailable, match="broke off"):
            await collected(chat)


async def test_half_an_answer_that_a_filter_left_is_no_answer() -> None:
    async with streaming(lambda: events(says("One owner"), says(None, "content_filter"))) as chat:
        with pytest.raises(ModelOutputInvalid, match="content filter"):
            await collected(chat)


async def ended_but_open() -> AsyncIterator[bytes]:
    yield events(says("One owner."), says(None, "stop"))
    await asyncio.Event().wait()


async def ended_and_cut() -> AsyncIterator[bytes]:
    yield events(says("One owner."), says(None, "stop"))
    raise CutConnection


@pytest.mark.parametrize("body", [ended_but_open, ended_and_cut])
async def test_what_a_connection_does_behind_the_end_of_an_answer_does_not_matter(
    body: Callable[[], Body],
) -> None:
    async with streaming(body, model_timeout=0.3) as chat:
        pieces, usage = await collected(chat)
    assert (pieces, usage.estimated) == (["One owner."], True)


async def test_totals_that_come_with_each_piece_are_not_added_up() -> None:
    body = events(says("One ", **costing(300, 1)), says("owner.", "stop", **costing(300, 2)))
    async with streaming(lambda: body) as chat:
        _, usage = await collected(chat)
    assert usage == Usage(calls=1, prompt_tokens=300, completion_tokens=2)


async def test_a_usage_that_tells_no_tokens_is_estimated() -> None:
    async with streaming(lambda: events(says("One.", "stop", **costing(None, None)))) as chat:
        _, usage = await collected(chat)
    assert usage.estimated
    assert usage.prompt_tokens > 0


async def test_an_error_of_status_200_is_told_for_what_it_is(chat_with: Any) -> None:
    body = b'{"error": {"message": "Insufficient Balance", "code": 402}}'
    reply = Reply(raw=body, headers={"content-type": "application/json"})
    _, chat = await chat_with([reply])
    with pytest.raises(ModelRejected, match="no quota"):
        await collected(chat)
