"""Entities around a question: those that it names, those that a walk met most, and what joins them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import numpy as np

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.retrieval import LEAST_SCORE, ItemKind, PassageContent, RetrievedItem
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Vectors
from sextant.retrievers.arrays import Floats, Places, highest
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.relations import Expansion
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.warnings import go_without
from sextant.stores.graph.evidence import relation_id
from sextant.stores.graph.protocol import EntityHit, GraphStore

# The walk's best entities start the neighbourhood; with its ends, so many are shown in all.
_STARTS = 8
_MET = 16
_MOST_LISTED = 24
# An entity without relations is still worth naming when the question is about it.
_LEAST_CENTRALITY = 0.1
# That two terms share sentences says less than a statement about them.
_CO_OCCURRENCE_WORTH = 0.3

K = TypeVar("K")
S = TypeVar("S", bound=tuple[float, ...])


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Entities and relations around a question, as rows of an index; items are made of them once.

    Attributes:
        index: whose rows they are.
        entities: row → importance and centrality.
        relations: rows of both ends, number of the type → importance, weight, and depth at which it was
            met; both ends are among the entities.
    """

    index: ScopeIndex
    entities: Mapping[int, tuple[float, float]]
    relations: Mapping[tuple[int, int, int], tuple[float, float, int]]

    def items(self, contents: Mapping[int, PassageContent]) -> list[RetrievedItem]:
        """Return the entities with a content, given by row, and the relations between them."""
        ids = {row: self.index.entities[row] for row in self.entities if row in contents}
        return [*self._entities(ids, contents), *self._relations(ids)]

    def _entities(
        self, ids: Mapping[int, UUID], contents: Mapping[int, PassageContent]
    ) -> Iterator[RetrievedItem]:
        for row, id_ in ids.items():
            text, _, external_id, metadata = contents[row]
            score, metadata["centrality"] = self.entities[row]
            yield RetrievedItem(
                ItemKind.ENTITY, str(id_), text, score, external_id=external_id, metadata=metadata
            )

    def _relations(self, ids: Mapping[int, UUID]) -> Iterator[RetrievedItem]:
        labels, types = self.index.labels, self.index.types.names
        for (source, target, number), (score, weight, depth) in self.relations.items():
            if source not in ids or target not in ids:
                continue
            kind = types[number]
            metadata = {
                "source": str(ids[source]),
                "target": str(ids[target]),
                "type": kind,
                "weight": weight,
                "depth": depth,
            }
            yield RetrievedItem(
                ItemKind.RELATION,
                str(relation_id(ids[source], ids[target], kind)),
                f"{labels[source]} → {kind} → {labels[target]}",
                score,
                metadata=metadata,
            )


def surroundings(
    index: ScopeIndex, mass: Floats, named: Mapping[int, float] | None = None
) -> Surroundings | None:
    """Return entities and relations by importance; None where nothing matters to the question.

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
    return _around(index, met, relevance) if len(met) else None


def merge_surroundings(parts: Sequence[Surroundings]) -> Surroundings | None:
    """Return the surroundings of several lanes in one: each entity and relation with its highest score."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return Surroundings(
        parts[0].index,
        _keep_best_rated(entry for part in parts for entry in part.entities.items()),
        _keep_best_rated(entry for part in parts for entry in part.relations.items()),
    )


def _keep_best_rated(entries: Iterable[tuple[K, S]]) -> dict[K, S]:
    """Of what is said of each, the first that rates it highest; the rating comes first."""
    best: dict[K, S] = {}
    for key, rated in entries:
        known = best.get(key)
        if known is None or known[0] < rated[0]:
            best[key] = rated
    return best


def _around(index: ScopeIndex, met: Places, relevance: Floats) -> Surroundings:
    """Return the best of what was met and of its neighbours, and the relations among them."""
    relations = index.walk.relations
    hops = relations.expand(met[:_STARTS], depth=2, per_node=10)
    here = np.zeros(index.walk.entities, np.bool_)
    here[met] = here[hops.neighbour] = True
    rows = np.flatnonzero(here)
    best = rows[highest(relevance[rows], _MOST_LISTED)]
    central = relations.centrality(best)
    central /= central.max(initial=0.0) or 1.0
    scores = np.maximum(importance(relevance[best], central), LEAST_SCORE)
    rounded = central.astype(np.float64).round(6).tolist()
    entities = zip(best.tolist(), zip(scores.tolist(), rounded, strict=True), strict=True)
    return Surroundings(index, dict(entities), _relations(index, hops, best, scores))


