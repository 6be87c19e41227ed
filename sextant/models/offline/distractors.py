"""Find what looks like an answer and is none: about a sibling or a namesake of what is asked for, or its opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import (
    is_row,
    read_document_texts,
    read_full_text,
    section_of,
)
from sextant.models.offline.wording import Paraphrases, strip_borrowed_part
from sextant.text.analysis import CHINESE_UNITS, codes_in, spelling_of
from sextant.text.characters import find_whole, normalise, plain_of, simplify
from sextant.text.segmenter import cut_known_words
from sextant.text.sentences import is_ended, sentence_spans
from sextant.text.statements import SURNAMES, complete_clauses, find_denied, negates
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import opposites

if TYPE_CHECKING:
    from sextant.models.offline.candidates import Sentence

_PREFIX = re.compile(r"[a-z]+")
# "Unit 148", "plan B", "Relay 2.5"; a word that ends like a verb ("costs 300") counts something.
_NUMBERED = re.compile(
    r"\b(?P<kind>[A-Za-z]{2,}(?:[A-Za-rt-z]|ss)) (?P<mark>\d{1,6}(?:\.\d{1,4})*|[A-Z])(?![\w'’.,%-]*[\w%])(?! ?[€$£])"
)
_CHINESE_NUMBERED = re.compile(
    r"(?<![\d.])(?P<before>第?)(?P<mark>\d+(?:\.\d+)*|[一二三四五六七八九十]+) ?(?P<kind>[号號][\u4e00-\u9fff]{0,2}|[周章节条款页步级版期届型档线等代类](?![\u4e00-\u9fff]?间))"
)
# 305会议室, with the noun's first two characters; a unit would count something.
_CHINESE_ROOM = re.compile(
    rf"(?<![\d.])(?P<mark>\d{{2,6}})(?P<kind>(?![{CHINESE_UNITS}号號])[\u4e00-\u9fff]{{2}})"
)
_OPENS = r"(?:^|[|。！？；\n])\s*"
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
        names = [] if _COMPARES.search(plain) else list(_find_names(question, passages))
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


def _find_names(question: str, passages: Sequence[RetrievedItem]) -> Iterator[tuple[str, str]]:
    """Yield patterns of each name in a question, and of the others of its kind."""
    plain = plain_of(question)
    for code in codes_in(question):
        letters = "".join(_PREFIX.findall(plain_of(code))[:1])
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
    for found in _CHINESE_ROOM.finditer(plain):
        # Such numbers name something where they open sentences or rows.
        other = rf"(?<![\d.])\d{{2,6}}{found['kind']}"
        if any(re.search(_OPENS + other, plain_of(passage.text)) for passage in passages):
            yield rf"(?<![\d.]){found['mark']}(?!\d)", other


def _find_names_of_series(plain: str) -> Iterator[tuple[str, str]]:
    """Yield patterns of what one of a group of opposites tells apart, and of what the other ones do: north gate, 南门."""
    words = set(cut_known_words(plain))
    for sides in opposites("*+"):
        for side in sides:
            others = [word for other in sides if other is not side for word in other]
            english = "|".join(filter(str.isascii, others))
            for word in side:
                if word.isascii():
                    for found in re.finditer(rf"\b{word}s? (?P<kind>[a-z]{{3,}})\b", plain):
                        if found["kind"] not in ENGLISH_STOP_WORDS:
                            yield rf"\b{word}s?\b", rf"\b(?:{english})s? {found['kind']}\b"
                    continue
                han = "".join(other for other in others if not other.isascii())
                for name in words:
                    if name[0] == word and re.fullmatch(r"[\u4e00-\u9fff]{1,2}", name[1:]):
                        yield rf"{name}|{word}[边侧面部方]", f"[{han}]{name[1:]}"


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


# Whether something is so is answered by either; which things are so is not.
_EITHER = re.compile(r"(\w)[不没]\1|是否|能否|可否")
_ASKS_WHICH = re.compile(
    r"\b(?:which|what|who|whom|whose|where|when|why|how)\b|[哪谁何几]|什么|多少|怎", re.I
)
_ASKS_WHO = re.compile(r"\b(?:which|who|whom)\b|[哪谁]|什么(?:人|样|情况|情形|条件)", re.I)
# A sentence with one of these denies in other words, or in part.
_IN_PART = re.compile(
    r"\b(?:only|except\w*|unless|until|before|fail\w*|lack\w*|refus\w*|avoid\w*|exclud\w*|exempt\w*|instead|rather)\b"
    r"|[除仅只才拒缺免]|以前|之前|以外|避免",
    re.I,
)
# A denial answers instead of its opposite where it has this part of the question's terms that the opposite has: in the
# same passage, and in another one.
_OF_OPPOSITE, _ELSEWHERE = 1 / 2, 2 / 3


def find_opposites(question: str, sentences: Sequence[Sentence]) -> set[int]:
    """Return the places of sentences that say the opposite of what is asked, where another sentence answers it.

    "Dogs are not allowed on deck 2" is one for "Which deck are dogs allowed on?". A sentence is judged by the clause
    that shares most with the question. A question for yes or no ("Is it …?") has no opposite.
    """
    text = simplify(strip_borrowed_part(question))
    is_denied = negates(text)
    asks = _ASKS_WHICH if is_denied else _ASKS_WHO
    if _EITHER.search(text) or not asks.search(text):
        return set()
    paraphrases = Paraphrases(question)
    denied = find_denied(text)[1]
    wanted = paraphrases.read_terms(_ASKS_WHICH.split(denied)[0].strip() or denied or text)
    said = [_measure_polarity(one.text, paraphrases, wanted, is_denied) for one in sentences]

    def is_outdone(at: int) -> bool:
        for other, (same, _) in zip(sentences, said, strict=True):
            near = other.source == sentences[at].source
            least = (_OF_OPPOSITE if near else _ELSEWHERE) if is_denied else 1.0
            if same and same >= least * said[at][1]:
                return True
        return False

    return {
        at
        for at, (same, opposite) in enumerate(said)
        if opposite > same
        and not is_row(sentences[at].text)
        and not _IN_PART.search(simplify(sentences[at].text))
        and is_outdone(at)
    }


def _measure_polarity(
    sentence: str, paraphrases: Paraphrases, wanted: frozenset[str], is_denied: bool
) -> tuple[int, int]:
    """Return how many terms of a question a sentence has that says the same, and how many it has that says the opposite.

    A denial tells them with the whole sentence ("opens without a badge"), anything else with its best clause.
    """
    parts = [
        (paraphrases.read_terms(part) & wanted, negates(part))
        for part in complete_clauses(simplify(sentence))
    ]
    denied = max((len(terms) for terms, is_negated in parts if is_negated), default=0)
    plain = max((len(terms) for terms, is_negated in parts if not is_negated), default=0)
    if not is_denied:
        return plain, denied
    whole = frozenset[str]().union(*(terms for terms, _ in parts))
    return len(whole) if denied else 0, plain
