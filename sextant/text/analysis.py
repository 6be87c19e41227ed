"""Cut texts into the terms of an index, and find keywords, codes and versions in questions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, zip_longest
from operator import add
from typing import NamedTuple

from sextant.text.characters import IDEOGRAPHS, MARKS, language_of, lowercase, normalise, simplify
from sextant.text.segmenter import search_words_of, words_of
from sextant.text.stopwords import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    QUESTION_WORD,
    is_stop_word,
)
from sextant.text.word_forms import american, cut_inflection

# Question words, and characters of questions that hardly stand in names.
_ASKS_CHINESE = re.compile(f"{QUESTION_WORD.pattern}|[的吗嗎呢吧是谁誰几幾]")


def language_of_question(question: str) -> str:
    """Return `zh` or `en`: that of a question's function words, where they are of one language, else of its letters.

    Most letters may be those of names: "React Native 怎么用 Vue？", "What does 借用规则 mean?"
    """
    is_chinese = _ASKS_CHINESE.search(question) is not None
    is_english = not ENGLISH_STOP_WORDS.isdisjoint(normalise(question).split())
    return language_of(question) if is_chinese == is_english else "zh" if is_chinese else "en"


# "a" and "I" are words as well: they single out only where nothing follows that they could belong to.
_DESIGNATED = re.compile(
    r"\b(?P<kind>[A-Za-z]{3,}) "
    r"(?P<mark>[b-hj-zB-HJ-Z]|A|\d{1,3}|[aI](?=\s*(?:[?.!,)]|$|(?:is|are|was|has|does|used|for|in)\b)))"
    r"(?![\w'’.%-]\w|\w)"
)


def designators_in(question: str) -> list[str]:
    """Return the things that `question` names by a kind and a letter or number: `grade c`, `unit 7`."""
    return [
        match[0]
        for match in _DESIGNATED.finditer(question)
        if match["kind"].lower() not in ENGLISH_STOP_WORDS
    ]


def marks_in(question: str) -> frozenset[str]:
    """Return only the letters and numbers of `designators_in`: `c`, `7`."""
    return frozenset(one.rpartition(" ")[2] for one in designators_in(question))


# Letters first: "1980s" and "20th" name nothing.
_CODE = re.compile(r"(?<![^\W_])[A-Za-z]+(?:[-._]?[A-Za-z0-9]+)*(?![^\W_])", re.ASCII)
# A name with the number of its model, no date and no quantity. Units follow the number in Chinese.
_LATIN_MODEL = re.compile(r"\b([A-Z][A-Za-z]+) (\d{1,2})\b(?![.,:/%-]?\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CHINESE_UNITS = (
    "年月日号號时時点點分秒天周个個人名位次元块塊万萬亿億千百"
    "米公克斤吨升度种種条條台件层層楼樓岁歲世代届屆章节節款页頁后後以之到至"
)
"""What may follow a number that counts or measures, and names nothing."""

_CHINESE_MODEL = re.compile(
    rf"([\u4e00-\u9fff]{{2}})(\d{{1,2}})(?![A-Za-z\d.,:/%％{CHINESE_UNITS}~～-])"
)
# The number of a version: of three parts anywhere (2025.3.14 is a date), of two behind a word for it.
_VERSION = re.compile(
    r"(?<![\w.])(\d{1,3}\.\d{1,3}\.\d{1,3})(?![\w.]*\d)"
    r"|(?:\b(?:version|release|firmware|revision)|版本号?)\s?(\d+\.\d+)(?![\w.]*\d)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[^\W\d_]+|\d+")


def names_code(question: str) -> bool:
    """Return whether a question names a code or the number of a version."""
    return bool(codes_and_versions_in(question))


def codes_and_versions_in(text: str) -> list[str]:
    """Return the codes in `text`, and the numbers of versions: E47, 2.5.0."""
    return [*codes_in(text), *(one or two for one, two in _VERSION.findall(text))]


def find_unmentioned(question: str, texts: Iterable[str]) -> list[str]:
    """Return the codes, versions and models in `question` that no text has.

    A code (letters, then digits among them) and the number of a version are missed where they do not
    stand. A name with a number is missed where the name stands with other numbers only.

    Args:
        question: as it was asked.
        texts: what was found for it.
    """
    codes = codes_in(question)
    named = (*_LATIN_MODEL.findall(question), *_CHINESE_MODEL.findall(question))
    models = [(name, number) for name, number in named if not name.lower().startswith(_MONTHS)]
    versions = codes_and_versions_in(question)[len(codes) :]
    if not (codes or models or versions):
        return []
    text = normalise("\n".join(texts))
    missed = [code for code in codes if not _wherever(code).search(text)]
    missed += [
        version
        for version in versions
        if not re.search(rf"(?<![\d.]){re.escape(version)}(?!\d)", text)
    ]
    missed += [
        f"{name} {number}" if name.isascii() else name + number
        for name, number in models
        if _wherever(name, r"[\W_]?\d").search(text)
        and not _wherever(f"{name} {number}").search(text)
    ]
    return list(dict.fromkeys(missed))


def codes_in(question: str) -> list[str]:
    """Return the codes in `question`: letters, then digits among them."""
    return [code for code in _CODE.findall(question) if any(map(str.isdigit, code))]


def _wherever(name: str, follows: str = r"(?![a-z\d])") -> re.Pattern[str]:
    return re.compile(spelling_of(name, follows))


def spelling_of(name: str, follows: str = r"(?![a-z\d])") -> str:
    """Return a pattern of `name` as a normalised text may write it: BM-40, bm 40, BM40; v2.8 as 2.8, too."""
    parts = [re.escape(part) for part in _PARTS.findall(normalise(name))]
    if parts[0] == "v":
        parts[:2] = [f"v?{parts[1]}"]
    before = r"(?<![a-z\d])" if name.isascii() else ""
    return before + r"[\W_]?".join(parts) + follows


_LETTERS = rf"(?:[^\W_{IDEOGRAPHS}][{MARKS}]*)+"
_NOT_PLAIN = re.compile(f"[{IDEOGRAPHS}{MARKS}]")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_PAIR = re.compile(f"[{IDEOGRAPHS}]{{2}}")
# Filtered words that an analyzer remembers, and how long each is at most: some 10 MB.
_REMEMBERED, _LONGEST = 65_536, 64

TokenFilter = Callable[[str], str]
"""Returns the token as it is compared, or nothing to drop it. Only words are filtered: ideographs have no inflection."""


class TermToken(NamedTuple):
    """A term, and where it stands in the text it was cut from."""

    term: str
    start: int
    end: int


class Tokenizer:
    """Cuts a text into words, and its runs of ideographs into what `cut` makes of them.

    Args:
        cut: what a run of ideographs is made of.
        joiners: signs that belong to a word where they stand inside it, such as the hyphen of "e-mail".
    """

    def __init__(self, cut: Callable[[str], Iterable[str]], joiners: str = "") -> None:
        self.cut = cut
        words = rf"{_LETTERS}(?:[{re.escape(joiners)}]{_LETTERS})*" if joiners else _LETTERS
        self._run = re.compile(rf"([{IDEOGRAPHS}]+)|({words})")
        self._plain = re.compile(words) if joiners else _PLAIN_WORD

    def runs(self, text: str) -> list[tuple[str, str]]:
        """Return the runs of ideographs and the words of a text in order, each as (ideographs, "") or ("", word)."""
        return self._run.findall(text)

    def words(self, text: str) -> list[str]:
        """Return the words of other scripts than Chinese."""
        if is_plain(text):  # the same, in half the time
            return self._plain.findall(text)
        return [word for _, word in self.runs(text) if word]

    def spans(self, text: str) -> Iterator[tuple[str, str, int, int]]:
        """Yield `runs`, each with where it begins and ends."""
        for match in self._run.finditer(text):
            yield match[1] or "", match[2] or "", *match.span()


class Analyzer:
    """Cuts texts into terms.

    Args:
        tokenizer: cuts.
        filters: what becomes of each word, one filter after the other.
    """

    def __init__(self, tokenizer: Tokenizer, filters: Sequence[TokenFilter] = ()) -> None:
        self._tokenizer = tokenizer
        self._filters = tuple(filters)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._filter_word)

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text, in order."""
        if is_plain(text):
            words = self._tokenizer.words(text)
            return list(filter(None, map(self._filter_for(words), words)))
        runs, found = self._tokenizer.runs(text), list[str]()
        term_of = self._filter_for([word for _, word in runs])
        for ideographs, word in runs:
            if ideographs:
                found += self._tokenizer.cut(ideographs)
            elif term := term_of(word):
                found.append(term)
        return found

    def tokens(self, text: str) -> list[TermToken]:
        """Return the terms of a text with their places; the tokenizer must cut ideographs without leaving any out."""
        runs, found = list(self._tokenizer.spans(text)), list[TermToken]()
        term_of = self._filter_for([word for _, word, _, _ in runs])
        for ideographs, word, start, end in runs:
            if word and (term := term_of(word)):
                found.append(TermToken(term, start, end))
            at = start
            for piece in self._tokenizer.cut(ideographs) if ideographs else ():
                found.append(TermToken(piece, at, at + len(piece)))
                at += len(piece)
        return found

    def _filter_for(self, words: Collection[str]) -> TokenFilter:
        """Return all filters as one function; results of long words are not kept."""
        is_short = max(map(len, words), default=0) <= _LONGEST
        return self._remembered if is_short else self._filter_word

    def _filter_word(self, word: str) -> str:
        for token_filter in self._filters:
            word = token_filter(word)
        return word


