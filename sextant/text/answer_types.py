"""Tell what kind of answer a question asks for, and whether a text holds one."""

from __future__ import annotations

import re

from sextant.text.characters import language_of, plain_of
from sextant.text.statements import POLAR
from sextant.text.values import normalise_values

DATE, NUMBER, NAME, REASON, CONTACT = "date", "number", "name", "reason", "contact"
_ASKED_KIND_FORMS = {
    CONTACT: r"(?:电话|手机|传真|热线)(?:号码?)?(?:是(?:多少|什么|几号?))?\W*$|(?:电话|手机)号|邮箱|邮件地址"
    r"|\b(?:phone|telephone|fax|mobile|hotline|care) number\b|\be-?mail address\b",
    DATE: r"何时|什么时[候间]|哪天|哪一?[年月日]|几[年月日号点]|日期|\b(?:when|(?:what|which) (?:year|date|day|month|time|century))\b",
    NUMBER: r"多少|几|多[大长高远久重宽深]|怎么收费|\bhow (?:many|much|long|old|far|fast|soon|quickly|early|tall|high|wide|deep|heavy|expensive|often|large|big)\b"
    r"|\bwhat (?:percent\w*|number|age|price|size|port)\b",
    NAME: r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|state|place|person)\b",
    REASON: r"为什么|为何|\bwhy\b",
}
_ASKED_KINDS = {kind: re.compile(form) for kind, form in _ASKED_KIND_FORMS.items()}
# "What should I do when it rains?" asks for no date.
_WHEN_BEHIND = re.compile(r"(\b(?:what|which|who|whom|whose|where|why|how)\b.{0,200}?)\bwhen\b")
_ASKS_WHAT_PRICE = r"\bwhat\b.*\b(?:salary|price|cost|charge|wage)s?\b"
# What a number has to measure (`TextValue.dimension`) where a question says so.
_ASKED_MEASURES = {
    # "How long does it take?" asks for hours or years; a length in metres may answer it, too.
    r"多久(?![^，。]{0,8}次)|多长|\bhow (?:long|soon|quickly|early)\b": "period time length date",
    r"多少[块钱]|怎么收费|(?:[价售单报]价|价格|[收学租年月会授权]费|费用|工资|薪[水酬]|[月年]薪|租金|押金|罚款)[^，。]{0,3}多少"
    r"|\bhow (?:much|expensive)\b.*\b(?:costs?|pay|paid|charged?|salary)\b(?! period)"
    rf"|{_ASKS_WHAT_PRICE}": "money share",
    r"[税利费]率|比例|百分[之比]|\bpercent": "share",
    r"多大年[纪龄]|几岁|\bhow old\b": "period date",
    r"多[高远宽深]|\bhow (?:tall|wide|deep|far)\b": "length",
    r"多重\W*$|\bhow heavy\b": "mass",
}
_MEASURES = [(re.compile(form), set(names.split())) for form, names in _ASKED_MEASURES.items()]
_ASKED_NUMBER = re.compile(r"多少|几(?=[\u4e00-\u9fff])|\bhow many\b(?: [a-z-]+){0,2}?(?= [a-z-]+)")
_AGES = re.compile(r"世纪|centur|\b(?:1\d{3}|20\d\d)\b|\baged?\b|[年岁]|\|")
_COUNTED = {"money", "period", "time", "mass", "length", "data", "volume", "area"}
_PHONE = re.compile(r"(?<![\w/.:-])(?!\d{4}-\d\d-\d\d)(?=(?:[ ()+.-]{0,2}\d){7})[+(]*\d{2}")
_MAIL = re.compile(r"\w@\w")
# An amount without a currency: two decimals, or a figure behind what is paid.
_AMOUNT = re.compile(
    r"\b\d[\d,]*\.\d\d\b|免费|不收费|\bfree\b|(?:[价费薪额]|\b(?:price|cost|fee|rate|total|amount|salary)s?\b)(?:[^\d\n]{0,12}|[^\n]*\|[^\n]*\n[^\n]*)\d"
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
_DAY = re.compile(
    r"(?:星期|礼拜|[本下上每这]周)[一二三四五六日天末]|周[一二三四五六日末]|[今明后昨]天|[本这上下]周|[本上下]月|[今明去]年|[中正]午|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:tomorrow|yesterday|today|tonight|noon|midnight|weekends?|(?:this|next|last) (?:week|month|year|spring|summer|autumn|winter))\b"
)
_CAPITALISED = re.compile(r"\b[A-Z]\w+")
_REASON_WORD = re.compile(
    r"因|由于|所以|为了|导致|\b(?:because|due to|since|so that|in order to|therefore|caused?)\b"
)


class AnswerType:
    """The kind of answer that a question asks for.

    Attributes:
        kind: `DATE`, `NUMBER`, `NAME` or `REASON`; "" for none of them.
    """

    def __init__(self, question: str) -> None:
        plain = plain_of(question)
        kinds = () if POLAR.match(plain) else _ASKED_KINDS.items()
        asked = _WHEN_BEHIND.sub(r"\1", plain)
        self.kind = next((kind for kind, form in kinds if form.search(asked)), "")
        asks_number = self.kind == NUMBER or re.search(_ASKS_WHAT_PRICE, plain)
        self._measures = _find_measures(plain) if asks_number else set[str]()
        self._contact = _MAIL if "邮" in plain or "mail" in plain else _PHONE
        self._figures = set(_FIGURES.findall(plain))
        self._asks_place = "第几" in plain
        self._names = set(_CAPITALISED.findall(question))

    @property
    def is_quantity(self) -> bool:
        """Return whether the answer is a number or a date."""
        return self.kind in {NUMBER, DATE}

    def misses_value(self, text: str) -> bool:
        """Return whether a text lacks the number, date or way to reach somebody that is asked for."""
        if not self.kind and self._measures:  # "What does it cost?"
            return not self._measures_it(plain_of(text), is_number=bool(_FIGURES.search(text)))
        if self.kind == DATE and _NUMBER_WORD.search(plain_of(text)):  # "at six"
            return False
        return self.kind in {NUMBER, DATE, CONTACT} and self.is_in(text) is False

    def is_in(self, text: str) -> bool | None:
        """Return whether a text holds such an answer that is not in the question; None if that cannot be decided."""
        plain = plain_of(text) if self._asks_place else _LABEL.sub(" ", plain_of(text))
        new_figures = bool(set(_FIGURES.findall(plain)) - self._figures)
        if self.kind == DATE:  # "one year after it is issued", "in 1998"
            is_date = new_figures and (
                _DATE_FORM.search(plain) or "date" in _read_dimensions(plain)
            )
            return bool(is_date or _SPAN.search(plain) or _DAY.search(plain))
        if self.kind == NUMBER:
            is_number = new_figures or _NUMBER_WORD.search(plain) is not None
            return self._measures_it(plain, is_number=is_number) if self._measures else is_number
        if self.kind == CONTACT:
            return self._contact.search(plain) is not None
        if self.kind == REASON:
            return _REASON_WORD.search(plain) is not None
        if self.kind == NAME and language_of(text) == "en":
            return bool(set(_CAPITALISED.findall(text[1:])) - self._names)
        return None

    def _measures_it(self, plain: str, *, is_number: bool) -> bool:
        """Return whether a text has a number of what is asked for, or one whose unit its table, or its price, implies."""
        if self._measures & _read_dimensions(plain):
            return True
        if "period" in self._measures:  # "from the 5th to the 15th century", "at age 38"
            return _SPAN.search(plain) is not None or (
                is_number and _AGES.search(plain) is not None
            )
        if "money" in self._measures:
            return _AMOUNT.search(plain) is not None
        return is_number and "|" in plain


def _read_dimensions(plain: str) -> set[str]:
    return {one.value.dimension for one in normalise_values(plain)}


def _find_measures(plain: str) -> set[str]:
    """Return what the number that a question asks for may measure; nothing where the question leaves that open."""
    found = next((names for form, names in _MEASURES if form.search(plain)), set[str]())
    if found:
        return found
    counted = _ASKED_NUMBER.search(plain)
    value = (
        next(iter(normalise_values("3" + plain[counted.end() :][:20])), None) if counted else None
    )
    return {value.value.dimension} & _COUNTED if value else set()
