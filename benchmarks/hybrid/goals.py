"""Goals: the ratio of a rival's cost to ours, and the verdict in view of gates and noise.

A gate that fails voids the ratio, and an A/A pair (one design measured twice) gives the noise floor, within which no
ratio decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.measuring import Ratio, Times, mean, p50, p95, ratio


class Measure(StrEnum):
    """What is compared: the mean of CPU, client and server together, or a quantile of wall time."""

    CPU = "CPU"
    P50 = "p50"
    P95 = "p95"

    def ratio(self, first: Times, second: Times) -> Ratio:
        """Return how many times as much the first takes."""
        if self is Measure.CPU:
            return ratio(first.cpu, second.cpu, mean)
        return ratio(first.wall, second.wall, p50 if self is Measure.P50 else p95)


class Verdict(StrEnum):
    """Whether a ratio reaches its limit."""

    MET = "met"
    NOT_MET = "not met"
    WITHIN_NOISE = "within noise"
    VOID = "void"


def again(design: str) -> str:
    """Return the name of a design's second turn: with the first it is an A/A pair."""
    return f"{design}, again (A/A)"


@dataclass(frozen=True, slots=True)
class Goal:
    """How many times as much a rival is to take as ours.

    Attributes:
        group: what is searched for, a group of questions.
        ours, rival: the names of the designs; ours is measured `again`, too.
        limit: the ratio wanted.
        gates: what must hold for the ratio to count, of ours and of the rival.
        instead: the goal that stands in where a gate has failed.
    """

    group: str
    ours: str
    rival: str
    measure: Measure
    limit: float
    gates: tuple[Gate, ...] = ()
    instead: Goal | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A goal, what was measured, and the verdict.

    Attributes:
        measured: the rival's cost over ours. It counts for nothing where the verdict is void.
        noise: the cost of ours measured again over ours.
        instead: what stands in for a void ratio; None where nothing does, or nothing need.
    """

    goal: Goal
    measured: Ratio
    noise: Ratio
    verdict: Verdict
    instead: Judged | None

    @property
    def void(self) -> bool:
        """Return whether neither this ratio nor one in its place counts."""
        return self.verdict is Verdict.VOID and (self.instead is None or self.instead.void)


def judged(goal: Goal, times: Mapping[str, Times]) -> Judged:
    """Hold a goal against the times of its group's designs."""
    ours = times[goal.ours]
    measured = goal.measure.ratio(times[goal.rival], ours)
    noise = goal.measure.ratio(times[again(goal.ours)], ours)
    verdict = verdict_of(measured, goal.limit, noise, goal.gates)
    stands_in = goal.instead if verdict is Verdict.VOID else None
    return Judged(goal, measured, noise, verdict, judged(stands_in, times) if stands_in else None)


def verdict_of(measured: Ratio, limit: float, noise: Ratio, gates: Sequence[Gate]) -> Verdict:
    """Return void without its gates; decided only where interval and noise floor leave no doubt.

    The floor is as far from 1 as the A/A pair's interval reaches, either way: a ratio may be off by that
    factor without any difference between designs.
    """
    if not all(gate.held for gate in gates):
        return Verdict.VOID
    floor = max(noise.high, 1 / noise.low)
    if min(measured.low, measured.value / floor) >= limit:
        return Verdict.MET
    if max(measured.high, measured.value * floor) < limit:
        return Verdict.NOT_MET
    return Verdict.WITHIN_NOISE


def goals_table(found: Sequence[Judged]) -> str:
    """Return all goals in a Markdown table, what stands in for a void ratio below it; then its gates."""
    lines = list(chain.from_iterable(map(_lines, found)))
    gates = list(dict.fromkeys(gate for one in lines for gate in one.goal.gates))
    head = "group | ours against | measure | ratio (95 %) | limit | gates | A/A | verdict"
    rows = [head, " | ".join(8 * ["---"]), *(_row(one, gates) for one in lines)]
    legend = [f"{number}. {gate}" for number, gate in enumerate(gates, start=1)]
    return "\n".join([*(f"| {row} |" for row in rows), "", *legend])


def _lines(one: Judged) -> Iterator[Judged]:
    yield one
    if one.instead:
        yield from _lines(one.instead)


def _row(one: Judged, gates: Sequence[Gate]) -> str:
    goal, void = one.goal, one.verdict is Verdict.VOID
    counted = [gate for gate in goal.gates if not gate.held] or goal.gates
    numbers = ", ".join(str(gates.index(gate) + 1) for gate in counted)
    return " | ".join(
        [
            goal.group,
            goal.rival,
            goal.measure,
            f"void ({one.measured})" if void else str(one.measured),
            f"{goal.limit:g}×",
            f"{numbers} {'FAILED' if void else 'held'}",
            str(one.noise),
            f"{one.verdict}, the next line stands in"
            if one.instead and not one.void
            else one.verdict,
        ]
    )
