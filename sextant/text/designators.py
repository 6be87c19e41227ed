"""Letters and numbers that single out one of a kind: "grade c", "type 2", "plan B"."""

from __future__ import annotations

import re

from sextant.text.stopwords import ENGLISH_STOP_WORDS

# "a" and "I" are words as well: they single out only where nothing follows that they could belong to.
_DESIGNATED = re.compile(
    r"\b(?P<kind>[A-Za-z]{3,}) "
    r"(?P<mark>[b-hj-zB-HJ-Z]|A|\d{1,3}|[aI](?=\s*(?:[?.!,)]|$|(?:is|are|was|has|does|used|for|in)\b)))"
    r"(?![\w'’.%-]\w|\w)"
)


def designators_in(question: str) -> list[str]:
    """Return what `question` singles out so, kind and mark as they are written: `grade c`."""
    return [
        match[0]
        for match in _DESIGNATED.finditer(question)
        if match["kind"].lower() not in ENGLISH_STOP_WORDS
    ]


def marks_in(question: str) -> frozenset[str]:
    """Return the letters and numbers alone: `c`."""
    return frozenset(one.rpartition(" ")[2] for one in designators_in(question))
