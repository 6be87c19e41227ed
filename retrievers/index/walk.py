"""Personalised PageRank over passages and entities: from what the question names to what answers it.

The walk alternates between passages and the entities that they mention. It depends on the question without a matrix
for each question: an entity prefers relevant passages, and a relation whose type the question names gets more mass.
`Subgraph` is the part of a graph around a question, which the walk is restricted to.

Sources: Jeh and Widom, "Scaling Personalized Web Search", WWW 2003; the passage–entity graph is that of HippoRAG 2
(Gutiérrez et al. 2025, arXiv 2502.14802), here without a model at index time. The constants are the same for all
evaluation sets; recall@5 is flat around each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.retrievers.arrays import Floats, Rows, SparseRows
from sextant.retrievers.index.relations import TYPE_PREFERENCE, Ints, Relations

# How an entity divides its mass among passages that it titles, passages that mention it, and relations; if it has none
# of a kind, the others get that share.
_TITLE_SHARE, _MENTION_SHARE, _RELATION_SHARE = 1.0, 0.3, 1.0
# A passage prefers entities that are titles to mere terms, by this factor.
_TITLED_PREFERENCE = 3.0
# Entities that more than this share of the passages mentions, and more than this number, do not distinguish passages:
# the walk ignores such mentions.
_COMMON_SHARE, _COMMON_COUNT = 0.25, 100
# Summed weight of a passage's entities at which half of its mass leaves it. With few or vague entities the mass stays.
_HALF_LEAVES_AT = 5.0
RESTART = 0.15
# More steps rank no better on the evaluation sets.
STEPS = 6
LEAST_FIT = 0.05
TINY: np.float32 = np.float32(1e-12)


@dataclass(frozen=True, slots=True)
class ScopeGraph:
    """A scope's graph as rows: passages 0..passages-1, entities 0..entities-1, types 0..types-1.

    `mentions` and `titles` hold distinct (passage, entity) pairs: the passage's text names the
    entity, or the entity's name is a title of the passage, its section or document. `relations` holds (source,
    target, type), `relation_weights` their positive weights, `statements` (relation, passage) pairs:
    where a relation is stated.
    """

    passages: int
    entities: int
    types: int
    mentions: Ints
    titles: Ints
    relations: Ints
    relation_weights: Floats
    statements: Ints


class WalkIndex:
    """The transition structure of a graph, built once per version and shared by all questions.

    An entity has two roles, with two numbers: `entity` as it is mentioned, `entities + entity` as a title. Memory is
    32 bytes for each mention and 48 for each relation.

    Attributes:
        passages, entities, types: their numbers.
        roles: the roles of entities in every passage.
        role_counts: number of passages of each role.
        role_shares, relation_share: how each entity divides its mass.
        information: idf of each entity, 0..1: 1 if a single passage mentions it.
        weight: weight of each entity in the passages that mention it.
        entity_weight: summed weight of each passage's entities.
        leaving: probability of leaving each passage.
        staying, outflow: 1 - `leaving`, and `leaving` per weight of the passage's entities, in float64.
        relations: the relations among entities.
    """

    def __init__(self, graph: ScopeGraph) -> None:
        self.passages, self.entities, self.types = graph.passages, graph.entities, graph.types
        counts = np.bincount(graph.mentions[:, 1], minlength=graph.entities)
        self.information = _information(counts, graph.passages)
        is_specific = counts <= max(_COMMON_SHARE * graph.passages, _COMMON_COUNT)
        graph = replace(graph, mentions=graph.mentions[is_specific[graph.mentions[:, 1]]])
        passage, entity = graph.mentions.T
        titling = graph.titles + np.array([0, graph.entities])
        owner, role = np.concatenate([graph.mentions, titling]).T
        self.roles = SparseRows.of(owner, role, graph.passages)
        self._passages_of_role = SparseRows.of(role, owner, 2 * graph.entities)
        self.role_counts = np.bincount(role, minlength=2 * graph.entities)
        preference = np.where(
            self.title_count > 0, _TITLED_PREFERENCE / np.maximum(self.title_count, 1), 1.0
        )
        self.weight: Floats = (self.information * preference).astype(np.float32)
        total = np.bincount(passage, self.weight[entity], graph.passages).astype(np.float64)
        self.entity_weight = total.astype(np.float32)
        self.leaving = self._leaving(graph, total)
        leaving = self.leaving.astype(np.float64)
        self.staying, self.outflow = 1 - leaving, leaving / np.maximum(self.entity_weight, TINY)
        self.relations = Relations(
            graph.relations, graph.relation_weights, graph.statements, graph.entities
        )
        parts = (
            (self.mention_count > 0) * _MENTION_SHARE,
            (self.title_count > 0) * _TITLE_SHARE,
            (self.relations.strength > 0) * _RELATION_SHARE,
        )
        shares = [(part / np.maximum(sum(parts), TINY)).astype(np.float32) for part in parts]
        self.role_shares, self.relation_share = np.concatenate(shares[:2]), shares[2]

    @property
    def mention_count(self) -> Rows:
        """Return the number of passages that mention each entity."""
        return self.role_counts[: self.entities]

    @property
    def title_count(self) -> Rows:
        """Return the number of passages that each entity titles."""
        return self.role_counts[self.entities :]

    def mentioned_by(self, passages: Rows) -> npt.NDArray[np.bool_]:
        """Return for every entity whether one of some passages mentions it."""
        met = np.zeros(2 * self.entities, np.bool_)
        met[self.roles.columns.take(self.roles.positions(passages)[0], mode="clip")] = True
        return met[: self.entities]

    def mentions_of(self, passages: Rows) -> tuple[Rows, Rows]:
        """Return index of the passage, and entity, of every mention in some passages."""
        owner, role = self.roles.rows(passages)
        mentioned = role < self.entities
        return owner[mentioned], role[mentioned]

    def shares_of(self, passages: Rows) -> tuple[Rows, Rows, Floats]:
        """Return `mentions_of`, and for each mention the entity's share of the passage's mass."""
        owner, entity = self.mentions_of(passages)
        whole = np.maximum(self.entity_weight[passages[owner]], TINY)
        return owner, entity, (self.weight[entity] / whole).astype(np.float32)

    def titled_by(self, entity: int) -> Rows:
        """Return the passages that an entity titles."""
        return self._passages_of_role.row(self.entities + entity)

    def passages_about(self, entities: Rows, weights: Floats) -> Floats:
        """Spread the weights of some entities over the passages that they are mentioned in or title.

        A mention counts `weight × information`; the titles of an entity share one `weight`. Shape (passages,).
        """
        by_mention = weights * self.information.take(entities)
        by_title = weights / np.maximum(self.title_count.take(entities), 1).astype(np.float32)
        roles = np.concatenate([entities, self.entities + entities])
        return self._passages_of_role.spread(
            roles, np.concatenate([by_mention, by_title]), self.passages
        )

    def _leaving(self, graph: ScopeGraph, total: npt.NDArray[np.float64]) -> Floats:
        """Return s / (s + constant), where s is the weight of a passage's entities except its own title."""
        # Sorting and searching is a hundred times faster than `np.isin` for a million mentions.
        key = np.array([graph.entities, 1])
        titles, mentions = graph.titles @ key, np.sort(graph.mentions @ key)
        first = np.searchsorted(mentions, titles)
        single_titles = graph.titles[np.searchsorted(mentions, titles, side="right") > first]
        of_titles = np.bincount(
            single_titles[:, 0], self.weight[single_titles[:, 1]], graph.passages
        )
        # A difference of equal sums may be just below 0.
        others = np.maximum(total - of_titles, 0)
        others[others < TINY] = 0
        leaving: Floats = (others / (others + _HALF_LEAVES_AT)).astype(np.float32)
        return leaving


