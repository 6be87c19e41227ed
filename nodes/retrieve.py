"""retrieve: search the documents, keeping the evidence of earlier rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

from domain.events import Retrieved
from domain.retrieval import ItemKind, Mode, RetrievedItem
from nodes.context import RunContext, scope_of
from nodes.state import State
from retrievers.context import assemble_graph_context
from retrievers.lanes.lane import KEYWORD, VECTOR
from retrievers.modes import MODES

# A refining round looks wider than the one before: `naive` by words as well as by meaning, the modes
# of the graph with more of it.
_BY_WORDS_TOO = (VECTOR, KEYWORD)
_WIDENING = (Mode.LOCAL, Mode.HYBRID, Mode.MIX)
# Cormack, Clarke and Büttcher 2009.
_RRF_K = 60


async def retrieve(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Run the query that is due.

    Raises:
        GraphNotFound: this user has no such knowledge base.
        RetrievalError: every lane failed.
        EmbeddingModelChanged, OptionInvalid: the request cannot be served.
    """
    run = runtime.context
    top_k = run.top_k(state)
    mode = widened(state.strategy, state.attempts, run.deps.retriever.lanes)
    found = await run.deps.retriever.search(
        scope_of(state, runtime),
        state.search,
        mode=mode,
        top_k=top_k,
        filters=state.filters,
        lanes=_BY_WORDS_TOO if state.attempts and mode == Mode.NAIVE else None,
    )
    event = Retrieved(mode, len(found.results), found.timings, found.warnings)
    runtime.stream_writer(asdict(event))
    passages = [item for item in found.results if item.kind is ItemKind.CHUNK]
    around = _once([*found.graph_items, *state.around])
    return {
        "searched": [*state.searched, state.search],
        "items": merged(state, passages, top_k),
        "around": around,
        "graph_context": assemble_graph_context(around),
        "warnings": list(dict.fromkeys([*state.warnings, *found.warnings])),
    }


def widened(strategy: str, attempts: int, lanes: Iterable[str]) -> str:
    """The mode of a refining round: one step wider each, as far as the retriever can go."""
    if strategy not in _WIDENING:
        return strategy
    known = set(lanes)
    served = [mode for mode in _WIDENING if set(MODES[mode].lanes) <= known]
    start = served.index(Mode(strategy))
    return served[min(start + attempts, len(served) - 1)].value


def _once(items: Iterable[RetrievedItem]) -> list[RetrievedItem]:
    """Each item once, best first."""
    best = {item.id: item for item in sorted(items, key=lambda item: item.score)}
    return sorted(best.values(), key=lambda item: (-item.score, item.id))


def merged(state: State, found: Sequence[RetrievedItem], top_k: int) -> list[RetrievedItem]:
    """Return the evidence so far, then the best of all rounds: `top_k`, each once.

    Rounds count alike in reciprocal rank fusion, so that a refined query adds to the first one's
    results rather than displacing them. Evidence stays however much of it there is.
    """
    if not state.items:
        return list(found)
    shares = defaultdict[str, float](float)
    for ranking in (state.items, found):
        for rank, item in enumerate(ranking, start=1):
            shares[item.id] += 1 / (_RRF_K + rank)
    unique = {item.id: item for item in [*found, *state.items]}
    order = sorted(shares, key=lambda id_: (id_ not in state.evidence, -shares[id_]))
    return [unique[id_] for id_ in order[: max(top_k, len(state.evidence))]]
