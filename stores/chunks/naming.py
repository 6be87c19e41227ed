"""Which of the texts that the gram index names for some words really hold them."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from struct import Struct

import numpy as np

from stores.chunks.grams import gram_hashes
from stores.postgresql.binary import Nearest, halves
from stores.scopes import id_array

# An id, how many words the index says there are, their density at most, and how long the text is.
_NAMED = Struct(">16sidi")


class Named:
    """Words as `named_chunks` takes them, and what its answer says of them.

    Args:
        words: folded, no two the same.
    """

    def __init__(self, words: Sequence[str]) -> None:
        hashes = {word: gram_hashes(word) for word in words}
        long = [word for word in words if hashes[word]]
        short = [word for word in words if not hashes[word]]
        self._octets = [(octets, len(octets)) for octets in map(str.encode, words)]
        self.values = (
            id_array(f'"{id_array(hashes[word])}"' for word in long),
            id_array(len(word.encode()) for word in long),
            short or None,
        )

    def best(self, rows: bytes | None, looked: int, wanted: int) -> tuple[Nearest, bool]:
        """The best of the chunks named, and whether none of those left out can be better.

        Args:
            rows: of the best by what the index says of them, with their folded texts.
            looked: how many were asked for.
            wanted: how many are wanted.
        """
        rows = rows or b""
        held, place, number, certain = list[tuple[int, float, bytes]](), 0, 0, False
        while place < len(rows) and not certain:
            one, matched, density, length = _NAMED.unpack_from(rows, place)
            text = rows[place + _NAMED.size : place + _NAMED.size + length]
            place, number = place + _NAMED.size + length, number + 1
            sizes = [size for word, size in self._octets if word in text]
            if sizes:
                insort(held, (-len(sizes), -sum(sizes) / max(1, length), one))
            certain = len(held) >= wanted and held[wanted - 1] <= (-matched, -density, one)
        scores = [-count - density / (1 - density) for count, density, _ in held[:wanted]]
        ids = halves(b"".join(one for _, _, one in held[:wanted]))
        return Nearest(ids, np.array(scores, np.float32)), certain or number < looked
