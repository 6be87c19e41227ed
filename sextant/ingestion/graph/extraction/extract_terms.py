"""Extract the terms of a passage without a model: Chinese by part of speech, other scripts by form.

Chinese: adjacent nouns are one term ("胰岛素" + "受体"), as tagged by rjieba (jieba's dictionary and tag set).
Other scripts: runs of capitalised words, also with a number ("Plover 5"), abbreviations, identifiers such as
INC-2025-017, and pairs of content words that the passage repeats. Readers weigh terms by their frequency.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations, groupby, pairwise
from typing import NamedTuple

from sextant.ingestion.graph.extraction.titles import is_generic, openings
from sextant.text.characters import (
    CJK_LETTERS,
    MARKS,
    has_cjk,
    normalise_name,
    remember_short,
    simplify,
)
from sextant.text.segmenter import cut_tagged_words, is_known_word
from sextant.text.sentences import TITLES, sentence_spans
from sextant.text.statements import SURNAMES
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from sextant.text.units import UNIT_PATTERN, is_unit

MOST_TERMS = 12  # of a passage
MOST_PAIRS = 24  # of a passage
_LONGEST_CHINESE = 16  # characters; longer runs of nouns are mistakes of the tagger
_LONGEST = 80  # characters of a name of several words, and of a code

# Nouns, names of people, places, organisations and works, abbreviations; nominal verbs.
_NOUNS = frozenset({"n", "nr", "nrfg", "nrt", "ns", "nt", "nz", "nw", "ng", "j"})
_NAMES = frozenset({"nr", "nrfg", "nrt", "ns", "nt", "nz", "nw"})
_VERBAL, _PERSON = "vn", "nr"
# Nouns that call an institution or a place, whose name may begin or end with that of a person: 李嘉诚医学院.
_INSTITUTION = re.compile(
    r".*(?:公司|集[团團]|[大中小][学學]|[学學]校|中心|基金|[院所科局馆館厂廠店站路会會社系])"
)
# Nouns of at least 2 % of the texts in four or more of nine collections (encyclopedias, medicine, statutes, manuals,
# recipes, news): they say nothing about what a text is on.
_GENERAL = """
全部 工作 方式 部分 利用 地区 基本 小时 影响 数量 方法 无法 生活 过程 世界 个人 中心 产生
代表 传统 公司 合作 基础 官方 数据 文化 方向 服务 模式 程度 管理 系统 能力 计划 任务 企业
信息 全国 关系 制作 功能 发展 因素 国家 国际 城市 大量 实际 家庭 市场 平台 建议 建设 形式
技术 整体 普通 有关 有所 材料 比例 水平 活动 环境 生产 研究 社会 经济 结构 网络 设置 设计
调整 身份 阶段 专业 专家 业务 价值 优势 体验 全球 分析 制度 单位 名字 大家 工具 工程 思想
意义 成绩 故事 朋友 条件 来源 标准 核心 检查 步骤 程序 精神 经验 职业 行业 记录 资料 资源
速度 部门 领域 事业 人员 人数 作用 关键 利益 力量 办法 压力 双方 变化 地位 实力 尝试 年度
性质 意见 成员 手段 技巧 效果 文件 方案 时代 机构 特点 特色 现场 理念 理由 空间 综合 行动
规划 规则 规定 规模 质量 费用 重点 错误
"""
_GENERAL_NOUNS = frozenset(_GENERAL.split())
_LETTERS = rf"[^\W\d_{CJK_LETTERS}]+(?:[{MARKS}]+[^\W\d_{CJK_LETTERS}]*)*"
# Words may have an apostrophe, hyphens, and an ending behind a point: O'Neill, Jean-Luc, Node.js.
_PART = rf"{_LETTERS}(?:['’](?!s\b){_LETTERS})*(?:-[^\W_{CJK_LETTERS}]+)*(?:\.[a-z]{{2,}}\b)*"
_ADDRESS = re.compile(r"(?:https?://|www\.)[!-'*-;=?-~]+|(?<![\w.+-])[\w.+-]+@[\w.-]+", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9_-])(?<!\d\.)(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])"
    r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9_-]|\.\d)"
)
_WORD = re.compile(_PART)
_JOINERS = frozenset({"of", "the", "de", "la", "von", "van"})
# Names that are spelt like stop words.
_ACRONYMS = frozenset({"IT", "US", "WHO"})
_CALENDAR = """
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
"""
_CALENDAR_WORDS = frozenset(_CALENDAR.split())

# A number behind a name ("Plover 5"), but no part of another number, no amount and no year.
_NUMBER = re.compile(r" (?!(?:1[5-9]|20)\d\d\b)\d{1,4}(?!\w|[.,:/–-]\d| ?[%°€$£％])", re.ASCII)

# Weights of an occurrence: a code, a name, a compound noun, a noun.
_IDENTIFIES, NAMED, _JOINED, _PLAIN = 3.0, 2.0, 1.5, 1.0


# Cached, since terms, summaries and co-occurrences of a document's passages each need the sentences.
sentences_of = lru_cache(maxsize=1024)(sentence_spans)


# The start and end of nouns side by side, and their tags.
_Run = tuple[int, int, list[str]]
# A word of letters with its start and end; a named tuple would be five times slower.
_Word = tuple[str, int, int]


class TermSpan(NamedTuple):
    """One occurrence of a term; `weight` depends on its form (> 0)."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a passage: its first spelling, and all its occurrences in order."""

    name: str
    spans: tuple[TermSpan, ...]

    @property
    def weight(self) -> float:
        """Return the sum of its weights in the passage."""
        return sum(span.weight for span in self.spans)


