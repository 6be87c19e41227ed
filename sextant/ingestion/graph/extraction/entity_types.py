"""Find the type of an entity by its name, its class, its column or a definition; TERM if it is not certain.

Types are those of the extraction by a chat model (`sextant.domain.settings.ExtractionSettings`), and TOOL, LANGUAGE
and CODE. The type by a name does not depend on the passages that mention it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from sextant.domain.graph import UNTYPED
from sextant.ingestion.graph.extraction.extract_terms import is_full_name, sentences_of
from sextant.ingestion.graph.extraction.extraction_prompts import relation_type
from sextant.ingestion.graph.extraction.titles import is_generic
from sextant.stores.graph.evidence import one_line
from sextant.text.characters import has_cjk, normalise_name, remember_short, simplify
from sextant.text.segmenter import cut_tagged_words, is_known_word
from sextant.text.stopwords import ENGLISH_STOP_WORDS

PERSON, ORGANIZATION, LOCATION, CONCEPT = "PERSON", "ORGANIZATION", "LOCATION", "CONCEPT"
CODE = "CODE"
# Short groups of capitals, and two digits: INC-2025-017, BM-40, E47. Not HbA1c, COVID-19 or Q3.
_CODE = re.compile(r"(?=(?:\D*\d){2})[A-Z]{1,4}(?![A-Z])(?:[-_.]?(?:[A-Z]{1,4}(?![A-Z])|\d+))*")
_LONGEST_CLASS = 4  # Chinese characters
# What the dictionary has behind the name of a place: 武汉市, 印度人. Of its places of two characters many are none: 长度, 英雄.
_OF_PLACES = ("省", "市", "县", "州", "国", "人", "语", "地区", "流域", "政府")
# Zones of other continents have names like Center, Darwin and Phoenix.
_OLD_WORLD = ("Europe", "Asia", "Africa")
_HEADING = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}")
_LONGEST_HEADING = 24  # characters


@remember_short(65_536)
def type_of_name(name: str) -> str:
    """Return the type that a name shows by itself: a code, a known place, "… Ltd", 何静."""
    if _CODE.fullmatch(name):
        return CODE
    return _chinese_name(name) if has_cjk(name) else _latin_name(name)


@remember_short(65_536)
def type_of_class(noun: str) -> str:
    """Return the type of a noun by its head, which is its end: "build tool", 慢性疾病."""
    return _class_behind(noun, 0, plural=True)


@remember_short(4096)
def type_of_column(heading: str) -> str:
    """Return the type of the cells of a column: by the class of the heading, else the heading itself."""
    kind = type_of_class(heading)
    words = normalise_name(heading).split()
    names_class = _HEADING.fullmatch(heading) is not None and len(heading) <= _LONGEST_HEADING
    if kind != UNTYPED or not names_class or is_generic(heading):
        return kind
    if is_generic(words[-1]) or any(word in ENGLISH_STOP_WORDS for word in words):
        return UNTYPED
    return relation_type(heading)


def _chinese_name(name: str) -> str:
    known = is_known_word(name)
    words = cut_tagged_words(name)
    [(_, tag), *more] = words
    if tag == "nrfg" and not more:
        return PERSON
    if all(one == "nr" for _, one in words) and is_full_name(name):
        return PERSON
    if not more and known and tag == "nt":
        return ORGANIZATION
    if not more and known and tag == "ns" and _is_known_location(simplify(name)):
        return LOCATION
    return _not_a_person(_class_behind(name, 2))


def _is_known_location(name: str) -> bool:
    return len(name) > 2 or any(is_known_word(name + kind) for kind in _OF_PLACES)


def _latin_name(name: str) -> str:
    if name in _read_locations():
        return LOCATION
    if not name[:1].isupper() or " and " in name:  # "Stations and software" are two
        return UNTYPED
    head, of, _ = name.partition(" of ")  # "Bank of England", "President of the Committee"
    return _not_a_person(_class_behind(head, 0 if of else 1))


@cache
def _read_locations() -> frozenset[str]:
    """Return the countries of the time zone database, and the cities that zones of the Old World are named after."""
    countries = {row[1].partition(" (")[0] for row in _read_zone_table("iso3166.tab")}
    zones = (row[2].split("/") for row in _read_zone_table("zone.tab"))
    cities = {zone[-1].replace("_", " ") for zone in zones if zone[0] in _OLD_WORLD}
    return frozenset(countries | cities)


def _read_zone_table(name: str) -> list[list[str]]:
    text = (files("tzdata") / "zoneinfo" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def _not_a_person(kind: str) -> str:
    """Return the type, but TERM for PERSON: a name that ends in "manager" is a role."""
    return UNTYPED if kind == PERSON else kind


def _class_behind(noun: str, before: int, *, plural: bool = False) -> str:
    """Return the type of the class at the end of `noun`, with at least `before` characters or words before it.

    `plural`: the class may be in the plural, which in names is often a surname: Leslie Banks.
    """
    known = _class_words()
    if has_cjk(noun):
        plain = simplify(noun)
        ends = (plain[-size:] for size in range(min(_LONGEST_CLASS, len(plain) - before), 1, -1))
        return next(filter(None, map(known.get, ends)), UNTYPED)
    words = noun.casefold().split()
    last = words[-1].strip(".") if len(words) > before else ""
    return known.get(last) or known.get(last.removesuffix("s" * plural)) or UNTYPED


@cache
def _class_words() -> dict[str, str]:
    text = (
        files("sextant.ingestion.graph.extraction").joinpath("class_words.txt").read_text("utf-8")
    )
    lines = (line.partition(": ") for line in text.splitlines() if line and line[0] != "#")
    return {word.strip(): kind for kind, _, words in lines for word in words.split(",")}


# "X (born 1901) was an American film director and actor who …"
_IS_A = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the)\s+(?:(?:19|20)\d\d\s+)?"
    r"(?:(?:kind|type|sort|form|class|family|set|piece)\s+of\s+(?:an?\s+)?)?(?P<kind>[^.,;:!?()\"]{3,80})",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\s+(?:\w+ed\s+by|who|which|that|whose|where|when|(?:and|or)\s+(?:an?|the)|but|from|in|by|for|with|at|on|to|of|directed|written|starring|based|released"
    r"|born|(?:best\s+)?known|located|used|produced|made|played|published|about)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_AND = re.compile(r"\s+(?:and|or)\s.*", re.IGNORECASE | re.DOTALL)
_CHINESE_IS_A = re.compile(
    r"(?:是(?:一[个种位名座条家部本款只组类])|是指?|(?<=[”」])指|，即|为一[个种位名座条家部本款])(?P<kind>[^，。；：（）()]{2,24})"
)
_ASIDE = re.compile(r"[”\"」』]?\s*(?:[(（][^()（）]{0,80}[)）])?\s*")
_CLAUSE = re.compile(r"[^，。；：！？\n]+")
_LEAD = '#>*•·|- \t\n“"「『'
_ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
_LONGEST_KIND = 40  # characters
_LONGEST_DESCRIPTION = 400  # characters


class EntityKind(NamedTuple):
    """The kind in a definition, with its span."""

    text: str
    start: int
    end: int


class EntityDefinition(NamedTuple):
    """A name with its definition; `description` is the sentence."""

    name: str
    start: int
    kind: EntityKind
    entity_type: str
    description: str


def find_defined(text: str, names: Iterable[str]) -> Iterator[EntityDefinition]:
    """Find the definitions of `names`: sentences that begin with the name and "is a" or 是一种.

    Only a bracket may stand between the name and the verb. A plain 是 suffices before a known class.
    """
    longest_first = tuple(sorted(filter(None, set(names)), key=lambda name: (-len(name), name)))
    for first, end in sentences_of(text):
        start, starts = _openings(text, first, end)
        if not any(text.startswith(longest_first, one) for one in starts):
            continue
        for name in longest_first:
            at = next((one for one in starts if text.startswith(name, one)), None)
            if at is not None:
                if found := _define(text, name, at, (start, end)):
                    yield found
                break


def _define(text: str, name: str, at: int, sentence: tuple[int, int]) -> EntityDefinition | None:
    """Return the definition of the name at `at` that a sentence gives, if any."""
    start, end = sentence
    verb = _behind_aside(text, at + len(name))
    found = _CHINESE_IS_A.match(text, verb, end) or _IS_A.match(text, verb, end)
    words = _head_of_kind(found["kind"]) if found else ""
    if found is None or not 1 < len(words) <= _LONGEST_KIND:
        return None
    first = found.start("kind")
    kind = _head(text, EntityKind(words, first, first + len(words)), end)
    entity_type = type_of_class(kind.text)
    if entity_type == UNTYPED and text[verb:first].rstrip() in {"是", "，即"}:
        return None  # 是常见的 is no definition
    description = one_line(text[start:end])[:_LONGEST_DESCRIPTION]
    return EntityDefinition(name, at, kind, entity_type, description)


def _head_of_kind(words: str) -> str:
    """Return a kind without what describes it, of "film and stage actor" all, of "city and seat of a county" the first."""
    kind = _MORE.sub("", words).strip()
    return kind if type_of_class(kind) != UNTYPED else _AND.sub("", kind)


def _behind_aside(text: str, at: int) -> int:
    """Return the position behind a quotation mark or a bracket."""
    aside = _ASIDE.match(text, at)
    return aside.end() if aside else at


def _openings(text: str, first: int, end: int) -> tuple[int, set[int]]:
    """Return the start of a sentence behind its marks, and the starts with and without an article."""
    start = end - len(text[first:end].lstrip(_LEAD))
    article = _ARTICLE.match(text, start, end)
    return start, {start, article.end() if article else start}


def _head(text: str, kind: EntityKind, end: int) -> EntityKind:
    """Return the end of a Chinese definition's clause, behind the last 的, if it is a known class."""
    if not has_cjk(kind.text):
        return kind
    clause = _CLAUSE.match(text, kind.start, end)
    last = clause.end() if clause else kind.end
    start = text.rfind("的", kind.start, last) + 1 or kind.start
    head = EntityKind(text[start:last], start, last)
    is_known = len(head.text) <= _LONGEST_KIND and type_of_class(head.text) != UNTYPED
    return head if is_known else kind
