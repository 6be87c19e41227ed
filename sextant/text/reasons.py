"""Who asks why, and what gives a reason: "since it leaks", 因为漏水, 以免漏水."""

from __future__ import annotations

import re

from sextant.text.characters import normalise

# 被称为什么 and 叫为何 ask what, and so does 为何 at the end.
_ASKS_WHY = re.compile(
    r"(?<![称稱叫作做名视視认認定成分])(?:为什么|為什麼|为甚么|為甚麼)(?!\W*$|[名人书書])|(?<![称稱叫作做名视視认認定成分])(?:为何|為何)(?=\w)"
    r"|为啥|何故|[什甚]么原因|什麼原因|原因是(?:什么|什麼|啥|何)"
    r"|根因是(?:什么|什麼|啥|何)|是什么(?:造成|引起|导致)|是什麼(?:造成|引起|導致)"
    r"|\bwhy\b|\bhow come\b|\bwhat (?:is|are|was|were) the (?:root )?(?:reason|cause)s?\b"
    r"|\bfor what reasons?\b|\bwhat (?:has |had )?caused\b"
)
# What a section of reasons is called.
_OF_REASONS = re.compile(r"\b(?:root )?causes?\b|\breasons?\b|原因|根因|缘由|緣由|起因|成因")
_DENIES_REASON = re.compile(
    r"\bnot the (?:root )?(?:reason|cause)|不是[^，。]{0,8}(?:原因|根因)|并非[^，。]{0,8}(?:原因|根因)"
)
_GIVES_REASON = re.compile(
    r"因|由于|由於|所以|以[便免]|为了|為了|为的是|使|令|致|导致|導致|否则|否則|不然|避免|防止|便于|便於|有利于|造成|引起|缘故|緣故|理由|目的|出于|出於"
    r"|鉴于|鑑於|既然|故|从而|從而|于是|於是|受.{0,12}(?:影响|影響)|考[虑慮量]|为[^是了]{2,}而"
    r"|\b(?:because|since|as|so|due|owing|thanks to|reasons?|caus\w+|therefore|thus|hence"
    r"|results?|resulted|resulting|leads?|leading|led"
    r"|otherwise|avoid\w*|prevent\w*|protect\w*|in order"
    r"|to (?!(?:the|a|an|his|her|its|their|this|that)\b)\w+|allow\w*|enabl\w*|makes?|making|made"
    r"|purpose|given|for fear|lest|that is why)\b"
    # Absent: Zhao Lei (travelling).
    r"|^[^：:\n]{1,16}[：:][^\n]*[（(]\w"
)


def asks_why(question: str) -> bool:
    """Return whether a question asks for a reason."""
    return _ASKS_WHY.search(normalise(question)) is not None


def gives_reason(text: str) -> bool:
    """Return whether a text has a word with which reasons are given: lenient, for most texts that give one do."""
    plain = normalise(text)
    return _GIVES_REASON.search(plain) is not None and not _DENIES_REASON.search(plain)


def is_of_reasons(heading: str) -> bool:
    """Return whether a section with this heading tells why something is so: "3. Root cause", 原因分析."""
    return _OF_REASONS.search(normalise(heading)) is not None
