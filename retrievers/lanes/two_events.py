"""The two events whose order or distance in time a question asks for, by rule.

"Did the studio move before Mira left?" and "How many days lie between the order and the delivery?" ask for
two things that were written down at different times, mostly in different passages. One vector and one set
of words for both find a passage that is a little like each, and often the same event twice; each
event by itself finds its own. Only questions whose answer is yes, no or a length of time are cut:
"Who reigned before Louis XIV became king?" asks for one thing, which "before" describes.
"""

from __future__ import annotations

import re

from sextant.text.analysis import terms
from sextant.text.characters import has_cjk

# An event says what happened and to whom; "after 1990" is none.
_LEAST_TERMS = 2
_LEAST_CHARACTERS = 4

_YES_OR_NO = re.compile(
    r"^\W*(?:did|do|does|was|were|is|are|has|have|had|will|would|could|can)\b", re.IGNORECASE
)
_BEFORE_OR_AFTER = re.compile(
    r"(?:\s+(?:occur|happen|take place|come))?(?:\s+(?:shortly|right|soon|long|only))?\s+(?:before|after)\s+",
    re.IGNORECASE,
)
_ASKS_FOR_TIME = re.compile(
    r"\b(?:interval|how long|how much time|time|hours?|days?|weeks?|months?|years?)\b",
    re.IGNORECASE,
)
# Where both begin with somebody doing something, they end there: "from Ann asking Bo to pay to Bo paying".
_DOER = r"(?=\S+(?:\s\S+){0,2}\s\w+ing\b)"
_ONE, _TWO = r"(?P<one>\S+(?:\s\S+){2,}?)", r"\S+(?:\s\S+){2,}"
_BETWEEN = [
    re.compile(rf"\b{opening}\s+{_ONE}\s+{joining}\s+(?P<two>{doer}{_TWO})", re.IGNORECASE)
    for doer in (_DOER, "")
    for opening, joining in (("between", "and"), ("from", "to"))
]

_CHINESE_YES_OR_NO = re.compile(r"吗|嗎|是否|是不是|有没有|有沒有|还是|還是")
_CHINESE_ASKS_WHICH = re.compile(r"什么|什麼|谁|誰|哪|何|多少")
_CHINESE_BEFORE_OR_AFTER = re.compile(
    r"(?:之前|之后|之後|以前|以后|以後)(?:(?:还是|還是)(?:之前|之后|之後|以前|以后|以後))?(?:发生|發生)?(?:的)?[，,]?"
)
_CHINESE_BETWEEN = re.compile(
    r"(?P<one>[^，,。]{4,}?)(?:到|与|與|和|跟)(?P<two>[^，,。]{4,}?)(?:之间|之間)?(?:的时间)?(?:相隔|间隔|間隔|隔了|相差|过了|過了)"
)
_CHINESE_EDGE = re.compile(
    r"^(?:从|從|是否|是不是)|(?:发生|發生)?(?:是否|是不是|是)?$|[吗嗎？?，,。\s]+$"
)


def two_events(question: str) -> list[str]:
    """Return both events, in the order in which they are written; [] for any other question."""
    found = _chinese(question) if has_cjk(question) else _english(question)
    return found if len(found) == 2 and all(map(_is_event, found)) else []


def _english(question: str) -> list[str]:
    if _YES_OR_NO.match(question):
        sides = [side.strip(" ,?.") for side in _BEFORE_OR_AFTER.split(question)]
        if len(sides) > 1:
            return sides
    if _ASKS_FOR_TIME.search(question):
        for between in _BETWEEN:
            if found := between.search(question):
                return [found["one"].strip(" ,"), found["two"].strip(" ,?.")]
    return []


def _chinese(question: str) -> list[str]:
    found = _CHINESE_BEFORE_OR_AFTER.search(question)
    closed = _CHINESE_YES_OR_NO.search(question) and not _CHINESE_ASKS_WHICH.search(question)
    if found and closed:
        left, right = _bare(question[: found.start()]), _bare(question[found.end() :])
        if len(right) >= _LEAST_CHARACTERS:  # B 之后，A 吗
            return [left.removeprefix("在"), right]
        one, _, two = left.rpartition("在")  # A 是在 B 之后吗
        return [_bare(one), two]
    if found := _CHINESE_BETWEEN.search(question):
        return [_bare(found["one"]), _bare(found["two"])]
    return []


def _bare(side: str) -> str:
    return _CHINESE_EDGE.sub("", side.strip())


def _is_event(side: str) -> bool:
    return len(set(terms(side))) >= _LEAST_TERMS
