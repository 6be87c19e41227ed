"""An answer's way from question to citation, told from its events: docs/answers.md shows one in each mode."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.answers import Answer, Citation, Source
from sextant.domain.events import Done, Event, Retrieved, Status


def trace_of(question: str, events: Sequence[Event]) -> str:
    """Return the nodes in their order, what each retrieval searched by, the answer, and what it rests on.

    No times and no scores: those differ from run to run.
    """
    [done] = [event for event in events if isinstance(event, Done)]
    answer = done.answer
    steps = list[str]()
    for event in events:
        if isinstance(event, Status):
            steps.append(event.node)
        elif isinstance(event, Retrieved):
            steps[-1] += f" ({event.mode})"
    told = [f"{answer.mode} · {question}", " → ".join(steps), "", answer.answer, ""]
    for source in answer.sources:
        told += _trace_lines(source, answer)
    return "\n".join([*told, f"{'grounded' if answer.grounded else 'not grounded'}\n"])


def _trace_lines(source: Source, answer: Answer) -> list[str]:
    place = " › ".join([source.filename, *source.section_path])
    page = f", page {source.page}" if source.page else ""
    lanes = ", ".join(f"{name} {found['rank']}" for name, found in sorted(source.lanes.items()))
    found = f"; rank by lane: {lanes}" if lanes else ""
    cited = [one for one in answer.citations if one.marker == source.marker]
    return [f"[{source.marker}] {place}{page}{found}", *map(_quote_line, cited)]


def _quote_line(citation: Citation) -> str:
    return (
        f"    {citation.start}–{citation.end}, support {citation.support:.1f}: “{citation.quote}”"
    )
