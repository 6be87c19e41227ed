"""Options of entity search, and the formula that blends the lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from pydantic.alias_generators import to_camel

from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import ChunkFilters, as_weight, require_type
from sextant.retrievers.arrays import min_max
from sextant.retrievers.ranking.fusion import Share
from sextant.stores.graph.protocol import EVERY_ENTITY, EntityFilter

MAX_TOP_K = 100

# The filters that apply to entities, by their names on the wire.
_ENTITY_FILTERS = {
    "entity_types": "entityTypes",
    "created_after": "createdAfter",
    "created_before": "createdBefore",
}


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights of the lanes.

    Raises:
        OptionInvalid: a weight is not a number above or equal to 0, or all are 0.
    """

    vector: float = 0.5
    fts: float = 0.3
    graph: float = 0.2

    def __post_init__(self) -> None:
        for lane, weight in self.by_lane.items():
            as_weight(weight, f"weights.{lane}")
        if not sum(self.by_lane.values()):
            raise OptionInvalid(
                "All weights are 0, so nothing would be ranked.",
                next_step="Give at least one lane a weight above 0.",
                field="weights",
            )

    @property
    def by_lane(self) -> dict[str, float]:
        """Return lane → weight."""
        return {"vector": self.vector, "fts": self.fts, "graph": self.graph}


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search for entities.

    Attributes:
        weights: of the lanes; None: those of the settings, 0.5, 0.3 and 0.2.
        top_k: results on a page, 1 to 100.
        rerank: rerank the results, if a reranker is configured.
        include_related: add to each result the entities of its heaviest relations.
        filters: `entityTypes`, `createdAfter` (that moment or later), `createdBefore` (earlier).
        cursor: `next_cursor` of the page before.
        explain: add the scores of every lane to each result, and constants and timings to the response.

    Raises:
        OptionInvalid: a value is invalid.
    """

    weights: FusionWeights | None = None
    top_k: int = 10
    rerank: bool = False
    include_related: bool = False
    filters: Mapping[str, Any] | None = None
    cursor: str | None = None
    explain: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.top_k, int) and not isinstance(self.top_k, bool)
        if not whole or not 1 <= self.top_k <= MAX_TOP_K:
            raise OptionInvalid(
                f"top_k is {self.top_k!r}; it must lie between 1 and {MAX_TOP_K}.",
                next_step="Ask for a page of at least one result, and for the next by its cursor.",
                field="top_k",
            )
        if self.weights is not None:
            require_type(self.weights, FusionWeights, "weights", "vector=0.5, fts=0.3, graph=0.2")

    def only(self) -> EntityFilter:
        """Return the filters for a graph store.

        Raises:
            OptionInvalid: a filter is unknown, applies to passages only, has an invalid value, or excludes
                everything.
        """
        read = ChunkFilters.read(self.filters, _ENTITY_FILTERS)
        if read is None:
            return EVERY_ENTITY
        for name in read.model_dump(exclude_defaults=True):
            if name not in _ENTITY_FILTERS:
                raise OptionInvalid(
                    f"The filter `{to_camel(name)}` bounds passages, not entities.",
                    next_step=f"Filters of entities: {', '.join(_ENTITY_FILTERS.values())}.",
                    field=f"filters.{to_camel(name)}",
                )
        types = tuple(sorted({one.lower() for one in read.entity_types}))
        return EntityFilter(types, read.created_after, read.created_before)


Key = TypeVar("Key", str, UUID)


@dataclass(frozen=True, slots=True)
class Blended(Generic[Key]):
    """An item with its signals by lane, the bonus for agreement, and its score: the sum of all."""

    key: Key
    signals: Mapping[str, Share]
    bonus: float
    score: float


def blend(
    found: Mapping[str, Sequence[tuple[Key, float]]], weights: Mapping[str, float], bonus: float
) -> list[Blended[Key]]:
    """Score every item by `Σ weight · share + bonus · (signals − 1)`, best first, ties by key.

    A share is the lane's score mapped to 0..1 over the lane's hits (lowest 0, highest 1, all equal 1).
    `signals` counts the lanes with a share above 0.

    Args:
        found: lane → (key, score), best first, no key twice.
        weights: of every lane.
        bonus: for each further signal.
    """
    signals: dict[Key, dict[str, Share]] = {}
    for lane, hits in found.items():
        shares = min_max([score for _, score in hits])
        for rank, ((key, raw), share) in enumerate(zip(hits, shares, strict=True), start=1):
            weight, value = weights[lane], float(share)
            signals.setdefault(key, {})[lane] = Share(raw, value, weight, weight * value, rank)
    blended = list[Blended[Key]]()
    for key, by_lane in signals.items():
        agreeing = sum(signal.share > 0 for signal in by_lane.values())
        extra = bonus * (agreeing - 1) if agreeing >= 2 else 0.0
        score = sum(signal.contribution for signal in by_lane.values()) + extra
        blended.append(Blended(key, by_lane, extra, score))
    return sorted(blended, key=lambda item: (-item.score, item.key))
