"""What a passage says that something is: "Cargo is the build tool of Rust", 糖尿病是一种代谢性疾病."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sextant.domain.graph import UNTYPED
from sextant.ingestion.graph.extraction.entity_types import CONCEPT, type_of_class, type_of_name
from sextant.ingestion.graph.extraction.extract_terms import sentences_of
from sextant.stores.graph.evidence import one_line
from sextant.text.characters import has_cjk
from sextant.text.linking import is_linkable
from sextant.text.segmenting import cut_tagged_words

# "X (born 1901) was an American film director and actor who …": up to what tells more than the kind.
_IS_A = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the)\s+(?:(?:19|20)\d\d\s+)?"
    r"(?:(?:kind|type|sort|form|class|family|set|piece)\s+of\s+(?:an?\s+)?)?(?P<kind>[^.,;:!?()\"]{3,80})",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\s+(?:\w+ed\s+by|who|which|that|whose|where|when|and|or|but|from|in|by|for|with|at|on|to|of|directed|written|starring|based|released"
    r"|born|known|located|used|produced|made|played|published|about)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE_IS_A = re.compile(
    r"(?:是(?:一[个种位名座条家部本款只组类])|是指?|(?<=[”」])指|，即|为一[个种位名座条家部本款])(?P<kind>[^，。；：（）()]{2,24})"
)
_ASIDE = re.compile(r"[”\"」』]?\s*(?:[(（][^()（）]{0,80}[)）])?\s*")
# What says of a kind of things what it is, and not of one thing: 是一种 and 是指, but not 是一家.
_OF_A_KIND = re.compile(r"是一[种種类類]|为一[种種类類]|是指|[”」]指")
_CLAUSE = re.compile(r"[^，。；：！？\n]+")
_PART_OF = re.compile(
    r"(?:\s*[(（][^()（）]{0,80}[)）])?"
    r"(?:\s+(?:is|are|was|were)\s+(?:(?:an?|the)\s+)?(?:\w+\s+)?parts?\s+of\s+(?:(?:an?|the)\s+)?"
    r"|[也都均]?是(?P<whole>\w{2,16}?)的(?:一|重要|核心|主要|基本)?个?(?:组成)?部分)",
    re.IGNORECASE,
)
# What a sentence begins with and says something of.
_SUBJECT = re.compile(r"[A-Z][\w-]+(?=\s+(?:\([^()]{0,80}\)\s+)?(?:is|was|are|were)\s)")
_CHINESE_SUBJECT = re.compile(r"\w{2,10}?(?=[”」]?(?:（[^（）]{0,80}）)?(?:是|，即|为一))")
_SUBJECT_TAGS = frozenset({"n", "nz", "nw", "ng", "vn", "v", "b", "j", "l", "i", "eng"})  # of jieba
_LEAD = '#>*•·|- \t\n“"「『'
_ARTICLE = re.compile(r"(?:(?P<any>an?)|the)\s+", re.IGNORECASE)
_NOW = re.compile(r"\b(?:is|are)\b", re.IGNORECASE)
_PROPER = frozenset({"nr", "nrfg", "nrt", "ns", "nt", "nz", "eng"})  # of jieba's tags
_LOOK_AHEAD = 90  # characters between a name and what it is: dates and places of birth stand there
_LONGEST_KIND = 40  # characters
_LONGEST_DESCRIPTION = 400  # characters


class EntityKind(NamedTuple):
    """What something is said to be, and where that stands."""

    text: str
    start: int
    end: int


class Part(NamedTuple):
    """Two names of which a text says that one is part of the other, and where they stand."""

    part: str
    part_start: int
    whole: str
    whole_start: int


class Defined(NamedTuple):
    """A name that opens a sentence which says what it is; `description` is that sentence."""

    name: str
    start: int
    kind: EntityKind
    entity_type: str
    description: str


def find_kind(text: str, start: int, end: int) -> EntityKind | None:
    """Find what a sentence says of the name that ends at `start`; None where it does not say."""
    behind = text[start:end]
    found = (_CHINESE_IS_A if has_cjk(behind) else _IS_A).search(behind)
    if found is None or found.start() > _LOOK_AHEAD:
        return None
    kind = _MORE.sub("", found["kind"]).strip()
    at = start + found.start("kind")
    return EntityKind(kind, at, at + len(kind)) if 1 < len(kind) <= _LONGEST_KIND else None


def find_defined(text: str, names: Iterable[str]) -> Iterator[Defined]:
    """Find the sentences that begin with one of `names` and say at once what it is.

    Only a bracket may stand between the name and the verb: in "Rust is fast, and speed is a virtue" neither
    is Rust a virtue nor does the sentence begin with speed. What is of no known class needs "is a" or 是一种.
    What a sentence begins with is a name, too, if it is said to be of a known class ("Cargo is the build tool").
    """
    longest_first = _longest_first(names)
    for first, end in sentences_of(text):
        start, starts = _openings(text, first, end)
        subject = _subject(text, start, end)
        for name in [*longest_first, subject]:
            at = next((one for one in starts if name and text.startswith(name, one)), None)
            found = None if at is None else _define(text, name, at, (start, end))
            if found and (name != subject or name in longest_first or found.entity_type != UNTYPED):
                yield found
            if at is not None:
                break


def _define(text: str, name: str, at: int, sentence: tuple[int, int]) -> Defined | None:
    """Return what a sentence says that the name which opens it at `at` is."""
    start, end = sentence
    found = find_kind(text, at + len(name), end)
    kind = found and _head(text, found, end)
    if kind is None or not _follows(text, at + len(name), kind):
        return None
    entity_type = type_of_class(kind.text)
    if entity_type == UNTYPED and _is_concept(text, name, at, kind):
        entity_type = CONCEPT
    said = one_line(text[start:end])[:_LONGEST_DESCRIPTION]
    return Defined(name, at, kind, entity_type, said)


def find_parts(text: str, names: Iterable[str]) -> Iterator[Part]:
    """Find what a text says to be part of what: "The bolt is part of the Heron".

    The whole is among `names`; the part, with which the sentence begins, is too, or may be a name.
    """
    longest_first = _longest_first(names)
    for first, end in sentences_of(text):
        found = _PART_OF.search(text, first, end)
        if found is None:
            continue
        start, starts = _openings(text, first, end)
        known = {*longest_first, _subject(text, start, end)}
        at = next((one for one in starts if text[one : found.start()] in known), None)
        if at is None:
            continue
        part, place = text[at : found.start()], found.end()
        if found["whole"] is None:
            whole = next((name for name in longest_first if text.startswith(name, place)), "")
        else:
            place = found.end("whole")
            whole = next((name for name in longest_first if text.endswith(name, 0, place)), "")
            place -= len(whole)
        if whole and part not in {"", whole}:
            yield Part(part, at, whole, place)


def _openings(text: str, first: int, end: int) -> tuple[int, set[int]]:
    """Return where a sentence begins behind its marks, and that with where it goes on behind an article."""
    start = end - len(text[first:end].lstrip(_LEAD))
    article = _ARTICLE.match(text, start, end)
    return start, {start, article.end() if article else start}


def _longest_first(names: Iterable[str]) -> list[str]:
    return sorted(filter(None, set(names)), key=lambda name: (-len(name), name))


def _subject(text: str, start: int, end: int) -> str:
    """Return what a sentence begins with, as far as that may be a name of its own: no pronoun, no part of a clause."""
    is_chinese = has_cjk(text[start:end])
    found = (_CHINESE_SUBJECT if is_chinese else _SUBJECT).match(text, start, end)
    name = found.group() if found else ""
    if not name or not is_linkable(name):
        return ""
    if has_cjk(name):
        tags = [tag for _, tag in cut_tagged_words(name)]
        return name if tags[-1][0] == "n" and _SUBJECT_TAGS.issuperset(tags) else ""
    return name


def _is_concept(text: str, name: str, at: int, kind: EntityKind) -> bool:
    """Return whether a definition is of a common noun: "A data race is a bug", "Ownership is a …" beside "the ownership"."""
    if type_of_name(name) != UNTYPED:
        return False
    if has_cjk(name):
        between = text[at + len(name) : kind.start]
        tags = {tag for _, tag in cut_tagged_words(name)}
        return _OF_A_KIND.search(between) is not None and tags.isdisjoint(_PROPER)
    if text[max(at - 1, 0)] in '"“':  # the title of a work
        return False
    article = _ARTICLE.search(text, max(at - 4, 0), at)
    if article is not None and article.end() == at:  # "The film is a sequel" speaks of one
        return article["any"] is not None and name == name.lower()
    is_said_of_all = _NOW.search(text, at, kind.start) is not None
    common = name.lower()
    return (
        common != name
        and is_said_of_all
        and re.search(rf"\b{re.escape(common)}\b", text) is not None
    )


def _head(text: str, kind: EntityKind, end: int) -> EntityKind:
    """Return what ends the clause of a Chinese definition, behind the last 的, where it is a known class."""
    if not has_cjk(kind.text):
        return kind
    clause = _CLAUSE.match(text, kind.start, end)
    last = clause.end() if clause else kind.end
    start = text.rfind("的", kind.start, last) + 1 or kind.start
    head = EntityKind(text[start:last], start, last)
    is_known = len(head.text) <= _LONGEST_KIND and type_of_class(head.text) != UNTYPED
    return head if is_known else kind


def _follows(text: str, end: int, kind: EntityKind) -> bool:
    """Return whether the verb follows the name, and what it says is a class: "是常见的" names none."""
    aside = _ASIDE.match(text, end)
    form = _CHINESE_IS_A if has_cjk(text[end : kind.end]) else _IS_A
    found = form.match(text, aside.end() if aside else end)
    if found is None:
        return False
    plain = found.group()[: found.start("kind") - found.start()].rstrip()
    return plain not in {"是", "，即"} or type_of_class(kind.text) != UNTYPED
