"""Conversations in PostgreSQL: kept by thread, each user's own, pruned to where they are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict
from uuid import uuid4

import pytest
import pytest_asyncio
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from domain.errors import OptionInvalid
from domain.retrieval import ItemKind, LaneScore, RetrievedItem
from graph.threads import LONGEST_THREAD, Threads
from stores.database import Database


class Notes(TypedDict, total=False):
    """What the small workflow of these tests keeps."""

    said: Annotated[list[str], add]
    items: list[RetrievedItem]
    other: object


@dataclass(frozen=True)
class Unlisted:
    """A type that no checkpoint may bring to life."""

    value: int


ITEM = RetrievedItem(
    ItemKind.CHUNK, "c1", "text", 0.5, lanes={"vector": LaneScore(1, 0.5)}, metadata={"page": 3}
)


def workflow(threads: Threads) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Remembers what is said to it."""

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
        await say(ann, "t", what)
        await ann.keep_latest("t")
    async with database.transaction(ann._user_id) as connection:
        steps = await (await connection.execute("select count(*) from checkpoints")).fetchone()
        blobs = await connection.execute(
            "select count(*), count(distinct channel) from checkpoint_blobs"
        )
        assert steps == (1,)
        number, channels = await blobs.fetchone() or (0, 0)
        assert number == channels
    assert (await say(ann, "t", "four"))["said"] == ["one", "two", "three", "four"]


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


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_THREAD + 1), "a\x00b"])
async def test_a_name_that_cannot_be_one_is_refused(ann: Threads, name: str) -> None:
    with pytest.raises(OptionInvalid) as refused:
        ann.config_of(name)
    assert refused.value.field == "thread_id"
