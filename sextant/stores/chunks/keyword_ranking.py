"""The arguments and the answer of `held_chunks`, the server's function for keyword search."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from sextant.stores.chunks.grams import gram_hashes
from sextant.stores.scopes import id_array

# The id of a chunk, the number of keywords it contains, and their density.
_ROW = Struct(">16sid")


def word_values(words: Sequence[str]) -> tuple[object, ...]:
    """Return the arguments that `held_chunks` takes for keywords.

    Args:
        words: folded and distinct.

    Returns:
        All words; the grams and the byte lengths of those that have grams; the words without grams.
    """
    hashes = {word: gram_hashes(word) for word in words}
    long = [word for word in words if hashes[word]]
    short = [word for word in words if not hashes[word]]
    return (
        list(words),
        id_array(f'"{id_array(hashes[word])}"' for word in long),
        id_array(len(word.encode()) for word in long),
        short or None,
    )


def rank_keyword_rows(rows: bytes, limit: int) -> list[tuple[bytes, float]]:
    """Return the best chunks of an answer with their scores: most words, then highest density, then id."""
    ranked = sorted((-count, -density, chunk) for chunk, count, density in _ROW.iter_unpack(rows))
    return [
        (chunk, -count - density / (1 - density))
        for count, density, chunk in ranked[:limit]
        if count
    ]
