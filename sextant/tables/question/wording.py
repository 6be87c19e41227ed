"""The words by which a question asks for arithmetic, in Chinese and English."""

from __future__ import annotations

import re

from sextant.tables.cells.computing import Operation

# What we do not compute, and what turns a condition round: then nothing is computed at all.
NOT_OURS = re.compile(
    r"第[二三四五六七八九十2-9]|前[两二三四五六七八九十\d]|相差|差额|差距|差多少|多多少|少多少|增长|同比|环比"
    r"|占比|比例|比率|占.{0,12}(?:多少|几成)|中位|方差|标准差|排名|排序|为什么|为何|如何|怎么"
    r"|除|不含|不包括|排除|不是|没有|以外|之外|不[在属位]|并非|[不未没無无非](?=[\0\x01])"
    r"|[两二三四五六七八九十\d]倍|一半|半数|\b(?:twice|double|half of|neither|nor|times (?:the|their|its|as))\b"
    r"|[比跟与和]平均|每(?:公斤|千克|吨|公里|平方米|升)|比\x01+[\0更还要]*[多少高低大小贵便重轻长短]|剩|总价?值|[高低大小多少]于平均|超过平均|还是"
    r"|\b(?:than|versus|vs|compared?|outside|besides|left|remaining)\b|\bhow much of\b|\b(?:total value|worth)\b"
    r"|\bper\s+(?!\0|second|minute|hour|day|night|week|month|quarter|year|annum)[a-z]+"
    r"|\b(?:above|below|over|under)\s+(?:the\s+)?(?:average|mean)\b|\b(?:do|does|did)\b.*\bmean\b"
    r"|\b(?:second|third|fourth|fifth|\d+(?:nd|rd|th)|top\s+\w+\s|median|variance|deviation|rank|sort"
    r"|difference|gap|ratio|proportion|percentage of|share of|growth|increase|decrease|change|why"
    r"|how\s+(?:do|does|did|can|should|come|to)|except|excluding|other than|without|not|no|none|never|cannot"
    r"|apart from)\b|n['’]t\b"
    r"|\b(?:first|last)\s+(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|\d+)\s+(?:[a-z]+est|most|least|best|worst)\b"
)
# Times that are counted from today, which no table tells.
FROM_NOW = re.compile(
    r"(?<![线以之目成样资版基])[上下今去明本前]个?(?:年|月|周|季度|星期)|[今昨明][天日]|\b(?:yesterday|today|tomorrow)\b"
    r"|\b(?:last|this|next|past|previous|current)\s+(?:\w+\s+)?(?:years?|quarters?|months?|weeks?|days?)\b"
)
_OTHER_THAN = r"outside(?: of)?|except(?: for)?|excluding|other than|apart from|besides"
_PLACED = (
    r"(?:\s+(?:being|come|coming|work|works|working|live|living|based|located|stored|kept|supplied|delivered|made"
    r"|produced|provided|sold|owned|run|belong|belonging|assigned|part|of (?:the )?(?:type|class|kind)))?"
    r"(?:\s+(?:from|in|at|by|of|to|the|a|an|for|on|with))*"
)
_LISTED_ALSO = (
    r"(?:\s*(?:,|\band\b|\bor\b|\bnor\b|[、和与或及])+\s*(?:(?:from|in|at|by|the)\s+)*\x01+)*"
)
_HAVING_NONE = (
    r"\b(?:ha(?:ve|s|ving)|with|offer(?:s|ing)?|includ(?:e|es|ing)|support(?:s|ing)?) no\s+|\bwithout(?: an?y?)?\s+"
    r"|(?:没有|不支持|不包[含括]|不含|不带|无)"
)
# What denies a value, which is masked by \x01: "not from Norbolt", 不是白色的, 除了白色以外, "have no audit log".
DENIED = re.compile(
    rf"(?:(?:\b(?:not|neither|{_OTHER_THAN})\b|n['’]t\b){_PLACED}\s*|{_HAVING_NONE}|(?:并?不|并?非|未)(?:[是在由属归为]|属于|来自|位于)?\s*|除了?去?\s*)"
    rf"\x01+{_LISTED_ALSO}(?:(?:之外|以外|外)的?)?|\x01+{_LISTED_ALSO}(?:之外|以外)的?"
)
# "By region" groups; "sold by Meyer" names rows, whose values are masked by \x01.
# "Per month" and 每月 group only by a column of that name, which is masked; else they are of rates.
_PERIODS = "second|minute|hour|day|night|week|month|quarter|year|annum"
GROUPED = re.compile(
    rf"每(?!秒|分钟|小时|[天日晚周月年])|各|分别|\b(?:(?:per|each|every)(?!\s+(?:{_PERIODS})\b)|by(?!\s+\x01))\b"
)
PER_PERIOD = re.compile(
    rf"\b(?:per|each|every)\s+(?P<en>{_PERIODS})\b|每(?P<zh>秒|分钟|小时|[天日晚周月年])"
)

