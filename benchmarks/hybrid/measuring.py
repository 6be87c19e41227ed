"""Measure designs query by query, in turns: wall time, and CPU time of client and server."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

Search = Callable[[int], Awaitable[object]]

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


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as much the first costs as the second, with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 1 if self.value >= 1.5 else 2  # of an A/A pair the hundredths tell
        return f"{self.value:.{digits}f}× ({self.low:.{digits}f}–{self.high:.{digits}f})"


def ratio(
    first: Sequence[float] | npt.NDArray[np.float64],
    second: Sequence[float] | npt.NDArray[np.float64],
    statistic: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
) -> Ratio:
    """Return the ratio of a statistic along the last axis; queries are drawn in pairs (Efron 1979)."""
    one, other = np.asarray(first), np.asarray(second)
    rng = np.random.default_rng(20250101)
    draws = rng.integers(0, len(one), (_RESAMPLES, len(one)))
    low, high = np.quantile(statistic(one[draws]) / statistic(other[draws]), [0.025, 0.975])
    return Ratio(float(statistic(one) / statistic(other)), float(low), float(high))


def mean(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of the last axis."""
    return np.asarray(values.mean(axis=-1))


def p50(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of the last axis."""
    return np.asarray(np.quantile(values, 0.5, axis=-1))


def p95(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Of the last axis."""
    return np.asarray(np.quantile(values, 0.95, axis=-1))


@dataclass(frozen=True, slots=True)
class Spent:
    """What a design takes: wall time at two quantiles, and means of CPU, in milliseconds."""

    group: str
    design: str
    p50: float
    p95: float
    client: float
    server: float

    @classmethod
    def of(cls, group: str, design: str, times: Times) -> Spent:
        """Of the times of all its queries."""
        wall = np.asarray(times.wall)
        client, server = (float(np.mean(own)) for own in (times.client, times.server))
        return cls(group, design, float(p50(wall)), float(p95(wall)), client, server)


def table(rows: Sequence[Spent]) -> str:
    """Return designs in a Markdown table."""
    lines = ["design | p50 ms | p95 ms | CPU ms client + server", "--- | --- | --- | ---"]
    lines += [
        f"{row.design} | {row.p50:.2f} | {row.p95:.2f} | {row.client:.2f} + {row.server:.2f}"
        for row in rows
    ]
    return "\n".join(f"| {line} |" for line in lines)
