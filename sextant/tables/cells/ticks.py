"""Columns that only say yes or no: in words, or by ticks and empty cells."""

from __future__ import annotations

from collections.abc import Mapping

_YES_WORDS = "yes y true included ✓ ✔ ✔️ √ ☑ ✅ ● • 是 有 支持"
_NO_WORDS = "no n false none ✗ ✘ × ✕ ❌ ☐ ○ - – — 否 无 不支持"
_YES, _NO = frozenset(_YES_WORDS.split()), frozenset(_NO_WORDS.split())
_CROSS = "x"  # a tick where nothing else is filled in


def find_tick(said: Mapping[str, set[str]]) -> set[str]:
    """Return what such a column has where it is so; nothing where it says anything else. An empty cell says no.

    Args:
        said: what its cells say, normalised, and how that is written.
    """
    filled = said.keys() - {""}
    if filled == {_CROSS} and "" in said:
        return said[_CROSS]
    if not filled <= _YES | _NO:
        return set()
    return {written for plain in filled & _YES for written in said[plain]}
