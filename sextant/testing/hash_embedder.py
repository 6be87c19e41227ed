"""An embedder without a model, for tests: hashed character n-grams.

Also here: LangChain's embedding interface without a model, for tests of its vector stores; an
embedding model whose cosines a test chooses.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from sextant.models.protocols import Vectors
from sextant.text.characters import normalise


class HashEmbedder:
    """An embedder of hashed character n-grams (feature hashing, Weinberger et al. 2009).

    Texts that share words or ideographs have similar vectors. Meaning plays no role, so do not measure
    search quality with it. A text has the same vector in every process and on every machine.

    Args:
        dimension: length of a vector, at least 8.
        name: the vector space; two embedders of one name must have one dimension.
    """

    def __init__(self, dimension: int = 64, name: str | None = None) -> None:
        if dimension < 8:
            raise ValueError("dimension must be at least 8")
        self.dimension = dimension
        self.name = name or f"hash-{dimension}"

    async def warm_up(self) -> None:
        """Do nothing, since there is nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of one question."""
        return hash_vector(text, self.dimension)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, one per row."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = hash_vector(text, self.dimension)
        return vectors


def hash_vector(text: str, dimension: int) -> Vectors:
    """Return the L2-normalised n-gram vector of `text`; the first unit vector for an empty text."""
    vector = np.zeros(dimension, np.float32)
    folded = normalise(text)
    for size in (1, 2, 3):
        for start in range(len(folded) - size + 1):
            gram = folded[start : start + size]
            if not gram.isspace():
                code = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
                vector[code % dimension] += size if code & 0x8000_0000 else -size
    length = float(np.linalg.norm(vector))
    if length == 0.0:
        vector[0] = length = 1.0
    return vector / np.float32(length)
