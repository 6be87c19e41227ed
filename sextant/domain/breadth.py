"""Decide by its words whether a question is broad, that is, about a knowledge base as a whole.

No passage answers a broad question ("What are the main themes?", 总结一下这些文档的主要内容), but community reports
do (global sensemaking: Edge et al. 2024, arXiv 2404.16130). A question is broad when it asks for themes, an overview,
a summary or a comparison throughout, and names either the documents as a whole or nothing else. All other questions
are particular; when in doubt a question is particular, since passages answer those better.

`breadth.txt` gives the kind of each word, written as one letter (`_LETTERS`), and the rules are regular expressions
over these letters. The lists were chosen by hand; docs/experiments/loop.md has the results on public sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.text.characters import has_cjk, plain_of
from sextant.text.word_forms import Lexicon

_LEXICON = Lexicon(__package__, "breadth.txt")
# One letter for each kind of `breadth.txt`; x is any other word, or Chinese character.
_LETTERS = {
    "kind": "k", "part": "p", "theme": "t", "summary": "u", "comparison": "c", "whole": "e", "all": "a", "this": "z",
    "document": "d", "store": "s", "talk": "l", "throughout": "h", "about": "b", "say": "y", "asks": "q",
    "is": "v", "in": "i", "of": "o", "and": "n", "filler": "f",
}  # fmt: skip
_OTHER = "x"
_WORD = re.compile(r"[^\W_]+")
_IDEOGRAPH = re.compile(r"[^\W_]")

# "The documents", "all of my files", 这些文档; or "this" and any name before a verb of saying: 这份合同写的是什么.
_WHOLE = re.compile(r"[az][azof]*k?[ds]+(?:fp)?|s(?:fp)?|e|zx{1,4}(?=[kfv]*y[fv]*q)")
_THEMES = r"k(?:xn|n?k)?[fy]*p|k[fyv]*q|t"
_SAYS_WHAT = (
    r"y[fv]*q|bq|qv(?:[az][azof]*[ds]+|s|e)[fa]*b|qv[az][fa]*b|qva?i[aof]*[ds]|iv*q$|v*q[fp]*p"
)
_ASK = re.compile(rf"{_THEMES}|u|c|{_SAYS_WHAT}")
_THROUGHOUT = re.compile(r"(?:h[aof]*|[az]|cc)[ds]")
# Requests for an account of a subject rather than a fact: "summarize", "what do the documents say about".
_ENGLISH_ACCOUNT = re.compile(rf"u|{_THEMES}|qv(?:a[aof]*[dsl]+|s|e)[^q]*?[yb]|qv[fa]*y[faio]*[bo]")
_CHINESE_ACCOUNT = re.compile("u|[ds]i?v?[yb].{0,20}?[ypq]")
# Letters of words about documents, which do not name the subject of a question.
_OF_THE_WHOLE = frozenset("kptudsby")
_NAMES_SOMETHING = frozenset("xplt")
_ALL_THERE_IS = re.compile(
    r"\b(?:documents|docs|files)$|^everything|^(?!以上|上述|那).*(?:文档|文件|资料|材料)"
)

_HOW = re.compile(
    r"怎样|怎么(?!收费|算|走|写|称呼)|如何"
    r"|\bhow\b(?! (?:many|much|long|old|far|tall|high|often|large|big|fast|soon|heavy|wide|deep|hot|late)\b)"
)
_SEVERAL = re.compile(
    r"[哪那]些(?!人|[个位])"
    r"|\b(?:what|which) (?:\w+ ){0,2}?\w{2,}(?<!s)s (?:are|were|do|does|did|has|have|can|must|should|will)\b"
)
# Question words and particles, and in English a verb before its subject.
_POINTED = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b|\?\s*$"
    r"|^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must)\b"
    r"|什么|谁|哪|几|多少|多[久长大高远重快深宽]|何|吗|为啥|是否|是不是|有没有|怎|呢$"
)


@dataclass(frozen=True, slots=True)
class _Words:
    """A question's words, and one letter for each."""

    text: str
    spans: Sequence[tuple[int, int]]
    letters: str

    @property
    def is_broad(self) -> bool:
        """Return whether the question asks about the documents as a whole."""
        if not _ASK.search(self.letters):
            return False
        if "c" in self.letters:  # a comparison is particular unless it goes through all documents
            return _THROUGHOUT.search(self.letters) is not None
        most = (1 + has_cjk(self.text)) if _WHOLE.search(self.letters) else 0
        return len(self.named()) <= most

    def named(self) -> list[tuple[int, int]]:
        """Return the spans that name a subject other than the documents."""
        rest = _ASK.sub(_blank, _WHOLE.sub(_blank, self.letters))
        return [
            span
            for span, letter in zip(self.spans, rest, strict=True)
            if letter in _NAMES_SOMETHING
        ]


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _read(question: str) -> _Words:
    text = plain_of(question)
    spans, letters, at = list[tuple[int, int]](), "", 0
    for (start, end), meanings in _LEXICON.find(text):
        others = list(_cut(text, at, start))
        spans += [*others, (start, end)]
        letters += _OTHER * len(others) + _LETTERS[meanings[0][0]]
        at = end
    others = list(_cut(text, at, len(text)))
    return _Words(text, [*spans, *others], letters + _OTHER * len(others))


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    form = _IDEOGRAPH if has_cjk(text[start:end]) else _WORD
    return (one.span() for one in form.finditer(text, start, end))


