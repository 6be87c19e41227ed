"""The part of a graph around a question, and the walk kept to it: its cost does not grow with the graph.

A walk visits every node after a few steps, but what ranks passages happens near where it starts:
local approximations of personalised PageRank rest on that (Andersen, Chung and Lang, "Local Graph
Partitioning using PageRank Vectors", FOCS 2006). Here the part is chosen by the question, the shares
by which mass is divided are those of the whole graph, and mass that leaves the part is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.retrievers.index.graph.relations import TYPE_PREFERENCE
from sextant.retrievers.index.graph.walk import LEAST_FIT, RESTART, STEPS, TINY, WalkIndex
from sextant.retrievers.numeric.sparse import Floats, Places, true_at

# The heaviest relations of an entity that are walked, a bound on the cost of hubs only: a relation of the
# type that the question names may be the lightest of hundreds. On prqa_zh, whose hubs have up to 1,500,
# fifty lose 2.6 points of recall@5 of two hops and 200 half a point (`local`) against all; 400 none.
_RELATIONS = 400

Shares = npt.NDArray[np.floating[Any]]


class Excerpt:
    """Some passages of a graph, the entities that they mention, and the relations of entities near them.

    Args:
        index: the whole graph.
        passages: rows, rising.
        sources: entities whose relations are walked: those near where the walk starts.

    Attributes:
        passages, entities: rows of the whole graph; their places here number them anew. An entity that
            is neither mentioned here nor a source gives nothing on: what it gets is told at the end.
    """

    def __init__(self, index: WalkIndex, passages: Places, sources: Places) -> None:
        self._index = index
        self.passages = passages
        places, self._size = index.roles.places(passages)
        role = index.roles.columns.take(places, mode="clip")
        self._owner = np.arange(len(passages)).repeat(self._size)
        borne = np.zeros(2 * index.entities, np.bool_)
        borne[role], borne[sources] = True, True
        here = borne[: index.entities] | borne[index.entities :]
        self.entities: Places = true_at(here)
        self._roles = np.concatenate([self.entities, index.entities + self.entities])
        places = np.empty(2 * index.entities, np.intp)  # of no meaning but for what is here
        places[self._roles] = np.arange(len(self._roles))
        self._place = places[: index.entities]
        self._role = places.take(role, mode="clip")
        self._relations = index.relations.heaviest(sources, _RELATIONS)
        self._source = self._place[sources].repeat(self._relations.size)
        self._inner = true_at(here.take(self._relations.target, mode="clip"))

    def about(self, owner: Places, entities: Places, weights: Floats, owners: int) -> Shares:
        """Return `WalkIndex.passages_about` for the passages here, for several owners of entities at once.

        Args:
            owner: whose each entity is, from 0 to `owners`.
            entities: rows of the whole graph, of each owner at most once.
            weights: one for each.
            owners: how many there are.

        Returns:
            A row for each owner.
        """
        index, count, width = self._index, len(self.entities), len(self.passages)
        held = np.zeros((owners, 2 * count))
        place = self._place[entities]
        held[owner, place] = weights * index.information[entities]
        held[owner, place + count] = weights / np.maximum(index.title_count[entities], 1)
        wanted = np.zeros(2 * count, np.bool_)
        wanted[place], wanted[place + count] = True, True
        telling = true_at(wanted.take(self._role))
        cells = self._owner[telling] + width * np.arange(owners)[:, None]
        amounts = held.take(self._role[telling], axis=1)
        about = np.bincount(cells.ravel(), amounts.ravel(), width * owners)
        return about.reshape(owners, width).astype(np.float64, copy=False)

    def walk(
        self,
        passage_seeds: Shares,
        entity_seeds: Mapping[int, float],
        fit: Floats,
        type_match: Mapping[int, float],
    ) -> tuple[Shares, Floats]:
        """Personalised PageRank from the seeds, kept to what is here.

        Passages that are not here count as not fitting, and a preferred relation that is not here as
        of another type.

        Args:
            passage_seeds: where the walk restarts, over the passages here; with `entity_seeds` at most 1.
            entity_seeds: the same of sources, by their rows.
            fit: relevance of every passage here to the question, 0..1.
            type_match: relation type → how well the question names it, above 0 to 1.

        Returns:
            Mass of the passages here and of all entities; together at most 1, and exactly 1 when every
            node that is reached has somewhere to go and all are here.
        """
        index, passages, entities = self._index, self.passages, self.entities
        count = len(entities)
        keep = 1 - RESTART
        preference = np.square(LEAST_FIT + fit.astype(np.float64))
        shares = self._by_role(preference)
        related, relation = self._by_relation(type_match)
        inner, source = relation[self._inner], self._source.take(self._inner, mode="clip")
        target = self._place.take(
            self._relations.target.take(self._inner, mode="clip"), mode="clip"
        )
        stay, outflow = keep * index.staying.take(passages), index.outflow.take(passages)
        weight = keep * index.weight.take(entities).astype(np.float64)
        preference *= keep * (self._size > 0)
        at_passage, at_entity = passage_seeds, np.zeros(count)
        at_entity[self._place[list(entity_seeds)]] = list(entity_seeds.values())
        from_passages, from_entities = RESTART * at_passage, RESTART * at_entity
        related_mass = at_entity
        # Summed row by row, in under half the time of `bincount`, which adds to one sum again and again. What
        # comes so to a passage without roles is another's, and goes by its preference of 0; the last of all
        # may begin at this 0.
        arriving = np.zeros(len(self._role) + 1)
        starts = self._size.cumsum() - self._size
        for _ in range(STEPS):
            # `take` that clips is a quarter faster than an index that is checked.
            (shares * at_entity).take(self._role, mode="clip", out=arriving[:-1])
            leaving = (at_passage * outflow).repeat(self._size)
            related_mass = at_entity * related
            handed = related_mass.take(source, mode="clip") * inner
            # Mass leaves only for what is mentioned, the first half. Not in place: of no entries
            # `bincount` makes integers.
            onward = weight * np.bincount(self._role, leaving, 2 * count)[:count]
            onward += np.bincount(target, handed, count)
            arrived = np.add.reduceat(arriving, starts)
            at_passage = from_passages + stay * at_passage + preference * arrived
            at_entity = from_entities + onward
        everywhere = self._beyond(related_mass, relation)
        everywhere[entities] = at_entity
        return at_passage, everywhere

    def _beyond(self, mass: Shares, relation: Shares) -> Floats:
        """Return what all entities get over relations in one step; reckoned only where some are not here."""
        if len(self._inner) == len(relation):
            return np.zeros(self._index.entities, np.float32)
        handed = mass.take(self._source, mode="clip") * relation
        got = np.bincount(self._relations.target, handed, self._index.entities)
        return got.astype(np.float32)

    def _by_role(self, preference: Shares) -> Shares:
        """Return what an entity in each of its two roles gives of its mass per preference of a passage.

        All passages of the role have a part in it, here or not.
        """
        index, least = self._index, LEAST_FIT**2
        fitting = (preference - least).repeat(self._size)
        more = np.bincount(self._role, fitting, len(self._roles))
        whole = np.maximum(index.role_counts.take(self._roles) * least + more, TINY)
        given: Shares = index.role_shares.take(self._roles) / whole
        return given.reshape(2, -1)

    def _by_relation(self, type_match: Mapping[int, float]) -> tuple[Shares, Shares]:
        """Return what an entity gives of its mass per weight of a relation, and the relations' weights."""
        index, entities = self._index, self.entities
        relation = self._relations.weights
        strength = index.relations.strength[entities].astype(np.float64)
        if type_match:
            preferred = np.ones(index.types + 1, np.float32)
            for kind, match in type_match.items():
                preferred[kind] += TYPE_PREFERENCE * match
            heavier = relation * preferred[index.relations.kinds_at(self._relations.places)]
            strength += np.bincount(self._source, heavier - relation, len(entities))
            relation = heavier
        given: Shares = index.relation_share[entities] / np.maximum(strength, TINY)
        return given, relation * np.float32(1 - RESTART)
