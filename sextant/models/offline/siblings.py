"""What a sentence says of another one of the kind that is asked for: of P-30, unit 147 or week 2, not P-20, 148 or 3.

Or of a namesake: of another body's Maria Santos.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import heading_over, told_by, told_by_documents
from sextant.text.characters import normalise
from sextant.text.identifiers import CHINESE_UNITS, codes_in, spelling_of
from sextant.text.persons import SURNAMES
from sextant.text.sentences import is_ended
from sextant.text.simplified import plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.whole_words import find_whole

_CODE = r"(?=[a-z]*[-_.]?\d)[a-z]+[-_.]?\d[a-z0-9]*"
_KIND = re.compile(r"(?:\b(?P<word>[a-z]{3,}) |(?P<han>[\u4e00-\u9fff]{2}))$")
_PREFIX = re.compile(r"[a-z]+")
# "Unit 148", "plan B"; a word that ends like a verb ("costs 300") counts something.
_NUMBERED = re.compile(
    r"\b(?P<kind>[A-Za-z]{2,}(?:[A-Za-rt-z]|ss)) (?P<mark>\d{1,6}|[A-Z])(?![\w'’.,%-]*[\w%])(?! ?[€$£])"
)
_CHINESE_NUMBERED = re.compile(
    r"(?P<before>第?)(?P<mark>\d+|[一二三四五六七八九十]+)(?P<kind>[号號][\u4e00-\u9fff]{0,2}|[周章节条款页步级版期届](?![\u4e00-\u9fff]?间))"
)
# 305会议室, with the noun's first two characters; a unit would count something.
_CHINESE_GLUED = re.compile(
    rf"(?<![\d.])(?P<mark>\d{{2,6}})(?P<kind>(?![{CHINESE_UNITS}号號])[\u4e00-\u9fff]{{2}})"
)
_OPENS = r"(?:^|[|。！？；\n])\s*"
# "Grade 5 and above" is told of grade 6, too.
_BOUND = r"(?! ?(?:to|-|–|~|or|and (?:above|over|up|below|under|higher|lower|older|more|less)|[及或至到]|以[上下前后]|起))"
_TITLE_CHARS = 40
# Somebody by name and whose they are: "Maria Santos of Eastbank", "Eastbank's Maria Santos", 东岸银行的王芳.
_NAME = r"[A-Z][\w'’-]+(?: (?:[A-Z]\.|[A-Z][\w-]+))+"
_BODY = r"[A-Z][\w&-]*(?: (?:&|[A-Z][\w&-]*))*"
_NAMED_BODY = re.compile(
    rf"\b(?P<name>{_NAME}),? ?(?:\b(?:of|at|from|with)(?: the)? |[,(] ?)(?P<body>{_BODY})"
    rf"|\b(?P<before>{_BODY})['’]s? (?P<named>{_NAME})"
    rf"|(?P<han_body>[\u4e00-\u9fff]{{2,12}}?)的(?P<han>[{''.join(sorted(SURNAMES))}][\u4e00-\u9fff]{{1,2}})"
)
# Who asks what is more than P-20 is answered by another one.
_COMPARES = re.compile(r"\bthan\b|\b(?:compar|differ|successor|replac|instead)|比|区别|替代|取代")


class _Said(Protocol):
    """A sentence or row of a passage."""

    @property
    def source(self) -> int: ...

    @property
    def start(self) -> int: ...

    @property
    def text(self) -> str: ...


_One = TypeVar("_One", bound=_Said)


class Siblings:
    """Tells what is said of a sibling of what one question names.

    Args:
        question: names codes, or numbers of a kind.
        passages: in which the sentences stand.

    Attributes:
        alone: whether something that is named stands in no passage, and others of its kind do.
    """

    def __init__(self, question: str, passages: Sequence[RetrievedItem]) -> None:
        asked = plain_of(question)
        names = [] if _COMPARES.search(asked) else list(_names(question, passages))
        self._asked = [re.compile(mine) for mine, _ in names]
        self._others = [re.compile(others) for _, others in names]
        self._above = [plain_of(heading_over(passage)) for passage in passages]
        self._texts = [passage.text for passage in passages]
        told = plain_of("\n".join([*self._above, *self._texts]))
        self.alone = any(
            others.search(told) and not mine.search(told)
            for mine, others in zip(self._asked, self._others, strict=True)
        )

    def without(self, said: Sequence[_One]) -> list[_One]:
        """Leave out what is said of a sibling, by the sentence itself or what stands over it like a title."""
        return [one for one in said if not self._is_of_other(one)] if self._asked else list(said)

    def _is_of_other(self, one: _Said) -> bool:
        lines = self._texts[one.source][: one.start].split("\n")[::-1]
        titles = (
            plain_of(line) for line in lines if len(line) < _TITLE_CHARS and not is_ended(line)
        )
        for text in (plain_of(one.text), *titles, self._above[one.source]):
            if any(mine.search(text) for mine in self._asked):
                return False
            if any(others.search(text) for others in self._others):
                return True
        return False


def passages_of_namesakes(question: str, passages: Sequence[RetrievedItem]) -> set[int]:
    """Return the places of passages about a namesake of somebody whom the question names with their body.

    They have the name and not the body, nor has their document, while another passage has both.
    """
    asked = list(_NAMED_BODY.finditer(question))
    if not asked:
        return set()
    plain = [told_by(passage) for passage in passages]
    documents = told_by_documents(passages)
    others = set[int]()
    for found in asked:
        body = normalise(found["body"] or found["before"] or found["han_body"])
        name = normalise(found["name"] or found["named"] or found["han"])
        names = [name, name[:2]] if found["han"] else [name]  # 王芳 of 王芳住
        name = next((one for one in names if _has_both(plain, one, body)), "")  # "" stands nowhere
        others |= {
            place
            for place, (text, document) in enumerate(zip(plain, documents, strict=True))
            if find_whole(text, name) and body not in document
        }
    return others


def _has_both(texts: Sequence[str], name: str, body: str) -> bool:
    return any(body in text and find_whole(text, name) for text in texts)


def _names(question: str, passages: Sequence[RetrievedItem]) -> Iterator[tuple[str, str]]:
    """Yield patterns of each name in a question, and of the others of its kind."""
    asked = plain_of(question)
    texts = [asked, *(plain_of(passage.text) for passage in passages)]
    for code in codes_in(question):
        mine = spelling_of(code)
        letters = "".join(_PREFIX.findall(plain_of(code))[:1])
        others = [rf"{kind} ?{_CODE}" for kind in _kinds(mine, texts)]
        yield mine, "|".join([rf"(?<![a-z\d-]){letters}[-_.]?\d", *others])
    for found in _NUMBERED.finditer(question):
        kind, mark = found["kind"].lower(), found["mark"].lower()
        if kind not in ENGLISH_STOP_WORDS:
            other = r"\d+" if mark.isdigit() else "[a-z]"
            yield (
                rf"(?<![\w.]){mark}(?!\w)",
                rf"\b(?<!above )(?<!below )(?<!from ){kind} {other}(?![\w.]){_BOUND}",
            )
    for found in _CHINESE_NUMBERED.finditer(asked):
        number = r"(?:\d+|[一二三四五六七八九十]+)"
        kind = re.escape(found["kind"])
        yield (
            rf"(?<!\d){found['mark']}(?![\d一二三四五六七八九十])",
            rf"{found['before']}{number}{kind}{_BOUND}",
        )
    yield from _glued(asked, texts[1:])


def _glued(asked: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield patterns for a number right before a noun, where such numbers open sentences or rows as names do."""
    for found in _CHINESE_GLUED.finditer(asked):
        other = rf"(?<![\d.])\d{{2,6}}{found['kind']}"
        if any(re.search(_OPENS + other, text) for text in texts):
            yield rf"(?<![\d.]){found['mark']}(?!\d)", other


def _kinds(code: str, texts: Sequence[str]) -> set[str]:
    """Return the words that stand directly before a code."""
    before = (
        _KIND.search(text[max(found.start() - 20, 0) : found.start()])
        for text in texts
        for found in re.finditer(code, text)
    )
    kinds = {found["word"] or found["han"] for found in before if found}
    return {kind for kind in kinds if kind not in ENGLISH_STOP_WORDS}
