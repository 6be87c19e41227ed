"""Read questions and sentences as terms and content words, and misspelt words as the texts spell them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sextant.text.characters import IDEOGRAPHS, MARKS, normalise, plain_of
from sextant.text.segmenter import cut_known_words
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, is_stop_word
from sextant.text.word_forms import name_synonyms, stem

_LETTER = rf"(?:(?![{IDEOGRAPHS}])[^\W_])"
_LETTERS = rf"{_LETTER}+(?:[{MARKS}]+{_LETTER}*)*"
WORD = re.compile(rf"[{IDEOGRAPHS}]+|{_LETTERS}(?:[-.'’&]{_LETTERS})*")
_CHINESE = re.compile(f"[{IDEOGRAPHS}]")
_RUN = re.compile(f"[{IDEOGRAPHS}]+")
# Where a link leads, as parsing writes it behind the link's text.
_TARGET = re.compile(r" ?\((?:https?://|mailto:)[^\s()]*\)")
# "Which year?", "what is he called?": the answer need not repeat these.
_ASKED_FOR_WORDS = """
年 月 日 人 位 叫 地址 位置 规定 規定 意思 含义 原因 理由 方法 办法 价格 时间 地点 名字 数量 钱 收费 收費
一共 总共 總共 大约 大約 大概 目前 现在 現在 通常 一般 什么样 些地方 何年
应该 應該 应当 應當 自己 怎样 怎樣 如何
步骤 步驟 流程 手续 手續
mean meaning step procedur address location price cost money name reason time per long old far tall often
"""
# Verbs that an answer need not repeat.
_LIGHT_VERBS = """
发生 出现 遇到 碰到 办 怎么办 怎办 算 怎么算 做 放 弄 去 来 没 没来 不能 不可 不会 不用 不必 拿 找 需要 想 知道 允许 允許 准许
allow appear bring come do encounter find get give go happen happens happened keep kept last make need permit put take want work
"""
_ASKED_FOR = frozenset((_ASKED_FOR_WORDS + _LIGHT_VERBS).split())
# 那餐补呢 asks for 餐补; the segmenter takes 那餐 for a word.
_PARTICLES = re.compile(r"^(?:那么?|然后|还有|以及|而)[，,]?|呢[？?]*$")
_QUESTION = re.compile(r"[?？]\W*$|\A\W*(?:Q|Question|问题?)\d{0,3}[:：]")


def terms(text: str) -> list[str]:
    """Return what `text` speaks of: stems of words, and single and paired Chinese characters."""
    found: list[str] = []
    for token in WORD.findall(normalise(text)):
        if _CHINESE.match(token):
            pairs = (token[at : at + 2] for at in range(len(token) - 1))
            telling = (pair for pair in pairs if CHINESE_STOP_WORDS.isdisjoint((pair, *pair)))
            found += [*(char for char in token if char not in CHINESE_STOP_WORDS), *telling]
        elif token not in ENGLISH_STOP_WORDS:
            found.append(stem(token.removesuffix("'s").removesuffix("’s")))
    return found


def strip_targets(text: str) -> str:
    """Return `text` without where its links lead, which says nothing of what it is about."""
    return _TARGET.sub("", text)


def terms_of_question(text: str) -> frozenset[str]:
    """Return what a question speaks of: its `terms` without those of words that ask or say little (多少, 需要)."""
    plain = normalise(text)
    for word in {word for run in _RUN.findall(plain) for word in cut_known_words(run)}:
        if len(word) > 1 and is_stop_word(word):
            plain = plain.replace(word, "么")
    return frozenset(terms(plain))


class Paraphrases:
    """Reads texts in the words of one question: a "managing director" is the CEO that it asks for.

    Args:
        question: whose words have synonyms, other forms or other spellings.

    Attributes:
        terms: what the question speaks of.
    """

    def __init__(self, question: str) -> None:
        self._synonyms = name_synonyms(question)
        self.terms = terms_of_question(plain_of(question))

    def speaks_of(self, text: str) -> bool:
        """Return whether `text` has something that the question speaks of."""
        return not self.terms.isdisjoint(self.read_terms(text))

    def read(self, text: str) -> str:
        """Return `text` normalised, behind it the question's words that it has in other words."""
        plain = plain_of(strip_targets(text))
        words = [word for word, pattern in self._synonyms if pattern.search(plain)]
        return " ".join([plain, *words])

    def read_terms(self, text: str) -> frozenset[str]:
        """Return what `text` speaks of, in the words of the question too."""
        return frozenset(terms(self.read(text)))


def content_words(question: str) -> list[str]:
    """Return what a question is about: the segmenter's words and the stems, without what it asks for."""
    words: list[str] = []
    for token in WORD.findall(normalise(question)):
        if _CHINESE.match(token):
            cut = cut_known_words(token)
            words += [word for word in cut if word not in CHINESE_STOP_WORDS | _ASKED_FOR]
        else:
            words += [word for word in terms(token) if word not in _ASKED_FOR]
    return list(dict.fromkeys(words))


def split_borrowed(question: str) -> tuple[str, str]:
    """Return what a follow-up says itself, and what it borrowed from the conversation; "" for any other question.

    "What about sick leave? (days, employees)": what was asked before stands in brackets at the end
    (`sextant.nodes.question.conversation`).
    """
    stated, borrowed, rest = question.rpartition(" (")
    if not (borrowed and rest.endswith(")")):
        return question, ""
    return _PARTICLES.sub("", stated), rest[:-1]


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does, or is marked as one ("Q: …")."""
    return _QUESTION.search(sentence) is not None


_LONG_WORD = re.compile(r"(?<![\w-])[A-Za-z]{5,}(?![\w-])")


def respell(question: str, texts: Iterable[str]) -> str:
    """Return `question` with each word that no text holds as the one they hold it may stand for.

    That one has one letter more or less, or two swapped: three of the four commonest misspellings (Damerau 1964,
    doi:10.1145/363958.363994). The fourth, one letter for another, more often makes another word (founder, founded;
    changed, charged), as do most edits of short words; first letters are hardly ever wrong. Of 474 public questions
    four were read anew so, each rightly.

    Args:
        question: as it was typed.
        texts: what was found for it.
    """
    words = [
        word for word in _LONG_WORD.findall(question) if word.lower() not in ENGLISH_STOP_WORDS
    ]
    known = {word for text in texts for word in _LONG_WORD.findall(normalise(text)) if words}
    stems = set(map(stem, known))
    for word in words:
        typed = word.lower()
        meant = (one for one in sorted(known) if stem(typed) not in stems and _is_slip(typed, one))
        question = question.replace(word, next(meant, word))
    return question


def _is_slip(typed: str, word: str) -> bool:
    """Return whether one letter too many, too few or two swapped make the difference, behind the first one."""
    if typed[0] != word[0] or abs(len(typed) - len(word)) > 1:
        return False
    return typed in _slip(word) or word in _slip(typed)


def _slip(word: str) -> set[str]:
    """Return a word with one letter less, or two neighbours swapped, behind the first one."""
    halves = [(word[:at], word[at:]) for at in range(1, len(word))]
    swapped = {f"{before}{after[1::-1]}{after[2:]}" for before, after in halves}
    return swapped | {f"{before}{after[1:]}" for before, after in halves}
