"""The chunks of a scope in memory: vectors, the grams of their texts, and what results tell of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from sextant.domain.retrieval import PassageContent
from sextant.models.protocols import Vectors
from sextant.retrievers.index.vectors.rounded import Rounded
from sextant.retrievers.index.words.keyword_search import GramPostings, KeywordIndex
from sextant.retrievers.numeric.arrays import LEAST_LENGTH, unit
from sextant.stores.chunks.metadata import ChunkMetadata
from sextant.stores.chunks.snapshot import Block, ChunkRow, ScopeSnapshot, search_text
from sextant.stores.graph.arrays import IdTable, halves_of_texts, index_of
from sextant.text.characters import lowercase


@dataclass(frozen=True, slots=True)
class JsonRows:
    """Rows of values, each as a JSON array.

    Attributes:
        joined: the rows, one after the other.
        ends: where each ends, after the 0 where the first begins.
    """

    joined: bytes
    ends: npt.NDArray[np.int64]

    @classmethod
    def of(cls, written: Collection[bytes]) -> JsonRows:
        """Return rows that are written already."""
        return cls(b"".join(written), np.cumsum([0, *map(len, written)]))

    def at(self, row: int) -> list[Any]:
        """Return the values of a row; of none where there is no such row."""
        values: list[Any] = orjson.loads(self.joined[self.ends[row] : self.ends[row + 1]] or b"[]")
        return values

    @property
    def nbytes(self) -> int:
        """Return the bytes that they take."""
        return len(self.joined) + self.ends.nbytes


@dataclass(slots=True)
class JsonRowsBuilder:
    """Rows as they are being read, block by block: an object for each would leave gaps in memory."""

    _blocks: list[bytes] = field(default_factory=list[bytes])
    _sizes: list[int] = field(default_factory=lambda: [0])

    def add(self, rows: Iterable[Sequence[object] | None]) -> None:
        """Write the next rows; None: there is no such row."""
        written = [b"" if row is None else orjson.dumps(tuple(row)) for row in rows]
        self._blocks.append(b"".join(written))
        self._sizes += map(len, written)

    def estimate(self, rows: int) -> int:
        """Return the bytes of so many rows, by those that are here."""
        return sum(self._sizes) * rows // max(len(self._sizes) - 1, 1)

    def build(self) -> JsonRows:
        """Return all rows; nothing is left here."""
        joined = b"".join(self._blocks)
        self._blocks.clear()
        return JsonRows(joined, np.cumsum(self._sizes))


# What results tell of a chunk beside its text, as `ChunkStore.contents` does.
_TOLD = (
    *("filename", "document_title", "source", "section_path", "title", "section_id", "page"),
    *("start", "end", "modality", "ordinal", "context"),
)
_OWN = ChunkRow._fields.index("text")  # from here on values are those of one chunk
_CONTEXT = ChunkRow._fields.index("context") - _OWN + 1  # after the row of the section
# Bytes a chunk beside vector and text, of a number of a vector, and how often a text counts: as it is told, and
# two bytes for each gram.
_EACH, _NUMBER, _TEXT = 250, 3, 2.5


@dataclass(frozen=True, slots=True)
class ChunkIndex:
    """Chunks by row, in the order of their ids.

    Attributes:
        stamp: `sextant.stores.chunks.snapshot.read_chunks_stamp` of what is here.
        ids: of all.
        rounded: vectors of length 1.
        words: finds texts by keywords.
        rows: of each the row of its section, and what of `ChunkRow` is its own.
        sections: what chunks of a section have in common.
    """

    stamp: str
    ids: IdTable
    rounded: Rounded
    words: KeywordIndex
    rows: JsonRows
    sections: JsonRows

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        parts = (self.ids.halves, self.rounded, self.words, self.rows, self.sections)
        return sum(part.nbytes for part in parts)

    def nearest(self, vector: Vectors, k: int) -> tuple[list[int], list[float]] | None:
        """Return rows and cosines of the `k` nearest to a vector of shape (dimension,), best first; every vector is compared.

        None for a vector that cannot be compared with those that are stored.
        """
        if vector.shape != self.rounded.centre.shape:
            return None
        question = np.asarray(vector, np.float32)
        length = math.sqrt(np.vecdot(question, question))
        if length < LEAST_LENGTH:
            return None
        rows, products = self.rounded.nearest(question, k)
        return rows, [product / length for product in products]

    def matching(self, keywords: Sequence[str], k: int) -> tuple[list[int], list[float]]:
        """Return rows and scores of those that `ChunkStore.keyword_matches` finds, in the same order."""
        return self.words.search(keywords, k, self._lowercase_at)

    def content_at(self, row: int) -> PassageContent:
        """Return what results tell of the chunk of a row."""
        chunk = self._row(row)
        metadata = {name: getattr(chunk, name) for name in _TOLD}
        metadata["section_path"] = tuple(chunk.section_path)
        return PassageContent(chunk.text, chunk.document_id, chunk.external_id, metadata)

    def contents(self, ids: Sequence[str]) -> dict[str, PassageContent]:
        """Return what results tell of some chunks; without those that are not here."""
        found = zip(ids, self._rows_of(ids), strict=True)
        return {id_: self.content_at(row) for id_, row in found if row >= 0}

    def metadata(self, ids: Sequence[str]) -> list[ChunkMetadata] | None:
        """Return what ranking asks of some chunks, in their order; None if one of them is not here."""
        rows = self._rows_of(ids)
        if min(rows, default=0) < 0:
            return None
        return [self._row(row).metadata(id_) for id_, row in zip(ids, rows, strict=True)]

    def _lowercase_at(self, row: int) -> str:
        """Return the text that is searched, without what the section says: half of a search is this."""
        _, text, *_ = own = self.rows.at(row)
        return lowercase(search_text(own[_CONTEXT], text))

    def _row(self, row: int) -> ChunkRow:
        section, *own = self.rows.at(row)
        return ChunkRow(*self.sections.at(section), *own)

    def _rows_of(self, ids: Sequence[str]) -> list[int]:
        rows: list[int] = index_of(self.ids.halves, halves_of_texts(ids)).tolist()
        return rows


@dataclass(slots=True)
class ChunkIndexBuilder:
    """The chunks of a scope as they are being read, block by block, each in some ten milliseconds of a thread.

    Args:
        stamp, chunks: of the scope.
    """

    stamp: str
    chunks: int
    _ids: list[npt.NDArray[np.uint64]] = field(default_factory=list[npt.NDArray[np.uint64]])
    _vectors: Vectors | None = None
    _rows: JsonRowsBuilder = field(default_factory=JsonRowsBuilder)
    _sections: dict[bytes, int] = field(default_factory=dict[bytes, int])
    _octets: list[int] = field(default_factory=list[int])
    _postings: list[GramPostings] = field(default_factory=list[GramPostings])

    def add(self, block: Block) -> None:
        """Take in the next chunks."""
        first = len(self._octets)
        if self._vectors is None:
            self._vectors = np.empty((self.chunks, block.vectors.shape[1]), np.float32)
        self._vectors[first : first + len(block.ids)] = unit(block.vectors)
        self._ids.append(block.ids)
        self._rows.add([self._section(row[:_OWN]), *row[_OWN:]] for row in block.rows)
        texts = [lowercase(row.searched) for row in block.rows]
        self._octets += [len(text.encode()) for text in texts]
        self._postings.append(GramPostings.of(texts))

    def _section(self, values: Sequence[object]) -> int:
        """Return the row of the section with these values."""
        return self._sections.setdefault(orjson.dumps(values), len(self._sections))

    def build(self) -> ChunkIndex | None:
        """Return all of it; None if a vector has no direction: what the store says of it cannot be said here."""
        if (
            self._vectors is None
            or len(self._octets) != self.chunks
            or not self._vectors.any(axis=1).all()
        ):
            return None
        postings = GramPostings.joined(self._postings)
        self._postings.clear()  # not twice while the rest is joined
        rounded = Rounded.of(self._vectors)
        self._vectors = None
        return ChunkIndex(
            self.stamp,
            IdTable(np.concatenate(self._ids)),
            rounded,
            KeywordIndex(postings, np.maximum(1, np.array(self._octets, np.int32))),
            self._rows.build(),
            JsonRows.of(self._sections),
        )


def estimate_bytes(found: ScopeSnapshot) -> int:
    """Return about how many bytes a scope will take."""
    each = found.dimension * _NUMBER + _EACH
    return int(found.chunks * each + found.octets * _TEXT)