def extract_terms(text: str) -> list[Term]:
    """Return the terms of a passage with the largest weights, in the order of their first occurrence.

    Spellings that are equal by `sextant.text.characters.normalise_name` are one term.
    """
    prose = text
    if any(mark in text for mark in ("://", "www.", "@")):  # else a slow search
        prose = _ADDRESS.sub(lambda found: " " * len(found.group()), text)
    spans: dict[tuple[int, int], TermSpan] = {}
    chinese = [*_chinese(prose)]
    latin = _outside(_latin(prose), chinese)
    for span in sorted((*chinese, *latin), key=lambda span: span.weight):
        spans[span[:2]] = span
    indices: dict[str, list[TermSpan]] = {}
    for span in sorted(spans.values()):
        indices.setdefault(normalise_name(text[span.start : span.end]), []).append(span)
    terms = [Term(text[s[0].start : s[0].end], tuple(s)) for s in indices.values()]
    best = sorted(terms, key=lambda term: (-term.weight, term.spans[0].start))[:MOST_TERMS]
    return sorted(best, key=lambda term: term.spans[0].start)


def co_occurrences(text: str, terms: Sequence[Term]) -> list[tuple[int, int, int]]:
    """Return pairs of terms that share sentences, as (index, index, number of sentences), most frequent first.

    The indices are those in `terms`, the smaller first; ties are in order of index.
    """
    sentences = sentences_of(text)
    begins = [start for start, _ in sentences]
    inside: dict[int, dict[int, None]] = {}
    for index, term in enumerate(terms):
        for span in term.spans:
            sentence = bisect_right(begins, span.start) - 1
            if sentence >= 0 and span.start < sentences[sentence][1]:
                inside.setdefault(sentence, {})[index] = None
    counts: Counter[tuple[int, int]] = Counter()
    for members in inside.values():
        counts.update(combinations(members, 2))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(first, second, times) for (first, second), times in ranked[:MOST_PAIRS]]


def _chinese(text: str) -> Iterator[TermSpan]:
    """Yield runs of Chinese nouns, which may begin with a nominal verb ("检修" + "报告") or a Latin name ("TCL" + "中环")."""
    if not has_cjk(text):
        return
    for start, end, tags in _noun_runs(text):
        name = text[start:end]
        if 2 <= len(name) <= _LONGEST_CHINESE and has_cjk(name) and not _is_common(name):
            named = not _NAMES.isdisjoint(tags)
            yield TermSpan(start, end, NAMED if named else _JOINED if len(tags) > 1 else _PLAIN)


