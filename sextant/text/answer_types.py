"""Tell what kind of answer a question asks for, and whether a text holds one."""

from __future__ import annotations

import re

from sextant.text.characters import language_of, plain_of
from sextant.text.statements import POLAR
from sextant.text.values import normalise_values

DATE, NUMBER, NAME, REASON, CONTACT = "date", "number", "name", "reason", "contact"
_ASKED_KIND_FORMS = {
    CONTACT: r"(?:电话|手机|传真|热线|邮箱|邮件地址)(?:号码?)?是?(?:多少|什么|几号|哪个)"
    r"|\b(?:what|which)\b.{0,40}\b(?:(?:phone|telephone|fax|mobile|hotline|care) number|e-?mail(?: address)?)\b",
    DATE: r"何时|什么时[候间]|哪天|哪一?[年月日]|几[年月日号点]|日期|\b(?:when|(?:what|which) (?:year|date|day|month|time|century))\b",
    NUMBER: r"多少|几(?!乎)|多[大长高远久重宽深]|怎么收费|\bhow (?:many|much|long|old|far|fast|soon|quickly|early|tall|high|wide|deep|heavy|expensive|often|large|big)\b"
    r"|\bwhat (?:percent\w*|number|age|price|size|port)\b",
    NAME: r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|state|place|person)\b",
    REASON: r"为什么|为何|\bwhy\b",
}
_ASKED_KINDS = {kind: re.compile(form) for kind, form in _ASKED_KIND_FORMS.items()}
# "What should I do when it rains?" asks for no date.
_WHEN_BEHIND = re.compile(r"(\b(?:what|which|who|whom|whose|where|why|how)\b.{0,200}?)\bwhen\b")
_ASKS_HOW_LONG = re.compile(
    r"(?:多久|多长时间)(?![^，。]{0,8}次)|\bhow (?:long|fast|soon|quickly|early)\b"
)
# What a number has to measure (`TextValue.dimension`) where a question says so.
_ASKED_MEASURES = {
    r"多少(?:[块钱元]|[十百千万亿]+元)|(?:[价售单报]价|价格|[收学租年月会授权]费|费用|工资|薪[水酬]|[月年]薪|租金|押金|罚款)[^，。]{0,3}多少"
    r"|\bhow (?:much|expensive) (?:do|does|did|will|would|must|is|are|was)\b.{0,120}\b(?:costs?|pay|paid|charged?)\b"
    r"|\bwhat (?:do|does|did|will|would) .{0,120}\b(?:cost|charge)\b|\bwhat(?: is the| is an?|'s the)? (?:salary|price|wage|cost|fee)\b": "money share",
    r"[税利费]率|比例|百分[之比]|\bpercent": "share",
    r"多大年[纪龄]|几岁|\bhow old (?:is|are|was|were)\b": "period date",
    r"多高|\bhow tall\b": "length",
}
_MEASURES = [(re.compile(form), set(names.split())) for form, names in _ASKED_MEASURES.items()]
_PHONE = re.compile(
    r"(?<![\w/.-])(?!\d{4}-\d\d-\d\d)(?=(?:[ ()+.-]{0,2}\d){7})[+(]*\d{2}"
    r"|(?:电话|热线|内线|分机|拨打?|\bext(?:ension|\.)?|\b(?:dial|ring|call))\D{0,3}\d{3}"
)
_MAIL = re.compile(r"\w\s?(?:@|[(\[{]\s?at\s?[)\]}]|\bat\b(?=.{1,40}\bdot\b))\s?\w")
_FREE = re.compile(
    r"免|无需|承担|不(?:另|再)?(?:收|计)|\b(?:free|nothing|included|no (?:\w+ )?(?:charge|fee|cost)s?)\b"
)
_SPAN = re.compile(
    r"(?:\d|[一二两三四五六七八九十百千半数几]|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|few|half)\b)"
    r"[ -]?(?:[多余个]|full |calendar |business |working )*"
    r"(?:[年月周天日秒米]|星期|小时|钟头|分钟?|公里|(?:year|month|week|day|hour|minute|second|met(?:er|re)|mile|km|min|hr)s?\b|[hms]\b|ms\b|feet|ft\b)"
)
_FIGURES = re.compile(r"\d+(?:[.,:]\d+)*")
# 八角 and 统一 are no numbers.
_NUMBER_WORD = re.compile(
    r"[一二三四五六七八九十百千万亿半两]{2,}|[一二三四五六七八九十百千万亿半两几数][余多]?[年月日号时点分秒天周个人名位次元块升度种条件层楼岁代届米公克斤吨项级倍成家所台本篇勺根片颗只]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand"
    r"|million|half|twice)\b"
    r"|每[年月周天日季]|\b(?:annual|year|month|week|dai|hour|quarter)ly\b|\bevery (?:year|month|week|day)\b"
)
# "Article 8", 第八条 and 表一 are references to a place in a text, not numbers of something.
_LABEL = re.compile(
    r"第[\d零〇一二三四五六七八九十百千]+[条條章节節款项項编編篇页頁部分]|[图圖表注][\d一二三四五六七八九十]+(?![\d一二三四五六七八九十]*[个個张張项項])"
    r"|^[^\w\n]*(?:\d{1,2}(?:\.\d{1,2})*|[一二三四五六七八九十]{1,3})[.、)]"
    r"|\b(?:section|article|chapter|clause|paragraph|part|table|figure|page|note|item|step|appendix|exhibit|annex) \d+(?:\.\d+)*",
    re.MULTILINE,
)
_DATE_FORM = re.compile(
    r"\d{3,4}年|\d{1,2}月|\d{1,2}[日号点]|(?<![#/])\b(?:1\d{3}|20\d\d)\b|\d{1,2}:\d\d|世纪|centur"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_REASON_WORD = re.compile(
    r"因|由于|所以|为了|导致|\b(?:because|due to|since|so that|in order to|therefore|caused?)\b"
)


class AnswerType:
    """The kind of answer that a question asks for.

    Attributes:
        kind: `DATE`, `NUMBER`, `NAME`, `REASON` or `CONTACT`; "" for none of them.
    """

    def __init__(self, question: str) -> None:
        plain = plain_of(question)
        is_open = not POLAR.match(plain)
        asked = _WHEN_BEHIND.sub(r"\1", plain)
        kinds = (kind for kind, form in _ASKED_KINDS.items() if form.search(asked))
        self.kind = next(kinds, "") if is_open else ""
        measures = (names for form, names in _MEASURES if form.search(plain))
        is_amount = is_open and self.kind in {NUMBER, ""}
        self._measures = next(measures, set[str]()) if is_amount else set[str]()
        self._form = {
            CONTACT: _MAIL if "邮" in plain or "mail" in plain else _PHONE,
            NUMBER: _SPAN if _ASKS_HOW_LONG.search(plain) else None,
            REASON: _REASON_WORD,
        }.get(self.kind)
        self._figures = set(_FIGURES.findall(plain))
        self._asks_place = "第几" in plain
        self._names = set(_CAPITALISED.findall(question))

    @property
    def is_quantity(self) -> bool:
        """Return whether the answer has figures: a number, a date, or a phone number or address."""
        return self.kind in {NUMBER, DATE, CONTACT}

    def misses_value(self, text: str) -> bool:
        """Return whether a text has nothing that may be the amount of money, age, height or way to reach somebody asked for.

        A number without a unit may be one. For other questions nothing is missed: "when?" is answered by "after use", too.
        """
        if self.kind == CONTACT:
            return not self.is_in(text)
        if not self._measures - {"share"}:
            return False
        plain = _LABEL.sub(" ", plain_of(text))
        is_free = "money" in self._measures and _FREE.search(plain)
        fitting = self._measures | {"", "ordinal"}
        return not is_free and fitting.isdisjoint(_read_dimensions(plain))

    def is_in(self, text: str) -> bool | None:
        """Return whether a text holds such an answer that is not in the question; None if that cannot be decided."""
        plain = plain_of(text) if self._asks_place else _LABEL.sub(" ", plain_of(text))
        new_figures = bool(set(_FIGURES.findall(plain)) - self._figures)
        if self.kind == DATE:  # "one year after it is issued", "in 1998"
            is_date = new_figures and (
                _DATE_FORM.search(plain) or _read_dimensions(plain) & {"date", "weekday"}
            )
            return bool(is_date or _SPAN.search(plain))
        if self._form:
            return self._form.search(plain) is not None
        if self.kind == NUMBER and self._measures:
            return not self._measures.isdisjoint(_read_dimensions(plain))
        if self.kind == NUMBER:
            return new_figures or _NUMBER_WORD.search(plain) is not None
        if self.kind == NAME and language_of(text) == "en":
            return bool(set(_CAPITALISED.findall(text[1:])) - self._names)
        return None


def _read_dimensions(plain: str) -> set[str]:
    return {one.value.dimension for one in normalise_values(plain)}
