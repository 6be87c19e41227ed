"""Fold text for the keyword lane, and cut it into the n-grams by which an index finds it.

`fold(keyword) in fold(text)` is true if and only if SQL's `ILIKE '%' || keyword || '%'` (wildcards
escaped) matches the text. The database must use its built-in Unicode provider; case pairs newer than
Python's Unicode tables are unknown.

A gram is a pair of adjacent characters if one of them is a CJK ideograph, else a triple. It never
crosses the end of a run of letters and digits. Whether characters form a gram depends on these
characters only, so every gram of a keyword is a gram of each text that contains the keyword: the
index finds a superset of the matches, and the texts decide.

Also here: translate chunk filters into conditions and parameters of SQL queries.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import Any, LiteralString
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.filters import ChunkFilters
from sextant.stores.postgresql.queries import load_queries
from sextant.text.characters import IDEOGRAPHS, is_cjk

_SQL = load_queries("filters")

# The numbering that may precede the words of a title.
_NUMBER = (
    r"(?:(?:第\s*[0-9一二三四五六七八九十百零〇]+\s*[章节節篇部分条條]|[0-9]+(?:[.．][0-9]+)*[.．、)）]?"
    r"|(?:chapter|section|part)\s+[0-9ivxlc]+[:.]?)\s*)?"
)


def filter_condition(name: str) -> LiteralString:
    """Return a query of `filters.sql`; its parameters include those of `filter_values`."""
    return _SQL[name].replace("%(matching)s", _SQL["matching"])


def custom_plans() -> LiteralString:
    """Return the statement that makes a transaction plan for its values; takes a `timeout` in ms."""
    return _SQL["options"]


def filter_values(filters: ChunkFilters) -> dict[str, Any]:
    """Return the parameters of the filters; None for a filter that is not set."""
    return {
        "document_ids": [found for found in map(_id, filters.document_ids) if found is not None],
        "sources": list(filters.document_ids) or None,
        "section_id": list(filters.section_id) or None,
        "created_after": filters.created_after,
        "created_before": filters.created_before,
        "topic_labels": _lower(filters.topic_labels),
        "tags": _lower(filters.tags),
        "entity_types": _lower(filters.entity_types),
        "section_patterns": [title_pattern(title) for title in filters.parent_section_path] or None,
        "document_patterns": document_patterns(filters.parent_section_path) or None,
    }


def filter_ids(filters: ChunkFilters) -> dict[str, Any]:
    """Return the documents and sections that the filters name; `ids[i]` is `names[i]` read as an id, or None."""
    return {
        "names": list(filters.document_ids),
        "ids": [_id(name) for name in filters.document_ids],
        "sections": list(filters.section_id),
    }


def title_pattern(title: str) -> str:
    """Return a regular expression for titles that begin with `title`, valid in Python and PostgreSQL.

    Numbers and Latin words match whole: `3` and `3.1` do not find `3.10`.
    """
    return f"^{_NUMBER}{_whole(title)}"


def document_patterns(titles: Sequence[str]) -> list[str]:
    """Return patterns for a path that starts at the document, one for each title.

    The first may occur anywhere in the document's title: in `["合同", "第3章"]` the word 合同 (contract)
    is seldom the beginning of a contract's title.
    """
    if not titles:
        return []
    first, *others = titles
    beginning = "(?<![A-Za-z])" if first[0].isascii() and first[0].isalpha() else ""
    return [f"{beginning}{_whole(first)}", *map(title_pattern, others)]


def _whole(title: str) -> str:
    words = re.sub(r"(\W)", r"\\\1", title)
    if title[-1].isascii() and title[-1].isdigit():
        ending = r"(?![.．]?[0-9])"
    else:
        ending = "(?![A-Za-z])" if title[-1].isascii() and title[-1].isalpha() else ""
    return f"{words}{ending}"


def _id(name: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(name)
    return None


def _lower(words: tuple[str, ...]) -> list[str] | None:
    return [word.lower() for word in words] or None


Grams = npt.NDArray[np.int32]
_Codes = npt.NDArray[np.uint32]
_Keys = npt.NDArray[np.unsignedinteger[Any]]
_Mask = npt.NDArray[np.bool_]

_BITS = 21  # Unicode ends below 2^21, so three characters fit in 63 bits
_CODE_BITS = np.uint64(_BITS)
_HALF_BITS = 32
_HALF = np.uint64(_HALF_BITS)
# Collisions only enlarge the superset: a chunk of 200 grams matches 0.6 % of all hashes. Fewer keys
# make the index cheaper to maintain.
_HASH_BITS = 15
_HASH_SHIFT = 64 - _HASH_BITS
_SALTS = 1 << (32 - _HASH_BITS)
_IDEOGRAPHS_ONLY = re.compile(f"[{IDEOGRAPHS}]+")
_UNSTORED = re.compile(r"[\0\ud800-\udfff]")
_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 ÷ golden ratio: Knuth's multiplicative hashing
_WORD = (1 << 64) - 1

# The blocks of `sextant.text.characters.is_cjk`, as ranges for numpy.
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))


def fold(text: str) -> str:
    """Lower the case character by character, as PostgreSQL does: no final sigma, no dotted capital I."""
    return text.replace("Σ", "σ").replace("İ", "i").lower()


def fold_words(keywords: Iterable[str]) -> list[str]:
    """Return the distinct keywords, folded, in order, without those that no stored text can contain.

    PostgreSQL stores neither NUL nor lone surrogates, and rejects parameters that contain them.
    """
    folded = dict.fromkeys(map(fold, keywords))
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


def word_grams(folded: str) -> list[int]:
    """Return the grams of one short text, 21 bits for each character; faster than arrays for a keyword."""
    if folded.isascii() and folded.isalnum():
        plain = folded.encode()
        triples = zip(plain, plain[1:], plain[2:], strict=False)
        return [(one << _BITS | two) << _BITS | three for one, two, three in triples]
    if _IDEOGRAPHS_ONLY.fullmatch(folded) and folded.isalnum():
        codes = [*map(ord, folded)]
        return [one << _BITS | two for one, two in pairwise(codes)]
    ideographs, words = [*map(is_cjk, folded)], [*map(str.isalnum, folded)]
    codes, grams = [*map(ord, folded)], list[int]()
    for start in range(len(folded) - 1):
        if not (words[start] and words[start + 1]):
            continue
        pair = codes[start] << _BITS | codes[start + 1]
        if ideographs[start] or ideographs[start + 1]:
            grams.append(pair)
        elif start + 2 < len(folded) and words[start + 2] and not ideographs[start + 2]:
            grams.append(pair << _BITS | codes[start + 2])
    return grams


def gram_hashes(folded: str) -> set[int]:
    """Return the hashes of the grams of one short text, without a salt."""
    return {
        ((gram ^ gram >> _HALF_BITS) * _GOLDEN & _WORD) >> _HASH_SHIFT
        for gram in word_grams(folded)
    }


def _keys(codes: _Codes, owner: _Keys, mask: _Mask, length: int) -> _Keys:
    """Return the text's number and the hash of each window of `length` characters that `mask` marks."""
    (starts,) = np.nonzero(mask)
    packed = np.zeros(len(starts), np.uint64)
    for offset in range(length):
        packed = (packed << _CODE_BITS) | codes[starts + offset]
    packed ^= packed >> _HALF
    hashes = (packed * np.uint64(_GOLDEN)) >> np.uint64(_HASH_SHIFT)
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
