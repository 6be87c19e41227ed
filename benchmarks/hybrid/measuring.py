"""Designs side by side: query by query, in turns, wall time and the CPU time of client and server."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.hybrid.corpus import Question

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
        """Client and server together."""
        return np.add(self.client, self.server)


def server_seconds(backends: Sequence[int]) -> float:
    """CPU seconds of server processes so far; /proc/PID/stat only counts in steps of 10 ms."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in backends) / 1e9


async def side_by_side(
    designs: Mapping[str, Search], queries: int, backends: Callable[[], Awaitable[Sequence[int]]]
) -> dict[str, Times]:
    """Run every design on every query, in an order that turns by one each query.

    Args:
        designs: name → what runs query number n.
        queries: how many there are.
        backends: the server's processes, asked after a warm-up.
    """
    for name in designs:
        for number in range(min(_WARM_UP, queries)):
            await designs[name](number)
    processes = await backends()
    names, times = list(designs), {name: Times() for name in designs}
    for number in range(queries):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            server, client = server_seconds(processes), time.process_time()
            started = time.perf_counter()
            await designs[name](number)
            times[name].wall.append((time.perf_counter() - started) * 1000)
            times[name].client.append((time.process_time() - client) * 1000)
            times[name].server.append((server_seconds(processes) - server) * 1000)
    return times


@dataclass
class Recall:
    """Shares of the ten nearest that were found, by size and kind; how often there were fewer than ten."""

    of_kind: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    short: int = 0

    def add(
        self,
        question: Question,
        found: Collection[object],
        nearer: Collection[object],
        equal: Collection[object],
    ) -> None:
        """What was found for a question; what is nearer than the tenth nearest, and what is as near."""
        kind = f"{question.bucket} {'off' if question.off else 'in'}"
        wanted = min(len(nearer) + len(equal), 10)
        right = min(len(set(found) & set(equal)), wanted - len(nearer))
        self.of_kind[kind].append((len(set(found) & set(nearer)) + right) / wanted)
        self.short += len(found) < wanted

    @property
    def least(self) -> float:
        """Of the size and kind that fares worst."""
        return min(float(np.mean(shares)) for shares in self.of_kind.values())

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {np.mean(own):.3f}" for kind, own in self.of_kind.items())
        whole = np.mean([share for own in self.of_kind.values() for share in own])
        return f"recall@10 {whole:.4f} ({kinds}), short results {self.short}"


@dataclass(frozen=True)
class Ratio:
    """How many times as much the first costs as the second, with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f}× ({self.low:.1f}–{self.high:.1f})"


def ratio(
    first: Sequence[float] | npt.NDArray[np.float64],
    second: Sequence[float] | npt.NDArray[np.float64],
    statistic: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
) -> Ratio:
    """The ratio of a statistic along the last axis; queries are drawn in pairs (Efron 1979)."""
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


def table(times: Mapping[str, Times], rivals: Sequence[str]) -> str:
    """The designs in a Markdown table, each with its ratios to the rivals."""
    head = ["design", "p50 ms", "p95 ms", "CPU ms client + server"]
    head += [f"CPU, p50, p95 of {rival} ÷ this" for rival in rivals]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for name, own in times.items():
        cells = [
            name,
            f"{p50(np.array(own.wall)):.1f}",
            f"{p95(np.array(own.wall)):.1f}",
            f"{statistics.mean(own.client):.1f} + {statistics.mean(own.server):.1f}",
        ]
        for rival in rivals:
            other = times[rival]
            cells.append(
                f"{ratio(other.cpu, own.cpu, mean)}, {ratio(other.wall, own.wall, p50)}, "
                f"{ratio(other.wall, own.wall, p95)}"
                if name != rival
                else "–"
            )
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)
