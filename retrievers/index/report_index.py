"""The reports of a knowledge base in memory: which lie near a question, and what each is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.domain.graph import Community
from sextant.models.protocols import Vectors
from sextant.retrievers.numeric.arrays import Floats, Places, dot, highest, unit
from sextant.stores.graph.arrays import Ids, halves_of, index_of
from sextant.stores.postgresql.values import Embedded
from sextant.text.analysis import terms


class IndexedReport:
    """A community's report; what questions ask of it is worked out at the first one."""

    def __init__(self, community: Community) -> None:
        self.community = community

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the terms of title, summary and findings."""
        findings = " ".join(finding.text for finding in self.community.findings)
        return frozenset(terms(f"{self.community.title} {self.community.summary} {findings}"))

    @cached_property
    def members(self) -> frozenset[int]:
        """Return the entities, as numbers, which compare ten times faster than ids."""
        return frozenset(one.int for one in self.community.entity_ids)

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """Return what a retrieved item tells of it."""
        report = self.community
        return {
            "title": report.title,
            "summary": report.summary,
            "level": report.level,
            "rating": report.rating,
            "findings": [
                {"text": finding.text, "chunk_ids": [str(chunk) for chunk in finding.chunk_ids]}
                for finding in report.findings
            ],
            "entity_ids": [str(member) for member in report.entity_ids],
        }


@dataclass(frozen=True, slots=True)
class ReportRows:
    """What a report is made of as rows of an index, without what the index does not have.

    Attributes:
        members: its entities.
        passages: those that its findings rest on, one finding after the other.
        lateness: of each of these, how late its finding comes, 0 to below 1.
    """

    members: Places
    passages: Places
    lateness: npt.NDArray[np.float64]

    @classmethod
    def of(cls, report: Community, entities: Ids, chunks: Ids) -> ReportRows:
        """Return a report with its rows among entities and passages, whose ids rise."""
        members = index_of(entities, halves_of(report.entity_ids))
        findings = report.findings
        passages = index_of(chunks, halves_of(one for each in findings for one in each.chunk_ids))
        rests = [len(finding.chunk_ids) for finding in findings]
        lateness = np.repeat(np.arange(len(findings)) / max(len(findings), 1), rests)
        there = passages >= 0
        return cls(
            members[members >= 0].astype(np.intp), passages[there].astype(np.intp), lateness[there]
        )


@dataclass(frozen=True, slots=True)
class NearReport:
    """A report and its cosine to the question, 0 where reports have no vectors."""

    report: IndexedReport
    cosine: float


class ReportIndex:
    """Reports with their vectors, normalised.

    Args:
        communities: those that have a report.
        vectors: of those reports that have one, by the community's id.
    """

    def __init__(self, communities: Sequence[Community], vectors: Embedded) -> None:
        self.reports = [IndexedReport(one) for one in sorted(communities, key=lambda one: one.id)]
        positions = index_of(halves_of(one.community.id for one in self.reports), vectors.ids)
        self._rows: Places = np.sort(positions[positions >= 0]).astype(np.intp)
        ordered = vectors.vectors[positions >= 0][np.argsort(positions[positions >= 0])]
        self._vectors: Vectors = unit(ordered)

    def near(self, question: Vectors | None, count: int) -> list[NearReport]:
        """Return the `count` reports nearest to a question's vector, best first, then by id.

        Where the question or the reports have no vector, all of them, each with similarity 0.
        """
        if question is None or not len(self._rows):
            return [NearReport(report, 0.0) for report in self.reports]
        cosines: Floats = dot(self._vectors, unit(question))
        best = highest(cosines, count)
        return [NearReport(self.reports[self._rows[row]], float(cosines[row])) for row in best]
