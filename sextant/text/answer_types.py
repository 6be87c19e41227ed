"""Which kind of thing a question asks for, and whether a text holds one: a date, a number, a name, a reason.

The kinds are the coarse ones of Li and Roth (2002, Learning Question Classifiers, https://aclanthology.org/C02-1150)
that a form tells. What of a kind a text must hold beyond that, its words tell.
"""

from __future__ import annotations

import re

from sextant.text.characters import language_of, plain_of

DATE, NUMBER, NAME, REASON = "date", "number", "name", "reason"
_ASKS_FORMS = {
    DATE: r"何时|什么时[候间]|哪天|哪一?[年月日]|几[年月日号点]|日期|\b(?:when|(?:what|which) (?:year|date|day|month|time|century))\b",
    NUMBER: r"多少|几|多[大长高远久重宽深]|怎么收费|\bhow (?:many|much|long|old|far|tall|high|wide|deep|heavy|expensive|often|large|big)\b"
    r"|\bwhat (?:percent\w*|number|age|price|size|port)\b",
    NAME: r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|state|place|person)\b",
    REASON: r"为什么|为何|\bwhy\b",
}
_ASKS = {kind: re.compile(form) for kind, form in _ASKS_FORMS.items()}
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBER_WORD = re.compile(
    r"[一二三四五六七八九十百千万亿半两]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand"
    r"|million|half|twice)\b"
)
_DATE_FORM = re.compile(
    r"\d{3,4}年|\d{1,2}月|\d{1,2}[日号点]|\b1\d{3}\b|\b20\d\d\b|\d{1,2}:\d\d|世纪|centur|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_REASON_WORD = re.compile(
    r"因|由于|所以|为了|导致|\b(?:because|due to|since|so that|in order to|therefore|caused?)\b"
)
_WHO = re.compile(r"\bwho(?:se|m)?\b|谁")
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范石姚谭廖邹熊陆郝孔白崔康毛邱秦史顾侯邵孟龙段钱汤尹黎武乔贺赖龚"
)
"""The commonest Chinese surnames of one character, simplified."""


class AnswerType:
    """The kind of thing that a question asks for.

    Attributes:
        kind: one of the four; "" for none.
    """

    def __init__(self, question: str) -> None:
        plain = plain_of(question)
        self.kind = next((kind for kind, form in _ASKS.items() if form.search(plain)), "")
        self._figures = set(_FIGURES.findall(plain))
        self._names = set(_CAPITALISED.findall(question))

    @property
    def is_quantity(self) -> bool:
        """Whether it is a number or a date."""
        return self.kind in {NUMBER, DATE}

    def is_in(self, text: str) -> bool | None:
        """Return whether a text holds such a thing beside those of the question; None: it cannot be told."""
        plain = plain_of(text)
        new_figures = bool(set(_FIGURES.findall(plain)) - self._figures)
        if self.kind == DATE:
            return new_figures and _DATE_FORM.search(plain) is not None
        if self.kind == NUMBER:
            return new_figures or _NUMBER_WORD.search(plain) is not None
        if self.kind == REASON:
            return _REASON_WORD.search(plain) is not None
        if self.kind == NAME and language_of(text) == "en":
            return bool(set(_CAPITALISED.findall(text[1:])) - self._names)
        return None


def has_who(question: str) -> bool:
    """Return whether a normalised question speaks of somebody, be it as "the man who founded it"."""
    return _WHO.search(question) is not None
