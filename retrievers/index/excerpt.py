"""The part of a graph around a question, and the walk kept to it: its cost does not grow with the graph.

A walk visits every node after a few steps, but what ranks passages happens near where it starts:
local approximations of personalised PageRank rest on that (Andersen, Chung and Lang, "Local Graph
Partitioning using PageRank Vectors", FOCS 2006). Here the part is chosen by the question, the shares
by which mass is divided are those of the whole graph, and mass that leaves the part is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from retrievers.index.relations import TYPE_PREFERENCE
from retrievers.index.sparse import Floats, Places
from retrievers.index.walk import LEAST_FIT, RESTART, STEPS, TINY, WalkIndex

# The heaviest relations of an entity that are walked, a bound on the cost of hubs only: a relation of the
# type that the question names may be the lightest of hundreds. On prqa_zh, whose hubs have up to 1,500,
# fifty lose 2.6 points of recall@5 of two hops and 200 half a point (`local`) against all; 400 none.
# 1,000 take 12.5 ms of CPU a question there, fifty 11.2.
_RELATIONS = 1000

Shares = npt.NDArray[np.floating[Any]]


class Excerpt:
    """Some passages of a graph, all entities that they mention, and relations between these.

    Args:
        index: the whole graph.
        passages: rows, rising.
        sources: entities whose relations are walked: those near where the walk starts.

    Attributes:
        passages, entities: rows of the whole graph; their places here number them anew.
    """

    def __init__(self, index: WalkIndex, passages: Places, sources: Places) -> None:
        self._index = index
        self.passages = passages
        mentioning, mentioned = index.mentions_of(passages)
        titled, titling = index.titles_of(passages)
        relations = index.relations.heaviest(sources, _RELATIONS)
        here = np.zeros(index.entities, np.bool_)
        for rows in (mentioned, titling, sources, relations.target):
            here[rows] = True
        self.entities: Places = np.flatnonzero(here)
        place = np.zeros(index.entities, np.intp)
        place[self.entities] = np.arange(len(self.entities))
        self._mentioning, self._mentioned = mentioning, place[mentioned]
        self._titled, self._titling = titled, place[titling]
        self._source, self._target = place[relations.source], place[relations.target]
        self._weights, self._kinds = relations.weights, relations.kinds
        self._place = place

    def about(self, several: Sequence[tuple[Places, Floats]]) -> list[Floats]:
        """`WalkIndex.passages_about` for the passages here, for several choices of entities at once.

        Args:
            several: entities, as rows of the whole graph, and their weights.
        """
        index, width = self._index, len(self.passages)
        wanted = np.zeros(index.entities, np.bool_)
        for entities, _ in several:
            wanted[entities] = True
        wanted = wanted[self.entities]
        mention, title = wanted[self._mentioned].nonzero()[0], wanted[self._titling].nonzero()[0]
        mentioning, mentioned = self._mentioning[mention], self._mentioned[mention]
        titled, titling = self._titled[title], self._titling[title]
        information = index.information[self.entities]
        titles = np.maximum(index.title_count[self.entities], 1)
        about: list[Floats] = []
        for entities, weights in several:
            held = np.zeros(len(self.entities), np.float32)
            held[self._place[entities]] = weights
            by_mention = np.bincount(mentioning, (held * information)[mentioned], width)
            by_title = np.bincount(titled, (held / titles)[titling], width)
            about.append((by_mention + by_title).astype(np.float32))
        return about

    def walk(
        self,
        passage_seeds: Floats,
        entity_seeds: Floats,
        fit: Floats,
        type_match: Mapping[int, float],
    ) -> tuple[Floats, Floats]:
        """`WalkIndex.walk` of the whole graph, kept to what is here.

        Passages that are not here count as not fitting, and a preferred relation that is not here as
        of another type. Takes and gives one value for each passage and entity of the whole graph.
        """
        index, passages, entities = self._index, self.passages, self.entities
        width, count = len(passages), len(entities)
        preference = np.square(LEAST_FIT + fit[passages].astype(np.float64))
        mention, title = self._by_kind(preference)
        related, relation = self._by_relation(type_match)
        keep = 1 - RESTART
        leaving = index.leaving[passages].astype(np.float64)
        stay, outflow = keep * (1 - leaving), leaving / np.maximum(index.held[passages], TINY)
        weight = keep * index.weight[entities].astype(np.float64)
        preference *= keep
        at_passage, at_entity = (
            seeds.astype(np.float64) for seeds in (passage_seeds[passages], entity_seeds[entities])
        )
        from_passages, from_entities = RESTART * at_passage, RESTART * at_entity
        for _ in range(STEPS):
            # Not in place: of no mentions `bincount` makes integers.
            by_mention = np.bincount(
                self._mentioning, (at_entity * mention)[self._mentioned], width
            )
            by_title = np.bincount(self._titled, (at_entity * title)[self._titling], width)
            onward = weight * np.bincount(
                self._mentioned, (at_passage * outflow)[self._mentioning], count
            )
            handed = (at_entity * related)[self._source] * relation
            onward += np.bincount(self._target, handed, count)
            at_passage = from_passages + stay * at_passage + preference * (by_mention + by_title)
            at_entity = from_entities + onward
        everywhere = np.zeros_like(passage_seeds), np.zeros_like(entity_seeds)
        everywhere[0][passages], everywhere[1][entities] = at_passage, at_entity
        return everywhere

    def _by_kind(self, preference: Shares) -> tuple[Shares, Shares]:
        """What an entity gives of its mass per preference of a passage that mentions, or bears, it."""
        index, entities = self._index, self.entities
        mention = index.mention_share[entities] / self._preferred(
            preference, self._mentioning, self._mentioned, index.mention_count
        )
        title = index.title_share[entities] / self._preferred(
            preference, self._titled, self._titling, index.title_count
        )
        return mention, title

    def _by_relation(self, type_match: Mapping[int, float]) -> tuple[Shares, Shares]:
        """What an entity gives of its mass per weight of a relation, and the relations' weights."""
        index, entities = self._index, self.entities
        preferred = np.ones(index.types + 1, np.float32)
        for kind, match in type_match.items():
            preferred[kind] += TYPE_PREFERENCE * match
        heavier = self._weights * preferred[self._kinds]
        more = np.bincount(self._source, heavier - self._weights, len(entities))
        relation = index.relation_share[entities] / np.maximum(
            index.relations.strength[entities] + more, TINY
        )
        return relation, heavier * np.float32(1 - RESTART)

    def _preferred(
        self, preference: Shares, owner: Places, entity: Places, counts: Places
    ) -> Shares:
        """For every entity, the summed preference of its passages, here or not."""
        least = LEAST_FIT**2
        more = np.bincount(entity, (preference - least)[owner], len(self.entities))
        whole: Shares = np.maximum(counts[self.entities] * least + more, TINY)
        return whole
