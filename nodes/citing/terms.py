"""The terms of a text, without its numbers: stems, codes, names and Chinese words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from sextant.text.analysis import spelling_of
from sextant.text.characters import IDEOGRAPHS, plain_of
from sextant.text.segmenter import cut_tagged_words, words_of
from sextant.text.stopwords import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    without_question_words,
)
from sextant.text.units import WEEKDAY, TextValue
from sextant.text.values import NAME, normalise_values
from sextant.text.word_forms import american, name_synonyms, same_sides, stem

# KITE-L, SRV-GOLD: names without a digit.
_CAPITAL_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2,}(?:-[A-Z0-9]+)+(?![A-Za-z0-9])")
# D区, B座: a letter tells places of one kind apart.
_LETTERED = re.compile(rf"(?<![a-z0-9])[a-z](?![的是为和与或在有])[{IDEOGRAPHS}]")
_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+(?:['’][a-z]+)?")
_HAN_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_ACCENTS = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüçñőű", "aaaaaaeeeeiiiiooooouuuucnou")
# Words about the answer or its sources, and words that say little.
_FILLER_EN_WORDS = """
answer according passage document text source state mention provide describe follow include prof dr mr mrs ms list note
information question based context overall respectively specifically currently able also need must required
allow allowed permitted forbidden prohibited banned per least most go went gone take taken come came down still already however since until till
"""
_FILLER_EN = frozenset(_FILLER_EN_WORDS.split())
_FILLER_ZH_WORDS = """
根据 依据 按照 文档 文件 资料 段落 内容 原文 提到 规定 说明 指出 如下 以下 包括 包含 分别 具体 总共
一共 共有 即为 也就是 即 答案 问题 需要 必须 应当 可以 能够 通常 目前 情况 进行 属于 主要 分为
每个 所有 各个 不 没 无 未 去 来 做 用 上 下 中 内 外 不可以 不可 不能 不行 不会 不得 不是 没有
不要 允许 准许 准 禁止 严禁 时 者 约 达 含 共 每 各 均 再 已 由 至 起 后 前 最 多 少 大 小 高 低 长 其 某 该 所
较 比 已经 为了 之后 之前 以后 以前 期间 其中 得 按 型 一次 次 一下 须 需 应 宜 配有 设有 日 自 曾
"""
_FILLER_ZH = frozenset(_FILLER_ZH_WORDS.split())
# The segmenter joins pronouns with the next word.
_POINTING = tuple("它他她其该這这那此每各")
# No cut behind 的, which ends a condition: 工作满十年的，年假 10 天.
CLAUSE = re.compile(
    r"(?<!的)，|[;；]|：(?![^（）]*）)|(?=（(?:其中|包[括含]|含|[^（）]{1,20}：))|\s(?=\((?:(?:including|incl\.|of which)(?![a-z])|[^()]{1,20}:))|,(?!\d)|:(?!\d|[^()]*\))|\s(?=(?:and|but|while|whereas|or(?! (?:above|below|over|under|so|up|later|earlier|(?:m|new|old|high|low|few|long|short|great)\w+))) )|(?<=[\u4e00-\u9fff])(?:而|且|但)(?=[\u4e00-\u9fff])"
)
_CAPITALISED = re.compile(r"(?<=\s)[A-ZÀ-Ž][A-Za-zÀ-ž-]+")
_OPENS_A_SENTENCE = re.compile(r"(?:\A|[.!?:：]\s)\W*\Z")
_OF_NAMES = ("nr", "ns", "nt", "nz")
_WORD_OR_NUMBER = re.compile(rf"[^\W_{IDEOGRAPHS}]+|[{IDEOGRAPHS}]+")


def without_accents(plain: str) -> str:
    """Return a text in which é is e, at the same places."""
    return plain.translate(_ACCENTS)


@lru_cache(maxsize=1024)
def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text without its numbers, each once, in order."""
    plain = without_accents(plain_of(text))
    capitals = [code.lower() for code in _CAPITAL_CODE.findall(text)]
    codes = [*capitals, *NAME.findall(plain), *_LETTERED.findall(plain)]
    found = normalise_values(text)
    counted = [(one.start, one.end) for one in found if one.value.unit != WEEKDAY]
    plain = NAME.sub(" ", _without(plain, counted))
    for code in capitals:
        plain = plain.replace(code, " ")
    words = [_stem(word) for word in _WORD.findall(plain) if word not in ENGLISH_STOP_WORDS]
    runs = _HAN_RUN.findall(without_question_words(plain))
    words_cut = (word for run in runs for word in words_of(run))
    cut = [word[1:] if word.startswith(_POINTING) and word[1:] else word for word in words_cut]
    chinese = [word for word in cut if word and _is_content_word(word)]
    words = [word for word in words if len(word) > 1 and word not in _FILLER_EN]
    return tuple(dict.fromkeys([*codes, *words, *chinese]))


