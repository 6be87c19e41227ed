"""Write community reports with a chat model, from passages or, for a large community, from its children's reports.

The model sees numbered sources and names those of each finding; a finding without a source is dropped. If the model
fails, the report is extractive, with a note that says why.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from pydantic import Field

from sextant.domain.errors import SextantError
from sextant.domain.graph import Finding
from sextant.ingestion.graph.communities.membership import CAP
from sextant.ingestion.graph.communities.reports import (
    CommunityEvidence,
    distinct_names,
    extractive_report,
    facts,
)
from sextant.models.chat.call_limits import Refusals
from sextant.models.chat.replies import Numbers, Text, Weight
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.prompts import REPORT, as_data, number_texts
from sextant.stores.graph.community_store import StoredReport
from sextant.text.characters import estimate_tokens

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second

_NAMES = 24  # entities in the prompt


class _WrittenFinding(ModelReply):
    text: Text
    sources: Numbers = Field(default_factory=list[int])


class _Written(ModelReply):
    """The reply of the model."""

    title: Annotated[Text, AtMost(120)]
    summary: Text
    findings: Annotated[list[_WrittenFinding], AtMost(6)] = Field(default_factory=list)
    rating: Weight = 5.0


@dataclass(frozen=True, slots=True)
class Material:
    """The sources of a report: the community's evidence, and the reports of its children."""

    evidence: CommunityEvidence
    parts: Sequence[StoredReport] = ()

    @property
    def digest(self) -> UUID:
        """Return a hash of the sources and the names in any order."""
        texts = [*sorted(self.evidence.names[:_NAMES]), *(one.text for one in self.sources())]
        return UUID(bytes=hashlib.md5("\0".join(texts).encode(), usedforsecurity=False).digest())

    def sources(self) -> Iterator[Finding]:
        """Yield the sources with their passages, the heaviest first."""
        if len(self.evidence.outline.group.members) > CAP and self.parts:
            for part in sorted(self.parts, key=lambda part: (-part.rating, part.id)):
                chunks = tuple(
                    dict.fromkeys(chunk_id for f in part.findings for chunk_id in f.chunk_ids)
                )
                yield Finding(f"{part.title}: {part.summary}", chunks[:3])
                yield from part.findings
            return
        yield from facts(self.evidence)
        for chunk in self.evidence.chunks:
            yield Finding(chunk.text, (chunk.id,))


class ReportWriter:
    """Write reports with a chat model, up to a number of calls.

    Args:
        chat: the model.
        tokens: the largest number of tokens of the sources in a prompt, estimated.
        most: the largest number of calls; further reports are extractive.
        at_once: the number of concurrent calls.
    """

    def __init__(self, chat: ChatModel, *, tokens: int, most: int, at_once: int) -> None:
        self._chat = chat
        self._tokens = tokens
        self._left = most
        self._turns = asyncio.Semaphore(at_once)
        self._refusals = Refusals()
        self._gone = ""

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._chat.name

    async def write(self, material: Material) -> StoredReport:
        """Return a report by the model, or an extractive one with a note if the model fails."""
        async with self._turns:
            if self._gone or self._left < 1:
                note = self._gone or "The run had written as many reports by model as it may."
                return await self._extract_report(material, note)
            self._left -= 1
            try:
                report = await self._ask(material)
            except SextantError as error:
                if self._refusals.gone(error):
                    self._gone = str(error)
                return await self._extract_report(material, str(error))
            self._refusals.answered()
            return report

    async def _ask(self, material: Material) -> StoredReport:
        # As many sources as fit into the prompt.
        candidates = list(material.sources())
        sizes = accumulate(estimate_tokens(one.text) for one in candidates)
        sources = candidates[: sum(size <= self._tokens for size in sizes)]
        names = ", ".join(distinct_names(material.evidence.names)[:_NAMES])
        prompt = REPORT.messages(
            material.evidence.language,
            names=as_data(names),
            sources=number_texts([one.text for one in sources], "\n"),
        )
        # Without retries, since the lock of the graph's update is held meanwhile.
        written, _ = await self._chat.structured(prompt, _Written, patient=False)
        findings = list[Finding]()
        for one in written.findings:  # those that name sources, with the passages of these
            named = [sources[n - 1] for n in dict.fromkeys(one.sources) if 1 <= n <= len(sources)]
            chunks = dict.fromkeys(chunk_id for source in named for chunk_id in source.chunk_ids)
            if one.text.strip() and named:
                findings.append(Finding(one.text.strip(), tuple(chunks)))
        if not (findings and written.title.strip() and written.summary.strip()):
            note = f"{self._chat.name} gave no title, no summary or no finding with a source."
            return await self._extract_report(material, note)
        rated = min(10.0, max(0.0, written.rating))
        return StoredReport(
            material.evidence.outline.group.id,
            written.title.strip(),
            written.summary.strip(),
            tuple(findings),
            rated,
            self._chat.name,
        )

    async def _extract_report(self, material: Material, note: str) -> StoredReport:
        report = await asyncio.to_thread(extractive_report, material.evidence)
        return replace(report, note=note)