def is_plain(text: str) -> bool:
    """Return whether a text has neither ideographs nor marks, so that its words are runs of letters and digits."""
    return text.isascii() or not _NOT_PLAIN.search(text)


def pairs(ideographs: str) -> Iterable[str]:
    """Return pairs of adjacent ideographs, simplified; one alone is a term.

    They need no word segmentation, whose errors differ between question and passage; on cmrc2018
    and drcd they find the paragraph of 99 % of the questions among the first five.
    """
    plain = simplify(ideographs)
    return map(add, plain, plain[1:]) if len(plain) > 1 else [plain]


def characters(ideographs: str) -> Iterable[str]:
    """Return each ideograph, those of the compatibility blocks as the ones that they stand for."""
    return unicodedata.normalize("NFKC", ideographs)


def fold(word: str) -> str:
    """Return the word without case, width and accents: equal for "Ｂｅｙｏｎｃé" and "beyonce". Idempotent."""
    if word.isascii():
        return word.lower()
    folded = word
    for _ in range(2):  # casefold can bring back what decomposition removed ("İ"), and the reverse
        decomposed = unicodedata.normalize("NFKD", folded).casefold()
        kept = "".join(char for char in decomposed if not unicodedata.combining(char))
        folded = unicodedata.normalize("NFC", kept)
    return folded


