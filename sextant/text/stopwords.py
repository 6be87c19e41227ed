"""Words that carry no content of their own, in the two languages the offline rules read.

Chosen by us for questions: function words, question words and politeness, simplified and
traditional. Words of a subject ("year", "年") stay out, since documents are about them.
"""

from __future__ import annotations

import re
from functools import cache

from sextant.text.characters import IDEOGRAPHS, has_cjk, normalise, simplify

# Question words with characters that mean something elsewhere: 多 and 少, 如, 什 in 布什 and 克什米尔. 何时 is none of
# them: it stands in 任何时刻, too.
_ASKING = """
什么 什么时候 为什么 哪 哪些 哪个 哪里 哪儿 哪年 哪位 哪种 哪一 哪一个 哪一年 多少 多久 怎么 怎样 怎么样 如何
什麼 什麼時候 為什麼 甚么 甚麼 甚麼時候 為甚麼 哪裡 哪種 哪個 哪一種 哪一個 怎麼 怎樣 怎麼樣
"""

_CHINESE = """
的 地 得 了 着 过 吗 呢 吧 啊 么 呀 嘛 是 在 有 和 与 及 或 等 被 把 对 为 以 于 从 到 由 向 给 让 使
就 都 也 而 又 还 并 但 却 则 将 会 能 可 要 应 该 其 这 那 此 它 他 她 我 你 您 们 之 所 个 几 谁 何
是否 有没有 是不是 能否 可以 请 请问 告诉 介绍 一下 时候 为何 何时 何地 何人 何种 多大 多长 多高 关于 以及 因为
所以 如果 的话 这个 那个 这些 那些 一个 一种 没有 不是 进行 其中 是谁
個 這 來 對 與 於 麼 甚 們 過 嗎 誰 幾 為 會 將 讓 給 還 從 並 應 該 卻 則 裡
是誰 請 請問 告訴 時候 為何 何時 關於 因為 這個 那個 這些 沒有 進行 一個 一種 可以 多長
"""

_ENGLISH = """
a about after all also although am an and any are as at be because been before being between both but by
can cannot could did do does doing done during each either else every for from had has have having he
her here hers him his how however i if in into is it its itself just many may me might more most
much must my name never no nor not of on once only or other our out over own please same shall she
should so some such tell than that the their them themselves then there these they this those
through to too under until up us very was we were what when where whether which while who whom
whose why will with within without would yes you your
can't couldn't didn't doesn't don't hadn't hasn't haven't isn't aren't mustn't shouldn't wasn't weren't won't wouldn't
i'm i've i'd i'll we're we've we'd we'll you're you've you'll they're they've they'll it's that's there's what's
"""

# Modal verbs, and adverbs of time and degree that stopwords-iso lacks.
_BESIDE = """
需要 需 必须 必需 应当 应该 能够 可能 不能 不会 不要 想要 希望
已经 曾经 正在 目前 现在 之前 之后 以前 以后 以下 通常 经常 常常 一直 总是 仍然 非常 比较 特别 尤其 其实 很多 以及
"""

CHINESE_STOP_WORDS = frozenset((_CHINESE + _ASKING).split())
# Apostrophes are typed and typeset.
ENGLISH_STOP_WORDS = frozenset([*_ENGLISH.split(), *_ENGLISH.replace("'", "’").split()])

QUESTION_WORD = re.compile("|".join(sorted(_ASKING.split(), key=len, reverse=True)))


def without_question_words(text: str) -> str:
    """Return Chinese `text` with 么, which is a stop word, for each question word: no pair of characters reaches into one."""
    return QUESTION_WORD.sub("么", text)


def is_stop_word(word: str) -> bool:
    """Return whether a word is a stop word: one of ours, or one of stopwords-iso with two or more characters.

    Many of its single characters are content as part of a word.
    """
    if word in CHINESE_STOP_WORDS or word in ENGLISH_STOP_WORDS:
        return True
    return len(word) > 1 and simplify(word) in _load_stop_words()


@cache
def _load_stop_words() -> frozenset[str]:
    # Imported with the first Chinese question: the lists of all languages are one file.
    from stopwordsiso import stopwords

    longer = {word for word in stopwords("zh") if len(word) > 1 and has_cjk(word)}
    return frozenset(longer | set(_BESIDE.split()))


# The commonest words of French, German, Spanish, Italian, Portuguese and Dutch that are no English ones.
_COMMON = """
le la les des du une est et dans pour que qui sur avec pas ne nous vous ce cette sont au aux par plus il elle
der das und ist nicht ein eine mit für auf den dem von zu sich werden wird auch sie es
el los las y en por para con se su del al como más sus
lo gli è di che non sono della per nel
o os um uma é de com não em da na são está ao
het een van op te dat niet met voor zijn
"""
_OF_OTHERS = frozenset(_COMMON.split()) - ENGLISH_STOP_WORDS
_WORD = re.compile(r"[a-zà-öø-ÿœ]+")
# Letters of scripts that neither language has; kana and Hangul stand beside ideographs.
_OTHER_SCRIPT = re.compile(rf"(?![{IDEOGRAPHS}])[^\W\d_a-zà-öø-ÿœ]")
_LETTER = re.compile(r"[^\W\d_]")
_MUCH = 5


def is_of_others(text: str) -> bool:
    """Return whether `text` is in a language other than Chinese and English, by its letters and commonest words."""
    plain = normalise(text)
    if _MUCH * len(_OTHER_SCRIPT.findall(plain)) > len(_LETTER.findall(plain)):
        return True
    words = _WORD.findall(plain)
    english = sum(word in ENGLISH_STOP_WORDS for word in words)
    return sum(word in _OF_OTHERS for word in words) > 2 * english
