"""Prints answers with their citations and sources on a terminal."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator, Mapping

from sextant.cli import terminal
from sextant.cli.terminal import Wrapping, width_of_terminal
from sextant.domain.answers import (
    Answer,
    Event,
    Planned,
    ReportProgress,
    Reset,
    Source,
    Token,
    Trust,
    answer_of,
)
from sextant.text.analysis import language_of_question
from sextant.text.characters import language_of

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
        "ocr": "read by OCR",
        "time": "{seconds:.1f} s",
        "plan": "A report on:",
        "cost": "About {calls} model calls and {tokens} tokens{time}; {most} calls at most.",
        "free": "Quoted without a chat model, at no cost.",
        "seconds": ", {seconds:.0f} s",
        "section": "… section {done} of {total}: {title}",
        "lead": "the question itself",
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
        "ocr": "由 OCR 识别",
        "time": "{seconds:.1f} 秒",
        "plan": "报告将回答：",
        "cost": "大约 {calls} 次模型调用、{tokens} 个 token{time}；最多 {most} 次调用。",
        "free": "不使用聊天模型，只引用原文，没有费用。",
        "seconds": "、{seconds:.0f} 秒",
        "section": "… 第 {done}/{total} 节：{title}",
        "lead": "问题本身",
    },
}
_SEE_LOG = "Run again with SEXTANT_LOG_LEVEL=ERROR to see why."


async def print_answer(events: AsyncGenerator[Event], *, quiet: bool = False) -> Answer:
    """Print an answer while it is written, then its citations; return the answer.

    Args:
        events: of the workflow.
        quiet: print only the plan of a report.

    Raises:
        SextantError: the run failed.
    """
    printer = _Printer(quiet=quiet)
    try:
        answer = await answer_of(events, printer.show, next_step=_SEE_LOG)
    finally:
        printer.lines.end()
    if not quiet:
        # Sources, the warnings that were not printed yet, and a summary.
        terminal.say("")
        for source in answer.sources:
            terminal.say("")
            terminal.heading(f"[{source.label or source.marker}] {_location(answer, source)}")
            for quote in _quotes(answer, source) or [terminal.shorten(source.text)]:
                terminal.prose(f"“{quote}”", "    ")
        for coded, warning in zip(answer.coded_warnings, answer.warnings, strict=True):
            if coded.in_language(answer.language) not in printer.warnings:
                terminal.warn_of(warning)
        terminal.say("")
        terminal.faint(_summary(answer))
    return answer


class _Printer:
    """Prints events: the text on standard output, all else on standard error; if `quiet`, only the plan of a report."""

    def __init__(self, *, quiet: bool) -> None:
        self.lines = Wrapping(terminal.write, width_of_terminal(sys.stdout))
        self.warnings = set[str]()
        self._quiet = quiet
        self._wordings = _WORDINGS["en"]
        self._begun = False

    async def show(self, event: Event) -> None:
        """Print an event."""
        match event:
            case Planned(questions=questions):
                self._wordings = _WORDINGS[language_of_question(" ".join(questions))]
                terminal.note("\n".join(_plan_lines(event, self._wordings)))
            case _ if self._quiet:
                pass
            case Token(text=text):
                self._begun = True
                self.lines.add(text)
            case ReportProgress(step="section", done=done, total=total, title=title):
                if self._begun and sys.stdout.isatty():
                    self.lines.add("\n")
                    self.lines.end()
                title = title or self._wordings["lead"]
                section = self._wordings["section"]
                terminal.note(section.format(done=done, total=total, title=title))
            case Reset(reason=reason):
                self.lines.add("\n")
                self.lines.end()
                terminal.warn(reason)
                self.warnings.add(reason)  # the answer's warnings repeat it
            case _:
                pass


def _plan_lines(plan: Planned, wordings: Mapping[str, str]) -> Iterator[str]:
    """Yield the questions of a report and its estimated cost."""
    if plan.questions:
        yield wordings["plan"]
    yield from (f"  {number}. {question}" for number, question in enumerate(plan.questions, 1))
    if not plan.calls:
        yield wordings["free"]
        return
    seconds = plan.seconds
    time = "" if seconds is None else wordings["seconds"].format(seconds=seconds)
    tokens = plan.prompt_tokens + plan.completion_tokens
    most = int(plan.limits["calls"])
    yield wordings["cost"].format(calls=plan.calls, tokens=tokens, time=time, most=most)


def _location(answer: Answer, source: Source) -> str:
    """Return the file, section path and page of a source, in the answer's language."""
    parts = [source.filename, " › ".join(source.section_path)]
    if source.page is not None:
        parts.append(_wordings(answer)["page"].format(page=source.page))
    if source.ocr:
        parts.append(_wordings(answer)["ocr"])
    return " · ".join(part for part in parts if part)


def _quotes(answer: Answer, source: Source) -> list[str]:
    """Return the quotes of one source, each once."""
    return list(
        dict.fromkeys(
            item.quote
            for item in answer.citations
            if (item.marker, item.cell.partition(":")[0]) == (source.marker, source.label)
        )
    )


def _summary(answer: Answer) -> str:
    """Return mode, model, searches, trust and time of an answer."""
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
    """Return the wordings in the language of the answer's first line; its quotes may be in another."""
    return _WORDINGS[language_of(answer.answer.partition("\n")[0])]
