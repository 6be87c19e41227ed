"""Conversations in PostgreSQL: kept by thread, each user's own, pruned to where they are."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
import pytest_asyncio
from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from sextant.domain.errors import ConversationBusy, ConversationUnreadable, OptionInvalid
from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.graph.threads import LONGEST_THREAD, Threads
from sextant.stores.postgresql.database import Database


class Notes(TypedDict, total=False):
    """What the small workflow of these tests keeps."""

    said: Annotated[list[str], add]
    items: list[RetrievedItem]
    messages: list[Any]
    other: object


@dataclass(frozen=True)
class Unlisted:
    """A type that no checkpoint may bring to life."""

    value: int


HOUR = timedelta(hours=1)
ITEM = RetrievedItem(
    ItemKind.CHUNK, "c1", "text", 0.5, lanes={"vector": LaneScore(1, 0.5)}, metadata={"page": 3}
)


def workflow(threads: Threads) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Remember what is said to it."""

    async def listen(state: Notes) -> Notes:
        return {"items": [ITEM] * len(state["said"])}

    builder = StateGraph(Notes)
    builder.add_node("listen", listen)
    builder.add_edge(START, "listen")
    builder.add_edge("listen", END)
    return builder.compile(checkpointer=threads)


async def say(threads: Threads, thread: str, what: str) -> dict[str, Any]:
    told: dict[str, Any] = await workflow(threads).ainvoke(
        {"said": [what]}, threads.config_of(thread), durability="exit"
    )
    return told


@pytest_asyncio.fixture
async def ann(database: Database) -> Threads:
    return Threads(database, f"ann-{uuid4()}")


@pytest_asyncio.fixture
async def bob(database: Database) -> Threads:
    return Threads(database, f"bob-{uuid4()}")


async def test_a_conversation_goes_on_where_it_was(ann: Threads) -> None:
    await say(ann, "t", "one")
    told = await say(ann, "t", "two")
    assert told["said"] == ["one", "two"]
    assert told["items"] == [ITEM, ITEM]
    assert (await say(ann, "other", "three"))["said"] == ["three"]
    assert [one.thread_id for one in await ann.known()] == ["other", "t"]


async def test_two_users_may_name_theirs_alike_and_see_only_their_own(
    ann: Threads, bob: Threads, database: Database
) -> None:
    await say(ann, "t", "secret of Ann")
    assert (await say(bob, "t", "hello"))["said"] == ["hello"]
    assert await bob.aget(ann.config_of("t")) is None
    assert not await bob.forget("u")
    config = ann.config_of("t")
    await bob.adelete_thread(str(config["configurable"]["thread_id"]))  # even by its very key
    assert (await say(ann, "t", "again"))["said"] == ["secret of Ann", "again"]
    async with database.transaction(bob._user_id) as connection:
        cursor = await connection.execute("select count(*) from checkpoints")
        assert await cursor.fetchone() == (1,)


async def test_only_the_last_step_is_kept_where_nothing_else_is_wanted(
    ann: Threads, database: Database
) -> None:
    for what in ("one", "two", "three"):
        async with ann.turn("t", what, HOUR, HOUR) as turn:
            await say(ann, "t", what)
            turn.done = True
    async with database.transaction(ann._user_id) as connection:
        steps = await (await connection.execute("select count(*) from checkpoints")).fetchone()
        blobs = await connection.execute(
            "select count(*), count(distinct channel) from checkpoint_blobs"
        )
        assert steps == (1,)
        number, channels = await blobs.fetchone() or (0, 0)
        assert number == channels
    assert (await say(ann, "t", "four"))["said"] == ["one", "two", "three", "four"]


async def test_a_turn_that_failed_leaves_nothing_and_the_conversation_as_it_was(
    ann: Threads, database: Database
) -> None:
    async with ann.turn("t", "one", HOUR, HOUR) as turn:
        await say(ann, "t", "one")
        turn.done = True
    async with ann.turn("t", "two", HOUR, HOUR):
        await say(ann, "t", "two")
    async with database.transaction(ann._user_id) as connection:
        blobs = await connection.execute(
            "select count(*), count(distinct channel) from checkpoint_blobs"
        )
        number, channels = await blobs.fetchone() or (0, 0)
        assert number == channels
    assert (await say(ann, "t", "three"))["said"] == ["one", "three"]


async def test_a_turn_has_the_conversation_for_itself_until_it_ends_or_is_lost(
    ann: Threads, bob: Threads
) -> None:
    async with ann.turn("t", "What is it?", HOUR, HOUR) as turn:
        with pytest.raises(ConversationBusy) as busy:
            async with ann.turn("t", "And now?", HOUR, HOUR):
                pytest.fail("two turns at once")
        assert busy.value.status == 409
        assert re.search(r"free again in 3,[56]\d\d s", busy.value.next_step)
        async with ann.turn("u", "Another one?", HOUR, HOUR), bob.turn("t", "Mine?", HOUR, HOUR):
            pass
        await say(ann, "t", "one")
        turn.done = True
    lost = ann.turn("t", "What else?", timedelta(0), HOUR)
    async with lost, ann.turn("t", "Again?", HOUR, HOUR) as turn:
        await say(ann, "t", "two")
        turn.done = True
    [known] = await ann.known()
    assert (known.thread_id, known.title) == ("t", "What is it?")
    assert known.created_at < known.updated_at


