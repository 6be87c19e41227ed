"""Lower the case of text for the keyword lane, and cut it into the n-grams by which an index finds it.

`lowercase(keyword) in lowercase(text)` is true if and only if SQL's `ILIKE '%' || keyword || '%'` (wildcards
escaped) matches the text. The database must use its built-in Unicode provider; case pairs newer than
Python's Unicode tables are unknown.

A gram is a pair of adjacent characters if one of them is a CJK ideograph, else a triple. It never
crosses the end of a run of letters and digits. Whether characters form a gram depends on these
characters only, so every gram of a keyword is a gram of each text that contains the keyword: the
index finds a superset of the matches, and the texts decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.stores.scopes import id_array
from sextant.text.characters import lowercase

Grams = npt.NDArray[np.int32]
_Codes = npt.NDArray[np.uint32]
_Keys = npt.NDArray[np.unsignedinteger[Any]]
_Mask = npt.NDArray[np.bool_]

_CODE_BITS = np.uint64(21)  # Unicode ends below 2^21, so three characters fit in 63 bits
_HALF = np.uint64(32)
# Collisions only enlarge the superset: a chunk of 200 grams matches 0.6 % of all hashes. Fewer keys
# make the index cheaper to maintain.
_HASH_BITS = 15
_SALTS = 1 << (32 - _HASH_BITS)
_UNSTORED = re.compile(r"[\0\ud800-\udfff]")
_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 ÷ golden ratio: Knuth's multiplicative hashing

# The blocks of `sextant.text.characters.is_cjk`, as ranges for numpy.
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))


def lowercase_words(keywords: Iterable[str]) -> list[str]:
    """Return the distinct keywords in lower case, in order, without those that no stored text can contain.

    PostgreSQL stores neither NUL nor lone surrogates, and rejects parameters that contain them.
    """
    folded = dict.fromkeys(map(lowercase, keywords))
    return [word for word in folded if word and not _UNSTORED.search(word)]


def salt_grams(folded: Sequence[str], scope_id: int) -> list[Grams]:
    """Return the distinct grams of each folded text as the index stores them.

    A gram has the scope's number in the high 17 bits and a hash in the low 15. The number is a salt
    by which one index serves all tenants: without it a common gram lists every tenant's chunks.
    Collisions of hashes or salts only enlarge the superset that the index finds.
    """
    joined = "\n".join(folded)
    codes = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    # 32 bits, which sort faster, suffice if the number of a text fits beside the hash.
    width = np.uint32 if len(folded) <= _SALTS else np.uint64
    text_numbers: _Keys = np.arange(len(folded), dtype=width)
    owner = np.repeat(text_numbers, [len(text) + 1 for text in folded])
    word, ideograph = is_word(codes), is_ideograph(codes)
    pair = word[:-1] & word[1:] & (ideograph[:-1] | ideograph[1:])
    plain = word & ~ideograph
    triple = plain[:-2] & plain[1:-1] & plain[2:]
    keys = np.concatenate([_keys(codes, owner, pair, 2), _keys(codes, owner, triple, 3)])
    keys.sort()  # faster here than np.unique, which hashes
    keys = keys[np.append(keys[1:] != keys[:-1], True)[: len(keys)]]
    ends = np.searchsorted(keys >> _HASH_BITS, text_numbers[1:])
    salt = np.uint32((scope_id % _SALTS) << _HASH_BITS)
    values = (keys.astype(np.uint32) & np.uint32((1 << _HASH_BITS) - 1)) | salt
    return np.split(values.view(np.int32), ends)


def _keys(codes: _Codes, owner: _Keys, mask: _Mask, length: int) -> _Keys:
    """Return the text's number and the hash of each window of `length` characters that `mask` marks."""
    (starts,) = np.nonzero(mask)
    packed = np.zeros(len(starts), np.uint64)
    for offset in range(length):
        packed = (packed << _CODE_BITS) | codes[starts + offset]
    packed ^= packed >> _HALF
    hashes = (packed * np.uint64(_GOLDEN)) >> np.uint64(64 - _HASH_BITS)
    keys: _Keys = (owner[starts] << owner.dtype.type(_HASH_BITS)) | hashes.astype(owner.dtype)
    return keys


def is_ideograph(codes: _Codes) -> _Mask:
    """Return a mask of CJK ideographs, as defined by `sextant.text.characters.is_cjk`."""
    mask = np.zeros(len(codes), np.bool_)
    for first, last in _IDEOGRAPHS:
        mask |= (codes >= first) & (codes <= last)
    return mask


def is_word(codes: _Codes) -> _Mask:
    """Return a mask of letters and digits, as defined by `str.isalnum`."""
    basic = _basic_words()
    mask = basic[np.minimum(codes, len(basic) - 1)]
    (astral,) = np.nonzero(codes >= len(basic))
    mask[astral] = [chr(code).isalnum() for code in codes[astral]]
    return mask


@cache
def _basic_words() -> _Mask:
    return np.array([chr(code).isalnum() for code in range(0x10000)], np.bool_)


# The id of a chunk, the number of keywords it contains, and their density.
_ROW = Struct(">16sid")


def word_values(words: Sequence[str]) -> tuple[object, ...]:
    """Return the arguments that `keyword_matches` takes for keywords.

    Args:
        words: folded and distinct.

    Returns:
        All words; the grams and the byte lengths of those that have grams; the words without grams.
    """
    hashes = {word: grams.tolist() for word, grams in zip(words, salt_grams(words, 0), strict=True)}
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
