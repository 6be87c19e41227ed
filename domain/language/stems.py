"""English words without their plain inflections."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"(?<=\w{3})(?:ing|ied|ies|ed|es|s)$|(?<=\w{4})e$")


def stem(word: str) -> str:
    """The word without an ending of number, person or tense: `supplies` and `supplied` as `suppl`."""
    return _SUFFIX.sub("", word)
