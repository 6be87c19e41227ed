"""What of the graph goes with an answer: the entities that a walk met most, and what joins them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from domain.errors import ConflictError, InputError, SextantError
from domain.graph import CO_OCCURS, Entity
from domain.retrieval import ItemKind, RetrievedItem
from retrievers.context import importance
from retrievers.index.scope_index import ScopeIndex
from retrievers.index.sparse import Floats, Places
from retrievers.lanes.lane import LaneQuery
from retrievers.ranking.relevance import highest
from stores.graph.ids import relation_id
from stores.graph.protocol import GraphStore, Hop

NO_GRAPH_STORE = "图数据库暂不可用，结果不含实体与关系"

# The walk's best entities start the neighbourhood; with its ends, so many are told in all.
_STARTS = 8
_MET = 16
_TOLD = 24
_PER_NODE = 10
_DEPTH = 2
# That two terms share sentences says less than a statement about them.
_CO_OCCURRENCE_WORTH = 0.3
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Finds the entities around a question and their relations; nothing without a graph store."""

    graph: GraphStore | None

    async def of(
        self,
        query: LaneQuery,
        index: ScopeIndex,
        mass: Floats,
        named: Mapping[int, float] | None = None,
    ) -> list[RetrievedItem]:
        """Entities and relations by importance, best first.

        Args:
            query: whose graph.
            index: tells which entity a row is.
            mass: of every entity of the index, ≥ 0: how much it matters to the question.
            named: entities of the question with the strength of the link, 0..1: what a question names
                matters to it as much as what the walk met most.
        """
        relevance = mass / (float(mass.max(initial=0.0)) or 1.0)
        for row, strength in (named or {}).items():
            relevance[row] = max(float(relevance[row]), strength)
        met = [row for row in highest(relevance, _MET) if relevance[row] > 0]
        if self.graph is None or not met:
            return []
        around = _around(index, np.array(met, np.intp), relevance)
        try:
            entities = await self.graph.get_entities(query.scope, list(around.relevance))
        except (InputError, ConflictError):
            raise
        except SextantError:
            query.warn(NO_GRAPH_STORE)
            return []
        return _items(index, entities, around)


@dataclass(frozen=True, slots=True)
class _Around:
    """Entities with their relevance, best first, and by row; relations that join them: row and depth.

    `heaviest`: the largest weight of a relation that was met, whether it joins two of them or not.
    """

    relevance: Mapping[UUID, float]
    ids: Mapping[int, UUID]
    relations: Sequence[tuple[int, int]]
    heaviest: float


def _around(index: ScopeIndex, met: Places, relevance: Floats) -> _Around:
    """The best of what was met and of its neighbours, and the relations among them."""
    relations = index.walk.relations
    hops = relations.expand(met[:_STARTS], depth=_DEPTH, per_node=_PER_NODE)
    ends = relations.ends[hops.relation]
    rows, first = np.unique(np.concatenate([met, ends.ravel()]), return_index=True)
    rows = rows[np.argsort(first)]
    best = rows[highest(relevance[rows], _TOLD)]
    among = np.isin(ends, best).all(axis=1)
    ids = {row: index.entities[row] for row in best.tolist()}
    return _Around(
        {own: float(relevance[row]) for row, own in ids.items()},
        ids,
        list(zip(hops.relation[among].tolist(), hops.depth[among].tolist(), strict=True)),
        float(relations.weights[hops.relation].max(initial=0.0)) or 1.0,
    )


def _items(index: ScopeIndex, entities: Sequence[Entity], around: _Around) -> list[RetrievedItem]:
    central = _centrality(entities)
    scores = {
        one.id: max(importance(around.relevance.get(one.id, 0.0), central[one.id]), _LEAST)
        for one in entities
    }
    names = {one.id: one.name for one in entities}
    hops = [_hop(index, around.ids, row, depth) for row, depth in around.relations]
    items = [_entity(one, scores[one.id], central[one.id]) for one in entities]
    items += [
        _relation(hop, names, scores, around.heaviest)
        for hop in hops
        if hop.source_id in names and hop.target_id in names
    ]
    return sorted(items, key=lambda item: (-item.score, item.id))


def _hop(index: ScopeIndex, ids: Mapping[int, UUID], row: int, depth: int) -> Hop:
    relations = index.walk.relations
    source, target = (ids[end] for end in relations.ends[row].tolist())
    kind = index.types.names[relations.kinds[row]]
    own = relation_id(source, target, kind)
    return Hop(own, source, target, kind, float(relations.weights[row]), depth)


def _centrality(entities: Sequence[Entity]) -> dict[UUID, float]:
    """Of each, 0..1: as it was computed, or while it is not, by the number of its relations."""
    if any(one.centrality for one in entities):
        most = max(one.centrality for one in entities)
        return {one.id: one.centrality / most for one in entities}
    most = math.log1p(max((one.degree for one in entities), default=0)) or 1.0
    return {one.id: math.log1p(one.degree) / most for one in entities}


def _entity(entity: Entity, score: float, centrality: float) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.ENTITY,
        id=str(entity.id),
        text=f"{entity.name}: {entity.description}" if entity.description else entity.name,
        score=score,
        external_id=entity.external_id,
        metadata={
            "name": entity.name,
            "type": entity.entity_type,
            "aliases": entity.aliases,
            "degree": entity.degree,
            "centrality": round(centrality, 6),
        },
    )


def _relation(
    hop: Hop, names: Mapping[UUID, str], scores: Mapping[UUID, float], heaviest: float
) -> RetrievedItem:
    worth = _CO_OCCURRENCE_WORTH if hop.relation_type == CO_OCCURS else 1.0
    ends = math.sqrt(scores[hop.source_id] * scores[hop.target_id])
    source, target = names[hop.source_id], names[hop.target_id]
    return RetrievedItem(
        ItemKind.RELATION,
        id=str(hop.relation_id),
        text=f"{source} → {hop.relation_type} → {target}",
        score=max(ends * worth * (1 + hop.weight / heaviest) / 2, _LEAST),
        metadata={
            "source": str(hop.source_id),
            "target": str(hop.target_id),
            "type": hop.relation_type,
            "weight": hop.weight,
            "depth": hop.depth,
        },
    )
