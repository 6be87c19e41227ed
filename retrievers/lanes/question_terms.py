"""What lanes search by besides the question itself: its keywords, and the two events that it sets beside each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, groupby, zip_longest

from sextant.text.analysis import Tokenizer, terms
from sextant.text.characters import has_cjk, lowercase, normalise
from sextant.text.segmenter import words_of
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, is_stop_word

_TOKENIZER = Tokenizer(words_of, joiners="-.'’&_")
_POSSESSIVE = re.compile(r"['’]s$")
_SHORTEST, _LONGEST = 2, 4


def extract_keywords(query: str, limit: int = 10) -> list[str]:
    """Return at most `limit` distinct keywords of `query`, most telling first.

    Chinese gives grams of 2 to 4 characters, other scripts give words; stop words of both languages
    are left out, everything is NFKC-normalised and casefolded. A word that this writes in other letters
    (straße, ＧＰＵ) is looked for as it stands as well, for ILIKE compares letters. When a question
    mixes scripts, the lists take turns.

    Which ten are taken decides what the lane can find: words of the segmenter first, then joined neighbours,
    then bigrams, then longer grams (docs/experiments/lanes.md).

    Args:
        query: the question, any script.
        limit: most keywords returned.
    """
    text = unicodedata.normalize("NFKC", query)
    words = map(normalise, _words(text))
    lists = zip_longest(words, _as_written(query), _chinese_grams(text))
    taking_turns = chain.from_iterable(lists)
    found: dict[str, None] = {}
    for keyword in taking_turns:
        if len(found) == limit:  # what comes after it is not looked for
            break
        if keyword:
            found[keyword] = None
    return list(found)


def _words(text: str) -> list[str]:
    """Return words of scripts other than Chinese: names and numbers first, then the longer ones."""
    found = [_POSSESSIVE.sub("", word) for word in _TOKENIZER.words(text)]
    telling = [
        word for word in found if len(word) > 1 and normalise(word) not in ENGLISH_STOP_WORDS
    ]
    telling.sort(key=lambda word: (not (word[0].isupper() or word[0].isdigit()), -len(word)))
    return telling


def _as_written(query: str) -> list[str]:
    """Return words that are not their normalised form, letter case aside."""
    if lowercase(query) == normalise(query):
        return []
    return [lowercase(word) for word in _words(query) if lowercase(word) != normalise(word)]


def _chinese_grams(text: str) -> Iterator[str]:
    """Yield grams of 2 to 4 Chinese characters, those with a meaning of their own before the others."""
    phrases = [phrase for run, _ in _TOKENIZER.runs(text) for phrase in _phrases(words_of(run))]
    for gather in (_cut_to_size, _join_neighbours):
        yield from sorted(chain.from_iterable(map(gather, phrases)), key=len, reverse=True)
    for size in (2, 3, 4):
        for phrase in phrases:
            yield from _telling_grams("".join(phrase), size)


def _phrases(words: list[str]) -> Iterator[list[str]]:
    """Yield the words between stop words: no gram reaches across one."""
    for is_stop, phrase in groupby(words, key=is_stop_word):
        if not is_stop:
            yield list(phrase)


def _cut_to_size(words: list[str]) -> Iterator[str]:
    for word in words:
        if len(word) >= _SHORTEST:
            yield from _grams(word, min(len(word), _LONGEST))


def _join_neighbours(words: list[str]) -> Iterator[str]:
    """Yield two to four adjacent words that fit one gram together: 付款 + 节点."""
    for first in range(len(words)):
        for count in range(2, _LONGEST + 1):
            joined = words[first : first + count]
            gram = "".join(joined)
            if len(joined) == count and len(gram) <= _LONGEST:
                yield gram


def _telling_grams(phrase: str, size: int) -> list[str]:
    """Return grams that neither are a stop word nor hold a one-character one."""
    return [
        gram
        for gram in _grams(phrase, size)
        if not is_stop_word(gram) and CHINESE_STOP_WORDS.isdisjoint(gram)
    ]


def _grams(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(len(text) - size + 1)]


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
