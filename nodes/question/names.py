"""Names and telling words of a question, by how they are written."""

from __future__ import annotations

import re
from itertools import chain

from sextant.text.characters import IDEOGRAPHS, MARKS, normalise
from sextant.text.segmenting import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

_QUOTED = re.compile(
    r"《([^《》]{1,60})》|“([^“”]{1,60})”|「([^「」]{1,60})」|\"([^\"]{1,60})\"|‘([^‘’]{2,60})’"
)
# Capitalised words, joined by small ones as titles and names are ("Bank of England"), or with digits.
_WORD = r"(?:[A-Z][\w'’.&-]*|\w*\d[\w.-]*)"
_PROPER = re.compile(
    rf"\b{_WORD}(?:(?:\s+(?:of|the|and|de|van|von|la|le|du|for|in|on|to|di|da|al)){{0,2}}\s+{_WORD})*"
)
_PIECES = re.compile(rf"[{IDEOGRAPHS}]+|(?:[^\W_{IDEOGRAPHS}][{MARKS}]*|(?<=\w)[-.'’&](?=\w))+")
_TRAILING = re.compile(r"(?:['’]s|[.,'’])$")
_QUESTION_WORDS = (
    "which what who whom whose when where why how is are was were do does did can could would will shall should"
    " has have had in on at of from for to the a an and or but if both between among during after before"
)
_CHINESE_FUNCTION = "什么 哪些 哪个 哪里 哪儿 谁 多少 几个 怎么 怎样 如何 为什么 为何 何时 是否 请问 有没有 可以 能否 以及 关于 告诉"
_NO_NAME = frozenset(_QUESTION_WORDS.split())
_NO_TERM = frozenset(_CHINESE_FUNCTION.split())


def names_in(question: str) -> list[str]:
    """Return what is written as a name: quoted, in book-title marks, or capitalised beyond the first word.

    Chinese names without marks are not told from words here; the knowledge base's own names are
    (`sextant.retrievers.graph_retriever`).
    """
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(question))
    return list(dict.fromkeys([*quoted, *filter(None, map(_proper, _PROPER.finditer(question)))]))


def _proper(match: re.Match[str]) -> str:
    """Return the name without a question's first words, empty when nothing is left."""
    words = match.group().split()
    while words and normalise(words[0]) in _NO_NAME:
        words.pop(0)
    name = _TRAILING.sub("", " ".join(words))
    return name if len(name) > 1 and normalise(name) not in ENGLISH_STOP_WORDS else ""


def telling_words(question: str) -> list[str]:
    """Return the words of a question in their order, each once, without stop words and question words."""
    pieces = (_segment_piece(piece) for piece in _PIECES.findall(question))
    kept: dict[str, str] = {}
    for word in chain.from_iterable(pieces):
        kept.setdefault(normalise(word), word)
    return list(kept.values())


def _segment_piece(piece: str) -> list[str]:
    if not re.match(f"[{IDEOGRAPHS}]", piece):
        plain = normalise(piece)
        telling = len(piece) > 1 or piece.isdigit()
        stops = plain in ENGLISH_STOP_WORDS or plain in _NO_NAME
        return [_TRAILING.sub("", piece)] if telling and not stops else []
    joined: list[str] = []
    open_end = False  # a single ideograph belongs to the word before or behind it: 二甲 + 双 + 胍
    for word in words_of(piece):
        if word in _NO_TERM or is_stop_word(word):
            open_end = False
            joined.append("")
        elif joined and joined[-1] and (open_end or len(word) == 1):
            joined[-1] += word
            open_end = len(word) == 1
        else:
            joined.append(word)
            open_end = len(word) == 1
    return [word for word in joined if len(word) > 1]
