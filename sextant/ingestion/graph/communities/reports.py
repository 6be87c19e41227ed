"""Write community reports without a model: a title, and the sentences that name most members.

A finding is a sentence of a passage, or the description of a relation, with its passages. So every finding can be
cited, and the same graph gives the same report.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from sextant.domain.graph import UNTYPED, Finding, Relation
from sextant.ingestion.graph.communities.outlines import Outline, leans_on_others, statements
from sextant.models.offline.passages import find_key, heads_in, quotable_spans
from sextant.models.offline.wording import terms
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.graph.community_store import StoredReport
from sextant.text.characters import language_of, normalise
from sextant.text.sentences import end_sentence

# Characters of a title, and of a name and a heading in it.
_LONGEST, _LONGEST_NAME, _LONGEST_HEADING = 120, 60, 50
_NAMES = 2  # entities that a title lists
_MOSTLY = 0.5  # share of the weight of the best passages: a section with more gives the title
_JOINT = {"zh": "、", "en": ", "}
_COLON = {"zh": "：", "en": ": "}
_PATH_SEPARATOR = " › "
# A title without two letters, such as a date, is no title.
_LETTERS = re.compile(r"[^\W\d_]{2}")


def title_of(
    names: Sequence[str],
    types: Sequence[str],
    chunks: Sequence[StoredChunk],
    telling: Sequence[float],
    *,
    language: str,
    members: int,
) -> str:
    """Return a title of at most 120 characters.

    Args:
        names: distinct names of members, the heaviest first.
        types: of these names.
        chunks: the best passages.
        telling: the information of each.
        language: of the title, `zh` or `en`.
        members: the number of all members.
    """
    section = _main_section(chunks, telling)
    if section:
        known = normalise(section)
        added = [one for one in names if normalise(one) not in known][:_NAMES]
        return _cut(_COLON[language].join(filter(None, [section, _JOINT[language].join(added)])))
    shown = len(names) if members <= _NAMES + 1 else _NAMES
    first = [
        _with_kind(name, kind, language) for name, kind in zip(names[:shown], types, strict=False)
    ]
    rest = members - len(first)
    joined = _JOINT[language].join(first)
    if rest < 1:
        return _cut(joined)
    return _cut(f"{joined}等{members}项" if language == "zh" else f"{joined} and {rest} more")


def _main_section(chunks: Sequence[StoredChunk], telling: Sequence[float]) -> str:
    """Return the title of the document, and the heading, with most of the weight; empty for none."""
    weighed = list(zip(chunks, telling, strict=False))
    document = _most(((one.document_id, one), weight) for one, weight in weighed)
    if document is None or len({one.document_id for one in chunks}) == len(chunks) > 1:
        return ""
    title = document.document_title.strip() or document.filename.rpartition(".")[0]
    if not _LETTERS.search(title):
        return ""
    section = _most(
        ((_heading(one, title), one), weight)
        for one, weight in weighed
        if one.document_id == document.document_id
    )
    heading = _heading(section, title) if section else ""
    return _PATH_SEPARATOR.join(filter(None, [title[:_LONGEST_NAME], heading]))


def _most(rows: Iterable[tuple[tuple[object, StoredChunk], float]]) -> StoredChunk | None:
    """Return the first passage of the key with more than half of the weight."""
    weights: dict[object, float] = defaultdict(float)
    first: dict[object, StoredChunk] = {}
    for (key, chunk), weight in rows:
        weights[key] += weight
        first.setdefault(key, chunk)
    if not weights:
        return None
    best = max(weights, key=lambda key: weights[key])
    return first[best] if weights[best] > _MOSTLY * sum(weights.values()) else None


def _heading(chunk: StoredChunk, title: str) -> str:
    """Return the innermost heading over a passage that is not the document's title."""
    headings = [part for part in chunk.section_path if normalise(part) != normalise(title)]
    return headings[-1][:_LONGEST_HEADING] if headings else ""


def _with_kind(name: str, entity_type: str, language: str) -> str:
    if entity_type == UNTYPED:
        return name
    kind = entity_type.replace("_", " ").lower()
    return f"{name}（{kind}）" if language == "zh" else f"{name} ({kind})"


def _cut(title: str) -> str:
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"


MOST_FINDINGS = 6
_MOST_FACTS = 3
_MOST_OF_ONE_PASSAGE = 2
_SUMMARY_NAMES, _SUMMARY_FINDINGS = 6, 2
_REPEATED = 0.2  # weight of a name that an earlier finding contains
# Factors of a sentence of a document that is quoted already, and of one that needs its context.
_SAME_DOCUMENT, _LEANING = 0.7, 0.5
_SAME_WORDS = 0.7  # Jaccard index of the words of two sentences that say the same
_LONGEST_ROW = 400  # characters
_ABOUT = {"zh": "关于{names}。{findings}", "en": "About {names}. {findings}"}


@dataclass(frozen=True, slots=True)
class CommunityEvidence:
    """A community's outline with the texts: names by weight, best passages, stated relations.

    `types` are those of the names; `relations` come with the names of their ends.
    """

    outline: Outline
    names: Sequence[str]
    types: Sequence[str]
    chunks: Sequence[StoredChunk]
    relations: Sequence[tuple[str, Relation, str]]

    @property
    def language(self) -> str:
        """Return the language of the passages, or of the names if there are none."""
        return language_of(" ".join(chunk.text for chunk in self.chunks) or " ".join(self.names))


