"""What a question and a sentence speak of: terms, content words, names, and what a follow-up adds."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from sextant.text.characters import IDEOGRAPHS, MARKS, normalise
from sextant.text.designators import designators_in
from sextant.text.number_words import CARDINALS, ORDINALS
from sextant.text.segmenter import cut_known_words
from sextant.text.simplified import plain_of
from sextant.text.stems import stem
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

_LETTER = rf"(?:(?![{IDEOGRAPHS}])[^\W_])"
_LETTERS = rf"{_LETTER}+(?:[{MARKS}]+{_LETTER}*)*"
WORD = re.compile(rf"[{IDEOGRAPHS}]+|{_LETTERS}(?:[-.'’&]{_LETTERS})*")
_CHINESE = re.compile(f"[{IDEOGRAPHS}]")
_POSSESSIVE = re.compile(r"['’]s$")
_ASKS_FOR_NUMBER = re.compile(
    r"多少|几|幾|何时|何時|什么时候|什麼時候|哪天|哪一?年|日期|多[大长長高远遠久]"
    r"|\b(?:when|how (?:many|much|long|old|far|tall)|(?:what|which) (?:year|date|time|day|percent))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千]")
# E47, INC-2025-017: whoever asks by such a name means that one and no other.
IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[^\W\d])")
# "Which year?", "what is he called?": the answer need not repeat these.
_ASKED_FOR_WORDS = """
年 月 日 人 位 叫 地址 位置 规定 規定 意思 含义 原因 理由 方法 办法 价格 时间 地点 名字 数量 钱 收费 收費
一共 总共 總共 大约 大約 大概 目前 现在 現在 通常 一般 什么样 些地方 何年
步骤 步驟 流程 手续 手續
mean meaning step procedur address location price cost money name reason time per long old far tall often
"""
# Verbs that say little by themselves: whoever works in Paris is in Paris.
_LIGHT_VERBS = """
发生 出现 遇到 碰到 办 怎么办 怎办 算 怎么算 做 放 弄 去 来 没 没来 不能 不可 不会 不用 不必 拿 找 需要 想 知道 允许 允許 准许
allow appear bring come do encounter find get give go happen happens happened keep kept last make need permit put take want work
"""
_ASKED_FOR = frozenset((_ASKED_FOR_WORDS + _LIGHT_VERBS).split())
# 几天, 第几章: asks for a number with its measure, which no answer repeats; 几何 and 几乎 do not ask.
_WHICH_DAY = re.compile("(?:星期|周|週|礼拜|禮拜)[几幾]")
_HOW_MANY = re.compile(r"第?[几幾](?![何乎率内內丁])\w{1,2}")
# Who asks 早上几点上班 asks for the hour; it tells itself whether that is in the morning.
_PART_OF_DAY = re.compile("(?:早上|早晨|上午|中午|下午|晚上|每天)(?=[几幾][点點])")
# So does "how many days"; whoever answers may count in weeks.
_HOW_MANY_UNITS = re.compile(
    r"\bhow many (?:(?:working|business|calendar|full) )?(?:second|minute|hour|day|night|week|month|year)s?\b",
    re.IGNORECASE,
)
# "What's new in 3.2?", "When was 3.2 released?": what stands under 3.2 says so without these words.
_OF_VERSION = re.compile(
    r"\bwhat(?:['’]s| is| was| are) new\b|\b(?<=when was )(?P<version>(?:version |release )?v?\d+(?:\.\d+)+) released\b"
    r"|有(?:什么|哪些)(?:新功能|更新|变化)|(?:更新|新增)了(?:什么|哪些)(?:功能)?",
    re.IGNORECASE,
)
# "What does a new blade cost?" asks of any, 卖多少钱 for a price; and 2.4 is called so where it stands, whether or not as a version.
_SAYS_NOTHING = re.compile(
    r"\b(?<=\ba )new (?=[a-z])|\b(?:version|release) (?=v?\d+\.\d)|版本 ?(?=v?\d+\.\d)"
    r"|(?<=\d\.\d)(?: ?版本?)(?=[有中里的新更])|[卖賣](?=多少|[几幾])",
    re.IGNORECASE,
)
# "How do I fix E47?": what stands under E47 says what to do without such a word.
_DEALS_WITH = re.compile(
    r"\b(?<=how )(?:(?:do|can|could|should|would|to)(?: (?:i|we|you|one))? )?(?:fix|solve|resolve|repair|remedy|handle"
    r"|clear|correct|troubleshoot|deal with|get rid of|recover from)\b"
    r"|(?:怎么|怎样|如何|怎麼|怎樣)(?:处理|處理|解决|解決|修复|修復|排除|排查|应对|應對|消除)|(?:处理|解决|修复|排除)(?:方法|办法|步骤)",
    re.IGNORECASE,
)
# Who asks which there are is told by a list.
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:which|what) (?:(?!(?:is|was|has|did|does?|happens)\b)\w+ ){0,2}?(?!(?:is|was|has|does|happens)\b)\w+s\b"
    r"|哪些|哪[几幾]|有(?:什么|什麼)",
    re.IGNORECASE,
)
_ASKS_FOR_STEPS = re.compile(
    r"\b(?:steps|procedure|process)\b|步骤|步驟|流程|手续|手續", re.IGNORECASE
)
# "And in Tokyo?", 那天津呢: what is named here stands for what was asked before.
_INSTEAD = re.compile(
    r"^\s*(?:(?:and|but|or|then)\b|(?:what|how) about\b)|^(?:那么?|还有|以及|而)|呢[？?]*$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|that|those|these|this)\b|(?<!其)[它他她]|其(?![他它余实中])|[这那][个些种位]",
    re.IGNORECASE,
)
# "And the second one?" calls by its place what was asked before.
_BY_PLACE = re.compile(
    rf"第\s*[\d一二三四五六七八九十]|最后一|\b(?:{'|'.join(ORDINALS)}|last|\d+(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
# Omar Said, and not the first word of a question alone.
_PAIR = 2
_RUN = re.compile(r"\b[a-zA-Z]+(?: [a-zA-Z]+)+\b")
_FULL_NAME = re.compile(r"\b[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)+")
# "What is the speed of light?", 光的速度是多少: a property, and whose; not of a chain (X's father's birthplace).
_PROPERTY_OF = re.compile(
    r"\b(?:what|which|how [a-z]+)(?:['’]s| is| are| was| were) the (?P<what>(?:[\w-]+ ){1,3}?)of (?P<whose>.+?)"
    r"(?=$|[?,;]| (?:in|on|at|for|from|by|that|which|who|when|with|during|after|before|to|between"
    r"|whose|where|as|than)\b)"
    r"|^(?:请问)?(?P<zh_whose>[^的，。？?]{1,14})的(?P<zh_what>[^的，。？?]{1,8}?)(?:一共|总共|都)?[是有为](?:什么|多少|哪|谁|几|怎)",
    re.IGNORECASE,
)
# 什 is no word of a question, but one of 布什 and 克什米尔. How and why (怎么, 如何) ask for more than what their
# sentence is about, so they count as words that it lacks.
_WHAT = re.compile("什么|[什甚]麼|甚么")
# 谁付 asks who; the segmenter takes it for a word.
_ASKS = re.compile(r"^由?[谁誰][来來]?$|^[谁誰哪]|[谁誰]$|多少$")
# 那餐补呢 asks for 餐补; the segmenter takes 那餐 for a word.
_PARTICLES = re.compile(r"^(?:那么?|然后|还有|以及|而)[，,]?|呢[？?]*$")
_QUESTION = re.compile(r"[?？]\W*$")
_NUMBER_WORDS = {
    **{word: str(number) for number, word in enumerate(CARDINALS)},
    **{word: str(number) for number, word in enumerate(ORDINALS, start=1)},
}


def terms(text: str) -> list[str]:
    """Return what `text` speaks of: stems of words, and single and paired Chinese characters.

    Characters and pairs together found more answers than either alone or the segmenter's words
    (cmrc2018, first three sentences: 87.0 % against 86.3 and 85.3).
    """
    found: list[str] = []
    for token in WORD.findall(normalise(text)):
        if _CHINESE.match(token):
            said = _WHAT.sub("么", token)
            pairs = (said[at : at + 2] for at in range(len(said) - 1))
            telling = (pair for pair in pairs if CHINESE_STOP_WORDS.isdisjoint((pair, *pair)))
            found += [*(char for char in said if char not in CHINESE_STOP_WORDS), *telling]
        elif token not in ENGLISH_STOP_WORDS:
            word = _POSSESSIVE.sub("", token)
            found.append(_NUMBER_WORDS.get(word) or stem(word))
    return found


def content_words(question: str) -> list[str]:
    """Return what a question is about: the segmenter's words and the stems, without what it asks for."""
    words: list[str] = []
    for token in WORD.findall(normalise(without_asking_for_news(question))):
        if _CHINESE.match(token):
            cut = (
                _ASKS.sub("", word)
                for word in cut_known_words(_WHICH_DAY.sub("几", token))
                if word not in CHINESE_STOP_WORDS
            )
            words += [
                word
                for word in cut
                if word and word not in _ASKED_FOR and not _HOW_MANY.fullmatch(word)
            ]
        else:
            words += [word for word in terms(token) if word not in _ASKED_FOR]
    return list(dict.fromkeys(words))