def drop_stop_word(word: str) -> str:
    """Return the folded word, or nothing for an English stop word."""
    return "" if word in ENGLISH_STOP_WORDS else word


_STEMMING = (fold, drop_stop_word, american, cut_inflection)
SEARCH = Analyzer(Tokenizer(pairs), _STEMMING)
"""Cuts passages, questions and reports into the terms by which they find each other."""

SEGMENTED = Analyzer(Tokenizer(search_words_of), _STEMMING)
"""As `SEARCH`, with jieba's words of Chinese in place of pairs."""
NAMES = Analyzer(Tokenizer(characters), (fold,))
"""Cuts names, and texts that are searched for names: single ideographs and whole words, none dropped."""


# The number of a version, 1.4.2 of v1.4.2: each of its parts stands in most other versions, too.
_DOTTED = re.compile(r"(?<![A-Za-z\d.])[vV]?(\d{1,3}(?:\.\d{1,3}){2,})(?!\.?[A-Za-z]*\d)")
_INNER_PART = re.compile(r"\.\d{1,3}\.")  # found in a thirtieth of the time


def terms(text: str) -> list[str]:
    """Return the terms of a text: by `SEARCH` pairs of ideographs and stemmed other words, then versions as a whole."""
    found = SEARCH.terms(text)
    return found + _DOTTED.findall(text) if _INNER_PART.search(text) else found


@lru_cache(maxsize=16)
def question_terms(question: str) -> tuple[str, ...]:
    """Return the terms of a question; kept, for several lanes ask for them."""
    return tuple(terms(question))


def is_pair(term: str) -> bool:
    """Return whether a term is a pair of ideographs, and so one wherever these two stand side by side, simplified."""
    return _PAIR.fullmatch(term) is not None


_KEYWORDS = Tokenizer(words_of, joiners="-.'’&_")
_SHORTEST_GRAM, _LONGEST_GRAM = 2, 4


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
    found = [word.removesuffix("'s").removesuffix("’s") for word in _KEYWORDS.words(text)]
    telling = [
        word for word in found if len(word) > 1 and normalise(word) not in ENGLISH_STOP_WORDS
    ]
    telling.sort(key=lambda word: (not (word[0].isupper() or word[0].isdigit()), -len(word)))
    return telling


def _as_written(query: str) -> list[str]:
    """Return words whose normalised form has other letters: straße, ＧＰＵ."""
    if lowercase(query) == normalise(query):
        return []
    return [lowercase(word) for word in _words(query) if lowercase(word) != normalise(word)]


def _chinese_grams(text: str) -> Iterator[str]:
    """Yield grams of 2 to 4 Chinese characters, those with a meaning of their own before the others."""
    phrases = [phrase for run, _ in _KEYWORDS.runs(text) for phrase in _phrases(words_of(run))]
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
        if len(word) >= _SHORTEST_GRAM:
            yield from _grams(word, min(len(word), _LONGEST_GRAM))


def _join_neighbours(words: list[str]) -> Iterator[str]:
    """Yield two to four adjacent words that fit one gram together: 付款 + 节点."""
    for first in range(len(words)):
        for count in range(2, _LONGEST_GRAM + 1):
            joined = words[first : first + count]
            gram = "".join(joined)
            if len(joined) == count and len(gram) <= _LONGEST_GRAM:
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
