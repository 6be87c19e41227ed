"""Retrieval modes as data: which lanes a mode runs, how they are ranked and rescored, and which step in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from sextant.domain.errors import ModeNotAvailable, OptionInvalid
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.settings import RetrievalSettings
from sextant.retrievers.lanes.index_lanes import GLOBAL, LOCAL, MIX, REPORTS
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.ranking.mix_ranker import MixParameters, PageRankMixer
from sextant.retrievers.ranking.rescorers import Rescorer, SentenceMatch


class Fusion(Enum):
    """How the passages of several lanes become one ranking."""

    RANKS = auto()  # weighted reciprocal rank fusion
    SCORES = auto()  # of two lanes, by shares that depend on the question (`ranking.broadening`)


@dataclass(frozen=True, slots=True)
class ModeSpec:
    """What a mode is made of.

    Attributes:
        signals: lanes that find passages; when all of them fail, those of `fallback` run.
        ranker: ranks for the lanes over the index by words, meaning and the graph.
        rescorers: change the scores of the passages once their texts are read, one after the other.
        companions: lanes that find what accompanies the passages; a failure there costs only that.
        fallback: lanes that stand in.
        fusion: how the passages of several lanes become one ranking.
        reports: whether reports are results of their own: before the passages behind them, or among the
            passages where lanes are fused by scores.
        reranked: whether a reranking model, where one is configured, orders the best passages last; it goes
            by their order and its own scores alone (`ScoreScale.AS_RANKED`).
    """

    signals: tuple[str, ...]
    ranker: PageRankMixer = field(default_factory=PageRankMixer)
    rescorers: tuple[Rescorer, ...] = ()
    companions: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    fusion: Fusion = Fusion.RANKS
    reports: bool = False
    reranked: bool = False

    @property
    def candidates(self) -> int:
        """Return how many passages the rescorers want to read at least."""
        return max((one.candidates for one in self.rescorers), default=0)


_WITHOUT_GRAPH = (VECTOR, KEYWORD)

MODES: Mapping[str, ModeSpec] = {
    Mode.NAIVE: ModeSpec(signals=(VECTOR,), fallback=(KEYWORD,)),
    Mode.LOCAL: ModeSpec(signals=(LOCAL,), fallback=_WITHOUT_GRAPH),
    Mode.GLOBAL: ModeSpec(signals=(GLOBAL,), fallback=_WITHOUT_GRAPH, reports=True),
    Mode.HYBRID: ModeSpec(
        signals=(LOCAL, GLOBAL),
        rescorers=(SentenceMatch(),),
        fallback=_WITHOUT_GRAPH,
        fusion=Fusion.SCORES,
        reports=True,
        reranked=True,
    ),
    Mode.MIX: ModeSpec(
        signals=(MIX,),
        ranker=PageRankMixer(MixParameters()),
        rescorers=(SentenceMatch(),),
        companions=(REPORTS,),
        fallback=_WITHOUT_GRAPH,
        reranked=True,
    ),
    Mode.BYPASS: ModeSpec(signals=()),
}


def resolve_mode(
    mode: str, known_lanes: Sequence[str], *, broad: bool = False
) -> tuple[Mode, ModeSpec]:
    """Look up a mode by name.

    Args:
        mode: one of the six names, or `auto`: `mix`, the best ranking on every set
            (docs/quality.md), `naive` where there is no graph.
        known_lanes: the lanes that this retriever has.
        broad: whether the question is about the documents as a whole, which `auto` answers from the
            reports of `global`.

    Raises:
        ModeNotAvailable: the name is unknown, or its lanes are not there.
    """
    if mode == AUTO:
        wished = [Mode.GLOBAL, Mode.MIX] if broad else [Mode.MIX]
        mode = next((one for one in wished if _served(MODES[one], known_lanes)), Mode.NAIVE)
    spec = MODES.get(str(mode))
    if spec is None:
        raise _not_available(f"There is no mode `{mode}`.", known_lanes)
    if not _served(spec, known_lanes):
        reason = "needs the knowledge graph, which this retriever was not given"
        raise _not_available(f"Mode `{mode}` {reason}.", known_lanes)
    return Mode(mode), spec


def constants_of(mode: Mode, settings: RetrievalSettings, *, reranked: bool) -> dict[str, float]:
    """Return the settings that a mode goes by, and those of the lanes that step in where its own fail.

    Args:
        mode: the one that was chosen.
        settings: all of them.
        reranked: whether a reranker was asked.
    """
    spec, constants = MODES[mode], dict[str, float]()
    if spec.signals:
        constants = {**describe_passage_index(settings), "maxKeywords": settings.max_keywords}
    if spec.fallback == _WITHOUT_GRAPH:
        constants |= describe_entity_index(settings) | {
            "rrfK": settings.rrf_k,
            "vectorWeight": settings.vector_weight,
            "keywordWeight": settings.keyword_weight,
        }
    if reranked:
        constants |= {"rerankPairs": settings.rerank_pairs, "rerankChars": settings.rerank_chars}
    return constants


def _not_available(sentence: str, known_lanes: Sequence[str]) -> ModeNotAvailable:
    served = ", ".join(name for name, spec in MODES.items() if _served(spec, known_lanes))
    return ModeNotAvailable(sentence, next_step=f"Available modes: {served}, {AUTO}.", field="mode")


def spec_from_lanes(lanes: Sequence[str], known_lanes: Sequence[str]) -> ModeSpec:
    """Return a mode of lanes named by the caller.

    Raises:
        OptionInvalid: a lane is unknown, or none is named.
    """
    if not lanes or (unknown := [lane for lane in lanes if lane not in known_lanes]):
        named = f"There is no lane `{unknown[0]}`." if lanes else "No lane is named."
        raise OptionInvalid(named, next_step=f"Lanes: {', '.join(known_lanes)}.", field="lanes")
    return ModeSpec(signals=tuple(dict.fromkeys(lanes)))


def _served(spec: ModeSpec, known_lanes: Sequence[str]) -> bool:
    return all(lane in known_lanes for lane in spec.signals)


def describe_passage_index(settings: RetrievalSettings) -> dict[str, float]:
    """Return what an index over passages is built and searched by."""
    return {
        "hnswM": settings.hnsw_m,
        "hnswEfConstruction": settings.hnsw_ef_construction,
        "hnswEfSearch": settings.hnsw_ef_search,
    }


def describe_entity_index(settings: RetrievalSettings) -> dict[str, float]:
    """Return the same of PostgreSQL's index over entities."""
    return {
        "entityM": settings.entity_m,
        "entityEfConstruction": settings.entity_ef_construction,
        "entityEfSearch": settings.entity_ef_search,
    }


_WIDENING = (Mode.LOCAL, Mode.HYBRID, Mode.MIX)


def widen_mode(strategy: str, attempts: int, lanes: Iterable[str]) -> str:
    """Return the mode of a refining round: one step wider each, as far as the retriever can go."""
    if strategy not in _WIDENING:
        return strategy
    known = set(lanes)
    served = [mode for mode in _WIDENING if set(MODES[mode].signals) <= known]
    start = served.index(Mode(strategy))
    return served[min(start + attempts, len(served) - 1)].value
