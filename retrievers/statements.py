"""Which relations a question asks for, and which passages state them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from retrievers.lexical import LexicalIndex, terms
from retrievers.sparse import Floats
from retrievers.walk import GraphArrays


class RelationTypes:
    """The relation types of a graph, searchable by the words of a question.

    Args:
        names: the types, as rows of `GraphArrays.relations` count them; `_` separates words.
        lexical: says how much each word tells.
    """

    def __init__(self, names: Sequence[str], lexical: LexicalIndex) -> None:
        self._types_with: defaultdict[str, list[int]] = defaultdict(list)
        self._information: dict[str, float] = {}
        self._whole = np.zeros(len(names))
        for kind, name in enumerate(names):
            for term in set(terms(name.replace("_", " "))):
                information = lexical.information_of_term(term)
                self._information[term] = information
                self._types_with[term].append(kind)
                self._whole[kind] += information

    def named_by(self, question: str) -> dict[int, float]:
        """Types with a word of the question → share of the type's information that it names."""
        named: defaultdict[int, float] = defaultdict(float)
        for term in set(terms(question)):
            for kind in self._types_with.get(term, ()):
                named[kind] += self._information[term] / self._whole[kind]
        return dict(named)


def stated(
    graph: GraphArrays,
    named: Mapping[int, float],
    type_match: Mapping[int, float],
    type_similarity: Floats | None = None,
) -> Floats:
    """How far each passage states what the question asks about an entity that it names, 0..1.

    The best statement of a passage counts: strength of the entity's link × fit of the relation's
    type. A type fits by its words (`type_match`), or by its meaning: the square of how far its
    similarity to the question lies between the median type and the best one that a named entity
    has. On diakg_zh, whose types are English and whose questions are Chinese, this lifts recall@5
    from 78 to 87; comparing the question with whole triples instead gains nothing more.

    Args:
        graph: relations and where they are stated.
        named: entity → strength of its link, above 0 to 1.
        type_match: `RelationTypes.named_by`.
        type_similarity: similarity of every type's text to the question, when vectors are there.
    """
    found = np.zeros(graph.passages, np.float32)
    if not named or not len(graph.statements):
        return found
    strength = np.zeros(graph.entities, np.float32)
    strength[list(named)] = list(named.values())
    source, target, kind = graph.relations.T
    touch = np.maximum(strength[source], strength[target])
    fit = np.zeros(graph.types, np.float32)
    fit[list(type_match)] = list(type_match.values())
    if type_similarity is not None:
        fit = np.maximum(fit, _fit_by_meaning(type_similarity, kind[touch > 0]))
    worth = touch * fit[kind]
    relation, passage = graph.statements.T
    np.maximum.at(found, passage, worth[relation])
    return found


def _fit_by_meaning(similarity: Floats, present: npt.NDArray[np.int64]) -> Floats:
    floor = float(np.median(similarity))
    best = float(similarity[present].max(initial=floor))
    if best <= floor:
        return np.zeros_like(similarity)
    fit: Floats = np.square(np.clip((similarity - floor) / (best - floor), 0, 1))
    return fit.astype(np.float32)
