"""Sentences of passages that can stand alone as findings: whole ones, no headings, no rows of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.text.characters import has_cjk
from sextant.text.sentences import sentence_spans

_SHORTEST, _LONGEST = 8, 400  # characters
_FEWEST_WORDS = 3
# What stands before a sentence and is no part of it: marks of lists and quotations, emoji, a field's name.
_BEFORE = re.compile(
    r"[^\w\"'“‘«『「《(（\[<$€£¥]+|\d{1,3}[.)、]\s+|(?:answer|text|note|description|content|summary|回答|答|说明|备注|内容)\s*[:：]\s*",
    re.IGNORECASE,
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_ENDS = re.compile(r"[。！.!…][\"'”’」』）)\]》]*\W*$")
_FIELD = re.compile(
    r"(?:question|q|问题?|time|date|日期|时间|author|title|标题)\s*[:：]", re.IGNORECASE
)
_CELLS = re.compile(r"\s\|\s|^\||\|$|\t")
# "She was born …": who that is stands in another sentence.
_LEANS = re.compile(
    r"(?:she|he|it|they|this|that|these|those|his|her|its|their|there|here|but|and|so|then|also|however)\b"
    r"|[他她它其此该這那]|这[个些一]|因此|所以|但是?|而且?|并且|同时|随后|另外",
    re.IGNORECASE,
)


def statements(text: str) -> Iterator[str]:
    """Yield the sentences of a passage that say something by themselves, each as it stands there.

    Left out are headings, rows of tables, questions, and what has no end, no beginning or next to no
    words.
    """
    for start, end in sentence_spans(text):
        raw = text[start:end]
        if _HEADING.match(raw) or _CELLS.search(raw):
            continue
        sentence = " ".join(_without_marks(raw).split())
        if _is_statement(sentence):
            yield sentence


def leans_on_others(sentence: str) -> bool:
    """Return whether a sentence begins with a word that stands for something said before, or calls out."""
    return _LEANS.match(sentence) is not None or sentence.rstrip("\"'”’」』)）").endswith(
        ("!", "！")
    )


def _without_marks(raw: str) -> str:
    while found := _BEFORE.match(raw):
        raw = raw[found.end() :]
    return raw


def _is_statement(sentence: str) -> bool:
    enough = len(sentence.split()) >= _FEWEST_WORDS or has_cjk(sentence)
    return (
        _SHORTEST <= len(sentence) <= _LONGEST
        and enough
        and not sentence[0].islower()
        and _ENDS.search(sentence) is not None
        and not _FIELD.match(sentence)
    )
