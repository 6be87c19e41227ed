"""Recognise kinds of sentences: denials, definitions, abstentions, and what a question asks for."""

from __future__ import annotations

import re

from sextant.text.characters import language_of, normalise, plain_of
from sextant.text.values import normalise_values

# "Is it paid when I leave?" asks for no date; "Do you know when …?" does.
POLAR = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|ha[sd]|have|can|could|will|would|shall|should|may|might|must)\b(?! you\b)"
)
_WHO = re.compile(r"\bwho(?:se|m)?\b|谁")
REFERS_BACK = re.compile(r"\b(?:it|them|they|this|these)\b|[该其此]", re.IGNORECASE)
"""A word for what was said before."""
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范石姚谭廖邹熊陆郝孔白崔康毛邱秦史顾侯邵孟龙段钱汤尹黎武乔贺赖龚"
)
"""The commonest Chinese surnames of one character, simplified."""


def has_who(question: str) -> bool:
    """Return whether a normalised question has "who" in it, also as in "the man who founded it"."""
    return _WHO.search(question) is not None


# A number that is bounded (不得超过二年, must not exceed 8 kg) is not denied.
_BOUNDS_ZH = r"(?:得|能|可|应当?|會|会|许|准)(?:超过|超過|[低高多少大小早晚短长]于)[^，。；]{0,10}[\d一二三四五六七八九十百千万两半]"
_BOUNDS_EN = (
    r" (?:be |to )?(?:exceed|(?:more|less|fewer|longer|later|earlier|sooner) than|over|under|above|below)\b[^,.;:]{0,16}"
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half)\b)"
)
# Words of denial, without longer words that contain them (不同, 未来); 非 denies only behind certain words.
_CHINESE = re.compile(
    rf"没有|沒有|没|沒|(?<=[并並绝絕决決而实實远遠均皆])非|不(?!{_BOUNDS_ZH}|要忘|[同仅僅但断斷过過久少足超低高大小只管论論如良锈鏽禁详詳等满滿]|得不|可避|可抗|可或|可分)"
    r"|未(?!来|來|必|婚|成年)|[无無](?![论論线線疑锡錫性]|人机|人機)|(?<![特分类類性级級区區个個])别(?![人的墅名称稱号號忘])|勿(?!忘)|严禁|嚴禁|禁止|禁用"
)
_ENGLISH = re.compile(
    rf"\b(?:not(?! only| forget|{_BOUNDS_EN})|cannot(?!{_BOUNDS_EN})|never|neither|nor|none|nobody|nothing|without"
    rf"|prohibit\w*|forbid\w*|banned|no(?! (?:more|less|fewer|longer|later|earlier|sooner) than|\.? ?\d))\b|n['’]t\b(?! forget|{_BOUNDS_EN})",
    re.IGNORECASE,
)
# A denial behind "and" is always a clause of its own ("on the deck and not in the hall"); see also `split_joined`.
_CLAUSE = re.compile(
    r"[;，；：。!?！？|]\s*|[,:.](?!\s?\d)\s*|\b(?:but|while|(?:al)?though|whereas)\b|但是?|而"
    r"|\band\s+(?=(?:is\s+|are\s+)?(?:not|never|prohibited|forbidden|banned)\b|(?:is|are|may|can|must|will)\b)",
    re.IGNORECASE,
)
_JOINS = re.compile(r"\s(?=and\s)|(?<=[\u4e00-\u9fff])(?=[且并][\u4e00-\u9fff])", re.IGNORECASE)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|may|can|must|shall|should|will|costs?|pays?)\b"
    r"|[可能得须应禁许准会是为有]|不",
    re.IGNORECASE,
)
# "Not in the hall" denies the statement of the clause before it.
_ELLIPTIC = re.compile(r"\s*(?:(?:and|but|though)\s+)?(?:not|never)\s", re.IGNORECASE)
_UP_TO_FOUR_WORDS = (
    r"(?:\s+(?!(?:by|to|in|on|at|for|from|with|and|or|when|if|as|since|because|is|are|was|were|ha[sd]|have"
    r"|can|could|will|would|may|must|should)\b)[^\s,;:.!?，；：。！？]+){1,4}"
)
# Denies, or permits behind a denial, only the words behind it, not the clause around it.
_EXCEPT = re.compile(
    rf"\b(?:without|except(?: (?:for|in|on|at|to|during))?|excluding)(?P<en>{_UP_TO_FOUR_WORDS})"
    r"|除了?(?P<of>[^，。；]{1,12}?)[以之]?外(?!，?[^，。；]{0,4}[还還也另])|(?P<last>[^，。；]{1,12})除外",
    re.IGNORECASE,
)


def negates(text: str) -> bool:
    """Return whether `text` holds a word of denial, Chinese or English."""
    return _CHINESE.search(text) is not None or _ENGLISH.search(text) is not None


