"""Find what looks like an answer and is none: about a sibling or a namesake of what is asked for, or its opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import (
    is_row,
    read_document_texts,
    read_full_text,
    section_of,
)
from sextant.models.offline.wording import Paraphrases, split_borrowed
from sextant.text.analysis import CHINESE_UNITS, codes_in, spelling_of
from sextant.text.characters import find_whole, normalise, plain_of, simplify
from sextant.text.segmenter import cut_known_words
from sextant.text.sentences import is_ended, sentence_spans
from sextant.text.statements import SURNAMES, cut_clauses, find_denied, negates
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import opposites

if TYPE_CHECKING:
    from sextant.models.offline.candidates import Sentence

_DIGITS = re.compile(r"\d")
# "Unit 148", "plan B", "Relay 2.5"; a word that ends like a verb ("costs 300") counts something.
_NUMBERED = re.compile(
    r"\b(?P<kind>[A-Za-z]{2,}(?:[A-Za-rt-z]|ss)) (?P<mark>\d{1,6}(?:\.\d{1,4})*|[A-Z])(?![\w'’.,%-]*[\w%])(?! ?[€$£])"
)
# 2号车间, 第3章; and with digits before any noun, by its first two characters: 305会议室. A unit counts something.
_CHINESE_NUMBERED = re.compile(
    r"(?<![\d.])(?P<before>第?)(?P<mark>\d+(?:\.\d+)*|[一二三四五六七八九十]+) ?"
    r"(?P<kind>[号號][\u4e00-\u9fff]{0,2}|[周章节条款页步级版期届型档线等代类](?![\u4e00-\u9fff]?间)"
    rf"|(?<=\d\d)(?![{CHINESE_UNITS}])[\u4e00-\u9fff]{{2}})"
)
# "Grade 5 and above" is told of grade 6, too.
_BOUND = r"(?! ?(?:to|-|–|~|or|and (?:above|over|up|below|under|higher|lower|older|more|less)|[及或至到]|以[上下前后]|起))"
_TITLE_CHARS = 40
# Who asks what is more than P-20 is answered by another one.
_COMPARES = re.compile(r"\bthan\b|\b(?:compar|differ|successor|replac|instead)|比|区别|替代|取代")


class Siblings:
    """Tells sentences about other things of the kind that a question names by a code or a number: P-30 for P-20.

    Args:
        question: names codes, or numbers of a kind.
        passages: in which the sentences stand.
    """

    def __init__(self, question: str, passages: Sequence[RetrievedItem]) -> None:
        plain = plain_of(question)
        names = [] if _COMPARES.search(plain) else list(_find_names(question))
        self._names = [(re.compile(named), re.compile(others)) for named, others in names]
        self._above = [plain_of(section_of(passage)) for passage in passages] if names else []
        self._texts = [passage.text for passage in passages]

    def stand_alone(self) -> bool:
        """Return whether no passage has something that is named, and some have others of its kind."""
        text = plain_of("\n".join([*self._above, *self._texts])) if self._names else ""
        return any(others.search(text) and not named.search(text) for named, others in self._names)

    def are_named(self, source: int, start: int, text: str) -> bool:
        """Return whether a sentence is about a sibling, as it, the text before it or a title over it says.

        Args:
            source: the index of its passage.
            start: where it begins there.
            text: the sentence.
        """
        if not self._names:
            return False
        lines = self._texts[source][:start].split("\n")[::-1]
        titles = (
            plain_of(line) for line in lines if len(line) < _TITLE_CHARS and not is_ended(line)
        )
        before = [plain_of(lines[0][a:b]) for a, b in sentence_spans(lines[0])][::-1]
        layers = [plain_of(text), *before, *titles, self._above[source]]
        return any(self._is_of_other(named, others, layers) for named, others in self._names)

    def are_stated(self, text: str) -> bool:
        """Return whether a text itself names a sibling, and not what is asked for."""
        plain = plain_of(text)
        return any(self._is_of_other(named, others, [plain]) for named, others in self._names)

    def _is_of_other(
        self, named: re.Pattern[str], others: re.Pattern[str], layers: Sequence[str]
    ) -> bool:
        """Return whether the first of some texts that names a thing of the kind names another than is asked for.

        "Does P-20 fit P-30?" asks for both.
        """
        asked = [pattern for pattern, _ in self._names]
        for plain in layers:
            if named.search(plain):
                return False
            for found in others.finditer(plain):
                if not any(pattern.search(found[0]) for pattern in asked):
                    return True
        return False


def _find_names(question: str) -> Iterator[tuple[str, str]]:
    """Yield patterns of each name in a question, and of the others of its kind."""
    plain = plain_of(question)
    for code in codes_in(question):
        letters = re.escape(_DIGITS.split(plain_of(code))[0].rstrip("-_."))
        yield spelling_of(code), rf"(?<![a-z\d-]){letters}[-_.]?\d[a-z\d-]*"
    for found in _NUMBERED.finditer(question):
        kind, mark = found["kind"].lower(), found["mark"].lower()
        if kind not in ENGLISH_STOP_WORDS:
            other = "[a-z]" if mark.isalpha() else r"\d+(?:\.\d+)*"
            yield (
                rf"(?<![\w.]){re.escape(mark)}(?!\w)",
                rf"\b(?<!above )(?<!below )(?<!from ){kind} {other}(?![\w.]){_BOUND}",
            )
    yield from _find_names_of_series(plain)
    for found in _CHINESE_NUMBERED.finditer(plain):
        number, kind = r"(?:\d+(?:\.\d+)*|[一二三四五六七八九十]+)", re.escape(found["kind"])
        yield (
            rf"(?<![\d.]){re.escape(found['mark'])}(?!\.?\d|[一二三四五六七八九十])",
            rf"{found['before']}{number} ?{kind}{_BOUND}",
        )


def _find_names_of_series(plain: str) -> Iterator[tuple[str, str]]:
    """Yield patterns of what one of a group of opposites tells apart, and of what the other ones do: north gate, 南门."""
    words = set(cut_known_words(plain))
    for sides in opposites("*+"):
        for word in chain.from_iterable(sides):
            is_english = word.isascii()
            others = "|".join(
                other
                for side in sides
                for other in side
                if word not in side and other.isascii() is is_english
            )
            if is_english:
                kinds = set(re.findall(rf"\b{word}s? ([a-z]{{3,}})\b", plain)) - ENGLISH_STOP_WORDS
                yield from ((rf"\b{word}s?\b", rf"\b(?:{others})s? {kind}\b") for kind in kinds)
            else:
                kinds = {one[1:] for one in words if one[0] == word and len(one) in (2, 3)}
                yield from (
                    (f"{word}(?:{kind}|[边侧面部方])", f"(?:{others}){kind}") for kind in kinds
                )


# Somebody by name and whose they are: "Maria Santos of Eastbank", "Eastbank's Maria Santos", 东岸银行的王芳.
_NAME = r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w-]+))+"
_BODY = r"[A-Z][\w&-]*(?: (?:&|[A-Z][\w&-]*))*"
_NAMED_BODY = re.compile(
    rf"\b(?P<name>{_NAME}),? ?(?:\b(?:of|at|from|with)(?: the)? |[,(] ?)(?P<body>{_BODY})"
    rf"|\b(?P<before>{_BODY})['’]s? (?P<named>{_NAME})"
    rf"|(?P<han_body>[\u4e00-\u9fff]{{2,12}}?)的(?P<han>[{''.join(sorted(SURNAMES))}][\u4e00-\u9fff]{{1,2}})"
)


def find_namesakes(question: str, passages: Sequence[RetrievedItem]) -> set[int]:
    """Return the places of passages about a namesake of somebody whom the question names with their body.

    They have the name and not the body, nor has their document, while another passage has both.
    """
    named = list(_NAMED_BODY.finditer(question))
    if not named:
        return set()
    plain = [read_full_text(passage) for passage in passages]
    documents = read_document_texts(passages)
    others = set[int]()
    for found in named:
        body = normalise(found["body"] or found["before"] or found["han_body"])
        name = normalise(found["name"] or found["named"] or found["han"])
        names = [name, name[:2]] if found["han"] else [name]  # 王芳 of 王芳住
        for name in names:
            bearing = [at for at, text in enumerate(plain) if find_whole(text, name)]
            if any(body in plain[at] for at in bearing):
                others |= {at for at in bearing if body not in documents[at]}
                break
    return others


# What is so, and what is not, each answers whether something is so; but not which things are, or who does.
_ASKS_WHICH = re.compile(
    r"\b(?:which|what|who|whom|whose|where|when)\b|[哪谁]|什么|何[时人物]", re.IGNORECASE
)
_ASKS_WHO = re.compile(r"\b(?:which|who|whom)\b|[哪谁]|什么(?:人|样|情况|情形|条件)", re.IGNORECASE)
# The part of the question's terms in the opposite that a denial needs to stand in its place: of the same passage, of
# another one. What says that something is so needs as many.
_NEAR, _ELSEWHERE = 1 / 2, 2 / 3


def find_opposites(question: str, sentences: Sequence[Sentence]) -> set[int]:
    """Return the indices of sentences that say the opposite of what is asked, where another sentence answers it.

    "Dogs are not allowed on deck 2" is one for "Which deck are dogs allowed on?". A sentence is judged by the clause
    that shares most with the question. A question for yes or no ("Is it …?") has no opposite.
    """
    text = simplify(split_borrowed(question)[0])
    is_denied = negates(text)
    asks = _ASKS_WHICH if is_denied else _ASKS_WHO
    if not asks.search(text):
        return set()
    paraphrases = Paraphrases(question)
    wanted = paraphrases.read_terms(find_denied(text) or text) & paraphrases.terms
    said = [_measure_polarity(one.text, paraphrases, wanted, is_denied) for one in sentences]
    near, elsewhere = (_NEAR, _ELSEWHERE) if is_denied else (1.0, 1.0)

    def is_outdone(at: int) -> bool:
        source, shared = sentences[at].source, said[at][0]
        return any(
            is_same and other >= shared * (near if one.source == source else elsewhere)
            for one, (other, is_same) in zip(sentences, said, strict=True)
        )

    return {
        at
        for at, (shared, is_same) in enumerate(said)
        if shared and not (is_same or is_row(sentences[at].text)) and is_outdone(at)
    }


def _measure_polarity(
    sentence: str, paraphrases: Paraphrases, wanted: frozenset[str], is_denied: bool
) -> tuple[int, bool]:
    """Return how many of some terms a sentence's best clause has, and whether it denies as the question does."""
    return max(
        (len(paraphrases.read_terms(clause) & wanted), negates(clause) is is_denied)
        for clause in cut_clauses(simplify(sentence)) or [sentence]
    )
