"""How an answer, its citations and its sources look on a terminal."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from functools import partial

from sextant.cli import terminal
from sextant.cli.terminal import Wrapping, width_of_terminal
from sextant.domain.answers import Answer, Event, Reset, Source, Token, Trust, answer_of
from sextant.text.characters import language_of

_SHOWN_CHARS = 300
_WORDINGS = {
    "en": {
        "mode": "mode {mode}",
        "search": "{count} refined search",
        "searches": "{count} refined searches",
        "declined": "not in the documents",
        Trust.QUOTED: "quoted word for word",
        Trust.SUPPORTED: "every sentence supported",
        Trust.PARTIAL: "not every sentence supported",
        Trust.UNSUPPORTED: "no sentence supported",
        "page": "page {page}",
        "time": "{seconds:.1f} s",
    },
    "zh": {
        "mode": "模式 {mode}",
        "search": "改写检索 {count} 次",
        "searches": "改写检索 {count} 次",
        "declined": "文档中没有",
        Trust.QUOTED: "逐字引用",
        Trust.SUPPORTED: "每句都有依据",
        Trust.PARTIAL: "并非每句都有依据",
        Trust.UNSUPPORTED: "没有一句有依据",
        "page": "第 {page} 页",
        "time": "{seconds:.1f} 秒",
    },
}
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
    warnings = set[str]()
    show = None if quiet else partial(_show, lines, warnings)
    try:
        answer = await answer_of(events, show, next_step=_SEE_LOG)
    finally:
        lines.end()
    if not quiet:
        _print_rest(answer, warnings)
    return answer


async def _show(lines: Wrapping, warnings: set[str], event: Event) -> None:
    match event:
        case Token(text=text):
            lines.add(text)
        case Reset(reason=reason):
            lines.add("\n")
            lines.end()
            terminal.warn(reason)
            warnings.add(reason)  # it is among the answer's warnings, too


def _print_rest(answer: Answer, warnings: set[str]) -> None:
    """Print what stands below an answer: its sources, warnings that are not `warnings` yet, how it came about."""
    terminal.say("")
    for source in answer.sources:
        terminal.say("")
        terminal.heading(f"[{source.label or source.marker}] {_location(answer, source)}")
        for quote in _quotes(answer, source) or [_opening(source)]:
            terminal.prose(f"“{quote}”", "    ")
    for warning in answer.warnings:
        if warning not in warnings:
            terminal.warn_of(warning)
    terminal.say("")
    terminal.faint(_summary(answer))


def _location(answer: Answer, source: Source) -> str:
    """Return where a source lies: file, section path, and page in the answer's words."""
    parts = [source.filename, " › ".join(source.section_path)]
    if source.page is not None:
        parts.append(_wordings(answer)["page"].format(page=source.page))
    return " · ".join(part for part in parts if part)


def _quotes(answer: Answer, source: Source) -> list[str]:
    """Return the passages of one source that the answer rests on, each once."""
    return list(
        dict.fromkeys(
            item.quote
            for item in answer.citations
            if (item.marker, item.cell.partition(":")[0]) == (source.marker, source.label)
        )
    )


def _opening(source: Source) -> str:
    """Return how a passage begins that is named but not quoted, as the nearest one to a question is."""
    text = source.text
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _summary(answer: Answer) -> str:
    """Return how the answer came about."""
    wordings, count = _wordings(answer), answer.attempts
    parts = [wordings["mode"].format(mode=answer.mode), answer.model]
    if count:
        parts.append(wordings["search" if count == 1 else "searches"].format(count=count))
    if answer.declined:
        parts.append(wordings["declined"])
    elif answer.citations:
        parts.append(wordings[answer.trust])
    parts.append(wordings["time"].format(seconds=sum(answer.timings.values()) / 1000))
    return " · ".join(part for part in parts if part)


def _wordings(answer: Answer) -> dict[str, str]:
    """Return the words of the language that the answer begins in; what it quotes may be in another."""
    return _WORDINGS[language_of(answer.answer.partition("\n")[0])]
