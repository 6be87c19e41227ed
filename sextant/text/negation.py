"""Whether a sentence denies what it speaks of, told by its words: shared words say nothing of that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

# What contains such a word without denying anything, or bounds a number (不超过, no more than).
_CHINESE = re.compile(
    r"没有|沒有|没|沒|(?<!除)非(?![常洲遗遺])|不(?![同仅僅但断斷过過久少足超低高大小只管论論如良锈鏽禁详詳等满滿]|得不|可避|可或|可分)"
    r"|未(?!来|來|必|婚|成年)|[无無](?![论論线線疑锡錫性]|人机|人機)|(?<![特分类類性级級区區个個])别(?![人的墅名称稱号號])|勿|严禁|嚴禁|禁止|禁用"
)
_ENGLISH = re.compile(
    r"\b(?:not(?! only)|cannot|never|neither|nor|none|nobody|nothing|without"
    r"|prohibit\w*|forbid\w*|banned|no(?! (?:more|less|fewer|longer|later|earlier|sooner) than|\.? ?\d))\b|n['’]t\b",
    re.IGNORECASE,
)
# Behind "and" only what denies, or says that something is so, is a clause for certain: on the deck and not in the hall.
_CLAUSE = re.compile(
    r"[,;:，；：。.!?！？]\s*|\b(?:but|while|although|whereas)\b|但是?|而"
    r"|\band\s+(?=(?:is\s+|are\s+)?(?:not|never|prohibited|forbidden|banned)\b|(?:is|are|may|can|must|will)\b)"
    r"|(?<=[\u4e00-\u9fff])且(?=[不未没無无勿禁严嚴])",
    re.IGNORECASE,
)
# "Not in the hall" denies what the clause ahead says of something else.
_ELLIPTIC = re.compile(r"\s*(?:and\s+)?not\s+(?P<word>[a-z]+)", re.IGNORECASE)
_PREPOSITION = r"(?:in|on|at|for|to|by|with|from|during|before|after|inside|outside|under|over|near|behind|within)"
_DETERMINER = r"(?:the|an?|any|its|their|our|your|every|each|all)"


# "Without" denies what stands behind it, and nothing of the clause that it stands in.
_WITHOUT = re.compile(
    r"\bwithout(?:\s+(?!(?:by|to|in|on|at|for|from|with|and|or|when|if|as|since|because|is|are|was|were|ha[sd]|have"
    r"|can|could|will|would|may|must|should)\b)[^\s,;:.!?，；：。！？]+){1,4}",
    re.IGNORECASE,
)


# Words that forbid say nothing beside: what is forbidden is the rest.
_FORBIDS = re.compile(
    r"严禁|嚴禁|禁止|禁用|\b(?:is|are|be|been)?\s*(?:prohibit|forbid|bann)\w*", re.IGNORECASE
)


def without_ban(text: str) -> str:
    """Return `text` without words that forbid, which are no part of what is forbidden."""
    return _FORBIDS.sub(" ", text)


def negates(text: str) -> bool:
    """Return whether `text` has a word of denial in it, Chinese or English."""
    return _CHINESE.search(text) is not None or _ENGLISH.search(text) is not None


# What a word of denial is one with: 不得, 不能, "may not be".
_BESIDE = re.compile(r"^(?:得|能够?|可以?|许|准|允许|应该?|要|会|被|\s*be\b)")


def find_denied(text: str) -> tuple[str, str]:
    """Return what stands ahead of a text's first word of denial, and what it denies; ("", "") without one."""
    found = min(
        filter(None, (_CHINESE.search(text), _ENGLISH.search(text))),
        key=lambda one: one.start(),
        default=None,
    )
    if found is None:
        return "", ""
    behind = _BESIDE.sub("", text[found.end() :])
    return text[: found.start()], next(iter(_CLAUSE.split(behind)))


def clauses(text: str) -> list[str]:
    """Return the clauses of a sentence, cut at its marks and at words that set one against another; each "without …" apart."""
    parts = [*_CLAUSE.split(_WITHOUT.sub(" ", text)), *_WITHOUT.findall(text)]
    return [part for part in parts if part.strip()]


def complete_denials(parts: Sequence[str]) -> dict[str, str]:
    """Return clauses that deny without a verb, each with what it denies: "smoking is allowed" of "not in the hall"."""
    found = dict[str, str]()
    for before, part in pairwise(parts):
        elliptic = _ELLIPTIC.match(part)
        for kind in (_PREPOSITION, _DETERMINER) if elliptic else ():
            if elliptic and re.fullmatch(kind, elliptic["word"], re.IGNORECASE):
                *_, last = [None, *re.finditer(rf"\b{kind}\b", before, re.IGNORECASE)]
                if last:
                    found[part] = f"{before[: last.start()]}{part}"
    return found


# 不必 and "need not" leave free what 必须 and "must" demand.
_FREE = re.compile(
    r"自愿|自便|可选|任选|不必|不用|无须|无需|不需要|不强制|非必须|\b(?:optional(?:ly)?|voluntar(?:y|ily)|need not|not (?:required|mandatory|obligatory)"
    r"|(?:do|does|did) ?n[o'’]t (?:have|need) to)\b",
    re.IGNORECASE,
)
_DEMANDED = re.compile(
    r"(?<!不|非)必须|(?<!无|不)必需|务必|(?<!无)须(?!知)|应当|强制|\b(?:must(?! not)|mandatory|compulsory|obligatory|required|have to|has to)\b",
    re.IGNORECASE,
)


def leaves_free(text: str) -> bool:
    """Return whether a text leaves something to choice."""
    return _FREE.search(text) is not None


def demands(text: str) -> bool:
    """Return whether a text demands something."""
    return not leaves_free(text) and _DEMANDED.search(text) is not None
