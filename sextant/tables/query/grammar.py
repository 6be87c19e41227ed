"""The grammars of questions over tables, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Operation
from sextant.text.number_words import ORDINALS

MASK, VALUE_MASK = "\0", "\x01"
"""What stands in the place of a column's name and of a value, once they are understood."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of one language, over a question in plain spelling whose names are masked.

    Attributes:
        operations: by which words each operation is asked for.
        ranks: forms that say how many rows (`n`) or which (`nth`) are asked for; `behind`: not taken out.
        rank_orders: which end a rank means that names none.
        group: what stands before the column for each of whose values it is asked.
        apart: asks how far two numbers are apart; `whether`: whether one is more than the other.
        beside: what stands between the two.
        greater, smaller: comparatives, in "which sold more, A or B?".
        share: asks what part one is of all.
        lists: asks for all rows that are so; `distinct`: for all values of the last column.
        which, who, when: asks for a thing, a person, a date.
        periods: says that all columns of periods are meant; `subjects`: all columns of numbers.
        denied: denies the values behind it.
        by_time: the first or last in time; `best`: best or worst; `quick`, `old`: turned round for times and dates.
        taken_together: the most of what names several rows is a sum; `of_one_row`: never is.
        how_much: asks for a sum of amounts.
        refused: whatever else is understood, the question asks for something else.
        filler: words that keep no row out.
    """

    operations: Mapping[Operation, re.Pattern[str]]
    ranks: tuple[re.Pattern[str], ...]
    group: re.Pattern[str]
    apart: re.Pattern[str]
    whether: re.Pattern[str]
    beside: re.Pattern[str]
    greater: re.Pattern[str]
    smaller: re.Pattern[str]
    share: re.Pattern[str]
    lists: re.Pattern[str]
    distinct: re.Pattern[str]
    which: re.Pattern[str]
    who: re.Pattern[str]
    when: re.Pattern[str]
    rows: re.Pattern[str]
    periods: re.Pattern[str]
    subjects: re.Pattern[str]
    denied: re.Pattern[str]
    by_time: re.Pattern[str]
    best: re.Pattern[str]
    quick: re.Pattern[str]
    old: re.Pattern[str]
    taken_together: re.Pattern[str]
    of_one_row: re.Pattern[str]
    how_much: re.Pattern[str]
    refused: re.Pattern[str]
    filler: re.Pattern[str]
    one: re.Pattern[str]
    """One computation."""
    joined: re.Pattern[str]
    """Several that are joined before one noun: `first`, `noun`, `more`."""


MEASURES = "个人行条款种家名位项类组座所笔张起次台件场部辆间门本单批艘趟班节届"
_THINGS = MEASURES.replace("类", "")
_LARGEST = "最(?:大|高|多|贵|长|重|快|热|强|好|晚|新|远|深|老|年长)"
_SMALLEST = "最(?:小|低|少|便宜|年轻|短|轻|慢|冷|弱|差|早|浅|近)"
_SUM = r"(?:总和|之和|合计|总计|共计|总共|一共|累计|汇总|加起来|总(?=[\0数额量分价值销收支产库预成])|总的|总是?(?=多少)|全部(?=\0))"
_MEAN = f"(?:平均值?(?:每[{MEASURES}])?|(?<=[月日年周])均|均值)"
_N = r"(?P<n>\d{1,3}|[两二三四五六七八九十])"
_SIGN = "[高大多长重晚远贵快低小少短轻早近慢]"
_ONE = rf"(?:{_LARGEST}|{_SMALLEST}|{_SUM}|{_MEAN})"
_LISTED = r"(?:[、和与或及]+\x01+)*"

CHINESE = Grammar(
    operations={
        Operation.MEAN: re.compile(_MEAN),
        Operation.SUM: re.compile(_SUM),
        Operation.MAX: re.compile(f"{_LARGEST}|最后"),
        Operation.MIN: re.compile(f"{_SMALLEST}|最先|首先"),
        Operation.COUNT: re.compile(rf"(?:多少|(?<!哪)几)[{MEASURES}]|(?:行|条目|记录|次)数"),
    },
    ranks=(
        re.compile(rf"哪{_N}[{MEASURES}](?=.*最)"),
        re.compile(rf"(?P<behind>(?:最.|最便宜)的?){_N}[{MEASURES}]"),
        re.compile(
            rf"(?<![目之以此提])(?P<top>前){_N}(?![\d年月天日周季行条期次])(?:个(?![月季])|[名位家大款种件项])?"
        ),
        re.compile(rf"第(?P<nth>[二三四五六七八九十])(?={_SIGN})(?P<sign>{_SIGN})"),
    ),
    group=re.compile(
        r"(?:每(?!秒|分钟|小时|[天日晚周月年])|各|分别)(?:[一]?[个家名位款种类项座级](?:不同的?)?)?"
    ),
    apart=re.compile(
        r"相差(?:了?多少)?|差[额价距]|差多少|[多少](?:了|出)?\0*(?:多少|几)|(?:便宜|[贵高低重轻长短大小])(?:了|出)?(?:多少|几)"
    ),
    whether=re.compile(
        r"(?P<more>(?:[高低多少大小长短贵重轻快慢]|便宜))了?(?:[吗么嘛])|是(?:不是|否)(?=.*比.*(?P<less>[高低多少大小长短贵重轻快慢]|便宜))"
    ),
    beside=re.compile(r"比|[高低多大小长短贵重轻快慢]|便宜|(?<!多)少|更|得"),
    greater=re.compile(r"(?<!最)更?[多高大贵长重快](?![少小大久])"),
    smaller=re.compile(r"(?<!最)更?(?:便宜|(?<!多)少|低|小|轻|短|慢)"),
    share=re.compile(
        r"占(?:全部|全体|总(?:共|的)?)?(?=.{0,16}(?:多少|几成|百分之))|占比|百分之[几多]少?|比例"
    ),
    lists=re.compile(r"哪些|哪几|还有哪|有谁|都有谁|列出"),
    distinct=re.compile(
        r"\0*[^\0\x01]*?(?:[有含在]|涉及|包括|分为|分成)了?(?:哪些|哪几[个家种类款]|几[个家种类款])(?:不同的?)?\0+\s*[?。!]*"
        r"|[^\0\x01]*?\0+(?:[都共]|一共|总共)*[有是](?:哪些|哪几[个家种类款])(?:不同的?)?(?:值|内容)?\s*[?。!]*"
        r"|(?:请)?列出[^\0\x01]*?(?:所有|全部)的?\0+\s*[?。!]*"
    ),
    which=re.compile("哪"),
    who=re.compile("谁|哪里|哪儿"),
    when=re.compile("什么时候|何时|哪一?天"),
    rows=re.compile("[行条]|记录"),
    periods=re.compile("全年|[一整]年|(?:所有|全部|各个?|[两三四]个?|十二个)(?:季度|月)"),
    subjects=re.compile(
        r"(?P<many>[两二三四五六七八九\d])[科门](?:课程?)?(?:总分)?|[各全]科(?:总分)?|总分"
    ),
    denied=re.compile(
        r"(?:(?:没有|不支持|不包[含括]|不含|不带|无)|(?:并?不|并?非|未)(?:[是在由属归为]|属于|来自|位于)?|除了?去?)"
        rf"\x01+{_LISTED}(?:(?:之外|以外|外)的?)?|\x01+{_LISTED}(?:之外|以外)的?"
    ),
    by_time=re.compile("最[早晚新近先后老]|最年[轻长]|首先"),
    best=re.compile("最[好强差弱]"),
    quick=re.compile("最[快慢]"),
    old=re.compile("最老|最年[轻长]"),
    taken_together=re.compile("最[多少]"),
    of_one_row=re.compile("最[贵长重快热强好晚新远深老短轻慢冷弱差早浅]|最便宜|最年[轻长]"),
    how_much=re.compile("[了出有]多少"),
    refused=re.compile(
        r"(?<![线以之目成样资版基])[上下今去明本前]个?(?:年|月|周|季度|星期)|[今昨明][天日]|[高低多少大小]于平均|超过平均"
        r"|哪一?类|中位|为什么|为何|如何|怎么|每[一]?[类种组级层](?=.*平均)|平均每[类种组级层]"
    ),
    filler=re.compile(
        rf"(?:多少|几)[{MEASURES}]?|哪一?[{_THINGS}]?|[全整](?=[\0\x01])|共有?|[这该]张?表格?[中里]?|什么|请问?|列出|告诉我?"
        r"|的|了|是|有|在|吗|呢|和|与|及|谁|哪些?|由|都|也|还|我们|我|(?<=[\0\x01])[里中内]|中(?=[\0\x01的])|放|下(?=的)|所有|全部|总共|一共|员工|职工|人员|同事|雇员|职员|同学"
        r"|队员|会员|产品|商品|项目|些|个|为|给|要|达到|属于|位于|工作|管理|负责|数据|记录|行|条|分别|各|涉及|包括|包含|部门?(?=[\0\x01\W])"
        rf"|其中|按|次数?|人|(?<=[\0\x01])[元块天日级等类组班型区款期量额数部]|[分钱得被用]"
    ),
    one=re.compile(_ONE),
    joined=re.compile(
        rf"(?P<first>{_ONE})(?P<noun>[^,、?]{{0,30}}?)(?P<more>(?:\s*(?:[,、和与及跟]|以及)\s*{_ONE}(?P=noun))+)"
    ),
)


_ENGLISH_LARGEST = (
    r"(?:highest|largest|biggest|maximum|max|greatest|most(?: expensive| recent(?:ly)?)?|top|best(?:[\s-](?:paid|selling|sold|earning))?|longest|heaviest"
    r"|fastest|tallest|latest|newest|oldest|peak)"
)
_ENGLISH_SMALLEST = (
    r"(?:lowest|smallest|minimum|min|least(?: expensive)?|fewest|cheapest|youngest|shortest|lightest|slowest|worst"
    r"|earliest)"
)
_ENGLISH_SUM = r"(?:total|sum|altogether|together|combined|add up|in all)"
_ENGLISH_MEAN = r"(?:average|mean|avg)"
_MORE = r"(?:more|higher|longer|heavier|larger|bigger|greater|older|taller|dearer|faster)(?: expensive)?"
_LESS = r"(?:less|fewer|lower|shorter|lighter|cheaper|smaller|younger|slower)(?: expensive)?"
_ENOUGH = r"\d{1,3}"  # "two" is 2 before the question is read
_END = f"(?:{_ENGLISH_LARGEST}|{_ENGLISH_SMALLEST})"
_PERIOD = "second|minute|hour|day|night|week|month|quarter|year|annum"
_OTHER_THAN = r"outside(?: of)?|except(?: for)?|excluding|other than|apart from|besides"
_WHAT = r"(?:and )?(?:which|what)(?: different| kinds of| types of)?"
_ENGLISH_ONE = rf"\b(?:{_END}|{_ENGLISH_SUM}|{_ENGLISH_MEAN})\b"
_AND = r"\s*(?:,\s*and\b|\band\b|,)\s*(?:\b(?:the|its|their)\s+)?"

# Words that say nothing of one row rather than of another.
_FILLER_WORDS = """
a about all also an and any are as at be been being both by can could currently did do does doing done each every for
from get give got had has have having he her here him his how i if in into is it its itself just many me much my name
of on our own out please shall she should so some such tell that the their them then there these they this those
through to too up us very was we were what when where which who whom whose will with within would you your work works
working make makes made list show row rows record records table entry entries item items product products type kind
exist thing things people person employee employees staff member members come comes keep kept run belong belongs
located based team unit units different see say says take takes put deliver delivers delivered supply provide offer
include includes contain contains cover covers manage handle responsible value values amount number lie listed used
use sell sells sold selling has hold holds under dated gets earn earns column currently go goes
"""

ENGLISH = Grammar(
    operations={
        Operation.MEAN: re.compile(rf"\b{_ENGLISH_MEAN}\b"),
        Operation.SUM: re.compile(
            rf"\b(?:in )?{_ENGLISH_SUM}\b|\b(?:what|how much) (?:do|does|did) all\b"
        ),
        Operation.MAX: re.compile(rf"\b{_ENGLISH_LARGEST}\b|\blast\b"),
        Operation.MIN: re.compile(rf"\b{_ENGLISH_SMALLEST}\b|\bfirst\b"),
        Operation.COUNT: re.compile(r"\bhow many\b|\bnumber of\b|\bcount\b"),
    },
    ranks=(
        re.compile(rf"\b(?P<top>top)\s+(?P<n>{_ENOUGH})\b"),
        re.compile(rf"\b(?:which |what )?(?P<n>{_ENOUGH})\s+(?={_END}\b)"),
        re.compile(rf"\b(?:which|what)\s+(?P<n>{_ENOUGH})\b(?=.*\b{_END}\b)"),
        re.compile(rf"\b(?P<behind>(?:first|last|latest|earliest)\s+)(?P<n>{_ENOUGH})\b"),
        re.compile(rf"\b(?P<nth>{'|'.join(ORDINALS[1:])})[\s-]+(?={_END}\b)"),
    ),
    group=re.compile(
        rf"\b(?:(?:per|each|every)(?!\s+(?:{_PERIOD})\b)|by(?!\s+\x01))\b\s*(?:(?:of )?(?:the |our )?(?:different )?)"
    ),
    apart=re.compile(
        rf"\bhow (?:much|many) (?:{_MORE}|{_LESS})\b|\bby how much\b|\bdifferences?\b"
    ),
    whether=re.compile(
        rf"^\W*(?:did|do|does|is|are|was|were|ha[sd]|have)\b(?=.*\b(?P<more>{_MORE}|{_LESS})\b.*\bthan\b)"
    ),
    beside=re.compile(
        rf"\bthan\b|\bbetween\b|\bcompared (?:to|with)\b|\b(?:{_MORE}|{_LESS})\b|\bor\b"
    ),
    greater=re.compile(rf"\b(?:{_MORE}|better)\b"),
    smaller=re.compile(rf"\b{_LESS}\b"),
    share=re.compile(
        r"\b(?:what|which) (?:share|percentage|percent|proportion|fraction|part)\b(?: of)?|\b(?:share|percentage|proportion) of\b"
    ),
    lists=re.compile(
        r"\blist\b|\bwhich\s+\w+[^siu\W]s\b|\bwhich (?:of|ones)\b|\bwho (?:are|were|is(?:n['’]t| not)|do(?:es)?(?:n['’]t| not))\b"
    ),
    distinct=re.compile(
        rf"(?:{_WHAT}\s+\0+\s+(?:do we have|do you have|are there|exist|are (?:listed|there|used|in)\b[^\0\x01]*"
        r"|(?:does|do)\b[^\0\x01]*\b(?:list|have|contain|include|use|cover))"
        r"|what are (?:all )?(?:the|our)(?: different)?\s+\0+"
        r"|(?:which|what)(?: different)? (?:values|entries|names) (?:are|do you find)(?: there)? in (?:the )?\0+"
        r"|(?:please )?(?:list|name|show)(?: me)?(?: all)?(?: the| our)?(?: different)?\s+\0+)"
        r"(?:\s+(?:types|kinds|names|values))?(?:\s+(?:in|of|from)\b[^\0\x01]*)?\s*[?.!]*"
    ),
    which=re.compile(r"\bwhich\b"),
    who=re.compile(r"\b(?:who|whose|where)\b"),
    when=re.compile(r"\bwhen\b"),
    rows=re.compile(r"\b(?:rows?|records|entries|lines)\b"),
    periods=re.compile(
        r"\b(?:(?:in|over|for|across|during) )?(?:all (?:of )?(?:the )?(?:\w+ )?(?:quarters|months|years)"
        r"|the (?:whole|entire|full) year)\b"
    ),
    subjects=re.compile(r"(?!)"),
    denied=re.compile(
        rf"(?:(?:\b(?:not|neither|{_OTHER_THAN})\b|n['’]t\b)"
        r"(?:\s+(?:being|been|come|coming|work|works|working|live|living|based|located|stored|kept|supplied|delivered|made"
        r"|produced|provided|sold|owned|run|belong|belonging|assigned|part|of (?:the )?(?:type|class|kind)))?"
        r"(?:\s+(?:from|in|at|by|of|to|the|a|an|for|on|with))*\s*"
        r"|\b(?:ha(?:ve|s|ving)|with|offer(?:s|ing)?|includ(?:e|es|ing)|support(?:s|ing)?) no\s+|\bwithout(?: an?y?)?\s+)"
        r"\x01+(?:\s*(?:,|\band\b|\bor\b|\bnor\b)+\s*(?:(?:from|in|at|by|the)\s+)*\x01+)*"
    ),
    by_time=re.compile(
        r"\b(?:latest|earliest|newest|oldest|youngest|(?:most )?recent(?:ly)?|first|last)\b"
    ),
    best=re.compile(
        r"(?<!sold )(?<!sells )(?<!sell )\b(?:best|worst)\b(?![\s-](?:paid|selling|sold|earning))"
    ),
    quick=re.compile(r"\b(?:fastest|slowest)\b"),
    old=re.compile(r"\b(?:old|young)est\b"),
    taken_together=re.compile(r"\b(?:most|least|fewest)\b(?!\s+(?:expensive|recent))"),
    of_one_row=re.compile(
        r"\b(?:longest|heaviest|fastest|tallest|latest|newest|oldest|peak|best|cheapest|shortest|lightest|slowest|worst"
        r"|earliest|most expensive)\b"
    ),
    how_much=re.compile(r"\bhow much (?:was|were|did|has|have)\b"),
    refused=re.compile(
        r"\b(?:last|this|next|past|previous|current)\s+(?:\w+\s+)?(?:years?|quarters?|months?|weeks?|days?)\b"
        r"|\b(?:do|does|did)\b.*\bmean\b|\b(?:above|below|over|under)\s+(?:the\s+)?(?:average|mean)\b"
    ),
    filler=re.compile(rf"\bhow\s+[a-z]+\b|\b(?:{'|'.join(_FILLER_WORDS.split())})\b|['’]s\b"),
    one=re.compile(_ENGLISH_ONE),
    joined=re.compile(
        rf"(?P<first>{_ENGLISH_ONE})(?P<noun>[^,?]{{0,30}}?)(?P<more>(?:{_AND}{_ENGLISH_ONE}(?P=noun))+)"
    ),
)
