"""The passages of a knowledge base in memory: their words and vectors, brought up to date by document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.models.protocols import Vectors
from sextant.retrievers.index.vectors.rounded import Rounded
from sextant.retrievers.index.words.lexical import LexicalIndex
from sextant.retrievers.numeric.arrays import Floats, Places, unit
from sextant.stores.chunks.stored import IndexPassage
from sextant.stores.graph.arrays import IdTable, halves_of, index_of
from sextant.stores.postgresql.values import Embedded

# Vectors that are copied and normalised at a time: they stay in the processor's cache meanwhile.
_BLOCK = 1024


@dataclass(frozen=True, slots=True)
class Near:
    """The passages nearest to a question, rising, and their cosines."""

    rows: Places
    cosines: Floats


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """Passages by row, in the order of their ids.

    Attributes:
        states: every document with a text that changes when its passages do.
        documents: the document of every passage, as a place in `states`.
        ids: id of every passage.
        lexical: BM25 over the passages.
        rounded: the passages' vectors, normalised; None: they are not kept.
    """

    states: Mapping[UUID, str]
    documents: npt.NDArray[np.int32]
    ids: IdTable
    lexical: LexicalIndex
    rounded: Rounded | None = None

    @classmethod
    def empty(cls) -> PassageIndex:
        """Of no passage."""
        none = np.empty(0, np.int32)
        return cls({}, none, IdTable(np.empty((0, 2), np.uint64)), LexicalIndex.build(()))

    def changed(self, states: Mapping[UUID, str]) -> list[UUID]:
        """Return the documents that must be read anew to come to these states."""
        return [one for one, state in states.items() if self.states.get(one) != state]

    def updated(self, states: Mapping[UUID, str], fresh: Sequence[IndexPassage]) -> PassageIndex:
        """Return the passages as they are now, without vectors.

        Costs what reading the fresh passages costs (a quarter of a millisecond each), and some
        microseconds for each of the others.

        Args:
            states: the documents there are.
            fresh: all passages of those that have `changed`.
        """
        number = {document: index for index, document in enumerate(states)}
        was = np.array(
            [number[one] if states.get(one) == state else -1 for one, state in self.states.items()],
            np.int32,
        )
        document = was[self.documents] if len(was) else self.documents
        unchanged = np.flatnonzero(document >= 0)
        ids = np.concatenate(
            [self.ids.halves[unchanged], halves_of(passage.id for passage in fresh)]
        )
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        index = np.empty(len(ids), np.intp)
        index[order] = np.arange(len(ids))
        rows_of = np.full(len(self.ids), -1, np.intp)
        rows_of[unchanged] = index[: len(unchanged)]
        new = np.array([number[passage.document_id] for passage in fresh], np.int32)
        in_order = [fresh[one - len(unchanged)] for one in order[order >= len(unchanged)].tolist()]
        return PassageIndex(
            states,
            np.concatenate([document[unchanged], new])[order],
            IdTable(ids[order]),
            self.lexical.updated(rows_of, (passage.searched for passage in in_order)),
        )

    def with_vectors(self, before: PassageIndex, fresh: Embedded) -> PassageIndex:
        """Return the index with vectors, of `before` and fresh ones; without, where any passage lacks one."""
        parts = [part for part in (fresh, before.embedded) if len(part.ids)]
        width = parts[0].vectors.shape[1] if parts else 0
        vectors, there = np.empty((len(self.ids), width), np.float32), np.zeros(len(self.ids), bool)
        was = np.full(len(self.ids), -1, np.intp)
        for part in parts:
            if part.vectors.shape[1] != width:
                continue
            rows = index_of(self.ids.halves, part.ids)
            has_vector = np.flatnonzero(rows >= 0)
            has_vector = has_vector[~there[rows[has_vector]]]
            there[rows[has_vector]] = True
            if part is not fresh:
                was[rows[has_vector]] = has_vector
            for start in range(0, len(has_vector), _BLOCK):
                some = has_vector[start : start + _BLOCK]
                vectors[rows[some]] = unit(part.vectors[some])
        if not there.all():
            return self
        known = before.rounded.updated(vectors, was) if before.rounded else None
        return replace(self, rounded=known or Rounded.of(vectors, sifted=True))

    def with_shared(self, rounded: Rounded) -> PassageIndex:
        """Return the index with vectors that somebody else has of the same passages, held once."""
        return replace(self, rounded=rounded.sifted())

    @property
    def vectors(self) -> Vectors | None:
        """As they are, shape (n, dimension); None: they are not kept."""
        return None if self.rounded is None else self.rounded.vectors

    @property
    def embedded(self) -> Embedded:
        """Return ids and vectors; of no passage where vectors are not kept."""
        if self.vectors is None:
            return Embedded(self.ids.halves[:0], np.empty((0, 0), np.float32))
        return Embedded(self.ids.halves, self.vectors)

    def nearest(self, question: Vectors, count: int) -> Near:
        """Return the `count` passages nearest to a question's vector, shape (dimension,); the index must have `vectors`."""
        assert self.rounded is not None  # noqa: S101 - as said
        return Near(*self.rounded.among_nearest(unit(question), count))
