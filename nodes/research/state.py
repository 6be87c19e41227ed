"""The state of a report that is being made. Its fields hold plain values, since every step is a checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sextant.domain.breadth import find_other_subjects
from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.state import State
from sextant.text.name_linker import bare_title


@dataclass(kw_only=True)
class ResearchState(State):
    """What the nodes of a report pass on.

    Attributes:
        topics: the questions of the plan (`Topic`).
        due: the queries to search next, each with the index of its topic.
        outline: the sections (`PlannedSection`); the first answers the question itself.
        evidence_count: how many of `items` the question itself has found; they come first.
        rounds_done: rounds of further searches.
        model_declined: whether a person has rejected the cost of the chat model.
    """

    topics: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    due: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outline: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    evidence_count: int = 0
    rounds_done: int = 0
    model_declined: bool = False


@dataclass(slots=True)
class Topic:
    """One question that the report is planned by.

    Attributes:
        title: what it is about, as a heading.
        question: what is asked.
        query: what is searched for it first.
        subject: what it is about, where it asks nothing in particular.
        found: ids of passages, best first.
    """

    title: str
    question: str
    query: str
    subject: str = ""
    found: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class PlannedSection:
    """A section to be written.

    Attributes:
        title: its heading; none: it answers the question of the report itself.
        questions: what it answers.
        subjects: of each question, as topics have them.
        found: ids of the passages that it is written from.
    """

    title: str
    questions: list[str]
    subjects: list[str]
    found: list[str]

    @property
    def question(self) -> str:
        """Return its questions as one."""
        return " ".join(self.questions)


def topics_of(state: ResearchState) -> list[Topic]:
    """Return the topics of a state."""
    return [Topic(**values) for values in state.topics]


def outline_of(state: ResearchState) -> list[PlannedSection]:
    """Return the sections of a state, written or not."""
    return [PlannedSection(**values) for values in state.outline]


def without_subject(part: str, question: str) -> str:
    """Return a part of a question without the subject that was added in brackets to make it stand alone."""
    return part if part in question else part.partition(" (")[0]


def plain(records: Iterable[Topic | PlannedSection]) -> list[dict[str, Any]]:
    """Return topics or sections as a state holds them."""
    return [asdict(record) for record in records]


def passages_by_id(state: ResearchState, ids: Sequence[str]) -> list[RetrievedItem]:
    """Return passages in the order of their ids; an edited state may lack some."""
    known = {item.id: item for item in state.items}
    return [known[id_] for id_ in ids if id_ in known]


def section_title(item: RetrievedItem) -> str:
    """Return the headings above a passage without their numbers and the document's title; "" for none.

    Headings that name no subject ("Summary", 概述) follow the title: alone they would ask about all documents.
    """
    path = [str(part) for part in item.metadata.get("section_path") or ()]
    title = " › ".join(map(_without_number, path[1:] or path))  # the first is most often the title
    if title and not find_other_subjects(title).strip():
        document = item.metadata.get("document_title") or item.metadata.get("filename") or ""
        return " › ".join(filter(None, (str(document), title)))
    return title


def _without_number(heading: str) -> str:
    """Return a heading without its number, unless nothing else is left."""
    text = bare_title(heading)
    return text if text[:1].isalpha() else heading


def after_gaps(state: ResearchState) -> Literal["another search", "outline"]:
    """Return whether queries are due."""
    return "another search" if state.due else "outline"
