"""What a passage says that something is: "Cargo is the build tool of Rust", 糖尿病是一种代谢性疾病."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sextant.domain.graph import UNTYPED
from sextant.ingestion.graph.extraction.entity_types import type_of_class
from sextant.ingestion.graph.extraction.extract_terms import sentences_of
from sextant.stores.graph.evidence import one_line
from sextant.text.characters import has_cjk

# "X (born 1901) was an American film director and actor who …": up to what tells more than the kind.
_IS_A = re.compile(
    r"\b(?:is|was|are|were)\s+(?:an?|the)\s+(?:(?:19|20)\d\d\s+)?(?P<kind>[^.,;:!?()\"]{3,80})",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\s+(?:who|which|that|whose|where|when|and|or|but|from|in|by|for|with|at|on|to|of|directed|written|starring|based|released"
    r"|born|known|located|used|produced|made|played|published|about)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_CHINESE_IS_A = re.compile(
    r"(?:是(?:一[个种位名座条家部本款只组类])|是指?|，即|为一[个种位名座条家部本款])(?P<kind>[^，。；：（）()]{2,24})"
)
_ASIDE = re.compile(r"\s*(?:[(（][^()（）]{0,80}[)）])?\s*")
_CLAUSE = re.compile(r"[^，。；：！？\n]+")
_LEAD = "#>*•·|- \t\n"
_ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
_LOOK_AHEAD = 90  # characters between a name and what it is: dates and places of birth stand there
_LONGEST_KIND = 40  # characters
_LONGEST_DESCRIPTION = 400  # characters


class EntityKind(NamedTuple):
    """What something is said to be, and where that stands."""

    text: str
    start: int
    end: int


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
    """
    longest_first = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    for first, end in sentences_of(text):
        start = end - len(text[first:end].lstrip(_LEAD))
        article = _ARTICLE.match(text, start, end)
        starts = {start, article.end() if article else start}
        for name in longest_first:
            at = next((one for one in starts if text.startswith(name, one)), None)
            if at is not None:
                found = find_kind(text, at + len(name), end)
                kind = found and _head(text, found, end)
                if kind is not None and _follows(text, at + len(name), kind):
                    said = one_line(text[start:end])[:_LONGEST_DESCRIPTION]
                    yield Defined(name, at, kind, type_of_class(kind.text), said)
                break


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
