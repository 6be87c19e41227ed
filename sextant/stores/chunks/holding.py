"""Asking the server which chunks hold the most of some words, and putting its answer in order."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from sextant.stores.chunks.grams import gram_hashes
from sextant.stores.scopes import id_array

# An id, how many words the chunk holds, and their density.
_HELD = Struct(">16sid")


def word_values(words: Sequence[str]) -> tuple[object, ...]:
    """Return words as `held_chunks` takes them: all, the grams and octets of those that have any, the others.

    Args:
        words: folded, no two the same.
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


def most_common_terms(held: bytes, wanted: int) -> list[tuple[bytes, float]]:
    """Return the best of the chunks looked into, with scores: most words, then highest density, then by id."""
    ranked = sorted((-number, -density, one) for one, number, density in _HELD.iter_unpack(held))
    return [
        (one, -number - density / (1 - density))
        for number, density, one in ranked[:wanted]
        if number
    ]
