"""What the chunk search benchmark counts: turns, and CPU of server processes that come and go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.hybrid.measuring import CPU, P50, P95, Search, Server, Times, ratio, side_by_side

BUSY = "print(sum(range(5_000_000)), flush=True); input()"


def test_a_server_process_that_ends_keeps_what_it_has_used() -> None:
    server = Server()
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        server.follow([process.pid])
        used = server.seconds()
        process.kill()
    assert used > 0
    assert server.seconds() == used
    server.follow([])
    assert server.seconds() == 0


async def test_every_design_runs_every_query_and_the_order_turns_by_one() -> None:
    order: list[tuple[int, str]] = []

    def design(name: str) -> Search:
        async def search(number: int) -> None:
            order.append((number, name))

        return search

    asked: list[int] = []

    async def backends() -> Sequence[int]:
        asked.append(len(order))
        return [os.getpid()]

    times = await side_by_side({name: design(name) for name in "abc"}, 4, backends)
    warm, measured = order[:12], order[12:]
    assert {name for _, name in warm} == set("abc")
    assert "".join(name for _, name in measured) == "abcbcacababc"
    assert [number for number, _ in measured] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert asked == [12, 15, 18, 21]  # between queries, never within one
    assert all(len(own.wall) == len(own.client) == len(own.server) == 4 for own in times.values())


def test_a_ratio_lies_within_its_interval_by_each_measure() -> None:
    wall = [1.0 + number % 7 for number in range(70)]
    ours = Times(wall, wall, [0.0] * 70)
    rival = Times([2 * one for one in wall], wall, [3 * one for one in wall])
    for measure, expected in ((CPU, 4), (P50, 2), (P95, 2)):
        value, low, high = ratio(rival, ours, measure)
        assert low <= value <= high
        assert value == expected
