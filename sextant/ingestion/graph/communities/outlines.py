"""Select what a community's report is written from: its central entities, relations and passages.

Also here: the sentences of a passage that can stand alone as findings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sextant.domain.graph import CO_OCCURS
from sextant.ingestion.graph.communities.membership import CommunityGroup
from sextant.ingestion.graph.communities.network import Floats, Indices, Network, labels, runs
from sextant.models.offline.passages import quotable_spans
from sextant.stores.graph.arrays import GraphArrays, Ids, index_of
from sextant.text.characters import has_cjk

_SHORTEST, _LONGEST = 8, 400  # characters
_FEWEST_WORDS = 3
# Marks before a sentence, such as emoji.
_MARKS = re.compile(r"[^\w\"'“‘«『「《(（\[<$€£¥]+")
_ENDS = re.compile(r"[。！.!…][\"'”’」』）)\]》]*\W*$")
_CELLS = re.compile(r"\s\|\s|^\||\|$|\t")
# "She was born …" needs the sentence before.
_LEANS = re.compile(
    r"(?:she|he|it|they|this|that|these|those|his|her|its|their|there|here|but|and|so|then|also|however)\b"
    r"|[他她它其此该這那]|这[个些一]|因此|所以|但是?|而且?|并且|同时|随后|另外",
    re.IGNORECASE,
)


def statements(text: str) -> Iterator[str]:
    """Yield the sentences of a passage that can stand alone.

    Left out are headings, rows of tables, fields of records, questions, fragments, and sentences of one or two words.
    """
    for start, end in quotable_spans(text):
        marks = _MARKS.match(text, start, end)
        sentence = " ".join(text[marks.end() if marks else start : end].split())
        if (
            _SHORTEST <= len(sentence) <= _LONGEST
            and (len(sentence.split()) >= _FEWEST_WORDS or has_cjk(sentence))
            and not sentence[0].islower()
            and _ENDS.search(sentence)
            and not _CELLS.search(text[start:end])
        ):
            yield sentence


def leans_on_others(sentence: str) -> bool:
    """Return whether a sentence begins with a pronoun or connective, is an exclamation, or is there for a link."""
    bare = sentence.rstrip("\"'”’」』)）")
    return _LEANS.match(sentence) is not None or bare.endswith(("!", "！")) or "://" in bare


MOST_ENTITIES = 40
MOST_PASSAGES = 8
MOST_RELATIONS = 8
_TITLED = 2.0  # the factor of an entity that titles a passage


@dataclass(frozen=True, slots=True)
class Outline:
    """A community's evidence by indices of `GraphArrays`, the heaviest first.

    Attributes:
        group: the community.
        entities: the most central members, by the weight of their edges inside it.
        weights: of these entities, > 0.
        passages: those with the most information about the members.
        telling: the information of each of these passages, > 0.
        mentioned: all passages that mention a member.
        relations: relations between members, without co-occurrences.
    """

    group: CommunityGroup
    entities: Indices
    weights: Floats
    passages: Indices
    telling: Floats
    mentioned: Indices
    relations: Indices


def outlines(
    arrays: GraphArrays, network: Network, groups: Sequence[CommunityGroup], reading: Ids
) -> list[Outline]:
    """Return the outlines of communities, in the order of `groups`.

    Args:
        arrays: the graph.
        network: its network of entities.
        groups: communities of any level.
        reading: the ids of chunks in reading order, by which ties are decided; indices of chunks change when a
            document is stored again.
    """
    mentions = _Mentions.of(arrays)
    # The position of each chunk in reading order; chunks that are not in it come last.
    positions = index_of(arrays.chunks, reading)
    rank = np.full(len(arrays.chunks), len(reading), np.int64)
    rank[positions[positions >= 0]] = np.flatnonzero(positions >= 0)
    by_level = sorted(range(len(groups)), key=lambda index: groups[index].level)
    found = dict[int, Outline]()
    for _, part in groupby(by_level, key=lambda index: groups[index].level):
        members = list(part)
        level = _CommunityLevel(
            arrays, network, mentions, rank, [groups[index] for index in members]
        )
        found.update(zip(members, level.outlines(), strict=True))
    return [found[index] for index in range(len(groups))]


@dataclass(frozen=True, slots=True)
class _Mentions:
    """Pairs of an entity and a chunk that mentions it, each once, and the information of each entity (idf)."""

    entity: Indices
    chunk: Indices
    information: Floats

    @classmethod
    def of(cls, arrays: GraphArrays) -> _Mentions:
        chunks = max(len(arrays.chunks), 1)
        codes = np.unique(arrays.mention_entity.astype(np.int64) * chunks + arrays.mention_chunk)
        entity, chunk = codes // chunks, codes % chunks
        times = np.bincount(entity, minlength=len(arrays.entities))
        return cls(entity, chunk, np.log2(1 + chunks / np.maximum(times, 1)))


class _CommunityLevel:
    """Communities that share no member."""

    def __init__(
        self,
        arrays: GraphArrays,
        network: Network,
        mentions: _Mentions,
        rank: Indices,
        groups: Sequence[CommunityGroup],
    ) -> None:
        self._arrays, self._mentions, self._groups = arrays, mentions, groups
        self._rank = rank
        self._label = labels([group.members for group in groups], network.size)
        label_of = self._label[network.source]
        inside = (label_of >= 0) & (label_of == self._label[network.target])
        ends = np.concatenate([network.source[inside], network.target[inside]])
        strength = np.bincount(ends, np.tile(network.weight[inside], 2), minlength=network.size)
        self._weight = np.log2(1 + strength) * np.where(arrays.titled, _TITLED, 1.0)

    def outlines(self) -> Iterator[Outline]:
        """Yield the outline of each community."""
        members = np.flatnonzero(self._label >= 0)
        entities = self._best(self._label[members], self._weight[members], members)
        passages, telling = self._passages()
        relations = self._relations()
        for index, group in enumerate(self._groups):
            central = entities[index][:MOST_ENTITIES]
            yield Outline(
                group,
                central,
                self._weight[central] + 1e-6,
                passages[index][:MOST_PASSAGES],
                telling[index][:MOST_PASSAGES] + 1e-6,
                passages[index],
                relations[index][:MOST_RELATIONS],
            )

    def _passages(self) -> tuple[list[Indices], list[Floats]]:
        entity, chunk = self._mentions.entity, self._mentions.chunk
        label = self._label[entity]
        inside = label >= 0
        entity, chunk, label = entity[inside], chunk[inside], label[inside]
        chunks = max(len(self._arrays.chunks), 1)
        codes, pair_of = np.unique(label * chunks + chunk, return_inverse=True)
        information = self._weight[entity] * self._mentions.information[entity]
        score = np.bincount(pair_of, information, minlength=len(codes)).astype(np.float64)
        order, parts = self._sort(codes // chunks, score, self._rank[codes % chunks])
        none = np.empty(0, np.int64)
        rows = [order[part] if part else none for part in parts]
        return [codes[row] % chunks for row in rows], [score[row] for row in rows]

    def _relations(self) -> list[Indices]:
        arrays = self._arrays
        labels = self._label[arrays.relation_source]
        inside = (labels >= 0) & (labels == self._label[arrays.relation_target])
        if CO_OCCURS in arrays.relation_types:
            inside &= arrays.relation_type != arrays.relation_types.index(CO_OCCURS)
        rows = np.flatnonzero(inside)
        return self._best(labels[rows], arrays.relation_weight[rows], rows)

    def _best(self, label: Indices, weight: Floats, value: Indices) -> list[Indices]:
        """Return the values of each community by descending weight, then by value."""
        order, parts = self._sort(label, weight, value)
        return [value[order[part]] if part else np.empty(0, np.int64) for part in parts]

    def _sort(
        self, label: Indices, weight: Floats, rank: Indices
    ) -> tuple[Indices, list[slice | None]]:
        """Return the order by community, weight and rank, and the slice of each community in it."""
        order = np.lexsort((rank, -weight, label))
        parts: list[slice | None] = [None for _ in self._groups]
        for index, part in runs(label[order]):
            parts[index] = part
        return order, parts
