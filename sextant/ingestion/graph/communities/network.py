"""The weighted network of entities for community detection, and the modularity of a partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.stores.graph.arrays import KINDS, GraphArrays

Indices = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Network:
    """An undirected graph of entities by index: source < target, sorted, each pair once.

    Weights are > 0; `size` counts all entities, also those without edges.
    """

    size: int
    source: Indices
    target: Indices
    weight: Floats

    @classmethod
    def of(cls, size: int, source: Indices, target: Indices, weight: Floats) -> Network:
        """Build a network: edges of both directions are summed; loops and edges without weight are left out.

        Args:
            size: the number of entities.
            source: one end of each edge, 0 to size - 1, shape (edges,).
            target: the other end.
            weight: of each edge, shape (edges,); below 0 counts as 0.
        """
        low, high = np.minimum(source, target), np.maximum(source, target)
        codes, pair_of = np.unique(low * size + high, return_inverse=True)
        total = np.bincount(pair_of, np.maximum(weight, 0.0), minlength=len(codes))
        low, high = codes // max(size, 1), codes % max(size, 1)
        is_link = (total > 0) & (low != high)
        return cls(size, low[is_link], high[is_link], total[is_link])

    @property
    def strength(self) -> Floats:
        """Return the summed weight of each entity's edges, shape (size,)."""
        return self._sums(self.source) + self._sums(self.target)

    def subnetwork(self, members: Indices) -> Network:
        """Return the edges among some entities, with the same indices."""
        inside = np.zeros(self.size, np.bool_)
        inside[members] = True
        both = inside[self.source] & inside[self.target]
        return Network(self.size, self.source[both], self.target[both], self.weight[both])

    def _sums(self, ends: Indices) -> Floats:
        return np.bincount(ends, self.weight, minlength=self.size).astype(np.float64)


def network_of(arrays: GraphArrays) -> Network:
    """Return the network of a graph; an edge weighs log2(1 + n), with n as follows.

    - stated relations: the sum of their weights;
    - co-occurring terms: the number of sentences, times their normalised pointwise mutual information (Bouma 2009),
      0 to 1, negative values as 0;
    - the title of a passage and the names in it: the number of passages.
    """
    size = len(arrays.entities)
    by_chance = np.zeros(len(arrays.relation_type), np.bool_)
    if CO_OCCURS in arrays.relation_types:
        by_chance = np.equal(arrays.relation_type, arrays.relation_types.index(CO_OCCURS))
    stated, shared = _relations(arrays, ~by_chance), _relations(arrays, by_chance)
    linked = _links(arrays)
    parts = (stated, shared, linked)
    weights = [np.log2(1 + part.weight) for part in parts]
    weights[1] *= _information(shared)
    return Network.of(
        size,
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate(weights),
    )


def modularity(network: Network, label: Indices) -> float:
    """Return Newman's modularity of a partition; entities with label -1 are alone. 0 without edges."""
    total = network.weight.sum()
    if not total:
        return 0.0
    alone = np.flatnonzero(label < 0)
    moved = label.copy()
    moved[alone] = np.arange(len(alone)) + label.max(initial=-1) + 1
    inside = network.weight[moved[network.source] == moved[network.target]].sum()
    strength = np.bincount(moved, network.strength)
    return float(inside / total - ((strength / (2 * total)) ** 2).sum())


def labels(members: Sequence[Indices], size: int) -> Indices:
    """Return for each entity the index of the member list that it is in; -1 for none."""
    label = np.full(size, -1, np.int64)
    for index, part in enumerate(members):
        label[part] = index
    return label


def pairs(left: Indices, right: Indices) -> tuple[Indices, Indices]:
    """Return the indices (in left, in right) of all pairs of equal keys."""
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    first = np.searchsorted(ranked, left, "left")
    times = np.searchsorted(ranked, left, "right") - first
    left_rows = np.repeat(np.arange(len(left)), times)
    step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    return left_rows, order[np.repeat(first, times) + step]


def runs(label: Indices) -> Iterator[tuple[int, slice]]:
    """Yield the runs of equal labels in a sorted array: each label and its slice."""
    ends = np.flatnonzero(np.diff(label, append=label[-1:] + 1)) + 1
    start = 0
    for end in ends.tolist():
        yield int(label[start]), slice(start, end)
        start = end


def _relations(arrays: GraphArrays, chosen: npt.NDArray[np.bool_]) -> Network:
    return Network.of(
        len(arrays.entities),
        arrays.relation_source[chosen].astype(np.int64),
        arrays.relation_target[chosen].astype(np.int64),
        arrays.relation_weight[chosen],
    )


def _information(network: Network) -> Floats:
    """Return the normalised pointwise mutual information of each edge, at least 0."""
    if not len(network.weight):
        return network.weight
    both = network.weight / network.weight.sum()
    strength = network.strength / network.weight.sum() / 2
    expected = 2 * strength[network.source] * strength[network.target]
    certain = np.maximum(-np.log2(both), 1e-9)
    return np.asarray(np.clip(np.log2(both / expected) / certain, 0.0, 1.0), np.float64)


def _links(arrays: GraphArrays) -> Network:
    """Return the edges between titles of passages and names in them; the weight is the number of passages."""
    entity, chunk = arrays.mention_entity.astype(np.int64), arrays.mention_chunk.astype(np.int64)
    titles = arrays.mention_kind == KINDS.index(MentionKind.TITLE)
    names = arrays.mention_kind == KINDS.index(MentionKind.ALIAS)
    one, other = pairs(chunk[titles], chunk[names])
    source, target = entity[titles][one], entity[names][other]
    return Network.of(len(arrays.entities), source, target, np.ones(len(source)))
