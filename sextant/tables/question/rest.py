"""What is left of a question once all that was understood is taken out of it: it may keep rows out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.tables.cells.table import DataTable
from sextant.tables.question.families import of_one_family
from sextant.tables.question.speaking import without_asking
from sextant.tables.question.units import unit_of
from sextant.tables.question.wording import MEASURES
from sextant.text.characters import IDEOGRAPHS, has_cjk
from sextant.text.segmenting import words_of
from sextant.text.simplified import plain_of
from sextant.text.stems import stem
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(rf"[{IDEOGRAPHS}]+|[^\W\d_{IDEOGRAPHS}]{{3,}}")
_HOW = re.compile(r"\bhow\s+[a-z]+")  # how high
_MARK = re.compile(r"(?<!^)\b[A-Z][A-Z\d]{0,3}\b")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
# 几单, 多少名: how many of them; 全院, 全部: of all; 这张表.
_NO_WORDS = re.compile(
    rf"(?:多少|几)[{MEASURES}]?|[全整]\w|共有?|哪[一]?[{MEASURES}]?|[这该]张?表[中里]?|\bhow (?:many|much)\b"
)
_UNIT_BEHIND = re.compile(r"(?<=\0)(?:[a-z%]+\b|小时|分钟|公里|公斤|[元天吨米岁分])")
_SMALL = frozenset("级等类组班性档型区款的期量额数人")
# What questions say of rows that no table says of itself.
_ANY_ROW_WORDS = """
cost earn paid pay work sell sold make made get own list show name row record table entry item type
kind one there exist product thing people person deliver supply provide offer include contain come
cover support keep manage handle responsible run belong store stored locate located based neither
nor team group unit different see saw seen take took taken give gave go went need want require do
bring happen keep put overall altogether currently
工作 位于 属于 达到 拥有 花费 列出 记录 数据 表 表格 家 中 里 内 所有 全部 产品 商品 项目
人 人员 涉及 供应 提供 发生 分为 分布 人数 不 包含 包括 支持 配有 带有
负责 对接 管理 跟进 主管 归属 属于
还有 除 除了 以外 之外 不是 不在
"""
OF_ANY_ROW = frozenset(_ANY_ROW_WORDS.split()) | frozenset(map(stem, _ANY_ROW_WORDS.split()))
"""Words that say nothing of one row rather than of another."""
# What people are called who are no more than rows of a table, and what classes are called; not 学生, since
# 大学生 is none of size 大.
_PERSONS = "员工 职工 同事 人员 职员 雇员 同学 队员 会员 人 生 士"
PERSONS = frozenset(_PERSONS.split())
ENGLISH_PERSONS = frozenset(
    map(stem, ("employee", "staff", "colleague", "people", "person", "member"))
)
# A word in so many rows is of all of them ("Part-001", "Part-002") and keeps none out.
_OF_ALL = 0.9


def restricts(rest: str, table: DataTable, about: str) -> bool:
    """Return whether a part of a question that was not understood speaks of some of the rows only.

    "The average salary of engineers", where a department is called Engineering, or the sales of March: what
    is computed over all rows then answers another question.

    Args:
        rest: what is left, normalised.
        table: the table that it is about.
        about: the names of its document and sections, which tell of all its rows.
    """
    of_all = plain_of(f"{about} {' '.join(table.names)}")
    if not set(_NUMBER.findall(rest)) <= set(_NUMBER.findall(of_all)):
        return True
    words = {word for word in _words(_HOW.sub(" ", rest)) if word not in of_all}
    if not words:
        return False
    rows = [plain_of(" ".join(cells)) for cells in table.records]
    held = (sum(word in row for row in rows) for word in words)
    return any(0 < rows_held < len(rows) * _OF_ALL for rows_held in held)


def unborne(rest: str, table: DataTable, about: str = "") -> set[str]:
    """Return what a part of a question that was not understood speaks of and the table does not: pears, 护士.

    Whatever is computed then answers another question, unless a column that it names is what it asks for.

    Args:
        rest: what is left, normalised.
        table: the table that it is about.
        about: the names of its document and sections, or its caption.
    """
    names = plain_of(f"{about} {' '.join(table.names)}")
    known, chinese = {*OF_ANY_ROW, *ENGLISH_PERSONS, *_words(names)}, has_cjk(names)
    words = _words(_NO_WORDS.sub(" ", without_asking(_UNIT_BEHIND.sub("", rest), dated=True)))

    def borne(word: str) -> bool:
        if has_cjk(word) is not chinese:  # what it is in the other language is not known
            return True
        small = has_cjk(word) and all(
            one in names or one in _SMALL or one in CHINESE_STOP_WORDS for one in word
        )
        told = word in known or word in PERSONS or word in names or small
        return told or of_one_family(word, names)

    return {word for word in words if not borne(word)}


def marks_left(question: str, rest: str) -> bool:
    """Return whether a short name in capitals was not understood as a value: D, HR, R9."""
    found = ((mark[0], rest[mark.start() : mark.end()]) for mark in _MARK.finditer(question))
    left = {word for word, there in found if there == word.lower() and not unit_of(there)}
    return bool(left - {"I"}) and not question.isupper()


def names_someone(question: str, rest: str, table: DataTable) -> bool:
    """Return whether a capitalised word of the question, not understood as a value, stands in a cell: Max, Count Basie."""
    names = {name for name in _CAPITALISED.findall(question) if name.lower() in rest}
    return any(re.search(rf"\b{name}\b", " ".join(cells)) for name in names for cells in table.rows)


def _words(rest: str) -> Iterator[str]:
    for run in _WORD.findall(rest):
        if run.isascii():
            if run not in ENGLISH_STOP_WORDS:
                yield stem(run)
        else:
            yield from (
                word for word in words_of(run) if len(word) > 1 and word not in CHINESE_STOP_WORDS
            )
