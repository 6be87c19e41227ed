"""Who asks why, and what gives a reason: "since it leaks", 因为漏水, 以免漏水."""

from __future__ import annotations

import re

from domain.text import normalise

# 被称为什么 and 叫为何 ask what, and so does 为何 at the end.
_ASKS_WHY = re.compile(
    r"(?<![称稱叫作做名视視认認定成分])(?:为什么|為什麼|为甚么|為甚麼)(?!\W*$|[名人书書])|(?<![称稱叫作做名视視认認定成分])(?:为何|為何)(?=\w)"
    r"|为啥|何故|[什甚]么原因|什麼原因|原因是(?:什么|什麼|啥|何)"
    r"|\bwhy\b|\bhow come\b|\bwhat (?:is|are|was|were) the reasons?\b|\bfor what reasons?\b"
)
_GIVES_REASON = re.compile(
    r"因|由于|由於|所以|以[便免]|为了|為了|为的是|使|令|致|导致|導致|否则|否則|不然|避免|防止|便于|便於|有利于|造成|引起|缘故|緣故|理由|目的|出于|出於"
    r"|鉴于|鑑於|既然|故|从而|從而|于是|於是|受.{0,12}(?:影响|影響)|考[虑慮量]|为[^是了]{2,}而"
    r"|\b(?:because|since|as|so|due|owing|thanks to|reasons?|caus\w+|therefore|thus|hence|results?|resulted|resulting|leads?|leading|led"
    r"|otherwise|avoid\w*|prevent\w*|protect\w*|in order|to (?!(?:the|a|an|his|her|its|their|this|that)\b)\w+|allow\w*|enabl\w*|makes?|making|made|purpose|given|for fear|lest|that is why)\b"
    # Absent: Zhao Lei (travelling).
    r"|^[^：:\n]{1,16}[：:][^\n]*[（(]\w"
)


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason."""
    return _ASKS_WHY.search(normalise(question)) is not None


def gives_reason(text: str) -> bool:
    """Whether a text has a word with which reasons are given: lenient, for most texts that give one do."""
    return _GIVES_REASON.search(normalise(text)) is not None
