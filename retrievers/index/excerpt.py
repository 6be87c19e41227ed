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

    def about(self, entities: Places, weights: Floats) -> Floats:
        """`WalkIndex.passages_about` for the passages here; `entities` are rows of the whole graph."""
        index, count = self._index, len(self.entities)
        held = np.zeros(count, np.float32)
        held[self._place[entities]] = weights
        titles = np.maximum(index.title_count[self.entities], 1)
        by_mention = (held * index.information[self.entities])[self._mentioned]
        by_title = (held / titles)[self._titling]
        width = len(self.passages)
        reached = np.bincount(self._mentioning, by_mention, width)
        reached += np.bincount(self._titled, by_title, width)
        return reached.astype(np.float32)

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
        origin, target, weights = self._transitions(fit[self.passages], type_match)
        width = len(self.passages)
        seeds = np.concatenate([passage_seeds[self.passages], entity_seeds[self.entities]])
        mass, restart = seeds, RESTART * seeds
        for _ in range(STEPS):
            mass = restart + np.bincount(target, mass[origin] * weights, len(seeds))
        at_passage, at_entity = np.zeros_like(passage_seeds), np.zeros_like(entity_seeds)
        at_passage[self.passages], at_entity[self.entities] = mass[:width], mass[width:]
        return at_passage, at_entity

    def _transitions(
        self, fit: Floats, type_match: Mapping[int, float]
    ) -> tuple[Places, Places, Shares]:
        """Where mass goes in a step: from a node to a node, and the share of it that arrives."""
        index, entities, passages = self._index, self.entities, self.passages
        preference = np.square(LEAST_FIT + fit)
        mention = index.mention_share[entities] / self._preferred(
            preference, self._mentioning, self._mentioned, index.mention_count
        )
        title = index.title_share[entities] / self._preferred(
            preference, self._titled, self._titling, index.title_count
        )
        preferred = np.ones(index.types + 1, np.float32)
        for kind, match in type_match.items():
            preferred[kind] += TYPE_PREFERENCE * match
        heavier = self._weights * preferred[self._kinds]
        more = np.bincount(self._source, heavier - self._weights, len(entities))
        relation = index.relation_share[entities] / np.maximum(
            index.relations.strength[entities] + more, TINY
        )
        leaving = index.leaving[passages]
        outflow = leaving / np.maximum(index.held[passages], TINY)
        first = len(passages)
        onward: tuple[tuple[Places, Places, Shares], ...] = (
            (np.arange(first), np.arange(first), 1 - leaving),
            (
                first + self._mentioned,
                self._mentioning,
                mention[self._mentioned] * preference[self._mentioning],
            ),
            (
                first + self._titling,
                self._titled,
                title[self._titling] * preference[self._titled],
            ),
            (
                self._mentioning,
                first + self._mentioned,
                outflow[self._mentioning] * index.weight[entities][self._mentioned],
            ),
            (first + self._source, first + self._target, relation[self._source] * heavier),
        )
        origin, target, share = zip(*onward, strict=True)
        return np.concatenate(origin), np.concatenate(target), np.concatenate(share) * (1 - RESTART)

    def _preferred(
        self, preference: Floats, owner: Places, entity: Places, counts: Places
    ) -> Floats:
        """For every entity, the summed preference of its passages, here or not."""
        least = np.float32(LEAST_FIT**2)
        more = np.bincount(entity, (preference - least)[owner], len(self.entities))
        whole: Floats = np.maximum(counts[self.entities] * least + more, TINY)
        return whole
