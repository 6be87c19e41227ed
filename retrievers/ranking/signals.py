"""One score out of several signals on different scales: a weighted sum of shares, and what agreement adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from sextant.retrievers.numeric.arrays import min_max

Key = TypeVar("Key", str, UUID)


@dataclass(frozen=True, slots=True)
class Signal:
    """What one lane says of an item: its place (from 1), its score there, and what that is worth."""

    rank: int
    raw: float
    normalised: float
    weight: float

    @property
    def contribution(self) -> float:
        """Return the part of the item's score that the lane gives."""
        return self.weight * self.normalised


@dataclass(frozen=True, slots=True)
class Blended(Generic[Key]):
    """An item with its signals by lane, the bonus for agreement, and the sum of all."""

    key: Key
    signals: Mapping[str, Signal]
    bonus: float
    score: float


def blend(
    found: Mapping[str, Sequence[tuple[Key, float]]], weights: Mapping[str, float], bonus: float
) -> list[Blended[Key]]:
    """Score every item by `Σ weight · share + bonus · (signals − 1)`, best first, ties by key.

    A share is the lane's score brought to 0..1 among the lane's hits (lowest 0, highest 1, all equal 1).
    The bonus counts lanes with a share above 0, as the seed's code does: the last hit of a lane of
    several is found by it, and adds nothing.

    Args:
        found: lane → (key, score), best first, no key twice.
        weights: of every lane.
        bonus: for each further signal.

    """
    signals: dict[Key, dict[str, Signal]] = {}
    for lane, hits in found.items():
        shares = min_max([score for _, score in hits])
        for rank, ((key, raw), share) in enumerate(zip(hits, shares, strict=True), start=1):
            signals.setdefault(key, {})[lane] = Signal(rank, raw, float(share), weights[lane])
    blended = [_blend(key, signal, bonus) for key, signal in signals.items()]
    return sorted(blended, key=lambda item: (-item.score, item.key))


def _blend(key: Key, signals: Mapping[str, Signal], bonus: float) -> Blended[Key]:
    agreeing = sum(signal.normalised > 0 for signal in signals.values())
    extra = bonus * (agreeing - 1) if agreeing >= 2 else 0.0
    score = sum(signal.contribution for signal in signals.values()) + extra
    return Blended(key, signals, extra, score)