def _noun_runs(text: str) -> Iterator[_Run]:
    """Yield runs of nouns; one before a person ends with the role, which is left out: 城发资本 of 城发资本董事长陈子祥."""
    runs = [[*group] for _, group in groupby(_tag_words(text), key=lambda word: word[2])]
    for words, behind in pairwise([*runs, []]):
        before_person = (
            behind and behind[0][3] == _PERSON and is_full_name(text[behind[0][0] : behind[0][1]])
        )
        last = text[words[-1][0] : words[-1][1]]
        has_role = before_person and len(words) > 1 and not _INSTITUTION.fullmatch(last)
        kept = words[:-1] if has_role else words
        if words[0][2] and any(tag != _VERBAL for *_, tag in kept):
            yield kept[0][0], kept[-1][1], [tag for *_, tag in kept]


def _is_common(name: str) -> bool:
    """Return whether a noun is too general to be a term: 血糖情况 is one, 情况 is not."""
    return name in CHINESE_STOP_WORDS or simplify(name) in _GENERAL_NOUNS or is_generic(name)


@remember_short(16_384)
def _is_chinese_unit(word: str) -> bool:
    return UNIT_PATTERN.fullmatch(simplify(word)) is not None


def _tag_words(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield all words of the text as (start, end, number of the run of nouns or 0, tag).

    A nominal verb may begin a run ("检修报告"); after a noun it is a verb ("医院检查设备") and ends the run. A unit
    ends it, too: of "2 小时血糖" the term is 血糖. A person is a run alone, but for an institution of that name, and a Latin word
    before a name begins one.
    """
    at = run = 0
    inside = was_person = False
    words = cut_tagged_words(text)
    for (word, tag), (_, behind) in pairwise([*words, ("", "")]):
        start, at = at, at + len(word)
        is_noun = tag in _NOUNS and not _is_chinese_unit(word)
        is_person = tag == _PERSON and is_full_name(word)
        is_latin = tag == "eng" and behind in _NAMES and _has_capital(word)
        opens = is_latin or (tag == _VERBAL and not inside)
        parts = was_person and not _INSTITUTION.fullmatch(word)
        run += (is_noun or opens) and (not inside or is_person or parts or is_latin)
        inside, was_person = is_noun or opens, is_person
        yield start, at, run if inside else 0, tag


@remember_short(16_384)
def is_full_name(word: str) -> bool:
    """Return whether a word tagged as a person's name is one; the dictionary tags 苍鹭 and 马达 so, too."""
    return 2 + is_known_word(word) <= len(word) <= 3 and simplify(word)[0] in SURNAMES


def _latin(text: str) -> list[TermSpan]:
    # A longer one is a hash or encoded data; "5V" is an amount.
    codes = [m.span() for m in _IDENTIFIER.finditer(text)]
    spans = [
        TermSpan(*at, _IDENTIFIES)
        for at in codes
        if at[1] - at[0] <= _LONGEST and not is_unit(text[slice(*at)].lstrip("0123456789"))
    ]
    words = _words(text)
    if words:
        named = [*_find_capitalised(text, words, openings(text, sentences_of(text)))]
        spans += [*named, *_add_numbers(text, named)]
    return [*spans, *_outside(_find_repeated(text, words), spans)]


def _words(text: str) -> list[_Word]:
    """Return the words of a text except those beside a digit: BM25 has no word BM."""
    padded = f"{text} "  # its last character stands before the first word, too
    spans = [word.span() for word in _WORD.finditer(text)]
    return [
        (text[start:end], start, end)
        for start, end in spans
        if not (padded[end].isdigit() or padded[start - 1].isdigit())
    ]


def _outside(spans: list[TermSpan], others: list[TermSpan]) -> list[TermSpan]:
    """Return the spans that lie within none of the others."""
    ordered = sorted(others)
    begins = [other.start for other in ordered]
    ends = [0, *accumulate((other.end for other in ordered), max)]
    return [span for span in spans if ends[bisect_right(begins, span.start)] < span.end]


def _find_capitalised(
    text: str, words: Sequence[_Word], begins: Sequence[int]
) -> Iterator[TermSpan]:
    """Yield runs of capitalised words in a sentence, also joined by "of" and the like.

    A single word at the beginning of a sentence, an item or a cell does not count.
    """
    capitals = {index for index, (spelt, _, _) in enumerate(words) if _has_capital(spelt)}
    first, end = set(begins), 0
    for start in sorted(capitals):
        if start < end:
            continue
        end = start + 1
        while (
            end < len(words)
            and (end in capitals or words[end][0] in _JOINERS)
            and _continues_name(text, words[end - 1], words[end], begins)
        ):
            end += 1
        if not (end == start + 1 and words[start][0] in TITLES):  # the "Mrs" of "Mr and Mrs Marsh"
            yield from _name(words[start:end], opens=words[start][1] in first)


def _continues_name(text: str, last: _Word, word: _Word, begins: Sequence[int]) -> bool:
    """Return whether `word` may be of the same name: a space behind `last`, or behind an initial ("J. Doe")."""
    spelt, start, end = last
    gap = text[end : word[1]]
    if gap != " " and not (gap == ". " and len(spelt) == 1):
        return False
    return bisect_right(begins, start) == bisect_right(begins, word[1])


def _name(run: Sequence[_Word], *, opens: bool) -> Iterator[TermSpan]:
    words = list(run)
    if opens and len(run) == 2 and run[1][0] == "I":  # "Yesterday I saw"
        words.pop()
    if opens and len(words) == 1 and not _is_name_by_form(words[0][0]):
        return
    while words and (
        words[-1][0] in _JOINERS or _is_measure(words[-1][0]) or _is_shouted(words[-1][0])
    ):
        words.pop()
    while words and _is_stop_word(words[0][0]):
        words.pop(0)
        opens = False
    if not words or words[-1][2] - words[0][1] > _LONGEST:
        return
    [(first, start, _), *more] = words
    if first.casefold() in _CALENDAR_WORDS or all(len(word) < 2 for word, _, _ in words):
        return
    if more or _is_name_by_form(first) or not opens:
        yield TermSpan(start, words[-1][2], NAMED)


def _is_stop_word(word: str) -> bool:
    is_listed = word.casefold() in ENGLISH_STOP_WORDS and not _is_name_by_form(word)
    return is_listed or _is_shouted(word)


def _is_shouted(word: str) -> bool:
    """Return whether a word is a stop word in capitals: SHALL, GIVEN … WHEN … THEN, but not the I of World War I."""
    is_capitals = len(word) > 1 and word.isupper() and word not in _ACRONYMS
    return is_capitals and word.casefold() in ENGLISH_STOP_WORDS


def _is_measure(word: str) -> bool:
    """Return whether a word is of a date or an amount: Monday, EUR, MB."""
    return is_unit(word) or word.casefold() in _CALENDAR_WORDS


def _add_numbers(text: str, named: Sequence[TermSpan]) -> Iterator[TermSpan]:
    """Yield names with a number behind them, besides the names alone: "Plover 5", "Plover"."""
    begins = {span.end: span.start for span in named}
    for number in _NUMBER.finditer(text):
        start = begins.get(number.start())
        if start is not None and not is_generic(
            text[start : number.start()].rsplit(maxsplit=1)[-1]
        ):
            yield TermSpan(start, number.end(), NAMED)


def _has_capital(word: str) -> bool:
    """Return whether a word has a capital anywhere, or a point: Rust, iPhone, io.js."""
    return word != word.lower() or "." in word


def _is_name_by_form(word: str) -> bool:
    """Return whether a word has a capital behind its first letter, or a point: NASA, iPhone, Node.js."""
    return word[1:] != word[1:].lower() or "." in word


def _find_repeated(text: str, words: Sequence[_Word]) -> list[TermSpan]:
    """Return pairs of content words, a space apart, that occur more than once."""
    folded = [word.casefold() for word, _, _ in words]
    pairs = list(pairwise(folded))
    often = {
        pair
        for pair, number in Counter(pairs).items()
        if number > 1 and all(map(_is_content, pair))
    }
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for index, pair in enumerate(pairs):
        if pair in often:
            (_, begin, last), (_, start, end) = words[index : index + 2]
            if text[last:start] == " ":
                found.setdefault(pair, []).append((begin, end))
    positions = [index for same in found.values() if len(same) > 1 for index in same]
    return [TermSpan(*index, _PLAIN) for index in positions]


@remember_short(16_384)
def _is_content(word: str) -> bool:
    return len(word) > 2 and word not in ENGLISH_STOP_WORDS
