"""retrieve: search the documents, keeping the evidence of earlier rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

from domain.events import Retrieved
from domain.retrieval import RetrievedItem
from nodes.context import RunContext, scope_of
from nodes.state import State
from retrievers.lanes import KEYWORD, VECTOR

# A refining round looks wider than the first: by words as well as by meaning.
_WIDER = (VECTOR, KEYWORD)


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
        lanes=_WIDER if state.attempts else None,
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
    """Return the evidence so far, then what is new, then what else was there: `top_k`, each once.

    Evidence stays however much of it there is.
    """
    evidence = [item for item in state.items if item.id in set(state.evidence)]
    unique = {item.id: item for item in [*evidence, *found, *state.items]}
    return list(unique.values())[: max(top_k, len(evidence))]
