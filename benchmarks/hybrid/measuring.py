"""Measure designs query by query, in turns: wall time, and CPU time of client and server."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.figures import record

Search = Callable[[int], Awaitable[object]]
# How many times as much as ours a rival is to take: of CPU, and of time at the median and the 95th percentile.
Limits = Mapping[str, float]

OURS = "ours"
CPU, P50, P95 = "CPU", "p50", "p95"
_WARM_UP = 12
_RESAMPLES = 2000


@dataclass
class Times:
    """Milliseconds of one design, one entry a query."""

    wall: list[float] = field(default_factory=list[float])
    client: list[float] = field(default_factory=list[float])
    server: list[float] = field(default_factory=list[float])

    @property
    def cpu(self) -> npt.NDArray[np.float64]:
        """Return client and server together."""
        return np.add(self.client, self.server)

    def __str__(self) -> str:
        p50, p95 = np.quantile(self.wall, [0.5, 0.95])
        client, server = np.mean(self.client), np.mean(self.server)
        return f"{p50:.2f} ms, p95 {p95:.2f}; CPU {client:.2f} + {server:.2f} of the server"


class Server:
    """CPU of the server processes behind some connections, which may come and go.

    A line is given up with its server process where its answer is no longer wanted, and another opened.
    """

    def __init__(self) -> None:
        self._used: dict[int, float] = {}

    def follow(self, processes: Iterable[int]) -> None:
        """Count these from now on, and no others."""
        self._used = dict.fromkeys(processes, 0.0)
        self.seconds()

    def seconds(self) -> float:
        """Of all that are followed; one that has ended keeps what it had used when last asked.

        /proc/PID/stat only counts in steps of 10 ms.
        """
        for process in self._used:
            with suppress(FileNotFoundError, ProcessLookupError):
                told = Path(f"/proc/{process}/schedstat").read_text()
                self._used[process] = int(told.split()[0]) / 1e9
        return sum(self._used.values())


async def side_by_side(
    designs: Mapping[str, Search], queries: int, backends: Callable[[], Awaitable[Sequence[int]]]
) -> dict[str, Times]:
    """Run every design on every query, in an order that turns by one each query.

    Args:
        designs: name → what runs query number n.
        queries: how many there are.
        backends: the server's processes, asked before every query: of one that begins during a query,
            the rest of this query is not counted.
    """
    for name in designs:
        for number in range(min(_WARM_UP, queries)):
            await designs[name](number)
    server = Server()
    names, times = list(designs), {name: Times() for name in designs}
    for number in range(queries):
        server.follow(await backends())
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            served, client = server.seconds(), time.process_time()
            started = time.perf_counter()
            await designs[name](number)
            times[name].wall.append((time.perf_counter() - started) * 1000)
            times[name].client.append((time.process_time() - client) * 1000)
            times[name].server.append((server.seconds() - served) * 1000)
    return times


def report(group: str, times: Mapping[str, Times], limits: Mapping[str, Limits]) -> None:
    """Print what each design takes, and record how many times as much as ours each rival does."""
    for name, own in times.items():
        print(f"{name:<40} {own}", flush=True)
    ours = times[OURS]
    for rival, wanted in limits.items():
        for measure, limit in wanted.items():
            value, low, high = ratio(times[rival], ours, measure)
            name = f"{group} beside {rival}, {measure}"
            record(name, value, f"({low:.1f}–{high:.1f}) times", least=limit)


def ratio(first: Times, second: Times, measure: str) -> tuple[float, float, float]:
    """Return how many times as much the first costs, with its 95 % interval; queries are drawn in pairs (Efron 1979)."""
    if measure == CPU:
        one, other, share = first.cpu, second.cpu, None
    else:
        one, other = np.asarray(first.wall), np.asarray(second.wall)
        share = 0.5 if measure == P50 else 0.95

    def statistic(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(
            values.mean(axis=-1) if share is None else np.quantile(values, share, axis=-1)
        )

    rng = np.random.default_rng(20250101)
    draws = rng.integers(0, len(one), (_RESAMPLES, len(one)))
    low, high = np.quantile(statistic(one[draws]) / statistic(other[draws]), [0.025, 0.975])
    return float(statistic(one) / statistic(other)), float(low), float(high)
