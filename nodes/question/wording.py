"""How a question is worded: its names and telling words, and the queries that lead from passages to what it leaves open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.text.analysis import Tokenizer
from sextant.text.characters import normalise
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

_QUOTED = re.compile(
    r"《([^《》]{1,60})》|“([^“”]{1,60})”|「([^「」]{1,60})」|\"([^\"]{1,60})\"|‘([^‘’]{2,60})’"
)
# Capitalised words, joined by small ones as titles and names are ("Bank of England"), or with digits.
_WORD = r"(?:[A-Z][\w'’.&-]*|\w*\d[\w.-]*)"
_PROPER = re.compile(
    rf"\b{_WORD}(?:(?:\s+(?:of|the|and|de|van|von|la|le|du|for|in|on|to|di|da|al)){{0,2}}\s+{_WORD})*"
)
_TOKENIZER = Tokenizer(words_of, joiners="-.'’&")
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
    pieces = (
        _join_characters(run) if run else _keep_telling(word)
        for run, word in _TOKENIZER.runs(question)
    )
    spellings: dict[str, str] = {}
    for word in chain.from_iterable(pieces):
        spellings.setdefault(normalise(word), word)
    return list(spellings.values())


def _keep_telling(word: str) -> list[str]:
    """Return a word without its ending, unless it says nothing by itself."""
    plain = normalise(word)
    telling = len(word) > 1 or word.isdigit()
    stops = plain in ENGLISH_STOP_WORDS or plain in _NO_NAME
    return [_TRAILING.sub("", word)] if telling and not stops else []


def _join_characters(ideographs: str) -> list[str]:
    """Return the segmenter's words; a single ideograph belongs to the word before or behind it: 二甲 + 双 + 胍."""
    joined: list[str] = []
    open_end = False
    for word in _TOKENIZER.cut(ideographs):
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


# Flat on five question sets between two and four names.
_LEADS = 2
_NAMES_OF_LEAD = 4


def bridges(
    question: str, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
) -> list[str]:
    """Return queries from the first two passages, for up to four names of each, best first.

    Args:
        question: what is asked.
        passages: found so far, best first.
        around: entities (among others) that go with them, most important first.
    """
    question_text = normalise(question)
    names = [normalised for normalised in _names(around) if normalised[1] not in question_text]
    words = telling_words(question)
    queries: list[str] = []
    for lead in passages[:_LEADS]:
        text = wording_of(lead)
        open_words = [word for word in words if text.covers(claim_of(word)) < 1]
        met = [name for name, folded in names if text.says(folded)]
        queries += [" ".join([name, *open_words]) for name in met[:_NAMES_OF_LEAD]]
    return queries


def wording_of(item: RetrievedItem) -> TermLookup:
    """Return what a passage says, with the headings above it."""
    return TermLookup(f"{headings(item)}\n{item.metadata.get('title', '')}\n{item.text}")


def _names(around: Sequence[RetrievedItem]) -> list[tuple[str, str]]:
    """Return names of entities with their folded form."""
    found = (str(item.metadata["name"]) for item in around if item.kind is ItemKind.ENTITY)
    return [(name, normalise(name)) for name in dict.fromkeys(found)]
