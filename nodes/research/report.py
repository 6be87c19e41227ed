"""The text of a report: sections joined so that each passage has one number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from sextant.domain.answers import (
    Answer,
    Citation,
    Cited,
    Done,
    Source,
    Token,
    Trust,
    as_values,
)
from sextant.nodes.answers.quotations import FOUND, NOTHING_FOUND
from sextant.nodes.citing.citations import format_marker
from sextant.nodes.research.state import PlannedSection

_HEADING = "\n\n## {title}\n\n"
_NOT_FOUND = {"en": "Not found in the documents", "zh": "文档中没有找到"}
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_CITATIONS = TypeAdapter(tuple[Citation, ...])
_SOURCES = TypeAdapter(tuple[Source, ...])

# Keys of a section as a state holds it.
_KEPT = ("answer", "citations", "sources", "trust", "declined", "model", "prompt")


@dataclass(slots=True)
class Report:
    """The text of a report, section after section.

    Attributes:
        language: of the headings.
        text: so far.
        citations: so far.
        sources: by the key of their passages, in the order of their markers.
    """

    language: str
    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    _trusts: list[Trust] = field(default_factory=list[Trust])

    def add(self, section: Mapping[str, Any]) -> Iterator[Token | Cited]:
        """Add a section, and yield its events; a declined or repeating one is left out."""
        if section["declined"] or (section["title"] and self.repeats(section)):
            return
        yield from self._add(section)

    def _add(self, section: Mapping[str, Any]) -> Iterator[Token | Cited]:
        section = self._without_repetitions(section)
        numbers = {
            source.marker: self._number(source)
            for source in _SOURCES.validate_python(section["sources"])
        }
        text = str(section["answer"])
        if section["title"]:
            text = text.removeprefix(FOUND[self.language]).strip()
            yield self._token(_HEADING.format(title=section["title"]))
        yield self._token(_renumber(text, numbers))
        for citation in _CITATIONS.validate_python(section["citations"]):
            sentence = _renumber(citation.sentence, numbers)
            marker = numbers.get(citation.marker, citation.marker)
            self.citations.append(replace(citation, marker=marker, sentence=sentence))
            yield Cited(self.citations[-1])
        if not section["declined"]:
            self._trusts.append(Trust(section["trust"]))

    def close(
        self, sections: Sequence[Mapping[str, Any]], not_found: Sequence[str]
    ) -> Iterator[Token | Cited]:
        """List the questions without an answer; where nothing was answered, add the first section with its nearest passage."""
        if not sections:
            yield self._token(NOTHING_FOUND[self.language])
        elif self.is_empty:
            yield from self._add(sections[0])
        if not_found:
            yield self._token(_HEADING.format(title=_NOT_FOUND[self.language]))
            yield self._token("\n".join(f"- {question}" for question in not_found))

    def repeats(self, section: Mapping[str, Any]) -> bool:
        """Return whether all citations of a section were given before."""
        known = {(citation.quote, citation.source) for citation in self.citations}
        cited = {(one["quote"], one["source"]) for one in section["citations"]}
        return bool(cited) and cited <= known

    def _without_repetitions(self, section: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a section without lines whose quote was given before."""
        if section["trust"] != Trust.QUOTED or not section["title"]:
            return section
        known = {(citation.quote, citation.source) for citation in self.citations}
        text, citations = str(section["answer"]), list[Mapping[str, Any]]()
        for one in section["citations"]:
            line = f"\n{one['sentence']}"
            if (one["quote"], one["source"]) in known and line in text:
                text = text.replace(line, "", 1)
            else:
                citations.append(one)
        markers = {one["marker"] for one in citations}
        sources = [one for one in section["sources"] if one["marker"] in markers]
        return {**section, "answer": text, "citations": citations, "sources": sources}

    @property
    def trust(self) -> Trust:
        """Return the trust that all sections share, else `partial`."""
        if not self._trusts:
            return Trust.UNSUPPORTED
        return self._trusts[0] if len(set(self._trusts)) == 1 else Trust.PARTIAL

    @property
    def is_empty(self) -> bool:
        """Return whether no section states anything."""
        return not self._trusts

    def _token(self, text: str) -> Token:
        text = text if self.text else text.lstrip()
        self.text += text
        return Token(text)

    def _number(self, source: Source) -> int:
        """Return the number of a passage in the report; attachments keep their labels."""
        key = source.chunk_id or source.label
        known = self.sources.get(key)
        if known is None:
            marker = source.marker and 1 + sum(one.marker > 0 for one in self.sources.values())
            known = self.sources[key] = replace(source, marker=marker)
        return known.marker


def as_section(section: PlannedSection, answer: Answer) -> dict[str, Any]:
    """Return a written section as a state holds it, with those of its questions that no rule has made of a subject."""
    values = as_values(Done(answer))["answer"]
    kept = {name: values[name] for name in _KEPT} | {"trust": answer.trust.value}
    pairs = zip(section.questions, section.subjects, strict=True)
    asked = [question for question, subject in pairs if not subject]
    return kept | {"title": section.title, "questions": asked}


def unanswered(sections: Sequence[Mapping[str, Any]], *, in_parts: bool) -> list[str]:
    """Return the questions of sections that found no answer.

    The report's own is answered by what answers its parts, where it has some.
    """
    lead, *others = sections
    missing = [one for one in others if one["declined"]]
    answered = in_parts and len(missing) < len(others)
    without = missing if answered or not lead["declined"] else [lead, *missing]
    return [str(question) for section in without for question in section["questions"]]


def _renumber(text: str, numbers: Mapping[int, int]) -> str:
    return _NUMBER.sub(lambda found: format_marker(numbers.get(int(found[1]), int(found[1]))), text)