def _find_denials(text: str) -> list[re.Match[str]]:
    found = [*_CHINESE.finditer(text), *_ENGLISH.finditer(text)]
    return sorted(found, key=lambda one: one.start())


# Verbs that belong to a word of denial: 不得, 不能, "may not be".
_BESIDE = re.compile(r"^(?:得|能够?|可以?|许|准|允许|应该?|要|会|被|\s*be\b)")


def find_denied(text: str) -> str:
    """Return the text that the first word of denial denies; "" without one."""
    found = next(iter(_find_denials(text)), None)
    return _CLAUSE.split(_BESIDE.sub("", text[found.end() :]))[0] if found else ""


_PERMITS = re.compile(r"可以|能|允许|准许|\b(?:may|can)\b", re.IGNORECASE)


def count_denials(text: str) -> tuple[int, bool]:
    """Return the number of words of denial, and whether something is permitted behind the last: 未经批准可以进入."""
    found = _find_denials(text)
    behind = _BESIDE.sub("", text[found[-1].end() :]) if found else text
    return len(found), _PERMITS.search(behind) is not None


_MOST_CASES = 8  # of a clause
_CASES = re.compile(r"\b(?:if|when|while|unless|until|or)\b|如果|[或及和、]", re.IGNORECASE)


def split_cases(denied: str) -> list[str]:
    """Return what is denied, and each case of it: "take it if pregnant or ill" also as "take it pregnant" and "take it ill"."""
    main, *cases = _CASES.split(denied, maxsplit=_MOST_CASES)
    return [denied, *(f"{main} {case}" for case in cases)]


def split_joined(text: str) -> list[str]:
    """Split a text at "and" or 且 between clauses with verbs; a list stays whole."""
    pieces = list[str]()
    start = 0
    for joint in _JOINS.finditer(text):
        before, behind = text[start : joint.start()], text[joint.end() :]
        if _FINITE.search(before) and _FINITE.search(behind):
            pieces.append(before)
            start = joint.end()
    return [*pieces, text[start:]]


def cut_clauses(text: str) -> list[str]:
    """Return the clauses of a sentence, those that only deny part of another one behind that one.

    "Smoking is allowed on deck, not in the hall" has "smoking is allowed on deck not in the hall". What is excepted from
    a clause says the opposite: "all ropes except static ones" has "all ropes without static ones", and "eating is
    forbidden except in the hall" has "eating is in the hall".
    """
    found, excepted, whole = list[str](), list[str](), ""
    for part in filter(str.strip, _CLAUSE.split(text)):
        excepted += [one["en"] or one["of"] or one["last"] for one in _EXCEPT.finditer(part)]
        for piece in filter(str.strip, split_joined(_EXCEPT.sub(" ", part))):
            is_elliptic = whole and _ELLIPTIC.match(piece) and not _FINITE.search(piece)
            whole = whole if is_elliptic else piece
            found.append(f"{whole} {piece}" if is_elliptic else piece)
        if found:
            turned = _turn(found[-1]) if excepted else ""
            found += [f"{turned} {one}" for one in excepted[:_MOST_CASES]]
            excepted = []
    return found


def _turn(clause: str) -> str:
    """Deny a clause, or affirm a denied one, of the words that will follow."""
    turned = _CHINESE.sub(" ", _ENGLISH.sub(" ", clause))
    return turned if turned != clause else f"{clause} without"


_ASKS_FOR_DEFINITION = re.compile(
    r"^\s*what(?:'s| is| are| was| were) (?:an? |the )?(?P<en>[^,;:?]{2,60}?)\s*\??\s*$"
    r"|^\s*what does (?:an? |the )?(?P<does>[^,;:?]{2,60}?) (?:do|mean|stand for)\s*\??\s*$"
    r"|^\s*(?:请问)?(?:什么是|什么叫|何谓|何为|什麼是)(?P<zh>[^，。；：？?]{2,30})[？?]?\s*$"
    r"|^\s*(?:请问)?(?P<what>[^，。；：？?]{2,30}?)(?:是什么|是啥|是什麼|是什么意思|指什么|指的是什么|有什么用|是做什么的)[？?]?\s*$"
)


def definition_pattern(question: str) -> re.Pattern[str] | None:
    """Return a pattern of normalised sentences that define what a question asks for; None if it asks for no definition."""
    match = _ASKS_FOR_DEFINITION.match(normalise(question))
    if match is None:
        return None
    name = re.escape(match["en"] or match["does"] or match["zh"] or match["what"])
    if match["en"] or match["does"]:
        verbs = "is|are|was|were|means?|refers?|stands? for|denotes?|provides?|describes?|contains?|lets?|allows?|returns?"
        return re.compile(
            rf"(?:^|[,:;] )\W*(?:an? |the )?{name}s?(?: \([^)]{{0,40}}\))? (?:{verbs})\b"
        )
    verbs = "是|为|指|即|用于|用来|负责|提供"
    return re.compile(rf"{name}(?:\([^)]{{0,40}}\))?[^,。;]{{0,4}}?,?(?:{verbs})")


