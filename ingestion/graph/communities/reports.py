"""Community reports without any model: the most central names, and the sentences that tell of them.

A finding is a sentence of a passage, or what was said of a relation, with the passages it comes from;
so every finding can be cited, and the same graph gives the same report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.graph import Finding, Relation
from domain.text import language_of, normalise
from ingestion.graph.communities.outlines import Outline
from models.sentence_ranking import quotable_spans
from stores.chunks import StoredChunk

MOST_FINDINGS = 6
MOST_STATEMENTS = 24
_MOST_FACTS = 3
_MOST_OF_ONE_PASSAGE = 2
_TITLE_NAMES, _SUMMARY_NAMES, _SUMMARY_FINDINGS = 3, 8, 2
_LONGEST_NAME = 60
_LONGEST_TITLE = 120
_SHORTEST, _LONGEST = 8, 400  # characters of a sentence that is worth quoting
# A name that a finding has named already still counts, but little.
_REPEATED = 0.2
_SEPARATORS = {"zh": "、", "en": ", "}
_ABOUT = {"zh": "关于{names}。{findings}", "en": "About {names}. {findings}"}


@dataclass(frozen=True, slots=True)
class Report:
    """What is said of a community; `rating` is in 0..10.

    `writer` is the chat model's name, empty for a report put together here; `note` says why a report
    is not what was asked for.
    """

    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    writer: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A community's outline with the texts: names by weight, best passages, stated relations.

    `relations` come with the names of their ends.
    """

    outline: Outline
    names: Sequence[str]
    chunks: Sequence[StoredChunk]
    relations: Sequence[tuple[str, Relation, str]]

    @property
    def language(self) -> str:
        """Of most of the passages' letters, or of the names where there is no passage."""
        return language_of(" ".join(chunk.text for chunk in self.chunks) or " ".join(self.names))


def extractive_report(evidence: Evidence) -> Report:
    """A report of a community's own sentences; deterministic."""
    findings = _findings(evidence)
    language = evidence.language
    names = distinct_names(evidence.names)
    title = _SEPARATORS[language].join(names[:_TITLE_NAMES])[:_LONGEST_TITLE]
    about = _SEPARATORS[language].join(names[:_SUMMARY_NAMES])
    said = ("" if language == "zh" else " ").join(one.text for one in findings[:_SUMMARY_FINDINGS])
    summary = _ABOUT[language].format(names=about, findings=said).strip()
    return Report(title, summary, tuple(findings), rating(evidence.outline))


def rating(outline: Outline) -> float:
    """How much there is to a community, 0..10: the geometric mean of log2 of members and passages.

    A pair in one passage gets 1.3, a hundred entities in two hundred passages 7.1.
    """
    size, passages = len(outline.group.members), max(len(outline.mentioned), 1)
    return round(min(10.0, math.sqrt(math.log2(1 + size) * math.log2(1 + passages))), 1)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names without those that an earlier one contains, or that contain an earlier one."""
    kept: list[str] = []
    for name in names:
        shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
        folded = normalise(name)
        if not any(folded in normalise(one) or normalise(one) in folded for one in kept):
            kept.append(shown)
    return kept


def facts(evidence: Evidence) -> list[Finding]:
    """What was stated of relations, the heaviest first."""
    return [
        Finding(relation.description or f"{source} — {relation.relation_type} — {target}", chunks)
        for source, relation, target in evidence.relations
        for chunks in [relation.chunk_ids[:3]]
    ]


def sentences(evidence: Evidence) -> list[Finding]:
    """The passages' sentences that name most of the community, each adding names if it can."""
    candidates = list(_candidates(evidence))
    chosen: list[Finding] = []
    named: set[str] = set()
    taken: dict[UUID, int] = {}
    while candidates and len(chosen) < MOST_STATEMENTS:
        best = max(candidates, key=lambda one: (one.worth(named), -one.place))
        candidates.remove(best)
        if taken.get(best.chunk_id, 0) < _MOST_OF_ONE_PASSAGE:
            chosen.append(Finding(best.text, (best.chunk_id,)))
            taken[best.chunk_id] = taken.get(best.chunk_id, 0) + 1
            named.update(best.named)
    return chosen


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence with the weights of the names in it; `place` counts over all passages."""

    place: int
    chunk_id: UUID
    text: str
    named: Mapping[str, float]

    def worth(self, known: set[str]) -> float:
        """What it says of the community; names that are known count little."""
        return sum(
            weight * (_REPEATED if name in known else 1.0) for name, weight in self.named.items()
        )


def _candidates(evidence: Evidence) -> Iterator[_Candidate]:
    weights = dict(zip(map(normalise, evidence.names), evidence.outline.weights, strict=True))
    seen: set[str] = set()
    place = 0
    for chunk in evidence.chunks:
        for start, end in quotable_spans(chunk.text):
            text = " ".join(chunk.text[start:end].split())
            folded = normalise(text)
            if not _SHORTEST <= len(text) <= _LONGEST or folded in seen or folded in weights:
                continue
            seen.add(folded)
            place += 1
            named = {name: float(weight) for name, weight in weights.items() if name in folded}
            if named:
                yield _Candidate(place, chunk.id, text, named)


def _findings(evidence: Evidence) -> list[Finding]:
    """What models or users said of relations first, then sentences; bare relations only for want."""
    said = facts(evidence)
    described = [
        fact
        for fact, (_, relation, _) in zip(said, evidence.relations, strict=True)
        if relation.description
    ]
    found = [*described[:_MOST_FACTS], *sentences(evidence)][:MOST_FINDINGS]
    bare = [fact for fact in said if fact not in found]
    return [*found, *bare][:MOST_FINDINGS]
