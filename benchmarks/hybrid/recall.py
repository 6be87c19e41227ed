"""Recall of the vector lane: times of a design that finds less count for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from benchmarks.figures import record
from benchmarks.hybrid.corpus import Question

# The recall of the vector lane for tenants of every size, in their topics and off them, and
# how much of the hybrid search's ten must be those of exact lanes, of which one has that recall.
RECALL = 0.99


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
        """Collect what was found for a question; what is nearer than the tenth nearest, and what is as near."""
        kind = f"{question.bucket} {'off' if question.off else 'in'}"
        wanted = min(len(nearer) + len(equal), 10)
        right = min(len(set(found) & set(equal)), wanted - len(nearer))
        self.of_kind[kind].append((len(set(found) & set(nearer)) + right) / wanted)
        self.short += len(found) < wanted

    @property
    def least(self) -> float:
        """Of the size and kind that fares worst."""
        return min(float(np.mean(shares)) for shares in self.of_kind.values())

    def report(self, whose: str) -> None:
        """Record the recall of the kind that fares worst, and how often there were too few."""
        record(f"{whose}: recall@10, worst kind", self.least, "", least=RECALL)
        record(f"{whose}: results too short", self.short, "", most=0)
