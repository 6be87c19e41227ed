"""Which quantity a question asks for, and whether a text tells one: "how heavy", 多重 and `1.8 kg`.

The kinds are those of questions for numbers in Li and Roth (2002, Learning Question Classifiers,
https://aclanthology.org/C02-1150) that their own units or forms tell: money, weight, period
and distance; ports, versions and shares; counts, by any number but a time of day; colours; and times.

`has_who` tells whether a question asks for somebody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sextant.text.characters import normalise

_NUMBER = (
    r"(?:\d|[零一二两兩三四五六七八九十百千万萬亿億半几幾数數]"
    r"|\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty"
    r"|half|several|hundred|thousand|million|billion)\b)"
)
_PERIOD = (
    rf"{_NUMBER}[\s-]*(?:个|個)?[半多余餘]?(?:年|月|周|週|星期|天|日|小时|小時|时|分钟|分鐘|秒|学期|世纪|世紀|代)"
    r"|\b(?:second|minute|hour|day|night|week|fortnight|month|quarter|year|decade|centur|season|semester|generation)(?:s|y|ies)?\b"
    r"|\d{1,2}:\d\d\s*(?:[-–—~～至到]|to|until|till)\s*\d{1,2}:\d\d"
    r"|\b(?:since|until|till|forever|always|permanent|unlimited|lifelong|lifetime)\b|永久|终身|終身|长期|長期|至今|为止|為止"
)
# A count is no time of day, "a" none either, nor the 1 of eu-central-1.
_COUNT = (
    r"(?<![\da-z:_-])\d(?![\d.,]*:\d)|[零一二两兩三四五六七八九十百千万萬亿億半几幾数數双雙唯]|没有|沒有|无|無"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|half|several|hundreds?|thousands?|millions?|billions?|dozens?|no|none|nobody|few|pairs?|both|single|only|once|twice|thrice)\b"
)
# 4 percent, two years and 90 EUR count nothing that "how many employees" could ask for.
_UNIT = (
    r"(?:per ?cent|years?|months?|weeks?|days?|hours?|minutes?|euros?|dollars?|eur|usd|chf|gbp)\b"
)
_MEASURED = (
    rf"(?:\d[\d.,]*|[a-z]+)[\s-]*(?:%|{_UNIT})"
    rf"|[\d.,零一二两兩三四五六七八九十百千万]+\s*"
    rf"(?:%|年|个?月|個月|周|天|小时|小時|分钟|分鐘|元|块钱|[日号])"
    rf"|\d{{4}}[-/.]\d{{1,2}}(?![\d,])"
)
_COLOUR = re.compile(
    r"[红紅黄黃蓝藍绿綠白黑灰紫橙粉棕褐金银銀]色|[深浅淺]色"
    r"|\b(?:red|yellow|blue|green|white|black|gr[ea]y|purple|orange|pink|brown|gold(?:en)?|silver|navy|beige|cream"
    r"|violet|turquoise|maroon|crimson|scarlet|teal|olive|khaki|magenta|cyan|colou?rless|transparent|colou?rs?|colou?red)(?:ish)?\b|色"
)
_DISTANCE = (
    rf"{_NUMBER}\s*(?:多|余|餘)?\s*(?:公里|千米|米|公尺|厘米|公分|毫米|英里|英尺|英寸|海里|里|丈|尺|寸)"
    r"|\d\s*(?:km|m|cm|mm|mi|ft|in|nm)\b|\b(?:kilomet|met|centimet|millimet)(?:er|re)s?\b|\b(?:miles?|feet|foot|inch(?:es)?|yards?)\b"
)
# 二十号 is a day, 示范路 8 号 and 三号楼 are places.
_DAY_NUMBER = (
    r"(?<![路街巷弄道段]\s)(?<![路街巷弄道段\d一二三四五六七八九十])(?:[12]?\d|3[01]|[二三]?十?[一二三四五六七八九]|[二三]?十)"
    r"\s*[号號](?![楼樓线線库庫机機码碼门門车車店])"
)
# What says when something is: a date, a time of day, or what it comes before, after or at the same time as.
_WHEN = re.compile(
    rf"{_PERIOD}|{_DAY_NUMBER}|(?<![\w-])(?:1[0-9]|20|21)\d\d(?![\w-])|\b\d{{1,2}}:\d\d|\d[/.-]\d{{1,2}}[/.-]\d|{_NUMBER}\s*[月日点點年]"
    r"|\d\s*(?:a\.?m|p\.?m|o'?clock|bce?|ad|ce)\b|\d(?:st|nd|rd|th)\b|世纪|世紀|年代|朝|[春夏秋冬]|[早晚上中下]午|[早晚]上|星期|周[一二三四五六日末]|[今昨明前]"
    r"|时|時|后|後|期间|期間|当|當|一旦|同日|随时|隨時|每"
    r"|\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|spring|summer|autumn|fall|winter|midnight|noon|morning|afternoon|evening|weekends?|christmas|easter"
    r"|today|yesterday|tomorrow|now|currently|recently|ago|later|earlier|early|late|daily|weekly|monthly|yearly|annually|hourly|every|each|always|never|then"
    r"|before|after|when|whenever|once|while|as soon as|upon|during|within|if|by|starts?|ends?"
    r"|beginning|immediately|era|age|times?)\b"
)
_CLOCK = re.compile(
    rf"\b\d{{1,2}}[:.]\d\d|{_NUMBER}\s*[点點时時](?![间間])|\d\s*(?:h\b|[ap]\.?m\b|o'?clock)"
    rf"|\b(?:midnight|noon|o'?clock|around the clock)\b|24\s*(?:hours|小时|小時)|全天|正午|午夜"
)
# 5.5 ms and 7.5 % are no versions.
_VERSION = re.compile(
    r"(?<![\d.])\d+(?:\.\d+)+(?![\d.]|\s?(?:%|°|[a-zµμ]{1,2}\b|times|percent|points|[秒分天年个元倍万亿]))"
    r"|\bv ?\d|\b(?:version|release)s? ?\d|\d ?(?:版|or (?:newer|later))|第.{1,3}版|\b(?:19|20)\d\d\b"
)
_OF_SECTIONS = (_WHEN, _VERSION)
# Units of periods that answer for each other: half a year is no number of days.
_PERIODS = (
    (
        "seconds?|minutes?|hours?",
        "秒|分钟|分鐘|[个個]?小时|[个個]?小時",
        r"seconds?|minutes?|mins?|hours?|h|s|秒|分|小时|小時|时|時|半天|天|days?",
    ),
    (
        "days?|nights?|holidays?",
        "天|日|晚",
        r"days?|nights?|weeks?|fortnights?|weekends?|天|日|晚|夜|星期|周|週|休",
    ),
    (
        "weeks?",
        "[个個]?星期|周|週",
        r"days?|weeks?|fortnights?|months?|天|日|星期|周|週|月",
    ),
    (
        "months?|years?|quarters?|decades?|centuries",
        "[个個]?月|年",
        r"months?|years?|quarters?|decades?|centur(?:y|ies)|weeks?|月|年|季|周|週|世纪|世紀|岁|歲",
    ),
)
# Units of other measures, asked for and answered by each other: acres are no prices. Last, what is measured in them,
# as far as it is asked for by name ("what is the temperature of the oven?").
_MEASURES = (
    (
        "acres?|hectares?|square (?:met(?:er|re)s?|feet)",
        "亩|畝|公顷|公頃|平方米|平方公里|平米",
        r"acres?|hectares?|ha|sqm|square|亩|畝|公顷|公頃|平方|平米|m2",
        ("floor area", "面积"),
    ),
    (
        "lit(?:er|re)s?|gallons?",
        "升|毫升|立方米|加仑",
        r"lit(?:er|re)s?|gallons?|l|ml|m3|升|立方|加仑",
        ("volume in litres", "容积"),
    ),
    (
        "degrees?",
        "摄氏度|攝氏度|度(?!电|電)",
        r"degrees?|celsius|fahrenheit|°[cf]?|k|度",
        ("temperature", "温度|溫度|气温|氣溫"),
    ),
    (
        "watts?|kilowatts?|volts?|amperes?|amps?",
        "千?瓦|伏|安培",
        r"(?:kilo)?watts?|volts?|amperes?|amps?|k?w|k?v|m?a|千?瓦|伏|安",
        ("wattage|voltage", "功率|电压|電壓"),
    ),
    (
        "pages?|words?",
        "页|頁|字",
        r"pages?|words?|pp|页|頁|字",
        ("page count", "页数|頁數|字数|字數"),
    ),
)
_PRICED = r"\b(?:pric(?:es?|ed|ing)|cost(?:s|ing)?|fees?|rates?|worth)\b"
# What is an amount of money wherever it is asked how much it is; fines and deposits may be shares or rents.
_SUMS = "预算|报价|总价|运费|工资|薪资|薪水|月薪|租金|房租"
# A date in a row is none of the numbers that a question asks for.
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d+年\d+月(?:\d+日)?"
)
# A number with no unit beside it, nor part of a name (h3-std) or of a size (4.6 x 2.1 m).
_BARE_NUMBER = re.compile(
    r"(?<![\w.,:×-])\d++(?:[.,:]\d++)*(?![.,:]\d)(?!\s*[^\W\d_]|\s*[°%×]|-\w)"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is asked for: the question's word for it, and where a normalised text has one such.

    `is_number`: a number alone may tell it, where a table's head says what is counted. `of_sections`: sections
    are called by it, as releases are by their versions.
    """

    word: str
    told: re.Pattern[str]
    is_number: bool = True
    of_sections: bool = False

    def told_by(self, text: str) -> bool:
        """Return whether `text` has such a quantity; the unit of a table's number may stand anywhere, or nowhere.

        But one beside the number says what it is: 66 dB is no price. Of a table's text the last line is the row.
        """
        plain = normalise(text)
        if self.told.search(plain):
            return True
        row = plain.rpartition("\n")[2]
        return self.is_number and "|" in row and _BARE_NUMBER.search(_DATE.sub("", row)) is not None


