"""Quotations for a section: of each of its questions, or about a subject, which asks nothing in particular."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.extractive import Extraction, ExtractiveAnswerer, Quotation
from sextant.models.offline.passages import quotable_spans
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.nodes.research.state import PlannedSection

# Passages that are quoted about a subject, a sentence of each; and how much of its words a sentence must have.
_MOST, _LEAST_NAMED = 3, 0.5


class SectionAnswerer(ExtractiveAnswerer):
    """Quotes what answers the questions of a section, and sentences that name the subject of one that has no answer.

    Args:
        answerer: answers each question.
        section: its questions and subjects.
        question: of the report, to which what is said of a subject is to be near.
    """

    def __init__(
        self, answerer: ExtractiveAnswerer, section: PlannedSection, question: str
    ) -> None:
        self._answerer = answerer
        self._section = section
        self._question = question
        self.name = answerer.name

    async def extract(
        self,
        question: str,  # noqa: ARG002 - the answerer's signature; here it is all questions as one
        items: Sequence[RetrievedItem],
        *,
        language: str,
    ) -> Extraction:
        """Choose the sentences that answer each of the section's questions, or are about its subject."""
        quotations, nearest = list[Quotation](), None
        for part, subject in zip(self._section.questions, self._section.subjects, strict=True):
            found = await self._answerer.extract(part, items, language=language)
            nearest = found.nearest if nearest is None else nearest
            quoted = found.quotations or self._about(subject, items)
            quotations += (one for one in quoted if one not in quotations)
        return Extraction(tuple(quotations), nearest)

    def _about(self, subject: str, items: Sequence[RetrievedItem]) -> Sequence[Quotation]:
        """Return sentences that name a subject, or stand under it, of each passage the one that has most of the report's question.

        One that has nothing of the question is left out.
        """
        if not subject:
            return ()
        named, asked = claim_of(subject), claim_of(self._question)
        quotations = list[Quotation]()
        for source, item in enumerate(items):
            above = headings(item)
            found = [
                (TermLookup(item.text[slice(*span)]).covers(asked), span)
                for span in quotable_spans(item.text)
                if (lookup := TermLookup(f"{above}\n{item.text[slice(*span)]}")).covers(named)
                > _LEAST_NAMED
                and (lookup.held(asked) or not len(asked))
                and not _is_above_rows(item.text, span[1])
            ]
            if found:
                _, (start, end) = max(found, key=lambda one: one[0])
                quotations.append(Quotation(item.text[start:end], source, start, end))
        return quotations[:_MOST]


def _is_above_rows(text: str, end: int) -> bool:
    """Return whether what ends here is the header of a table, which says nothing without its rows."""
    return text[end:].partition("\n")[2].startswith("| -")