_YES_WORDS = "yes sure certainly correct right 是 是的 对 对的 没错 有 可以 能 能够 会 需要 必须"
_NO_WORDS = "no 不是 不 没有 不可以 不能 不能够 不会 不必 不需要 不用"
_YES, _NO = frozenset(_YES_WORDS.split()), frozenset(_NO_WORDS.split())
# Headings, lead-ins ("The steps are:"), questions, rules of tables and fences of code state nothing.
_NO_STATEMENT = re.compile(r"\s*(?:#.*|\W*|.*[:：]\W*|.*[?？]\W*|```.*)\s*", re.DOTALL)

_SAYING = (
    r"(?:say|said|mention|state|specif|contain|includ|provid|describ|address|discuss|cover|give|tell|indicat"
    r"|answer|list|name|explain|reveal|offer|hold|have (?:any|enough|no)|support|speak)"
)

_SILENT = re.compile(
    r"\b(?:documents?|passages?|sources?|context|texts?|materials?|knowledge base|excerpts?|information)\b"
    r"[^.!?]{0,60}?(?:\b(?:do|does|did) not\b|n['’]t\b|\bnever\b|\bnothing\b)"
    rf"\s*(?:\w+\s+){{0,2}}?{_SAYING}"
    r"|\bno (?:information|mention|passage|document|evidence|answer|details?|data)\b"
    r"|\bnot (?:mentioned|stated|specified|found|covered|described|addressed|provided|given|said|listed)\b"
    r"|\b(?:cannot|can['’]?t|could not|unable to|not able to|(?:do|does) ?n['’o]t)"
    r"\s+(?:\w+\s+)?(?:answer|determine|find|know|tell|say)\b"
    r"|(?:文档|文件|文件|资料|資料|段落|材料|上下文|知识库|知識庫|原文|文中|内容|內容|信息|以上)[^。！？]{0,16}?"
    r"(?:没有|沒有|未|并未|並未|不|无|無)[^。！？]{0,6}?"
    r"(?:提|说|說|给|給|包含|涉及|记载|記載|写|寫|描述|介绍|介紹|回答|指出|找到|记录|記錄|列出|相关|相關|信息|内容|足够)"
    r"|(?:没有|沒有|未能|未|无法|無法|不能)(?:从[^。]{0,12})?(?:找到|回答|确定|確定|得知|判断|判斷|提供)"
    r"|不知道",
    re.IGNORECASE,
)

# Words behind which a statement may follow.
_BUT = re.compile(
    r"\b(?:but|however|yet|although|though|nevertheless|instead|still)\b"
    r"|但|不过|不過|然而|尽管|儘管|虽然|雖然|而是|[，,;；]\s*(?:so|and|所以|因此)",
    re.IGNORECASE,
)


def is_abstention(sentence: str) -> bool:
    """Return whether a sentence says only that the documents do not answer the question."""
    return _SILENT.search(sentence) is not None and not _BUT.search(sentence)


def states(sentence: str) -> bool:
    """Return whether a sentence makes a statement that could be true or false by itself: no bare yes or no."""
    return not (
        _NO_STATEMENT.fullmatch(sentence)
        or read_yes_or_no(sentence) is not None
        or is_abstention(sentence)
    )


def read_yes_or_no(sentence: str) -> bool | None:
    """Return whether a sentence is no more than a yes (True) or a no (False); None for any other."""
    word = re.sub(r"\W", "", sentence).lower()
    return word in _YES if word in _YES | _NO else None


def affirm_question(question: str) -> str:
    """Return what a question for yes or no asks, as a yes says it; "" for another question."""
    plain = plain_of(question).rstrip(" ?？!！.。")
    asked = plain.rstrip("吗嘛")
    return asked if asked != plain or POLAR.match(plain) else ""


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
    r"|\bhow (?:much|expensive) (?:do|does|did|will|would|must|is|are|was)\b.{0,120}\b(?:costs?|pay|paid|charged?|fees?|dues|fines|fine(?=\?|$| (?:for|of|if|when|in|on|that)\b)|rent|salar(?:y|ies)|wages?)\b"
    r"|\bwhat (?:do|does|did|will|would) .{0,120}\b(?:cost|charge)\b|\bwhat(?: is the| is an?|'s the)? (?:salary|price|wage|cost|fee)\b": "money cent share",
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
    r"(?<![避以难未不])免(?![疫职责])|无需|(?<!不)承担|不(?:另|再)?(?:收|计)|\b(?:free|nothing|included|no (?:\w+ )?(?:charge|fee|cost)s?)\b"
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