def is_broad(question: str) -> bool:
    """Return whether `question` asks about the documents as a whole."""
    return _read(question).is_broad


def asks_account(question: str) -> bool:
    """Return whether `question` is broad or asks for an account of one subject: "What do the documents say about leave?".

    Many passages answer such a question together, and reports sum them up. Of 5,900 questions of the public sets,
    which ask for facts, the rule takes eleven for such a question.
    """
    words = _read(question)
    account = _CHINESE_ACCOUNT if has_cjk(question) else _ENGLISH_ACCOUNT
    return words.is_broad or account.search(words.letters) is not None


def may_ask_account(question: str) -> bool:
    """Return whether several passages together may answer `question`, rather than one fact.

    This is so if it asks for an account, how something is done or for several things (哪些, "what rules apply"), or if
    it is a request ("Tell me about the depot", 介绍一下…), whose words do not say what kind of answer it needs.
    """
    if asks_account(question):
        return True
    plain = plain_of(question)
    return bool(_HOW.search(plain) or _SEVERAL.search(plain)) or is_request(question)


def is_request(question: str) -> bool:
    """Return whether `question` is no question by its form: a request, or only names."""
    return _POINTED.search(plain_of(question)) is None


def find_other_subjects(question: str) -> str:
    """Return the words of a question that name its subject, such as "leave" in "a summary on leave in all documents".

    A broad question mostly names no other subject. In other questions only the words about documents are blanked.
    """
    words = _read(question)
    if words.is_broad:
        gap = "" if has_cjk(question) else " "
        return gap.join(words.text[slice(*span)] for span in words.named())
    text = list(question if len(question) == len(words.text) else words.text)
    for (start, end), letter in zip(words.spans, words.letters, strict=True):
        if letter in _OF_THE_WHOLE:
            text[start:end] = " " * (end - start)
    return "".join(text)


def is_of_all(question: str) -> bool:
    """Return whether `question` is broad and names all documents: "these documents", 整个知识库.

    Its meaning does not depend on the conversation, unlike "What is it about?", "this report" and 上述内容.
    """
    words = _read(question)
    whole = _WHOLE.search(words.letters)
    if whole is None or not words.is_broad:
        return False
    spans = words.spans[slice(*whole.span())]
    return (
        "s" in whole[0] or _ALL_THERE_IS.search(words.text[spans[0][0] : spans[-1][1]]) is not None
    )
