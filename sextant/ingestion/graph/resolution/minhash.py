"""Pairs of like names among very many, without comparing each with each.

MinHash (Broder 1997) with banding: names whose n-gram sets have Jaccard's coefficient J meet in at
least one of 16 bands of 4 with probability 1 - (1 - J⁴)¹⁶: 0.89 at 0.6, above 0.999 at 0.8. All names
are hashed at once, as one array of characters; 100,000 take about a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sextant.text.characters import normalise_name

_BANDS, _ROWS = 16, 4
# Of names that fall into one bucket each is paired with so many neighbours at most.
_NEIGHBOURS = 16
_LEAST_AGREEMENT = 0.45
# Names hashed at a time: on the way each of their characters takes some 80 bytes.
_HASHED_AT_ONCE = 1 << 13
# Pairs compared at a time: numbered names (SN-0001, SN-0002, …) make 250 pairs each.
_AT_ONCE = 1 << 14

_Hashes = npt.NDArray[np.uint32]
Pairs = npt.NDArray[np.int64]  # shape (n, 2), the smaller place first


def like_pairs(names: Sequence[str], is_new: npt.NDArray[np.bool_], most: int) -> Pairs:
    """Return pairs of names that are probably alike, likeliest first.

    Args:
        names: names as they are written; they are compared normalised.
        is_new: of each name, shape (len(names),); at least one name of a pair is new.
        most: how many pairs at most.

    Returns:
        Indices of the two names of each pair, shape (pairs, 2).
    """
    if len(names) < 2 or not is_new.any():
        return np.empty((0, 2), np.int64)
    signatures = _signatures([normalise_name(name) for name in names])
    best, agreement = np.empty(0, np.int64), np.empty(0, np.float32)
    # Band by band, with the likeliest so far: all pairs of all bands are gigabytes where names are numbered.
    for band in _band_keys(signatures):
        met = _met(band, is_new)
        agreed = _agreement(signatures, met)
        near = agreed >= _LEAST_AGREEMENT
        pairs, places = np.unique(np.r_[best, met[near]], return_index=True)
        agreed = np.r_[agreement, agreed[near]][places]
        order = np.argsort(-agreed, kind="stable")[:most]
        best, agreement = pairs[order], agreed[order]
    return np.stack(np.divmod(best, len(names)), axis=1)


def _agreement(signatures: _Hashes, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Of each pair of `_met`, the share of hashes that are the same in both signatures."""
    agreed = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        first, second = np.divmod(pairs[part], len(signatures))
        agreed[part] = (signatures[first] == signatures[second]).mean(axis=1)
    return agreed


def _signatures(names: Sequence[str]) -> _Hashes:
    """Shape (names, 64): the least hash of each name's n-grams under 64 permutations."""
    least = np.empty((len(names), _BANDS * _ROWS), np.uint32)
    for start in range(0, len(names), _HASHED_AT_ONCE):
        part = slice(start, start + _HASHED_AT_ONCE)
        least[part] = _least(names[part])
    return least


def _least(names: Sequence[str]) -> _Hashes:
    text = "".join(f" {name} " for name in names)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    lengths = np.array([len(name) + 2 for name in names])
    ends = np.repeat(np.cumsum(lengths), lengths)
    hashes, owners = _grams(codes, ends, np.repeat(np.arange(len(names)), lengths))
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    dice = np.random.default_rng(0x5E47)
    factors = dice.integers(1, 2**63, _BANDS * _ROWS, np.uint64) | np.uint64(1)
    shifts = dice.integers(0, 2**63, _BANDS * _ROWS, np.uint64)
    least = np.empty((len(names), _BANDS * _ROWS), np.uint32)
    for column, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
        permuted = (hashes * factor + shift) >> np.uint64(32)
        least[:, column] = np.minimum.reduceat(permuted, starts)
    return least


def _grams(
    codes: npt.NDArray[np.uint64], ends: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return hashes of the n-grams that begin at each character, and whose they are; see `naming.grams`."""
    after = np.r_[codes[1:], np.zeros(1, np.uint64)]
    last = np.r_[codes[2:], np.zeros(2, np.uint64)][: len(codes)]
    places = np.arange(len(codes))
    ideograph = (codes >= 0x3400) & (codes <= 0x9FFF) | (codes >= 0x20000) & (codes <= 0x3134F)
    mixed = codes * np.uint64(0x9E3779B97F4A7C15) ^ after * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = np.where(ideograph, mixed, mixed ^ last * np.uint64(0x165667B19E3779F9))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    whole = places + 2 < ends  # an ideograph before the closing space begins no pair
    kept = whole | ((places + 3 == ends) & ~ideograph)
    return mixed[kept], owners[kept]


def _band_keys(signatures: _Hashes) -> Iterator[npt.NDArray[np.uint64]]:
    """Of each band in turn, a key for each name."""
    for start in range(0, _BANDS * _ROWS, _ROWS):
        keys = np.zeros(len(signatures), np.uint64)
        for row in range(start, start + _ROWS):
            keys = (keys ^ signatures[:, row]) * np.uint64(0x100000001B3)
            keys ^= keys >> np.uint64(31)
        yield keys


def _met(keys: npt.NDArray[np.uint64], is_new: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return pairs of names with the same key, at least one of them new, as `smaller · names + larger`."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    found = []
    for step in range(1, min(_NEIGHBOURS, len(keys) - 1) + 1):
        equal = np.flatnonzero(ranked[step:] == ranked[:-step])
        if not len(equal):
            break
        one, other = order[equal], order[equal + step]
        pairs = np.minimum(one, other) * len(keys) + np.maximum(one, other)
        found.append(pairs[is_new[one] | is_new[other]])
    return np.concatenate(found) if found else np.empty(0, np.int64)
