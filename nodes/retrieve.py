"""retrieve: search the documents, keeping the evidence of earlier rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

from domain.events import Retrieved
from domain.retrieval import Mode, RetrievedItem
from nodes.context import RunContext, scope_of
from nodes.state import State
from retrievers.lanes import KEYWORD, VECTOR

# A refining round of `naive` looks wider than the first: by words as well as by meaning.
_WIDER = (VECTOR, KEYWORD)
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
    found = await run.deps.retriever.search(
        scope_of(state, runtime),
        state.search,
        mode=state.strategy,
        top_k=top_k,
        filters=state.filters,
        lanes=_WIDER if state.attempts and state.strategy == Mode.NAIVE else None,
    )
    event = Retrieved(state.strategy, len(found.results), found.timings, found.warnings)
    runtime.stream_writer(asdict(event))
    return {
        "searched": [*state.searched, state.search],
        "items": merged(state, found.results, top_k),
        "graph_context": {
            "entities": list(found.graph_context.entities),
            "relationships": list(found.graph_context.relationships),
        },
        "warnings": list(dict.fromkeys([*state.warnings, *found.warnings])),
    }


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
