"""The grammar of English questions about tables."""

from __future__ import annotations

import re

from sextant.tables.cells.arithmetic import Operation
from sextant.tables.query.grammar import Grammar
from sextant.text.number_words import CARDINALS, ORDINALS

_LARGEST = (
    r"(?:highest|largest|biggest|maximum|max|greatest|most(?: expensive| recent(?:ly)?)?|top|best(?:[\s-](?:paid|selling|sold|earning))?|longest|heaviest"
    r"|fastest|tallest|latest|newest|oldest|peak)"
)
_SMALLEST = (
    r"(?:lowest|smallest|minimum|min|least(?: expensive)?|fewest|cheapest|youngest|shortest|lightest|slowest|worst"
    r"|earliest)"
)
_SUM = r"(?:total|sum|altogether|together|combined|add up|in all)"
_MEAN = r"(?:average|mean|avg)"
_MORE = r"(?:more|higher|longer|heavier|larger|bigger|greater|older|taller|dearer|faster)(?: expensive)?"
_LESS = r"(?:less|fewer|lower|shorter|lighter|cheaper|smaller|younger|slower)(?: expensive)?"
_ENOUGH = "|".join([*CARDINALS[2:], r"\d{1,3}"])
_END = f"(?:{_LARGEST}|{_SMALLEST})"
_PERIOD = "second|minute|hour|day|night|week|month|quarter|year|annum"
_OTHER_THAN = r"outside(?: of)?|except(?: for)?|excluding|other than|apart from|besides"
_WHAT = r"(?:and )?(?:which|what)(?: different| kinds of| types of)?"
_ONE = rf"\b(?:{_END}|{_SUM}|{_MEAN})\b"
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
        Operation.MEAN: re.compile(rf"\b{_MEAN}\b"),
        Operation.SUM: re.compile(rf"\b(?:in )?{_SUM}\b|\b(?:what|how much) (?:do|does|did) all\b"),
        Operation.MAX: re.compile(rf"\b{_LARGEST}\b|\blast\b"),
        Operation.MIN: re.compile(rf"\b{_SMALLEST}\b|\bfirst\b"),
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
    joined=re.compile(
        rf"(?P<first>{_ONE})(?P<noun>[^,?]{{0,30}}?)(?P<more>(?:{_AND}{_ONE}(?P=noun))+)"
    ),
)