_OF_MEASURES = [
    (
        re.compile(
            rf"\bhow (many) (?:[\w-]+ ){{0,2}}?(?:{english})\b|(?:多少|[几幾])(?:{chinese})"
            rf"|\bwhat (?:is|are|was|were) the (?:[\w-]+ ){{0,2}}?({named})\b"
            rf"(?=\W*$| (?:of|in|at|on|for|inside|outside)\b)"
            rf"|(?:{zh_named})(?:[是为為]|大约|最[高低])*(?:多[少高低大]|[几幾])"
        ),
        # Of a row the head may have the unit.
        re.compile(
            rf"{_NUMBER}[\d.,]*\s*(?:[\w-]+ ){{0,2}}?[多余餘]?(?:{units})(?![a-z])"
            rf"|(?:{units})(?![a-z])[^\n]*\n[^|]*\|.*\d",
            re.DOTALL,
        ),
    )
    for english, chinese, units, (named, zh_named) in _MEASURES
]
# Seven digits or more in groups, or a short number such as 110.
_PHONE = re.compile(
    r"(?<![\d.:-])(?:\+\d{1,3}[ -]?)?(?:\(?\d{2,5}\)?[ -]?)?\d{3,4}[ -]?\d{3,4}(?![\d-])|\b1\d\d\b"
    r"|(?:电话|電話|热线|熱線|分机|分機|\b(?:phone|call|dial|hotline|extension|ext)\b)[^\d\n]{0,8}\d{2,}"
)
_NO_NUMBERS = (_COLOUR, _WHEN, _CLOCK, _VERSION, _PHONE, *(told for _, told in _OF_MEASURES))
_KINDS = [
    *_OF_MEASURES,
    # What percentage of the salary is no sum of money.
    (
        re.compile(
            r"率[^，。；？?]{0,6}多少|百分之(?:多少|[几幾])|比例[^，。；？?]{0,6}多少"
            r"|\b(?:what|which) (percentage|percent|proportion)\b"
        ),
        re.compile(r"%|‰|百分|\bper ?cent|[成倍比]|\d|[一二三四五六七八九十半]"),
    ),
    (
        re.compile(
            rf"(?:怎么|怎麼|如何|怎样|怎樣)(?:收费|收費|计费|計費|收钱|算钱)|收费标准|收費標準|多少钱|多少錢|几块钱|价格|價格|价钱|售价|售價|票价|票價|(?:{_SUMS})[^，。；？?]{{0,6}}多少"
            r"|\bhow (expensive)\b|\bhow much\b.{0,60}?\b(costs?)\b"
            r"|\bwhat\b.{0,60}?\bis the (?:\w+ ){0,2}?(cost|price|budget|salary|wage|rent)\b"
            r"|\bwhat does\b.{0,60}?\b(cost)\b"
        ),
        re.compile(
            rf"[$€£¥₹₩]|{_NUMBER}\s*(?:多|余|餘)?\s*(?:[美日欧港新澳加]?元|[美欧歐]分|块|塊|圆|圓|英镑|法郎|卢布|盾|马克|角|毛(?:钱|錢|[^\w]|$))"
            r"|\b(?:usd|eur|gbp|chf|cny|rmb|jpy|sek|nok|dkk|czk|pln|huf|ron|isk|inr|krw|hkd|twd|sgd|aud|cad|nzd|thb|zar|brl|mxn)\b"
            r"|\b(?:dollar|euro|pound|franc|yuan|yen|cent|pence|penny|mark|crown|krone|krona|rupee|rouble|ruble|peso|shilling|guilder|lira)s?\b"
            rf"|免[费費](?:使用|提供|$|[^\w\s])|\b(?:is|are) free\b|\bfree of charge\b"
            rf"|(?:价|價|费|費|{_PRICED}).{{0,99}}?{_NUMBER}"
            rf"|{_NUMBER}.{{0,99}}?(?:价|價|费|費|{_PRICED})|(?:{_SUMS})[^|\n]{{0,8}}?{_NUMBER}"
            r"|\d(?:k|m)\b|\d\s*(?:million|billion)\b|\d\s*[万萬亿億]",
            re.DOTALL,
        ),
    ),
    (
        re.compile(
            r"多重|多少(?:公斤|千克|斤|吨|噸|克)|重量|\bhow (heavy)\b|\bhow much\b.{0,60}?\b(weigh)\b"
            r"|\bis the (weight)\b"
        ),
        re.compile(
            rf"{_NUMBER}\s*(?:多|余|餘)?\s*(?:公斤|千克|斤|公吨|吨|噸|克|毫克|磅|盎司|两|兩)|(?:重量?|\bweigh(?:s|t|ts|ed|ing)?\b).{{0,99}}?{_NUMBER}"
            r"|\d\s*(?:kg|g|mg|lb|lbs|oz|t)\b|\b(?:kilogram(?:me)?|gram(?:me)?|pound|ounce|ton(?:ne)?)s?\b",
            re.DOTALL,
        ),
    ),
    (
        re.compile(r"多远|多遠|多高|多宽|多寬|多深|\bhow (far|tall|high|wide|deep)\b"),
        re.compile(rf"{_DISTANCE}|{_PERIOD}"),
    ),
    (
        re.compile(
            r"多久|多长时间|多長時間|多长|多長|\bhow (long)\b"
            r"|\bwhat\b.{0,60}?\b(?:notice|probation(?:ary)?|trial|warranty|retention|grace|waiting|lease|payment)\s+(period)\b"
            r"|\bwhat\b.{0,60}?\b(?:flight|running|charging|battery|waiting|response|lead|travel|cooking)\s+(time|life)\b"
        ),
        re.compile(rf"{_PERIOD}|{_DISTANCE}"),
    ),
    *(
        (
            re.compile(
                rf"\bhow (many) (?:[\w-]+ ){{0,3}}?(?:{english})\b|(?:多少|[几幾])(?:{chinese})(?![前后後])"
            ),
            re.compile(
                rf"{_NUMBER}[\s-]*(?:[\w-]+ ){{0,3}}?[多半余餘个個]*(?:工作|自然)?(?:{units})(?![a-z])"
                r"|\d\s*(?:[-–—~～至到]|to|until|till)\s*\d"
            ),
        )
        for english, chinese, units in _PERIODS
    ),
    (
        re.compile(
            r"\b(?:what|which) (?:tcp |http )?(port)\b|[哪什][^，。；？?]{0,8}端口|端口[^，。；？?]{0,4}多少"
        ),
        re.compile(
            r":\d{2,5}(?!\d)|(?:\bports?\b|端口).{0,20}?\d{2,5}(?![\d:]|\.\d)|\d{2,5} ?(?:ports?\b|端口)"
        ),
    ),
    (
        re.compile(
            r"(电话|電話)(?:号码|號碼)?[是为為]?(?:多少|[几幾]号?)"
            r"|\bwhat(?:['’]s| is) the (?:[\w-]+ ){0,3}?((?:tele)?phone) number\b"
        ),
        _PHONE,
    ),
    (
        re.compile(
            r"\b(?:what|which) (?:\w+ )?(version|release)s?\b|[哪什][^，。；？?]{0,12}版本|版本(?:是|要求)"
        ),
        _VERSION,
    ),
    (
        re.compile(
            r"\b(?:at|above|below|over|under|beyond|from|until) what (?:\w+ )?"
            r"(ages?|depth|temperature|speed|levels?|threshold|height|size|pressure|distance|length|amount|number)\b"
        ),
        re.compile(_COUNT),
    ),
    (
        re.compile(
            rf"\bhow (many)\b(?! (?:\w+ )?{_UNIT})|多少[个個名位家台辆輛条條张張]|[几幾][个個名位家台辆輛条條张張]"
        ),
        re.compile(rf"(?!{_MEASURED})(?:{_COUNT})"),
    ),
    (
        re.compile(r"\b(?:what|which) (colou?r)s?\b|什么颜色|什麼顏色|哪[种種]颜色"),
        _COLOUR,
    ),
    (
        re.compile(r"\bwhat (time) (?:is|are|do|does|did|will|can|must|should)\b|[几幾][点點]"),
        _CLOCK,
    ),
    (
        re.compile(
            r"(?:^|[,.;:?!] ?|\b(?:and|since|until|till|by) )(when)\b"
            r"|\b(when) (?:is|are|was|were|do|does|did|will|can|must|should|has|have|had)\b"
            r"|\b(?:what|which) (date|day|month|year|time)\b|什么时候|什麼時候|什么时间|什麼時間"
            r"|何时|何時|[哪几幾][一]?[年月天日号號](?![内後后])|(?:星期|周|週|礼拜|禮拜)[几幾]"
        ),
        _WHEN,
    ),
]


def find_question_quantity(question: str) -> Quantity | None:
    """Return the quantity that `question` asks for; None where it asks for none of the kinds."""
    plain = normalise(question)
    for question_form, answer_form in _KINDS:
        if match := question_form.search(plain):
            number, of_sections = answer_form not in _NO_NUMBERS, answer_form in _OF_SECTIONS
            return Quantity(match[match.lastindex or 0], answer_form, number, of_sections)
    return None


_WHO = re.compile(r"\bwho(?:se|m)?\b|谁")
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范石姚谭廖邹熊陆郝孔白崔康毛邱秦史顾侯邵孟龙段钱汤尹黎武乔贺赖龚"
)
"""The commonest Chinese surnames of one character, simplified."""


def has_who(question: str) -> bool:
    """Return whether a normalised question speaks of somebody, be it as "the man who founded it"."""
    return _WHO.search(question) is not None
