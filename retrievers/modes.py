"""The retrieval modes as data: their lanes, how these are fused and rescored, and the fallback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from sextant.domain.errors import ModeNotAvailable, OptionInvalid
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.settings import RetrievalSettings
from sextant.retrievers.lanes.index_lanes import GLOBAL, LOCAL, MIX, REPORTS
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.ranking.mix_ranker import PageRankMixer
from sextant.retrievers.ranking.rescorers import Rescorer, SentenceMatch


class Fusion(Enum):
    """How the passages of several lanes become one ranking."""

    RANKS = auto()  # weighted reciprocal rank fusion
    SCORES = auto()  # weighted sum of the scores of two lanes; the weights depend on the question


@dataclass(frozen=True, slots=True)
class ModeSpec:
    """A mode.

    Attributes:
        signals: lanes that find passages.
        ranker: ranks passages by words, meaning and the graph, for the lanes over the index.
        rescorers: change the scores of the passages once their texts are read, one after the other.
        companions: lanes that find what goes with the passages; without them the mode still works.
        fallback: lanes that run if all signals fail.
        fusion: how the passages of several lanes become one ranking.
        reports: whether reports are results: before their passages, or among them with `Fusion.SCORES`.
        reranked: whether a reranker, if one is configured, orders the best passages.
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
        """Return the number of passages that the rescorers read."""
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
        mode: one of the six names, or `auto`: `mix`, the best ranking on every set (docs/quality.md), or `naive`
            without a graph.
        known_lanes: the lanes that the retriever has.
        broad: whether the question is about the documents as a whole; then `auto` is `global`.

    Raises:
        ModeNotAvailable: the name is unknown, or a lane is missing.
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
    """Return the settings that a mode and its fallback use, for debugging.

    Args:
        mode: the mode.
        settings: all settings of retrieval.
        reranked: whether a reranker was used.
    """
    spec, constants = MODES[mode], dict[str, float]()
    if spec.signals:
        constants = {**describe_passage_index(settings), "maxKeywords": settings.max_keywords}
    if spec.fallback == _WITHOUT_GRAPH:
        constants |= {
            "entityM": settings.entity_m,
            "entityEfConstruction": settings.entity_ef_construction,
            "entityEfSearch": settings.entity_ef_search,
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
    """Return a mode of lanes that a caller named.

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
    """Return the parameters of PostgreSQL's vector index over passages."""
    return {
        "hnswM": settings.hnsw_m,
        "hnswEfConstruction": settings.hnsw_ef_construction,
        "hnswEfSearch": settings.hnsw_ef_search,
    }


_WIDENING = (Mode.LOCAL, Mode.HYBRID, Mode.MIX)


def widen_mode(strategy: str, attempts: int, lanes: Iterable[str]) -> str:
    """Return the mode of a refining round: one step wider in each round, if the retriever has its lanes."""
    if strategy not in _WIDENING:
        return strategy
    known = set(lanes)
    served = [mode for mode in _WIDENING if set(MODES[mode].signals) <= known]
    start = served.index(Mode(strategy))
    return served[min(start + attempts, len(served) - 1)].value