def _is_content_word(word: str) -> bool:
    return word not in CHINESE_STOP_WORDS and word not in _FILLER_ZH


def _without(plain: str, spans: Iterable[tuple[int, int]]) -> str:
    signs = list(plain)
    for start, end in spans:
        signs[start:end] = " " * (end - start)
    return "".join(signs)


_OFTEN = {"daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "hourly": "hour"}


def _stem(word: str) -> str:
    word = _OFTEN.get(word, word)
    return stem(american(word.partition("'")[0].partition("’")[0]))


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str]:
    """Return the terms that name a person, a place or an organisation."""
    english = [
        found[0]
        for found in _CAPITALISED.finditer(text)
        if not _OPENS_A_SENTENCE.search(text, 0, found.start())
    ]
    chinese = [
        word
        for run in _HAN_RUN.findall(plain_of(text))
        for word, tag in cut_tagged_words(run)
        if tag.startswith(_OF_NAMES)
    ]
    return frozenset(term for name in (*english, *chinese) for term in terms_of(name))


def wording_of(text: str) -> list[str]:
    """Return the words and numbers of a text in their order, Chinese ones as segmented."""
    runs = _WORD_OR_NUMBER.findall(without_accents(plain_of(text)))
    return [word for run in runs for word in ([run] if run.isascii() else words_of(run))]


def is_code(term: str) -> bool:
    """Return whether a term names one thing: E42, BM-40, KITE-L."""
    return "-" in term or any(map(str.isdigit, term)) or _LETTERED.fullmatch(term) is not None


@lru_cache(maxsize=512)
def _spelt(code: str) -> re.Pattern[str]:
    return re.compile(spelling_of(code))


class Text:
    """A text in which terms are looked up."""

    __slots__ = ("_words", "plain")

    def __init__(self, text: str) -> None:
        self.plain = without_accents(plain_of(text))
        self._words = {_stem(word) for word in _WORD.findall(self.plain)}

    def has(self, term: str) -> float:
        """Return 1 where the text has a term, 0 where not."""
        if is_code(term):
            is_there = _spelt(term).search(self.plain) if term.isascii() else term in self.plain
            return float(bool(is_there))
        if term[0].isascii() or term in self._words:
            return float(term in self._words)
        return float(term in self.plain)


def other_words(text: str) -> list[tuple[frozenset[str], re.Pattern[str]]]:
    """Return sets of terms that have synonyms, in either language, with the pattern of these."""
    plain = plain_of(text)
    return [
        (frozenset(terms), pattern)
        for word, pattern in [*name_synonyms(text), *same_sides(plain)]
        if (terms := terms_of(word))
    ]


def find_separators(separator: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the separators of a text that are not within a value: October 8, 2015."""
    found = list(separator.finditer(text))
    # Offsets of values are those of the normalised text.
    values = normalise_values(text) if found and len(plain_of(text)) == len(text) else ()
    return [
        one
        for one in found
        if not any(value.start < one.start() and one.end() < value.end for value in values)
    ]


def cut(separator: re.Pattern[str], text: str) -> list[str]:
    """Cut a text behind its separators."""
    edges = [0, *(match.end() for match in find_separators(separator, text)), len(text)]
    return [text[one:two] for one, two in pairwise(edges) if text[one:two].strip()]


def numbers_in(text: str) -> list[TextValue]:
    """Return the numbers of a text; days of the week are none."""
    return [one.value for one in normalise_values(text) if one.value.unit != WEEKDAY]
