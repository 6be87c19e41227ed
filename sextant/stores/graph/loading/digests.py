"""Compute MD5 (RFC 1321) of many short texts at once, for the ids of relations."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_MAX_TEXT_BYTES = 23  # the two ends, the text and the padding must fit in one block of 64 bytes
_ROWS = 8192  # at a time, so that the data stays in the processor's cache
_SINES = [np.uint32(int(abs(math.sin(step)) * 2**32)) for step in range(1, 65)]
_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_START = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)  # RFC 1321, 3.3


def digests(sources: Array, targets: Array, kinds: Array, texts: Sequence[str]) -> Array:
    """Return the MD5 of each source, target and text.

    Ids and digests are of dtype `V16`; `kinds` are indices of `texts`.
    """
    encoded = [text.encode() for text in texts]
    tails = np.zeros((len(encoded), _MAX_TEXT_BYTES + 1), np.uint8)
    for row, text in zip(tails, encoded, strict=True):
        row[: len(text) + 1] = np.frombuffer(text[:_MAX_TEXT_BYTES] + b"\x80", np.uint8)[: len(row)]
    sizes = np.array([min(len(text), _MAX_TEXT_BYTES) for text in encoded], np.uint32)
    result = np.empty(len(kinds), "V16")
    for first in range(0, len(kinds), _ROWS):
        part = slice(first, first + _ROWS)
        blocks = np.zeros((len(kinds[part]), 64), np.uint8)
        blocks[:, :16] = sources[part].view(np.uint8).reshape(-1, 16)
        blocks[:, 16:32] = targets[part].view(np.uint8).reshape(-1, 16)
        blocks[:, 32 : 33 + _MAX_TEXT_BYTES] = tails[kinds[part]]
        words = blocks.view("<u4").astype(np.uint32).T.copy()
        words[14] = (32 + sizes[kinds[part]]) * 8
        result[part] = _md5(words).T.astype("<u4").copy().view("V16").reshape(-1)
    long = np.array([len(text) > _MAX_TEXT_BYTES for text in encoded], bool)
    for index in np.flatnonzero(long[kinds]).tolist():
        whole = sources[index].tobytes() + targets[index].tobytes() + encoded[kinds[index]]
        result[index] = np.void(hashlib.md5(whole, usedforsecurity=False).digest())
    return result


def _md5(words: Array) -> Array:
    """Return the digests of blocks: 16 rows of words in, 4 out; variables are named as in the RFC."""
    start = [np.full(words.shape[1], word, np.uint32) for word in _START]
    a, b, c, d = start
    for step in range(64):
        part = step // 16
        if part == 0:
            mixed, word = d ^ (b & (c ^ d)), step
        elif part == 1:
            mixed, word = c ^ (d & (b ^ c)), (5 * step + 1) % 16
        elif part == 2:
            mixed, word = b ^ c ^ d, (3 * step + 5) % 16
        else:
            mixed, word = c ^ (b | ~d), 7 * step % 16
        mixed += a
        mixed += words[word]
        mixed += _SINES[step]
        turn = _TURNS[part][step % 4]
        a, b, c, d = d, b + (mixed << turn | mixed >> (32 - turn)), b, c
    return np.array([one + before for one, before in zip((a, b, c, d), start, strict=True)])
