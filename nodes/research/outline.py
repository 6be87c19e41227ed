"""outline: group the questions of the report into sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langgraph.runtime import Runtime
from pydantic import Field

from sextant import prompts
from sextant.models.chat.replies import Numbers, Sentence
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.nodes.answers.sanitizer import sanitize_output
from sextant.nodes.citing.citations import escape_markers
from sextant.nodes.citing.markers import strip_markers
from sextant.nodes.citing.support import headings
from sextant.nodes.context import RunContext
from sextant.nodes.decisions import approve_sources
from sextant.nodes.judgements import ask
from sextant.nodes.research.search import MOST_OF_TOPIC
from sextant.nodes.research.state import (
    PlannedSection,
    ResearchState,
    Topic,
    passages_by_id,
    plain,
    topics_of,
)

# The fewest topics that the chat model is asked to group.
LEAST_FOR_OUTLINE = 3
_MOST_SECTIONS = 12
_TITLE_CHARS = 120


class SectionChoice(ModelReply):
    """A section of the report: its heading, and the numbers of the questions that it answers."""

    title: Sentence = ""
    questions: Numbers = Field(default_factory=list[int])


class ReportOutline(ModelReply):
    """The report's sections, in their order."""

    sections: Annotated[list[SectionChoice], AtMost(_MOST_SECTIONS)] = Field(
        default_factory=list[SectionChoice]
    )


async def outline(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Plan the sections; the first answers the question itself.

    A question for which nothing was found gets no section, and is listed in `not_found`, unless a rule has chosen it.

    Raises:
        GraphInterrupt: a person is to approve the sources, before anything is written.
    """
    approved = approve_sources(state)
    known = {item.id for item in approved.items}
    topics = topics_of(state)
    for topic in topics:
        topic.found = [id_ for id_ in topic.found if id_ in known]
    there = [topic for topic in topics if topic.found]
    choices, costs = await _ask_for_outline(state, runtime.context, there)
    sections = arrange_sections(there, choices)
    # First the passages that the question itself found, then the best of each section.
    own = [item.id for item in state.items[: state.evidence_count] if item.id in known]
    leading = list(dict.fromkeys([*own, *(section.found[0] for section in sections)]))
    lead = PlannedSection("", [state.question], [""], leading)
    shown = [item.text for item in approved.items]
    for section in sections:
        line = " ".join(strip_markers(section.title).split()).strip("#*_ ")[:_TITLE_CHARS]
        section.title = escape_markers(sanitize_output(line, shown, state.language))
    return {
        "items": approved.items,
        "graph_items": approved.graph_items,
        "outline": plain([lead, *sections]),
        "not_found": [one.question for one in topics if not (one.found or one.subject)],
        **costs,
    }


def arrange_sections(
    topics: Sequence[Topic], choices: Sequence[SectionChoice]
) -> list[PlannedSection]:
    """Return the chosen sections, then one for each topic that none of them has."""
    left = dict(enumerate(topics, start=1))
    sections = list[PlannedSection]()
    for choice in choices:
        chosen = [left.pop(number) for number in dict.fromkeys(choice.questions) if number in left]
        if chosen:
            title = choice.title or chosen[0].title
            sections.append(_join(title, chosen))
    return [*sections, *(_join(topic.title, [topic]) for topic in left.values())]


def _join(title: str, topics: Sequence[Topic]) -> PlannedSection:
    """Return a section for several topics, whose passages alternate."""
    rankings = [topic.found for topic in topics]
    ranked = [
        id_
        for rank in range(max(map(len, rankings)))
        for ids in rankings
        for id_ in ids[rank : rank + 1]
    ]
    found = list(dict.fromkeys(ranked))[: MOST_OF_TOPIC + len(topics) - 1]
    questions = [topic.question for topic in topics]
    return PlannedSection(title, questions, [topic.subject for topic in topics], found)


async def _ask_for_outline(
    state: ResearchState, run: RunContext, topics: Sequence[Topic]
) -> tuple[Sequence[SectionChoice], dict[str, Any]]:
    """Return the chat model's sections; none where there are too few topics."""
    if len(topics) < LEAST_FOR_OUTLINE:
        return (), {}
    best = [map(headings, passages_by_id(state, topic.found[:2])) for topic in topics]
    lines = [
        f"{number}. {topic.question} ({'; '.join(dict.fromkeys(names))})"
        for number, (topic, names) in enumerate(zip(topics, best, strict=True), start=1)
    ]
    messages = prompts.OUTLINE.messages(
        state.language,
        question=prompts.as_data(state.question),
        found=prompts.as_data("\n".join(lines)),
    )
    judged = await ask(state, run, messages, ReportOutline)
    return (judged.reply.sections if judged.reply else ()), judged.costs