# Whose rows are taken together: "which region sells most" and "has the highest sales" is told by sums, "the
# longest lead time" and "the highest price" by one row each (`sextant.tables.question.meaning`).
OF_ALL_ROWS = re.compile(r"最[多少]|\b(?:most|least|fewest)\b(?!\s+expensive)")
OF_ONE_ROW = re.compile(
    r"最[贵长重快热强好晚新远深老短轻慢冷弱差早浅]|最便宜"
    r"|\b(?:longest|heaviest|fastest|tallest|latest|newest|oldest|peak|best|cheapest|shortest|lightest"
    r"|slowest|worst|earliest|most expensive)\b"
)

# The most of one kind of thing, which no column of another kind tells.
OF_ONE_KIND = re.compile(
    r"最[贵长重热深远老短轻冷浅近]|最便宜|最年[轻长]"
    r"|\b(?:longest|heaviest|tallest|oldest|shortest|lightest|youngest|farthest|furthest|nearest|deepest|hottest|coldest"
    r"|cheapest|most expensive)\b"
)
ROWS = re.compile(r"[行条]|记录|\b(?:rows?|records|entries|lines)\b")

LARGEST = (
    r"最大|最高|最多|最贵|最长|最重|最快|最热|最强|最好|最晚|最新|最远|最深|最老|最年长"
    r"|\b(?:highest|largest|biggest|maximum|max|greatest|most|top|best|longest|heaviest|fastest|tallest"
    r"|latest|newest|oldest|peak)\b"
)
SMALLEST = (
    r"最小|最低|最少|最便宜|最年轻|最短|最轻|最慢|最冷|最弱|最差|最早|最浅"
    r"|\b(?:lowest|smallest|minimum|min|least|fewest|cheapest|youngest|shortest|lightest|slowest|worst|earliest)\b"
)
# Words for the most or least of one kind of thing, and what columns of it are called.
IMPLIED = tuple(
    (re.compile(asks), re.compile(kind))
    for asks, kind in (
        (
            r"贵|便宜|多少钱|\bcosts?\b|\b(?:cheap(?:er|est)?|expensive|costl(?:y|iest)|dear(?:er|est))\b",
            r"price|cost|fee|价|费",
        ),
        (r"最老|最年[轻长]|\b(?:old|young)est\b", r"\bage\b|年龄"),
        (r"重|(?<!年)轻|\b(?:heav(?:y|ier|iest)|light(?:er|est))\b", r"weight|重量"),
        (r"\b(?:paid|earns?|earned)\b|收入|赚", r"salary|wage|pay|income|工资|薪|收入"),
        (r"最高的人|\btall(?:er|est)?\b", r"height|身高|高度"),
        (
            r"最[长短](?!期)|\b(?:long|short)(?:er|est)\b",
            r"length|distance|duration|time|wait|period|days|hours|\bkm\b|长|距离|里程|时|期|天数",
        ),
        (r"最[远近]|\b(?:farthest|furthest|nearest)\b", r"distance|\bkm\b|距离|里程|路程"),
    )
)
SUM_WORDS = (
    r"总和|之和|合计|总计|共计|总共|一共|累计|汇总|加起来|总(?=[\0数额量分价值销收支产库预成])|总的|总是?多少"
    r"|\b(?:total|sum|altogether|together|combined|add up|in all)\b|\b(?:what|how much) (?:do|does|did) all\b"
)
MEAN_WORDS = r"平均|[月日年周]均|均值|\b(?:average|mean|avg)\b"
MEASURES = "个人行条款种家名位项类组座所笔张起次台件场部辆间门本单批艘趟班节届"
# 两次, 一款: so many of something.
MEASURED = re.compile(rf"[一二两三四五六七八九十几\d]*[{MEASURES}]")
COUNT_WORDS = (
    rf"(?:多少|(?<!哪)几)[{MEASURES}]|(?:行|条目|记录|次)数|\bhow many\b|\bnumber of\b|\bcount\b"
)
OPERATIONS = {
    Operation.MEAN: re.compile(MEAN_WORDS),
    Operation.SUM: re.compile(SUM_WORDS),
    Operation.MAX: re.compile(LARGEST),
    Operation.MIN: re.compile(SMALLEST),
    Operation.COUNT: re.compile(COUNT_WORDS),
}

# Asks for all rows that are so, and not for something of one that it names.
LISTING = re.compile(
    r"哪些|哪几|还有哪|有谁|都有谁|列出|\blist\b|\bwhich\s+\w+[^siu\W]s\b|\bwhich (?:of|ones)\b"
    r"|\bwho (?:are|were|is(?:n['’]t| not)|do(?:es)?(?:n['’]t| not))\b"
)

