"""The entities of a question: linking it to the graph, and the entities and relations that go with results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

import numpy as np

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, PassageContent, RetrievedItem
from sextant.retrievers.arrays import Floats, Rows, highest
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.relations import Expansion
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.stores.graph.evidence import relation_id

# A name is linked at full strength if its words have this share of the idf of an unseen word.
_FULL_STRENGTH_SHARE = 0.5
# A weaker link names nothing in particular: its words stand in many passages.
MIN_NAME_STRENGTH = 0.25


def link_strength(lexical: LexicalIndex, words: str) -> float:
    """Return how far to trust that these words of a question name an entity, 0..1.

    Words that every other passage holds ("time", "country") name nothing, even if a passage has them as its title.
    """
    share = lexical.information_of(words) / (_FULL_STRENGTH_SHARE * lexical.most_information)
    return min(1.0, share) ** 2


def link_question(index: ScopeIndex, question: str) -> dict[int, float]:
    """Return the entities (rows) that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for _, entities, strength in _find_links(index, question):
        for entity in entities:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def link_names(index: ScopeIndex, text: str) -> list[str]:
    """Return the names in `text`, as written there; without weak links."""
    links = _find_links(index, text)
    return list(dict.fromkeys(name for name, _, strength in links if strength >= MIN_NAME_STRENGTH))


def _find_links(index: ScopeIndex, text: str) -> Iterator[tuple[str, tuple[int, ...], float]]:
    for match in index.names.find(text):
        name = text[match.start : match.end]
        yield name, match.bearers, link_strength(index.lexical, name)


# The most relevant entities, of which the first ones start the neighbourhood; and how many are shown in all.
_RELEVANT, _STARTS, _MAX_ENTITIES = 16, 8, 24
# An entity without relations is still worth naming when the question is about it.
_MIN_CENTRALITY = 0.1
# Two terms in one sentence say less than a statement about them.
_CO_OCCURRENCE_WORTH = 0.3

K = TypeVar("K")
S = TypeVar("S", bound=tuple[float, ...])


@dataclass(frozen=True, slots=True)
class GraphItems:
    """Entities and relations by rows of an index; retrieved items are made of them once the lanes are merged.

    Attributes:
        index: the index of the rows.
        entities: row → importance and centrality.
        relations: (source row, target row, type number) → importance, weight, and depth from 1 at which the
            relation was met; both ends are among the entities.
    """

    index: ScopeIndex
    entities: Mapping[int, tuple[float, float]]
    relations: Mapping[tuple[int, int, int], tuple[float, float, int]]

    def to_items(self, contents: Mapping[int, PassageContent]) -> list[RetrievedItem]:
        """Return the entities that have a content, given by row, and the relations between them."""
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


def collect_graph_items(
    index: ScopeIndex, mass: Floats, named: Mapping[int, float] | None = None
) -> GraphItems | None:
    """Return the entities and relations that matter most to the question; None if nothing does.

    Args:
        index: the graph.
        mass: how much every entity of the index matters to the question, ≥ 0.
        named: entities of the question with the strength of the link, 0..1; a name at full strength matters as
            much as the entity with the greatest mass.
    """
    relevance = mass / np.float32(float(mass.max(initial=0.0)) or 1.0)
    for row, strength in (named or {}).items():
        relevance[row] = max(float(relevance[row]), strength)
    relevant = highest(relevance, _RELEVANT)
    relevant = relevant[relevance[relevant] > 0]
    if not len(relevant):
        return None
    relations = index.walk.relations
    hops = relations.expand(relevant[:_STARTS], depth=2, per_node=10)
    is_candidate = np.zeros(index.walk.entities, np.bool_)
    is_candidate[relevant] = is_candidate[hops.neighbour] = True
    rows = np.flatnonzero(is_candidate)
    best = rows[highest(relevance[rows], _MAX_ENTITIES)]
    centrality = relations.centrality(best)
    centrality /= centrality.max(initial=0.0) or 1.0
    scores = np.maximum(importance(relevance[best], centrality), LEAST_SCORE)
    rounded = centrality.astype(np.float64).round(6).tolist()
    entities = zip(best.tolist(), zip(scores.tolist(), rounded, strict=True), strict=True)
    return GraphItems(index, dict(entities), _rate_relations(index, hops, best, scores))


def merge_graph_items(parts: Sequence[GraphItems]) -> GraphItems | None:
    """Return the graph items of several lanes as one: each entity and relation with its highest score."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return GraphItems(
        parts[0].index,
        _keep_best_rated(entry for part in parts for entry in part.entities.items()),
        _keep_best_rated(entry for part in parts for entry in part.relations.items()),
    )


def _keep_best_rated(entries: Iterable[tuple[K, S]]) -> dict[K, S]:
    """Return each key with the first of its highest ratings; the rating is the first value of the tuple."""
    best: dict[K, S] = {}
    for key, rated in entries:
        known = best.get(key)
        if known is None or known[0] < rated[0]:
            best[key] = rated
    return best


def importance(relevance: Floats, centrality: Floats) -> Floats:
    """Return relevance × centrality, both 0..1; a centrality counts 0.1 at least."""
    return relevance * (_MIN_CENTRALITY + (1 - _MIN_CENTRALITY) * centrality)


def _rate_relations(
    index: ScopeIndex, hops: Expansion, best: Rows, scores: Floats
) -> dict[tuple[int, int, int], tuple[float, float, int]]:
    """Return the relations of `hops` that join two of the best entities, whose scores are given."""
    relations = index.walk.relations
    score = np.full(index.walk.entities, -1, scores.dtype)
    score[best] = scores
    among = np.flatnonzero((score[hops.node] > 0) & (score[hops.neighbour] > 0))
    rows, first = np.unique(hops.relation[among], return_index=True)
    source, target = relations.ends.take(rows, axis=0).T
    kinds, weights = relations.kinds[rows], relations.weights[rows]
    heaviest = float(relations.weights[hops.relation].max(initial=0.0)) or 1.0
    worth = np.where(kinds == index.types.co_occurs, _CO_OCCURRENCE_WORTH, 1.0)
    worth *= np.sqrt(score[source] * score[target]) * (1 + weights / heaviest) / 2
    keys = zip(source.tolist(), target.tolist(), kinds.tolist(), strict=True)
    depth = hops.depth[among[first]].tolist()
    rated = zip(np.maximum(worth, LEAST_SCORE).tolist(), weights.tolist(), depth, strict=True)
    # Merged entities may have the same relation twice.
    return _keep_best_rated(zip(keys, rated, strict=True))
