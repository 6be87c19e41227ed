"""How an answer, its citations and its sources look on a terminal."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from functools import partial

from domain.answers import Answer, Source
from domain.events import Event, Reset, Token, answer_of
from sextant.cli import terminal
from sextant.cli.wrapping import Wrapping, width_of_terminal

_SHOWN_CHARS = 300
_SEE_LOG = "Run again with SEXTANT_LOG_LEVEL=ERROR to see why."


async def print_answer(events: AsyncGenerator[Event], *, quiet: bool = False) -> Answer:
    """Print an answer's text as it comes, then its citations; return the whole answer.

    Args:
        events: what the workflow says while it works.
        quiet: print nothing.

    Raises:
        SextantError: the run failed on the way.
    """
    lines = Wrapping(terminal.write, width_of_terminal(sys.stdout))
    show = None if quiet else partial(_show, lines)
    try:
        answer = await answer_of(events, show, next_step=_SEE_LOG)
    finally:
        lines.end()
    if not quiet:
        _print_sources(answer)
    return answer


async def _show(lines: Wrapping, event: Event) -> None:
    match event:
        case Token(text=text):
            lines.add(text)
        case Reset(reason=reason):
            lines.add("\n")
            lines.end()
            terminal.warn(reason)


def _print_sources(answer: Answer) -> None:
    terminal.say("")
    for source in answer.sources:
        terminal.say("")
        terminal.heading(f"[{source.label or source.marker}] {place_of(source)}")
        for quote in _quotes(answer, source) or [_opening(source)]:
            terminal.prose(f"“{quote}”", "    ")
    for warning in answer.warnings:
        terminal.warn(f"Note: {warning}")
    terminal.say("")
    terminal.faint(_summary(answer))


def place_of(source: Source) -> str:
    """Where a source lies: file, section path and page."""
    parts = [source.filename, " › ".join(source.section_path)]
    if source.page is not None:
        parts.append(f"page {source.page}")
    return " · ".join(part for part in parts if part)


def _quotes(answer: Answer, source: Source) -> list[str]:
    """The passages of one source that the answer rests on, each once."""
    return list(
        dict.fromkeys(
            item.quote
            for item in answer.citations
            if (item.marker, item.cell.partition(":")[0]) == (source.marker, source.label)
        )
    )


def _opening(source: Source) -> str:
    """How a passage begins that is named but not quoted, as the nearest one to a question is."""
    text = source.text
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _summary(answer: Answer) -> str:
    parts = [f"mode {answer.mode}", answer.model]
    if answer.attempts:
        parts.append(f"{answer.attempts} refined search{'es' if answer.attempts > 1 else ''}")
    if answer.declined:
        parts.append("not in the documents")
    elif answer.citations:
        parts.append(
            "every sentence supported" if answer.grounded else "not every sentence supported"
        )
    parts.append(f"{sum(answer.timings.values()) / 1000:.1f} s")
    return " · ".join(part for part in parts if part)
