"""Reading in few round trips: who shares one, and what a failure costs the others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from psycopg.rows import DictRow

from sextant.domain.errors import DatabaseUnavailable
from sextant.stores.postgresql.query_connection import (
    BatchedStatement,
    LatencyTracker,
    QueryBatcher,
)


class Server:
    """Answers a statement with its parameters; notes what came together."""

    def __init__(self) -> None:
        self.trips: list[tuple[str, list[object]]] = []
        self.came, self.gate = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def answer(
        self, user_id: str, statements: Sequence[BatchedStatement]
    ) -> list[list[DictRow]]:
        rows = [dict[str, object](one.values) for one in statements]
        asked = [row["n"] for row in rows]
        self.trips.append((user_id, asked))
        self.came.set()
        if "slow" in asked and len(asked) > 1:
            raise TimeoutError
        if asked != ["quick"]:
            await self.gate.wait()
        if "bad" in asked:
            raise ValueError("bad")
        if "gone" in asked:
            raise DatabaseUnavailable("gone")
        return [[row] for row in rows]


def ask(
    trips: QueryBatcher[str, list[DictRow]], n: object, user_id: str = "ann"
) -> asyncio.Task[list[DictRow]]:
    return asyncio.create_task(trips.ask(user_id, BatchedStatement("select", {"n": n})))


async def test_what_is_asked_at_the_same_moment_goes_together_in_order_one_tenant_a_trip() -> None:
    server = Server()
    trips = QueryBatcher(server.answer)
    asked = [ask(trips, 1), ask(trips, 2), ask(trips, 3, "bob")]
    assert await asyncio.gather(*asked) == [[{"n": 1}], [{"n": 2}], [{"n": 3}]]
    assert server.trips == [("ann", [1, 2]), ("bob", [3])]
    assert await ask(trips, 4) == [{"n": 4}]
    assert server.trips[2:] == [("ann", [4])]


async def test_a_trip_holds_eight_statements() -> None:
    server = Server()
    trips = QueryBatcher(server.answer)
    await asyncio.gather(*(ask(trips, n) for n in range(10)))
    assert [len(asked) for _, asked in server.trips] == [8, 2]


async def test_a_statement_at_fault_fails_whoever_asked_it_and_nobody_else() -> None:
    trips = QueryBatcher(Server().answer)
    good, bad = await asyncio.gather(ask(trips, 1), ask(trips, "bad"), return_exceptions=True)
    assert good == [{"n": 1}]
    assert isinstance(bad, ValueError)


async def test_of_two_that_take_too_long_together_neither_waits_for_the_other() -> None:
    server = Server()
    server.gate.clear()
    trips = QueryBatcher(server.answer)
    slow, quick = ask(trips, "slow"), ask(trips, "quick")
    assert await quick == [{"n": "quick"}]
    assert not slow.done()
    server.gate.set()
    assert await slow == [{"n": "slow"}]


async def test_a_server_that_is_gone_is_asked_once() -> None:
    server = Server()
    trips = QueryBatcher(server.answer)
    failed = await asyncio.gather(ask(trips, 1), ask(trips, "gone"), return_exceptions=True)
    assert [type(one) for one in failed] == [DatabaseUnavailable, DatabaseUnavailable]
    assert len(server.trips) == 1


async def test_one_who_stops_waiting_leaves_the_others_their_rows() -> None:
    server = Server()
    server.gate.clear()
    trips = QueryBatcher(server.answer)
    first, second = ask(trips, 1), ask(trips, 2)
    await server.came.wait()
    first.cancel()
    server.gate.set()
    assert await second == [{"n": 2}]
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_when_nobody_waits_any_more_the_trip_is_given_up() -> None:
    ended = asyncio.Event()

    async def never(user_id: str, statements: Sequence[BatchedStatement]) -> list[list[DictRow]]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    trips = QueryBatcher(never)
    asked = ask(trips, 1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait_for(ended.wait(), 5)


def test_whoever_is_new_takes_no_long_statements() -> None:
    assert not LatencyTracker().is_slow("ann")


def test_two_statements_in_one_trip_may_take_twice_as_long_as_one() -> None:
    pace = LatencyTracker()
    pace.record("ann", 0.0012, 2)
    assert not pace.is_slow("ann")
    pace.record("ann", 0.0012, 1)
    assert pace.is_slow("ann")


def test_the_last_trip_tells_whether_statements_are_long() -> None:
    pace = LatencyTracker()
    pace.record("ann", 0.02, 2)
    assert pace.is_slow("ann")
    assert not pace.is_slow("bob")
    pace.record("ann", 0.0001, 1)
    assert not pace.is_slow("ann")