def without_asking_for_news(question: str) -> str:
    """Return a question without "what is new in" before a version, which nothing that stands under that version says."""
    return _OF_VERSION.sub(lambda match: f" {match['version'] or ''} ", question)


def without_empty_words(question: str) -> str:
    """Return a question without what no answer need repeat: "a new blade" as "a blade", "version 2.4" as "2.4".

    Nor that a thing named E47 or HTTP 502 is to be dealt with.
    """
    left = _SAYS_NOTHING.sub("", question)
    if not (identifiers(left) or designators_in(left)):
        return left
    return _DEALS_WITH.sub(lambda match: " " if match[0].isascii() else "是什么", left)


def broken_words(question: str) -> list[str]:
    """Return the Chinese words of a question that lose a character to the stop words: 所有权 and 所得税 would be 权 and 税."""
    return [
        word
        for word in content_words(question)
        if len(word) > 1 and not CHINESE_STOP_WORDS.isdisjoint(word)
    ]


def own_part(question: str) -> str:
    """Return a follow-up without what it borrowed; any other question as it is.

    "What about sick leave? (days, employees)": what was asked before stands in brackets at the end
    (`sextant.nodes.question.conversation`).
    """
    own, borrowed, _ = question.rpartition(" (")
    return _PARTICLES.sub("", own) if borrowed and question.endswith(")") else question