# Asks for all values of a column, whose name is masked by \0; whatever else it says is of the table.
DISTINCT = re.compile(
    r"(?:(?:and )?(?:which|what)(?: different| kinds of| types of)?\s+\0+\s+(?:do we have|do you have|are there|exist"
    r"|are (?:listed|there|used|in)\b[^\0\x01]*|(?:does|do)\b[^\0\x01]*\b(?:list|have|contain|include|use|cover))"
    r"|what are (?:all )?(?:the|our)(?: different)?\s+\0+"
    r"|(?:which|what)(?: different)? (?:values|entries|names) (?:are|do you find)(?: there)? in (?:the )?\0+"
    r"|(?:please )?(?:list|name|show)(?: me)?(?: all)?(?: the| our)?(?: different)?\s+\0+)"
    r"(?:\s+(?:types|kinds|names|values))?(?:\s+(?:in|of|from)\b[^\0\x01]*)?\s*[?.!]*"
    r"|\0*[^\0\x01]*?(?:[有含在]|涉及|包括|分为|分成)了?(?:哪些|哪几[个家种类款]|几[个家种类款])(?:不同的?)?\0+\s*[?。!]*"
    r"|[^\0\x01]*?\0+(?:[都共]|一共|总共)*[有是](?:哪些|哪几[个家种类款])(?:不同的?)?(?:值|内容)?\s*[?。!]*"
    r"|(?:请)?列出[^\0\x01]*?(?:所有|全部)的?\0+\s*[?。!]*"
)
HAVING = re.compile(
    r"(?:do (?:we|you) have|are there|exist)\b|^(?:and )?what are (?:all )?(?:the|our)\b|\b(?:list|name|show)\b"
    r"|^(?:and )?(?:which|what)\b"
    r".*\b(?:list|ha(?:ve|s)|contains?|includes?|use|covers?|listed|used|without)\b"
    r"|[有是在]哪|涉及哪|包括哪|分[为成][哪几]"
)
# How far two rows are apart.
_MORE_OR_LESS = "more|less|fewer|higher|lower|longer|shorter|heavier|lighter|cheaper|dearer|larger|smaller|bigger"
APART = re.compile(
    rf"\bhow (?:much|many) (?:{_MORE_OR_LESS})\b(?:\s+expensive\b)?|\bby how much\b|\bdifferences?\b"
    r"|相差(?:了?多少)?|差[额价距]|差多少|[多少](?:了|出)?\0*(?:多少|几)|(?:便宜|[贵高低重轻长短大小])(?:了|出)?(?:多少|几)"
)
# Whether one is more than the other, which the difference and the values of both tell.
IS_IT = re.compile(r"是(?:不是|否)")
WHETHER = re.compile(
    rf"\W*(?:did|do|does|is|are|was|were|ha[sd]|have)\b.*\b(?:{_MORE_OR_LESS})\b.*\bthan\b"
    r"|.*比.*(?:[高低多少大小长短贵重轻快慢]|便宜)了?[吗么嘛]|.*是(?:不是|否).*比"
)
# What stands between the two.
BESIDE = re.compile(r"\bthan\b|\bbetween\b|\bcompared (?:to|with)\b|比")

# What was done: sums are asked for so, and no prices.
HOW_MUCH = re.compile(r"\bhow much (?:was|were|did|has|have)\b|[了出]多少")
# What part one is of all.
SHARE = re.compile(
    r"\b(?:what|which) (?:share|percentage|percent|proportion|fraction|part)\b(?: of)?"
    r"|\b(?:share|percentage|proportion) of\b"
    r"|占(?!\0)(?=.{0,16}(?:多少|几成|百分之))|占比|百分之[几多]少?|比例"
)
# Which of two: A和B哪个更贵, "which sold more, A or B?".
LARGER = re.compile(
    r"\b(?:more|better)\b|\b(?!over|num|ord|und)[a-z]*(?:high|larg|bigg|great|long|tall|heavi|old|fast|dear)er\b|(?<!最)[更]?[多高大贵重长快](?![少小大久])"
)
SMALLER = re.compile(
    r"\b(?:less|fewer)\b|\b(?:small|low|short|light|young|cheap|slow)er\b|(?<!最)[更]?(?:便宜|(?<!多)少|低|小|轻|短|慢)"
)

# Of dates, or of numbers that stand at one: the latest price is not the highest.
BY_TIME = re.compile(
    r"最[早晚新近先后老]|最年[轻长]|首先|\b(?:latest|earliest|newest|oldest|youngest|recent(?:ly)?|first|last)\b"
)
# Either of two conditions; ours hold together.
EITHER = re.compile(r"或|\bor\b")

# Of a column of dates these ask for the earliest and the latest.
DATED = {
    Operation.MIN: re.compile(r"最先|首先|\bfirst\b"),
    Operation.MAX: re.compile(r"最后|\blast\b"),
}
