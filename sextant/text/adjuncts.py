"""What a sentence is set in, told by its opening: "During the probation period …", 在试用期内，….

Such an adjunct says when or under which condition something holds; what the sentence is about comes after
it (topic and comment of the rest). "During the probation period the notice period is two weeks" is about
the notice period.
"""

from __future__ import annotations

import re

_PREPOSITION = (
    r"(?:during|throughout|within|after|before|until|since|upon|at|in|on|for|under|with|without"
    r"|while|when|once|unlike)"
)
# Up to its comma; or, without one, up to the determiner or pronoun that the sentence itself begins with.
_ENGLISH = re.compile(
    rf"{_PREPOSITION}\s+(?:[^,.;:|]{{1,80}},\s+"
    r"|(?:(?:the|a|an|this|that|their|your|his|her|its)\s+)?(?:[\w'’-]+\s+){1,3}?(?=(?:the|an?|each|every|all|any|no|it|they|he|she|we|you|this|these)\s))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:[在自从當当于於][^，。；：|]{1,20}|[^，。；：|]{1,12}(?:期间|期間|期内|期內|之?[时時后後前]|以[内內后後前])|[与與和跟][^，。；：|]{1,20}不同)，"
)
# Where a question asks of a setting itself, it counts like anything else.
_ASKED_ENGLISH = re.compile(rf"\b{_PREPOSITION}\b(.{{1,80}})", re.IGNORECASE)
_ASKED_CHINESE = re.compile(r"(.{1,20})(?:期间|期間|[内內时時后後前中])|[在自从當当于於](.{1,20})")


def opening_adjunct(sentence: str) -> int:
    """Return how many characters of `sentence` its opening adjunct takes; 0 where it has none."""
    found = _ENGLISH.match(sentence) or _CHINESE.match(sentence)
    return found.end() if found and found.end() < len(sentence) else 0


def find_conditions(question: str) -> str:
    """Return the parts of `question` that ask what holds in some time or under some condition."""
    parts = [*_ASKED_ENGLISH.findall(question)]
    parts += [part for both in _ASKED_CHINESE.findall(question) for part in both]
    return " ".join(parts)
