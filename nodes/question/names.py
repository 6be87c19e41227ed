"""Names and telling words of a question, by how they are written.

Also here: a question by another name of an entity, read as one by the name that the passages
have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.text.analysis import Tokenizer
from sextant.text.characters import IDEOGRAPHS, normalise
from sextant.text.segmenter import words_of
from sextant.text.statements import definition_pattern
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word


def replace_aliases(
    question: str, items: Sequence[RetrievedItem], around: Iterable[RetrievedItem]
) -> str:
    """`question` with each alias that the passages tell only beside the entity's name as that name.

    Words decide what is quoted: who asks where Jim Cameron was born was told that James Cameron is also
    called so, and not where he was born. An alias that passages go by themselves stays, and so does one of
    which it is asked what that is.

    Args:
        question: as it was asked.
        items: the passages that were found.
        around: what of the graph was found beside them; its entities bear aliases.
    """
    if definition_pattern(question) is not None:
        return question
    texts = [item.text for item in items]
    for entity in around:
        name = str(entity.metadata.get("name", ""))
        if entity.kind is not ItemKind.ENTITY or not name or _name_pattern(name).search(question):
            continue
        for alias in _find_aliases(question, entity):
            positions = [
                (_name_pattern(name).search(text), _name_pattern(alias).search(text))
                for text in texts
            ]
            alone = {
                bool(is_own)
                for is_own, other in positions
                if (is_own is None) is not (other is None)
            }
            if alone == {True} and not _name_pattern(alias).search(name):
                question = _name_pattern(alias).sub(name.replace("\\", r"\\"), question)
                break
    return question


def _find_aliases(question: str, entity: RetrievedItem) -> list[str]:
    """Return the aliases of an entity that a question has, the longest first."""
    question_text = question.lower()
    found = [
        alias for alias in entity.metadata.get("aliases", ()) if alias.lower() in question_text
    ]
    return sorted(
        (alias for alias in found if _name_pattern(alias).search(question)), key=len, reverse=True
    )


def _name_pattern(name: str) -> re.Pattern[str]:
    """Return the name as a whole word, in upper or lower case; Chinese has no bounds of words."""
    before = rf"(?<![^\W{IDEOGRAPHS}])" if name[:1].isascii() else ""
    behind = rf"(?![^\W{IDEOGRAPHS}])" if name[-1:].isascii() else ""
    return re.compile(f"{before}{re.escape(name)}{behind}", re.IGNORECASE)


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