def own_words(question: str) -> list[str]:
    """Return what a follow-up is about by itself, if it says so; else all that the question is about."""
    return content_words(own_part(question)) or content_words(question)


def asked_things(question: str, named: Collection[str] = ()) -> list[list[str]]:
    """Return the words of `own_words`, those of a full name together, for they name one thing.

    `named`: further names that the question has, such as "office staff", which a row is for.
    """
    full = () if question.istitle() else _FULL_NAME.findall(question)
    names = [words for name in (*named, *full) if len(words := terms(name)) > 1]
    things = dict[str, list[str]]()
    for word in own_words(_PART_OF_DAY.sub("", _HOW_MANY_UNITS.sub("how many", question))):
        name = next((" ".join(name) for name in names if word in name), word)
        things.setdefault(name, []).append(word)
    return list(things.values())


def owner_asked(question: str) -> list[str]:
    """Return the words of what a question asks a property of: "light" of "the speed of light"; none of a name or number."""
    match = _PROPERTY_OF.search(plain_of(question))
    if match is None or not content_words(match["what"] or match["zh_what"]):
        return []
    return content_words(match["whose"] or match["zh_whose"])


def compounds(question: str) -> list[tuple[str, str]]:
    """Return the words of English compounds, two and two: "parental leave", "chief financial officer".

    Of names they are parts of one thing.
    """
    runs = (run.split() for run in _RUN.findall(own_part(question)))
    beside = [pair for words in runs for pair in pairwise(words)]
    lower = [
        pair for pair in beside if all(word.islower() and not word.endswith("ly") for word in pair)
    ]
    told = [[one for word in pair for one in content_words(word)] for pair in lower]
    return [(words[0], words[1]) for words in told if len(words) == _PAIR]


def lacking(things: Sequence[Sequence[str]], text: str) -> float:
    """Return the share of `things` that a normalised text lacks, 0..1; of a name it may have a part."""
    shares = [sum(word not in text for word in words) / len(words) for words in things]
    return sum(shares) / (len(shares) or 1)


def asked_instead(question: str) -> frozenset[str]:
    """Return the terms of what a follow-up asks in place of what it borrowed; none where it points back to that."""
    own = own_part(question)
    before = question[: question.rfind(" (")] if own != question else ""
    if not _INSTEAD.search(before) or _POINTS_BACK.search(own) or _BY_PLACE.search(own):
        return frozenset()
    return frozenset(terms(" ".join(content_words(own))))


def identifiers(question: str) -> list[str]:
    """Return the names in `question` that stand for one thing and no other, such as `e47`."""
    return [token for token in WORD.findall(normalise(question)) if IDENTIFIER.match(token)]


def is_question(sentence: str) -> bool:
    """Return whether a sentence ends as a question does."""
    return _QUESTION.search(sentence) is not None


def asks_for_number(question: str) -> bool:
    """Return whether a number or a date would answer `question`."""
    return _ASKS_FOR_NUMBER.search(question) is not None


def asks_for_several(question: str) -> bool:
    """Return whether a question asks which there are, so that a list would answer it."""
    return _ASKS_FOR_SEVERAL.search(question) is not None


def steps_asked(question: str) -> frozenset[str]:
    """Return the terms of what a question asks the steps of; none where it does not ask how something is done."""
    rest = _ASKS_FOR_STEPS.sub(" ", question)
    return frozenset(terms(" ".join(content_words(rest)))) if rest != question else frozenset()


def holds_number(text: str) -> bool:
    """Return whether `text` has a number, in digits or Chinese."""
    return _NUMBER.search(text) is not None
