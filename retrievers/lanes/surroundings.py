"""What of the graph goes with an answer: the entities that a walk met most, and what joins them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from domain.retrieval import ItemKind, RetrievedItem
from retrievers.context import importance
from retrievers.index.relations import Expansion
from retrievers.index.scope_index import ScopeIndex
from retrievers.index.sparse import Floats, Places
from retrievers.ranking.relevance import highest
from stores.graph.ids import id_text, relation_bytes

# The walk's best entities start the neighbourhood; with its ends, so many are told in all.
_STARTS = 8
_MET = 16
_TOLD = 24
_PER_NODE = 10
_DEPTH = 2
# That two terms share sentences says less than a statement about them.
_CO_OCCURRENCE_WORTH = 0.3
_LEAST = 1e-9


def surroundings(
    index: ScopeIndex, mass: Floats, named: Mapping[int, float] | None = None
) -> list[RetrievedItem]:
    """Entities and relations by importance, best first; entities without their texts (`contents`).

    Args:
        index: the graph.
        mass: of every entity of the index, ≥ 0: how much it matters to the question.
        named: entities of the question with the strength of the link, 0..1: what a question names
            matters to it as much as what the walk met most.
    """
    relevance = mass / np.float32(float(mass.max(initial=0.0)) or 1.0)
    for row, strength in (named or {}).items():
        relevance[row] = max(float(relevance[row]), strength)
    met = highest(relevance, _MET)
    met = met[relevance[met] > 0]
    return _around(index, met, relevance) if len(met) else []


def _around(index: ScopeIndex, met: Places, relevance: Floats) -> list[RetrievedItem]:
    """The best of what was met and of its neighbours, and the relations among them."""
    relations = index.walk.relations
    hops = relations.expand(met[:_STARTS], depth=_DEPTH, per_node=_PER_NODE)
    near = np.zeros(len(relevance), np.bool_)
    near[met], near[hops.neighbour] = True, True
    rows = np.flatnonzero(near)
    best = rows[highest(relevance[rows], _TOLD)]
    central = relations.centrality(best)
    central /= central.max(initial=0.0) or 1.0
    scores = np.maximum(importance(relevance[best], central), _LEAST)
    ids = index.entities.bytes_of(best)
    names = [id_text(own.hex()) for own in ids]
    entities = [
        RetrievedItem(ItemKind.ENTITY, name, "", score, metadata={"centrality": round(share, 6)})
        for name, score, share in zip(names, scores.tolist(), central.tolist(), strict=True)
    ]
    joined = _relations(index, hops, best, scores, ids, names)
    return sorted([*entities, *joined], key=lambda item: (-item.score, item.id))


def _relations(  # noqa: PLR0917 - what is known of the entities
    index: ScopeIndex,
    hops: Expansion,
    best: Places,
    scores: Floats,
    ids: Sequence[bytes],
    names: Sequence[str],
) -> Iterator[RetrievedItem]:
    """The relations met that join two of the best entities, whose scores and ids these are."""
    relations = index.walk.relations
    place = np.full(index.walk.entities, -1, np.intp)
    place[best] = np.arange(len(best))
    among = np.flatnonzero((place[hops.node] >= 0) & (place[hops.neighbour] >= 0))
    rows, first = np.unique(hops.relation[among], return_index=True)  # where each was met first
    pairs = place[relations.ends[rows]]
    kinds, weights = relations.kinds[rows], relations.weights[rows]
    heaviest = float(relations.weights[hops.relation].max(initial=0.0)) or 1.0
    worth = np.where(kinds == index.types.co_occurs, _CO_OCCURRENCE_WORTH, 1.0)
    worth *= np.sqrt(scores[pairs[:, 0]] * scores[pairs[:, 1]]) * (1 + weights / heaviest) / 2
    told = (np.maximum(worth, _LEAST), pairs, kinds, weights, hops.depth[among[first]])
    labels = [index.labels[row] for row in best.tolist()]
    for score, (source, target), number, weight, depth in zip(
        *(column.tolist() for column in told), strict=True
    ):
        kind = index.types.names[number]
        yield RetrievedItem(
            ItemKind.RELATION,
            id_text(relation_bytes(ids[source], ids[target], kind).hex()),
            f"{labels[source]} → {kind} → {labels[target]}",
            score,
            metadata={
                "source": names[source],
                "target": names[target],
                "type": kind,
                "weight": weight,
                "depth": depth,
            },
        )
