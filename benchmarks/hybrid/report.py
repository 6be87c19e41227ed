"""The report of a run: times of all designs, and the verdict of every goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.hybrid.goals import Goal, Judged, goals_table, judged
from benchmarks.hybrid.measuring import Spent, Times, table

# The size at which docs/speed.md has its limits.
MEANT_FOR = 100_000


@dataclass(frozen=True, slots=True)
class Group:
    """One group of designs, measured.

    Attributes:
        spent: what each design takes.
        goals: each with its verdict.
    """

    spent: tuple[Spent, ...]
    goals: tuple[Judged, ...]

    @classmethod
    def of(cls, name: str, times: dict[str, Times], goals: Sequence[Goal]) -> Group:
        """Hold what was measured against the goals, and print what each design takes."""
        group = cls(
            tuple(Spent.of(name, design, own) for design, own in times.items()),
            tuple(judged(goal, times) for goal in goals),
        )
        print(table(group.spent), flush=True)
        return group


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a run has found, as `--json` writes it.

    Attributes:
        library: which, with its seed.
        chunks: how many it has.
        queries: how many were timed.
        checked: over how many the gates were, those of keywords among them.
        missing: rivals that were not measured, for their packages are not installed.
        void: whether a goal has no ratio that counts.
    """

    library: str
    chunks: int
    queries: int
    checked: int
    missing: tuple[str, ...]
    void: bool
    goals: tuple[Judged, ...]
    spent: tuple[Spent, ...]

    @classmethod
    def of(
        cls, library: str, sizes: tuple[int, int, int], groups: Sequence[Group], *missing: str
    ) -> Report:
        """Of all groups; `sizes` are chunks, queries, and queries that gates were over."""
        goals = tuple(goal for group in groups for goal in group.goals)
        return cls(
            library,
            *sizes,
            missing=missing,
            void=any(goal.void for goal in goals),
            goals=goals,
            spent=tuple(one for group in groups for one in group.spent),
        )

    def write(self, file: Path | None) -> int:
        """Print the goals, write the file where one is wanted; returns the exit status, 1 if void."""
        print(f"\n## Goals: {self.library}, {self.chunks} chunks, {self.queries} queries\n")
        if self.chunks < MEANT_FOR:
            print(
                f"The limits are meant for {MEANT_FOR:,} chunks; rivals gain by every chunk less.\n"
            )
        print(goals_table(self.goals))
        if self.missing:
            print(f"not measured, for their packages are missing: {', '.join(self.missing)}")
        if self.void:
            print("a goal is void: its gate has failed, and no other ratio stands in")
        if file:
            file.write_bytes(orjson.dumps(self, option=orjson.OPT_INDENT_2))
        return int(self.void)