def _information(mention_count: npt.NDArray[np.intp], passages: int) -> Floats:
    """Return log(N / df) / log N: 1 for an entity in one passage, near 0 for one in all passages."""
    whole = np.log(max(passages, 1) + 1)
    idf = np.log((passages + 1) / np.maximum(mention_count, 1)) / whole
    information: Floats = np.maximum(idf, 0.02).astype(np.float32)
    return information


# Relations of an entity that are walked, the heaviest ones; this bounds the cost of hubs.
_RELATIONS = 400

Shares = npt.NDArray[np.floating[Any]]


class Subgraph:
    """Some passages of a graph, the entities that they mention, and the relations of entities near them.

    Args:
        index: the whole graph.
        passages: rows, rising.
        sources: entities whose relations are walked, those near the start of the walk.

    Attributes:
        passages, entities: rows of the whole graph; positions in these arrays are the rows of the subgraph. Other
            entities pass nothing on; the mass that reaches them is added at the end.
    """

    def __init__(self, index: WalkIndex, passages: Rows, sources: Rows) -> None:
        self._index = index
        self.passages = passages
        positions, self._size = index.roles.positions(passages)
        role = index.roles.columns.take(positions, mode="clip")
        self._owner = np.arange(len(passages)).repeat(self._size)
        present = np.zeros(2 * index.entities, np.bool_)
        present[role], present[sources] = True, True
        here = present[: index.entities] | present[index.entities :]
        self.entities: Rows = np.flatnonzero(here)
        self._roles = np.concatenate([self.entities, index.entities + self.entities])
        positions = np.empty(2 * index.entities, np.intp)  # undefined for other entities
        positions[self._roles] = np.arange(len(self._roles))
        self._position = positions[: index.entities]
        self._role = positions.take(role, mode="clip")
        self._relations = index.relations.heaviest(sources, _RELATIONS)
        self._source = self._position[sources].repeat(self._relations.size)
        self._inner = np.flatnonzero(here.take(self._relations.target, mode="clip"))

    def about(self, owner: Rows, entities: Rows, weights: Floats, owners: int) -> Shares:
        """Return `WalkIndex.passages_about` for the passages of the subgraph, for several groups of entities.

        Args:
            owner: group of each entity, from 0 to `owners`.
            entities: rows of the whole graph, at most once in each group.
            weights: of the entities.
            owners: number of groups.

        Returns:
            A row for each group.
        """
        index, count, width = self._index, len(self.entities), len(self.passages)
        strengths = np.zeros((owners, 2 * count))
        positions = self._position[entities]
        strengths[owner, positions] = weights * index.information[entities]
        strengths[owner, positions + count] = weights / np.maximum(index.title_count[entities], 1)
        wanted = np.zeros(2 * count, np.bool_)
        wanted[positions], wanted[positions + count] = True, True
        is_wanted = np.flatnonzero(wanted.take(self._role))
        cells = self._owner[is_wanted] + width * np.arange(owners)[:, None]
        amounts = strengths.take(self._role[is_wanted], axis=1)
        about = np.bincount(cells.ravel(), amounts.ravel(), width * owners)
        return about.reshape(owners, width).astype(np.float64, copy=False)

    def walk(
        self,
        passage_seeds: Shares,
        entity_seeds: Mapping[int, float],
        fit: Floats,
        type_match: Mapping[int, float],
    ) -> tuple[Shares, Floats]:
        """Return personalised PageRank from the seeds, restricted to the subgraph.

        Args:
            passage_seeds: restart probability of every passage here; together with `entity_seeds` at most 1.
            entity_seeds: restart probability of sources, by their rows in the whole graph.
            fit: relevance of every passage here to the question, 0..1.
            type_match: relation type → how well the question names it, above 0 to 1.

        Returns:
            Mass of the passages here and of all entities; at most 1 together.
        """
        index, passages, entities = self._index, self.passages, self.entities
        count = len(entities)
        keep = 1 - RESTART
        preference = np.square(LEAST_FIT + fit.astype(np.float64))
        shares = self._by_role(preference)
        related, relation = self._by_relation(type_match)
        inner, source = relation[self._inner], self._source.take(self._inner, mode="clip")
        target = self._position.take(
            self._relations.target.take(self._inner, mode="clip"), mode="clip"
        )
        stay, outflow = keep * index.staying.take(passages), index.outflow.take(passages)
        weight = keep * index.weight.take(entities).astype(np.float64)
        preference *= keep * (self._size > 0)
        at_passage, at_entity = passage_seeds, np.zeros(count)
        at_entity[self._position[list(entity_seeds)]] = list(entity_seeds.values())
        from_passages, from_entities = RESTART * at_passage, RESTART * at_entity
        related_mass = at_entity
        # `reduceat` over rows takes half the time of `bincount`. A passage without roles gets the sum of the next one,
        # and has a preference of 0; the additional 0 at the end is for the last passages.
        arriving = np.zeros(len(self._role) + 1)
        starts = self._size.cumsum() - self._size
        for _ in range(STEPS):
            # `take` with mode clip is faster than a checked index.
            (shares * at_entity).take(self._role, mode="clip", out=arriving[:-1])
            leaving = (at_passage * outflow).repeat(self._size)
            related_mass = at_entity * related
            handed = related_mass.take(source, mode="clip") * inner
            # Mass leaves passages only for mentioned entities, the first half of the roles.
            onward = weight * np.bincount(self._role, leaving, 2 * count)[:count]
            onward += np.bincount(target, handed, count)
            arrived = np.add.reduceat(arriving, starts)
            at_passage = from_passages + stay * at_passage + preference * arrived
            at_entity = from_entities + onward
        everywhere = self._beyond(related_mass, relation)
        everywhere[entities] = at_entity
        return at_passage, everywhere

    def _beyond(self, mass: Shares, relation: Shares) -> Floats:
        """Return the mass that all entities get over relations in one step, for those that are not here."""
        if len(self._inner) == len(relation):
            return np.zeros(self._index.entities, np.float32)
        handed = mass.take(self._source, mode="clip") * relation
        got = np.bincount(self._relations.target, handed, self._index.entities)
        return got.astype(np.float32)

    def _by_role(self, preference: Shares) -> Shares:
        """Return the share of its mass that an entity in each of its two roles gives per preference of a passage.

        Passages of the role that are not here count with the lowest preference.
        """
        index, least = self._index, LEAST_FIT**2
        fitting = (preference - least).repeat(self._size)
        more = np.bincount(self._role, fitting, len(self._roles))
        whole = np.maximum(index.role_counts.take(self._roles) * least + more, TINY)
        given: Shares = index.role_shares.take(self._roles) / whole
        return given.reshape(2, -1)

    def _by_relation(self, type_match: Mapping[int, float]) -> tuple[Shares, Shares]:
        """Return the share of its mass that an entity gives per weight of a relation, and the relations' weights."""
        index, entities = self._index, self.entities
        relation = self._relations.weights
        strength = index.relations.strength[entities].astype(np.float64)
        if type_match:
            preferred = np.ones(index.types + 1, np.float32)
            for kind, match in type_match.items():
                preferred[kind] += TYPE_PREFERENCE * match
            heavier = relation * preferred[index.relations.kinds_at(self._relations.positions)]
            strength += np.bincount(self._source, heavier - relation, len(entities))
            relation = heavier
        given: Shares = index.relation_share[entities] / np.maximum(strength, TINY)
        return given, relation * np.float32(1 - RESTART)