def extractive_report(evidence: CommunityEvidence) -> StoredReport:
    """Return a report of sentences of the community's passages; deterministic."""
    findings = _findings(evidence)
    language = evidence.language
    types = dict(zip(evidence.names, evidence.types, strict=True))
    names = distinct_names(evidence.names)
    title = title_of(
        names,
        [types.get(name, UNTYPED) for name in names],
        evidence.chunks,
        evidence.outline.telling.tolist(),
        language=language,
        members=len(evidence.outline.group.members),
    )
    about = _JOINT[language].join(names[:_SUMMARY_NAMES])
    leading = [end_sentence(one.text) for one in findings[:_SUMMARY_FINDINGS]]
    text = "".join(f"{one} " if one[-1].isascii() else one for one in leading)
    summary = _ABOUT[language].format(names=about, findings=text).strip()
    group_id = evidence.outline.group.id
    return StoredReport(group_id, title, summary, tuple(findings), rating(evidence.outline))


def rating(outline: Outline) -> float:
    """Return the size of a community, 0..10: the geometric mean of log2(1 + members) and log2(1 + passages).

    A pair in one passage gets 1.3, a hundred entities in two hundred passages 7.1.
    """
    size, passages = len(outline.group.members), max(len(outline.mentioned), 1)
    return round(min(10.0, math.sqrt(math.log2(1 + size) * math.log2(1 + passages))), 1)


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names that neither contain an earlier one nor are contained in one."""
    spellings: dict[str, str] = {}
    for name in names:
        folded = normalise(name)
        if not any(folded in one or one in folded for one in spellings):
            spellings[folded] = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    return list(spellings.values())


def facts(evidence: CommunityEvidence) -> list[Finding]:
    """Return the relations as findings, the heaviest first."""
    return [
        Finding(relation.description or f"{source} — {relation.relation_type} — {target}", chunks)
        for source, relation, target in evidence.relations
        for chunks in [relation.chunk_ids[:3]]
    ]


def sentences(
    evidence: CommunityEvidence, cut: Callable[[str], Iterator[str]] = statements
) -> list[Finding]:
    """Return the sentences that name most members, chosen one by one by the names that each adds.

    Sentences of documents that are quoted already count less, and none repeats another.
    """
    candidates = list(_candidates(evidence, cut))
    chosen: list[_Candidate] = []
    while candidates and len(chosen) < MOST_FINDINGS:
        known = {name for one in chosen for name in one.named}
        quoted = Counter(one.chunk.document_id for one in chosen)
        best = max(candidates, key=lambda one: (one.worth(known, quoted), -one.position))
        chosen.append(best)
        taken = Counter(one.chunk.id for one in chosen)
        full = {chunk_id for chunk_id, number in taken.items() if number >= _MOST_OF_ONE_PASSAGE}
        candidates = [
            one
            for one in candidates
            if one is not best and one.chunk.id not in full and not one.repeats(best)
        ]
    return [Finding(one.text, (one.chunk.id,)) for one in chosen]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A sentence with the weights of the names in it.

    `position` counts over all passages; `leans`: it needs its context.
    """

    position: int
    chunk: StoredChunk
    text: str
    named: Mapping[str, float]
    words: frozenset[str]
    leans: bool

    def worth(self, known: Set[str], quoted: Mapping[UUID, int]) -> float:
        """Return the value for a report with these `known` names that quotes each document so often."""
        covered = sum(
            weight * (_REPEATED if name in known else 1.0) for name, weight in self.named.items()
        )
        alike = _SAME_DOCUMENT ** quoted.get(self.chunk.document_id, 0)
        return covered * alike * (_LEANING if self.leans else 1.0)

    def repeats(self, other: _Candidate) -> bool:
        """Return whether it has nearly the same words as another."""
        shared = len(self.words & other.words)
        return shared > _SAME_WORDS * len(self.words | other.words)


def _candidates(
    evidence: CommunityEvidence, cut: Callable[[str], Iterator[str]]
) -> Iterator[_Candidate]:
    weights = dict(zip(map(normalise, evidence.names), evidence.outline.weights, strict=True))
    seen: set[str] = set()
    index = 0
    for chunk in evidence.chunks:
        for text in cut(chunk.text):
            folded = normalise(text)
            if folded in seen or folded in weights:
                continue
            seen.add(folded)
            index += 1
            named = {name: float(weight) for name, weight in weights.items() if name in folded}
            if named:
                words, leans = frozenset(terms(text)), leans_on_others(text)
                yield _Candidate(index, chunk, text, named, words, leans)


def _fragments(text: str) -> Iterator[str]:
    """Yield rows of tables without the head, headings and unfinished sentences, but no fields of ids."""
    heads = {head.strip("| ") for head in heads_in(text)}
    for start, end in quotable_spans(text):
        fragment = " ".join(text[start:end].split())
        if (
            len(fragment) <= _LONGEST_ROW
            and text[start:end] not in heads
            and not find_key(fragment)
        ):
            yield fragment


def _findings(evidence: CommunityEvidence) -> list[Finding]:
    """Return descriptions of relations, then sentences, then relations without description.

    Without any of these, return rows of tables; if none names a member, the beginning of the best passage.
    """
    statements = facts(evidence)
    described = [
        fact
        for fact, (_, relation, _) in zip(statements, evidence.relations, strict=True)
        if relation.description
    ]
    found = [*described[:_MOST_FACTS], *sentences(evidence)][:MOST_FINDINGS]
    bare = [fact for fact in statements if fact not in found]
    findings = [*found, *bare][:MOST_FINDINGS] or sentences(evidence, _fragments)
    return findings or [*islice(_openings(evidence), 1)]


def _openings(evidence: CommunityEvidence) -> Iterator[Finding]:
    for cut in (statements, _fragments):
        for chunk in evidence.chunks:
            for text in cut(chunk.text):
                yield Finding(text, (chunk.id,))
