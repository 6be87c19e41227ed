"""The type of an entity that its name, its class or its column shows without doubt; TERM for all others.

Types are those that a chat model is told of by default (`sextant.domain.settings.ExtractionSettings`), with TOOL,
LANGUAGE, DATE, AMOUNT and CODE besides. A name's type follows from the name alone, so it does not depend on
the passages that mention it, nor on their order.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from sextant.domain.graph import UNTYPED
from sextant.ingestion.graph.extraction.model_evidence import relation_type
from sextant.ingestion.graph.extraction.titles import is_generic
from sextant.tables.cells.values import CellValue, ValueKind, read_value
from sextant.text.characters import has_cjk, normalise_name
from sextant.text.persons import SURNAMES
from sextant.text.segmenting import cut_tagged_words, is_known_word
from sextant.text.simplified import simplify
from sextant.text.stopwords import ENGLISH_STOP_WORDS

PERSON, ORGANIZATION, LOCATION, CONCEPT = "PERSON", "ORGANIZATION", "LOCATION", "CONCEPT"
DATE, AMOUNT, CODE = "DATE", "AMOUNT", "CODE"
# Capital letters in short groups, and two digits: INC-2025-017, BM-40, E47. Not HbA1c, COVID-19 or Q3.
_CODE = re.compile(r"(?=(?:\D*\d){2})[A-Z]{1,4}(?![A-Z])(?:[-_.]?(?:[A-Z]{1,4}(?![A-Z])|\d+))*")
_MONEY = re.compile(r"[$¢£¤¥₠-⃀元]|[A-Z]{3}")
_LONGEST_CLASS = 4  # Chinese characters
# What is said right before a name: a label that begins something ("Owner: "), a title or a role ("Dr. ", "manager ").
_LABEL = re.compile(
    r"(?:^|[|\n.;。；，,(（])[\s#>*•-]*(?P<label>[^\W\d_][^\n|:：.;。；，,()（）]{0,30}?)[ \t]*[:：][ \t]*\Z"
)
_ROLE = re.compile(r"(?:^|[\s(（|])(?P<role>[A-Za-z]{2,14})(?P<dot>\.?) \Z")
_CLOSED = re.compile(r"\s*(?:\Z|[|\n.,;。；，、()（）])")
_LOOK_BACK = 40  # characters
_HEADING = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}")
_LONGEST_HEADING = 24  # characters
# Columns of these hold what things are called or worth, which is no class of things.
_UNCLASSED = """
name names value values status state type kind unit date time size color colour answer result
名称 名稱 值 状态 狀態 类型 類型 单位 單位 日期 时间 時間 颜色 顏色 结果 結果 项目 項目 指标 指標
"""
_NO_CLASS = frozenset(_UNCLASSED.split())


@lru_cache(maxsize=65_536)
def type_of_name(name: str) -> str:
    """Return the type that a name shows by itself: a value, a code, a known place, "… Ltd", 何静."""
    value = read_value(name)
    if value.kind is ValueKind.DATE:
        return DATE
    if _is_amount(value):
        return AMOUNT
    if _CODE.fullmatch(name):
        return CODE
    return _chinese_name(name) if has_cjk(name) else _latin_name(name)


@lru_cache(maxsize=65_536)
def type_of_class(noun: str) -> str:
    """Return the type of what is called by `noun`, whose head is its end: "build tool", 慢性疾病."""
    return _class_behind(noun, 0)


@lru_cache(maxsize=4096)
def type_of_column(heading: str) -> str:
    """Return the type of the things in a column: of its heading's class, else the heading itself."""
    kind = type_of_class(heading)
    words = normalise_name(heading).split()
    says_class = _HEADING.fullmatch(heading) is not None and len(heading) <= _LONGEST_HEADING
    if kind != UNTYPED or not says_class or is_generic(heading):
        return kind
    if words[-1] in _NO_CLASS or any(word in ENGLISH_STOP_WORDS for word in words):
        return UNTYPED
    return relation_type(heading)


def type_beside(text: str, start: int, end: int) -> str:
    """Return the type that stands before a name: "Supplier: Halden Works.", "Dr. Marsh", "the manager Ada Marsh"."""
    before = text[max(start - _LOOK_BACK, 0) : start]
    label = _LABEL.search(before)
    if label is not None and _CLOSED.match(text, end):
        return type_of_class(label["label"])
    role = _ROLE.search(before)
    if role is None or not text[start].isupper() or type_of_class(role["role"]) != PERSON:
        return UNTYPED
    is_role = role["role"].islower() and " " in text[start:end]
    return PERSON if role["dot"] or is_role else UNTYPED


def _is_amount(value: CellValue) -> bool:
    units = f"{value.prefix}{value.suffix}"
    return value.kind is ValueKind.NUMBER and _MONEY.fullmatch(units) is not None


def _chinese_name(name: str) -> str:
    known = is_known_word(name)
    words = cut_tagged_words(name)
    [(_, tag), *more] = words
    if tag == "nrfg" and not more:
        return PERSON
    if all(one == "nr" for _, one in words) and _is_person(name, known):
        return PERSON
    if not more and known and tag in {"ns", "nt"}:
        return LOCATION if tag == "ns" else ORGANIZATION
    return _not_a_person(_class_behind(name, 2))


def _is_person(name: str, known: bool) -> bool:
    """Return whether what is tagged as a person's name is one; the dictionary has 苍鹭 and 马达 among them."""
    return 2 + known <= len(name) <= 3 and simplify(name)[0] in SURNAMES


def _latin_name(name: str) -> str:
    is_one = name[:1].isupper() and " and " not in name  # "Stations and software" are two
    return _not_a_person(_class_behind(name, 1)) if is_one else UNTYPED


def _not_a_person(kind: str) -> str:
    """Return the class that a name ends in; whoever is called "… manager" is a role, and no person."""
    return UNTYPED if kind == PERSON else kind


def _class_behind(noun: str, before: int) -> str:
    """Return the type of the class at the end of `noun` with so many characters, or words, before it."""
    known = _class_words()
    if has_cjk(noun):
        plain = simplify(noun)
        ends = (plain[-size:] for size in range(min(_LONGEST_CLASS, len(plain) - before), 1, -1))
        return next(filter(None, map(known.get, ends)), UNTYPED)
    words = noun.casefold().split()
    last = words[-1].strip(".") if len(words) > before else ""
    return known.get(last) or known.get(last.removesuffix("s")) or UNTYPED


@cache
def _class_words() -> dict[str, str]:
    text = (
        files("sextant.ingestion.graph.extraction").joinpath("class_words.txt").read_text("utf-8")
    )
    lines = (line.partition(": ") for line in text.splitlines() if line and line[0] != "#")
    return {word.strip(): kind for kind, _, words in lines for word in words.split(",")}
