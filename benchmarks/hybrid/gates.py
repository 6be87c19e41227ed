"""Gates: the recall that a design must have for its times to count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from benchmarks.hybrid.corpus import Question

# The recall of the vector lane for tenants of every size, in their topics and off them, and
# how much of the hybrid search's ten must be those of exact lanes, of which one has that recall.
RECALL = 0.99


@dataclass(frozen=True, slots=True)
class Gate:
    """What was found, in words, and whether that is what is asked for.

    Attributes:
        told: whose it is, and what was found.
        held: whether times count.
    """

    told: str
    held: bool

    @classmethod
    def all_of(cls, what: str, right: int, checked: int) -> Gate:
        """Return a gate that every query must pass."""
        return cls(f"{what} in {right} of {checked} queries", 0 < checked == right)

    def __str__(self) -> str:
        return f"gate {'held' if self.held else 'FAILED'}: {self.told}"


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

    def gate(self, whose: str) -> Gate:
        """As much as is asked for in every size and kind, and never fewer than there are."""
        return Gate(f"{whose}: {self}", self.least >= RECALL and not self.short)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {np.mean(own):.3f}" for kind, own in self.of_kind.items())
        whole = np.mean([share for own in self.of_kind.values() for share in own])
        return f"recall@10 {whole:.4f} ({kinds}), {self.short} short"
