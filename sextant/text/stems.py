"""English words without their plain inflections."""

from __future__ import annotations

import re

# organise, colour, centre, licence, catalogue: each with what may follow.
_BRITISH = (
    (re.compile(r"(?<=\w{3}[^\Waeiou])is(?=(?:e[drs]?|ers|ing|ations?)$)"), "iz"),
    (re.compile(r"(?<=al)ys(?=(?:e[drs]?|ing)$)"), "yz"),
    (re.compile(r"(?<=\w{2}[^\Waeiou])our(?=(?:s|ed|ing|ful|ite|ites|able|al)?$)"), "or"),
    (re.compile(r"(?<=\w{2})tre(?=s?$)"), "ter"),
    (re.compile(r"(?<=\w{2})nce(?=[sd]?$)"), "nse"),
    (re.compile(r"(?<=\w{2})ogue(?=s?$)"), "og"),
)
_MAYBE_BRITISH = re.compile(r"is|ys|our|tre|nce|ogue")
# What a word may end in; the first that fits is taken off.
_SUFFIX = re.compile(
    r"""
    (?<=\w{3}) (?:
        (?<!^s[^\Waeiou]r) ing          # asking; not spring
      | ied | ies                       # supplied, bodies: as in supply, body
      | (?<!e)(?<!^s[^\Waeiou]r) ed     # asked; not speed
      | es                              # processes
      | (?<!s) s                        # rooms; not glass
    ) $
  | (?: (?<=[aeiou][rt]e) | (?<=[aeiou][^\Waeiou][rt]e) ) ed $    # guaranteed, agreed
  | (?<=^free) d $                      # freed
  | (?<=\w{4}) e $                      # machine
  | (?<=\w{2}[^\Waeiou]) y $            # supply, body
    """,
    re.VERBOSE,
)


_INFLECTIONS = ("ing", "edly", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4


def cut_inflection(word: str) -> str:
    """Return the word without one inflection of English, if at least four letters stay: less than `stem` cuts off."""
    for suffix in _INFLECTIONS:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word


def stem(word: str) -> str:
    """Return the word without an ending of number, person or tense: `supply`, `supplies` and `supplied` as `suppl`."""
    return _SUFFIX.sub("", word)


def american(word: str) -> str:
    """Return the word as Americans spell it, or as they would: the same of "licence" and "license", which is all it is for."""
    if _MAYBE_BRITISH.search(word):
        for british, spelt in _BRITISH:
            word = british.sub(spelt, word)
    return word