def importance(relevance: Floats, centrality: Floats) -> Floats:
    """Return how much entities matter to a question: relevance × centrality, both 0..1, the latter from a tenth up."""
    return relevance * (_LEAST_CENTRALITY + (1 - _LEAST_CENTRALITY) * centrality)


def _relations(
    index: ScopeIndex, hops: Expansion, best: Places, scores: Floats
) -> dict[tuple[int, int, int], tuple[float, float, int]]:
    """Return the relations met that join two of the best entities, whose scores these are."""
    relations = index.walk.relations
    score = np.full(index.walk.entities, -1, scores.dtype)
    score[best] = scores
    among = np.flatnonzero((score[hops.node] > 0) & (score[hops.neighbour] > 0))
    met = hops.relation[among]
    rows, first = np.unique(met, return_index=True)
    source, target = relations.ends.take(rows, axis=0).T
    kinds, weights = relations.kinds[rows], relations.weights[rows]
    heaviest = float(relations.weights[hops.relation].max(initial=0.0)) or 1.0
    worth = np.where(kinds == index.types.co_occurs, _CO_OCCURRENCE_WORTH, 1.0)
    worth *= np.sqrt(score[source] * score[target]) * (1 + weights / heaviest) / 2
    keys = zip(source.tolist(), target.tolist(), kinds.tolist(), strict=True)
    depth = hops.depth[among[first]].tolist()
    rated = zip(np.maximum(worth, LEAST_SCORE).tolist(), weights.tolist(), depth, strict=True)
    described = list(zip(keys, rated, strict=True))
    once = dict(described)
    # Of merged entities a relation may be there twice.
    return once if len(once) == len(described) else _keep_best_rated(described)


# A name of words with this share of the information of an unseen word is linked at full strength.
_FULL_STRENGTH_SHARE = 0.5

_TELLING_LINK = 0.25

_NEAREST = 5

# A name that shares words with the question, or lies near it, is much weaker evidence than the name itself.
_BY_LIKENESS = 0.03


def link_strength(lexical: LexicalIndex, words: str) -> float:
    """Return how far to trust that these words of the question name an entity, 0..1.

    Words that every other passage holds ("time", "country") name nothing, though a passage may be
    titled with them.
    """
    telling = lexical.information_of(words) / (_FULL_STRENGTH_SHARE * lexical.most_information)
    return min(1.0, telling) ** 2


def link_question(index: ScopeIndex, question: str) -> dict[int, float]:
    """Return entities that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for _, entities, strength in _links(index, question):
        for entity in entities:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def link_names(index: ScopeIndex, text: str) -> dict[str, list[str]]:
    """Name in `text`, as written there, with the ids of the entities that bear them.

    Without names of words that most passages hold ("time", "country"), which name nothing.
    """
    return {
        name: index.entities.texts_of(list(entities))
        for name, entities, strength in _links(index, text)
        if strength >= _TELLING_LINK
    }


def _links(index: ScopeIndex, text: str) -> Iterator[tuple[str, tuple[int, ...], float]]:
    for match in index.names.find(text):
        name = text[match.start : match.end]
        yield name, match.bearers, link_strength(index.lexical, name)


async def nearest_entities(
    graph: GraphStore, query: LaneQuery, index: ScopeIndex, vector: Vectors | None
) -> dict[int, float] | None:
    """Return entities whose names share words with the question or lie near it, with the strength of each link.

    None where the store does not answer, of which the query is warned.
    """
    try:
        by_words, by_meaning = await asyncio.gather(
            graph.entities_by_text(query.scope, query.text, _NEAREST),
            _by_meaning(graph, query, vector),
        )
    except (InputError, ConflictError):
        raise
    except SextantError as error:
        go_without("graph", error, query, WarningCode.GRAPH_STORE_FAILED)
        return None
    return _strengths(index, by_meaning) | _strengths(index, by_words)


async def _by_meaning(
    graph: GraphStore, query: LaneQuery, vector: Vectors | None
) -> list[EntityHit]:
    if vector is None:
        return []
    return await graph.entities_by_vector(query.scope, vector, _NEAREST)


def _strengths(index: ScopeIndex, hits: Sequence[EntityHit]) -> dict[int, float]:
    """Return row of each entity found → strength of its link, by the search's score, 0..1."""
    found = ((index.entities.row_of(hit.entity.id), hit.score) for hit in hits)
    return {row: _BY_LIKENESS * score for row, score in found if row is not None and score > 0}
