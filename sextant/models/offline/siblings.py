"""What a sentence says of another one of the kind that is asked for: of P-30, unit 147 or week 2, not P-20, 148 or 3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.text.characters import plain_of
from sextant.text.identifiers import CHINESE_UNITS, codes_in, spelling_of
from sextant.text.sentences import is_ended
from sextant.text.stopwords import ENGLISH_STOP_WORDS

_PREFIX = re.compile(r"[a-z]+")
# "Unit 148", "plan B"; a word that ends like a verb ("costs 300") counts something.
_NUMBERED = re.compile(
    r"\b(?P<kind>[A-Za-z]{2,}(?:[A-Za-rt-z]|ss)) (?P<mark>\d{1,6}|[A-Z])(?![\w'’.,%-]*[\w%])(?! ?[€$£])"
)
_CHINESE_NUMBERED = re.compile(
    r"(?P<before>第?)(?P<mark>\d+|[一二三四五六七八九十]+)(?P<kind>[号號][\u4e00-\u9fff]{0,2}|[周章节条款页步级版期届](?![\u4e00-\u9fff]?间))"
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
    """Others of the kind of what one question names by a code or a number.

    Args:
        question: names codes, or numbers of a kind.
        passages: in which the sentences stand.
    """

    def __init__(self, question: str, passages: Sequence[RetrievedItem]) -> None:
        plain = plain_of(question)
        names = [] if _COMPARES.search(plain) else list(_find_names(question, passages))
        self._named = [re.compile(named) for named, _ in names]
        self._others = [re.compile(others) for _, others in names]
        self._above = [plain_of(_read_heading(passage)) for passage in passages] if names else []
        self._texts = [passage.text for passage in passages]

    def stand_alone(self) -> bool:
        """Return whether something that is named stands in no passage, and others of its kind do."""
        text = plain_of("\n".join([*self._above, *self._texts])) if self._named else ""
        return any(
            others.search(text) and not named.search(text)
            for named, others in zip(self._named, self._others, strict=True)
        )

    def are_named(self, source: int, start: int, text: str) -> bool:
        """Return whether a sentence is about a sibling, by itself or by what stands over it like a title.

        Args:
            source: the index of its passage.
            start: where it begins there.
            text: the sentence.
        """
        if not self._named:
            return False
        lines = self._texts[source][:start].split("\n")[::-1]
        titles = (
            plain_of(line) for line in lines if len(line) < _TITLE_CHARS and not is_ended(line)
        )
        for plain in (plain_of(text), *titles, self._above[source]):
            if any(named.search(plain) for named in self._named):
                return False
            if any(others.search(plain) for others in self._others):
                return True
        return False


def _read_heading(passage: RetrievedItem) -> str:
    path: Sequence[str] = passage.metadata.get("section_path") or ("",)
    return path[-1]


def _find_names(question: str, passages: Sequence[RetrievedItem]) -> Iterator[tuple[str, str]]:
    """Yield patterns of each name in a question, and of the others of its kind."""
    plain = plain_of(question)
    for code in codes_in(question):
        letters = "".join(_PREFIX.findall(plain_of(code))[:1])
        yield spelling_of(code), rf"(?<![a-z\d-]){letters}[-_.]?\d"
    for found in _NUMBERED.finditer(question):
        kind, mark = found["kind"].lower(), found["mark"].lower()
        if kind not in ENGLISH_STOP_WORDS:
            other = r"\d+" if mark.isdigit() else "[a-z]"
            yield (
                rf"(?<![\w.]){mark}(?!\w)",
                rf"\b(?<!above )(?<!below )(?<!from ){kind} {other}(?![\w.]){_BOUND}",
            )
    for found in _CHINESE_NUMBERED.finditer(plain):
        number, kind = r"(?:\d+|[一二三四五六七八九十]+)", re.escape(found["kind"])
        yield (
            rf"(?<!\d){found['mark']}(?![\d一二三四五六七八九十])",
            rf"{found['before']}{number}{kind}{_BOUND}",
        )
    for found in _CHINESE_ROOM.finditer(plain):
        # Such numbers name something where they open sentences or rows.
        other = rf"(?<![\d.])\d{{2,6}}{found['kind']}"
        if any(re.search(_OPENS + other, plain_of(passage.text)) for passage in passages):
            yield rf"(?<![\d.]){found['mark']}(?!\d)", other
