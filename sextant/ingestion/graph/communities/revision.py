"""When a report is rewritten: when what it was made from has changed, not at every small join.

A batch of documents touches many communities: a term more, a relation a little heavier. A report stays
as long as both hold:

1. *All that it tells is there.* Its leading entities are still members, under the names that it gives;
   every relation among its material is still stated between members, in the same words; every passage
   that it cites is there, with the same text, and mentions a member.
2. *Little is missing from it.* Of what it would be made from now (`Outline`: the most central entities,
   the most telling passages, the heaviest relations, each list by weight) less than `NEWS` was no part
   of its material then, and whoever leads now was among the leading then.

What has come since the report was written adds up, since the comparison is with its own material and
not with the last batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from uuid import UUID

import numpy as np

from sextant.domain.graph import Relation
from sextant.ingestion.graph.communities.network import Floats
from sextant.ingestion.graph.communities.outlines import Outline
from sextant.stores.graph.arrays import GraphArrays
from sextant.stores.graph.communities.store import Basis, KnownReport
from sextant.stores.graph.ids import relation_id

# The share of the weight, of the entities, of the passages or of the relations, from which on a report
# lacks too much. A third member of two, a fourth passage beside three is more; a tenth of ten is less.
NEWS = 0.2
# Those who lead a community, and how many a report can be expected to name.
_LEADING, NAMED = 3, 12


@dataclass(frozen=True, slots=True)
class Present:
    """What reports rest on, as it is now: relations and texts of passages by id, numbers of entities."""

    arrays: GraphArrays
    relations: Mapping[UUID, Relation]
    passages: Mapping[UUID, str]
    entities: Mapping[UUID, int]

    @classmethod
    def of(
        cls,
        arrays: GraphArrays,
        entities: Iterable[UUID],
        relations: Mapping[UUID, Relation],
        passages: Mapping[UUID, str],
    ) -> Present:
        """Look up the numbers of these entities and of the relations' ends at once."""
        ends = chain.from_iterable((one.source_id, one.target_id) for one in relations.values())
        ids = list({*entities, *ends})
        numbers = dict(zip(ids, arrays.entity_indices(ids).tolist(), strict=True))
        return cls(arrays, relations, passages, numbers)

    def words(
        self, entities: Sequence[UUID], relations: Sequence[UUID], cited: Iterable[UUID]
    ) -> UUID:
        """Return a hash of what a report of these may tell: names, statements, passages."""
        digest = hashlib.md5(usedforsecurity=False)
        names = [self._name(own) for own in entities[:NAMED]]
        stated = [self._statement(own) for own in relations]
        passages = [self.passages.get(own, "") for own in sorted(set(cited))]
        for text in chain(names, ("",), stated, ("",), passages):
            digest.update(text.encode() + b"\0")
        return UUID(bytes=digest.digest())

    def holds(self, outline: Outline, basis: Basis) -> bool:
        """Return whether whom a report names, and the ends of its relations, are members still."""
        told = [self.relations[own] for own in basis.relations if own in self.relations]
        ends = chain.from_iterable((one.source_id, one.target_id) for one in told)
        numbers = [self.entities[own] for own in chain(basis.entities[:NAMED], ends)]
        return bool(np.isin(numbers, outline.group.members).all())

    def _name(self, entity_id: UUID) -> str:
        number = self.entities[entity_id]
        return self.arrays.names[number] if number >= 0 else ""

    def _statement(self, own: UUID) -> str:
        relation = self.relations.get(own)
        if relation is None:
            return ""
        ends = self._name(relation.source_id), self._name(relation.target_id)
        return f"{ends[0]}\0{relation.description}\0{ends[1]}"


def stays(present: Present, outline: Outline, known: KnownReport) -> bool:
    """Return whether a report can stay as it is."""
    basis = known.basis
    return (
        basis is not None
        and lacks_little(present.arrays, outline, basis)
        and present.holds(outline, basis)
        and cites_members(present.arrays, outline, known.cited)
        and present.words(basis.entities, basis.relations, known.cited) == basis.words
    )


def lacks_little(arrays: GraphArrays, outline: Outline, basis: Basis) -> bool:
    """Return whether nearly all of what there is now was there when the report was made."""
    entities, passages, relations = ids_of(arrays, outline)
    weights = arrays.relation_weight[outline.relations]
    return (
        set(entities[:_LEADING]) <= set(basis.entities[:NAMED])
        and news(entities, outline.weights, set(basis.entities)) < NEWS
        and news(passages, outline.telling, set(basis.passages)) < NEWS
        and news(relations, weights, set(basis.relations)) < NEWS
    )


def news(now: Sequence[UUID], weights: Floats, then: Set[UUID]) -> float:
    """Return how much of the weight of what is there `now` is of what was not there `then`, 0..1; `weights` are those of `now`."""
    fresh = np.array([one not in then for one in now], np.bool_)
    return float(weights[fresh].sum() / weights.sum()) if len(now) else 0.0


def cites_members(arrays: GraphArrays, outline: Outline, cited: Sequence[UUID]) -> bool:
    """Return whether all these passages are there and mention a member."""
    return bool(np.isin(arrays.chunk_indices(cited), outline.mentioned).all())


def basis_of(present: Present, outline: Outline, cited: Iterable[UUID]) -> Basis:
    """Return what a report is made from that is written now and cites these passages."""
    entities, passages, relations = ids_of(present.arrays, outline)
    return Basis(entities, passages, relations, present.words(entities, relations, cited))


def ids_of(
    arrays: GraphArrays, outline: Outline
) -> tuple[tuple[UUID, ...], tuple[UUID, ...], tuple[UUID, ...]]:
    """Return an outline's entities, passages and relations by their ids."""
    return (
        tuple(arrays.entity_id(n) for n in outline.entities.tolist()),
        tuple(arrays.chunk_id(n) for n in outline.passages.tolist()),
        tuple(_relation_id(arrays, row) for row in outline.relations.tolist()),
    )


def _relation_id(arrays: GraphArrays, row: int) -> UUID:
    return relation_id(
        arrays.entity_id(int(arrays.relation_source[row])),
        arrays.entity_id(int(arrays.relation_target[row])),
        arrays.relation_types[arrays.relation_type[row]],
    )
