"""Retrieval modes as data: which lanes a mode runs, how they are joined, and which step in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from sextant.domain.errors import ModeNotAvailable, OptionInvalid
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.settings import RetrievalSettings
from sextant.retrievers.lanes.constants import of_entities, of_passages
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.lanes.local import LOCAL
from sextant.retrievers.lanes.mix import MIX
from sextant.retrievers.lanes.reports import GLOBAL, REPORTS


class Join(Enum):
    """How the passages of several lanes become one ranking."""

    RANKS = auto()  # weighted reciprocal rank fusion
    SHARES = auto()  # of two lanes, by shares that depend on the question (`ranking.broadening`)


@dataclass(frozen=True, slots=True)
class Composition:
    """The lanes of a mode.

    Attributes:
        lanes: find passages; when all of them fail, those of `fallback` run.
        fallback: stand in.
        beside: find what accompanies the passages; a failure there costs only that.
        join: how several lanes are joined.
        reports: whether reports are results of their own: before the passages behind them, or among the
            passages where lanes are joined by shares.
        reranked: whether a reranker, where one is configured, orders the best passages anew.
        restated: whether the passage with a sentence that restates the question gains by it.
    """

    lanes: tuple[str, ...]
    fallback: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    join: Join = Join.RANKS
    reports: bool = False
    reranked: bool = False
    restated: bool = False


_WITHOUT_GRAPH = (VECTOR, KEYWORD)

MODES: Mapping[str, Composition] = {
    Mode.NAIVE: Composition(lanes=(VECTOR,), fallback=(KEYWORD,)),
    Mode.LOCAL: Composition(lanes=(LOCAL,), fallback=_WITHOUT_GRAPH),
    Mode.GLOBAL: Composition(lanes=(GLOBAL,), fallback=_WITHOUT_GRAPH, reports=True),
    Mode.HYBRID: Composition(
        lanes=(LOCAL, GLOBAL),
        fallback=_WITHOUT_GRAPH,
        join=Join.SHARES,
        reports=True,
        reranked=True,
        restated=True,
    ),
    Mode.MIX: Composition(
        lanes=(MIX,), fallback=_WITHOUT_GRAPH, beside=(REPORTS,), reranked=True, restated=True
    ),
    Mode.BYPASS: Composition(lanes=()),
}


def composition_of(
    mode: str, known_lanes: Sequence[str], *, broad: bool = False
) -> tuple[Mode, Composition]:
    """Look up a mode by name.

    Args:
        mode: one of the six names, or `auto`: `mix`, the best ranking on every set
            (docs/evaluation.md), `naive` where there is no graph.
        known_lanes: the lanes that this retriever has.
        broad: whether the question is about the documents as a whole, which `auto` answers from the
            reports of `global`.

    Raises:
        ModeNotAvailable: the name is unknown, or its lanes are not there.
    """
    if mode == AUTO:
        wished = [Mode.GLOBAL, Mode.MIX] if broad else [Mode.MIX]
        mode = next((one for one in wished if _served(MODES[one], known_lanes)), Mode.NAIVE)
    composition = MODES.get(str(mode))
    if composition is None:
        raise _not_available(f"There is no mode `{mode}`.", known_lanes)
    if not _served(composition, known_lanes):
        reason = "needs the knowledge graph, which this retriever was not given"
        raise _not_available(f"Mode `{mode}` {reason}.", known_lanes)
    return Mode(mode), composition


def constants_of(mode: Mode, settings: RetrievalSettings, *, reranked: bool) -> dict[str, float]:
    """Return the settings that a mode goes by, and those of the lanes that step in where its own fail.

    Args:
        mode: the one that was chosen.
        settings: all of them.
        reranked: whether a reranker was asked.
    """
    made_of, told = MODES[mode], dict[str, float]()
    if made_of.lanes:
        told = {**of_passages(settings), "maxKeywords": settings.max_keywords}
    if made_of.fallback == _WITHOUT_GRAPH:
        told |= of_entities(settings) | {
            "rrfK": settings.rrf_k,
            "vectorWeight": settings.vector_weight,
            "keywordWeight": settings.keyword_weight,
        }
    if reranked:
        told |= {"rerankPairs": settings.rerank_pairs, "rerankChars": settings.rerank_chars}
    return told


def _not_available(sentence: str, known_lanes: Sequence[str]) -> ModeNotAvailable:
    served = ", ".join(name for name, made_of in MODES.items() if _served(made_of, known_lanes))
    return ModeNotAvailable(sentence, next_step=f"Available modes: {served}, {AUTO}.", field="mode")


def composition_from(lanes: Sequence[str], known_lanes: Sequence[str]) -> Composition:
    """Return a composition of lanes named by the caller.

    Raises:
        OptionInvalid: a lane is unknown, or none is named.
    """
    if not lanes or (unknown := [lane for lane in lanes if lane not in known_lanes]):
        named = f"There is no lane `{unknown[0]}`." if lanes else "No lane is named."
        raise OptionInvalid(named, next_step=f"Lanes: {', '.join(known_lanes)}.", field="lanes")
    return Composition(lanes=tuple(dict.fromkeys(lanes)))


def _served(composition: Composition, known_lanes: Sequence[str]) -> bool:
    return all(lane in known_lanes for lane in composition.lanes)