async def test_a_turn_that_is_cancelled_at_any_moment_frees_its_conversation(ann: Threads) -> None:
    async def take() -> None:
        async with ann.turn("t", "one", HOUR, HOUR):
            await asyncio.sleep(0.001)

    for steps in range(60):
        turn = asyncio.create_task(take())
        for _ in range(steps):
            await asyncio.sleep(0.0001)
        turn.cancel()
        await asyncio.wait({turn})
        async with ann.turn("t", "two", HOUR, HOUR):
            pass


async def test_a_turn_keeps_its_conversation_as_long_as_its_process_lives(ann: Threads) -> None:
    lease = timedelta(seconds=0.5)
    async with ann.turn("t", "What is it?", lease, HOUR) as turn:
        first = turn.busy_until
        while turn.busy_until == first:  # noqa: ASYNC110 - nothing says when
            await asyncio.sleep(0.01)
        assert first
        assert turn.busy_until
        assert turn.busy_until > first
        turn.done = True
    async with ann.turn("t", "And now?", lease, HOUR) as turn:
        turn.done = True


async def test_a_lost_turn_takes_its_conversation_from_nobody(ann: Threads) -> None:
    lost = ann.turn("t", "What is it?", timedelta(0), HOUR)
    async with lost, ann.turn("t", "Again?", HOUR, HOUR) as turn:
        await asyncio.sleep(0)
        with pytest.raises(ConversationBusy):
            await ann.turn("t", "And now?", HOUR, HOUR).__aenter__()
        turn.done = True


async def test_a_conversation_whose_first_turn_failed_never_was(ann: Threads) -> None:
    async with ann.turn("t", "Why?", HOUR, HOUR):  # which is not said to be done
        await say(ann, "t", "one")
    assert await ann.known() == []


async def test_the_list_goes_on_after_any_of_its_entries(ann: Threads) -> None:
    for name in ("a", "b", "c"):
        await say(ann, name, "one")
    everything = await ann.known()
    assert [one.thread_id for one in everything] == ["c", "b", "a"]
    assert await ann.known(1, after=everything[0]) == everything[1:2]
    assert await ann.known(5, after=everything[2]) == []


async def test_a_new_conversation_makes_old_ones_go(ann: Threads) -> None:
    await say(ann, "old", "one")
    async with ann.turn("new", "Why?", HOUR, timedelta(0)) as turn:
        await say(ann, "new", "one")
        turn.done = True
    assert "old" not in [one.thread_id for one in await ann.known()]


async def test_conversations_are_forgotten_one_by_one_or_by_age(ann: Threads) -> None:
    await say(ann, "t", "one")
    await say(ann, "u", "two")
    assert await ann.forget("t")
    assert not await ann.forget("t")
    assert [one.thread_id for one in await ann.known()] == ["u"]
    assert await ann.forget_older(timedelta(days=1)) == 0
    assert await ann.forget_older(timedelta(0)) == 1
    assert await ann.known() == []


async def test_a_checkpoint_brings_no_type_to_life_that_is_not_allowed(ann: Threads) -> None:
    stored = ann.serde.dumps_typed({"item": ITEM, "other": Unlisted(3)})
    read = ann.serde.loads_typed(stored)
    assert read["item"] == ITEM
    assert not isinstance(read["other"], Unlisted)


@pytest.mark.parametrize(
    ("kind", "blob"),
    [
        ("pickle", b"cos\nsystem\n(S'true'\ntR."),
        ("msgpack", b"\xc1"),
        ("json", b"{"),
        ("json", b'{"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["true"]}'),
        ("msgpack", b"\x91\xa4text"),
    ],
)
async def test_a_conversation_that_no_turn_has_written_is_refused_and_can_be_forgotten(
    ann: Threads, database: Database, kind: str, blob: bytes
) -> None:
    await workflow(ann).ainvoke(
        {"said": ["a"], "messages": [HumanMessage("a")]}, ann.config_of("t"), durability="exit"
    )
    assert [message.content for message in (await ann.read("t"))[0]] == ["a"]
    async with database.transaction(ann._user_id) as connection:
        await connection.execute(
            "update checkpoint_blobs set type = %s, blob = %s where channel = 'messages'",
            [kind, blob],
        )
    for read in (ann.read("t"), say(ann, "t", "b")):
        with pytest.raises(ConversationUnreadable) as refused:
            await read
        assert refused.value.field == "thread_id"
    await ann.forget("t")
    assert await ann.read("t") == ([], "")


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_THREAD + 1), "a\x00b"])
async def test_a_name_that_cannot_be_one_is_refused(ann: Threads, name: str) -> None:
    with pytest.raises(OptionInvalid) as refused:
        ann.config_of(name)
    assert refused.value.field == "thread_id"
