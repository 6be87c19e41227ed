"""write: the next section of a report; compose: the whole of it, once all sections are written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from langgraph.runtime import Runtime

from sextant import prompts
from sextant.domain.answers import (
    Answer,
    Cited,
    Done,
    Quoted,
    ReportProgress,
    Source,
    Sources,
    Token,
    as_values,
)
from sextant.domain.errors import DependencyError
from sextant.domain.retrieval import Mode
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.nodes.budget import Limit, budget_of, limit_warning, merge_warnings, usage_of
from sextant.nodes.context import RunContext, scope_of, wait_for_reader
from sextant.nodes.generate import finish_turn, open_writer
from sextant.nodes.question.conversation import AnswerMessages
from sextant.nodes.research.quoting import SectionAnswerer
from sextant.nodes.research.report import Report, as_section, unanswered
from sextant.nodes.research.state import (
    PlannedSection,
    ResearchState,
    outline_of,
    passages_by_id,
)
from sextant.nodes.state import State


async def write(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the next section as an answer of its own, and stream it once it is checked.

    A run that goes on from a checkpoint streams those before it first, as far as the documents still say so. A section that the chat model cannot write is
    quoted; so are all behind it, once the model is gone.
    """
    run, planned, scope = runtime.context, outline_of(state), scope_of(state, runtime)
    state = replace(state, sections=await _sections_that_hold(state, run, scope))
    at, total = len(state.sections), len(planned)
    section = planned[at]
    runtime.stream_writer(as_values(ReportProgress("section", at + 1, total, section.title)))
    deps = run.deps.without_chat_models() if state.model_declined else run.deps
    if section.title:
        deps = replace(deps, answerer=SectionAnswerer(deps.answerer, section, state.question))
    run = replace(run, deps=deps)
    turn = _turn_of(section, state, run, total - at)
    writer = await open_writer(turn, run, scope)
    if section.title:
        writer.prompt = prompts.SECTION
    answer = Answer("", mode=turn.strategy)
    async with aclosing(writer.events()) as events:
        async for event in events:
            if isinstance(event, Done):
                answer = event.answer
    warnings = _warnings_of([*writer.warnings, *answer.coded_warnings], run)
    if writer.failure and budget_of(turn, run).seconds <= 0:
        warnings.append(limit_warning(Limit.TIME, run.deps.settings.limits))
    before = (warning for warning in state.coded_warnings if warning not in writer.implied)
    sections = [*state.sections, as_section(section, answer)]
    for event in _events_since(sections, state.streamed, state.language):
        await wait_for_reader()
        runtime.stream_writer(as_values(event))
    return {
        "sections": sections,
        "streamed": len(sections),
        "unreachable": state.unreachable or writer.failure,
        "usage": asdict(usage_of(writer.state) + answer.usage + writer.lost),
        "coded_warnings": merge_warnings(before, *warnings),
    }


async def compose(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Join the sections to one answer, and say what the documents do not hold."""
    run = runtime.context
    sections = await _sections_that_hold(state, run, scope_of(state, runtime))
    report = Report(state.language)
    for section in sections:
        list(report.add(section))
    missing = unanswered(sections, in_parts=bool(state.subquestions)) if sections else []
    not_found = list(dict.fromkeys([*state.not_found, *missing]))
    rest = [
        *_events_since(sections, state.streamed, state.language),
        *report.close(sections, not_found),
    ]
    sources: tuple[Source, ...] = tuple(report.sources.values())
    for event in [*rest, Sources(sources)]:
        await wait_for_reader()
        runtime.stream_writer(as_values(event))
    answer = Answer(
        report.text,
        mode=state.strategy,
        citations=tuple(report.citations),
        sources=sources,
        trust=report.trust,
        declined=report.is_empty,
        model=next((str(one["model"]) for one in sections if not one["declined"]), ""),
        prompt=next((str(one["prompt"]) for one in sections if one["prompt"]), ""),
    )
    messages = AnswerMessages(state)
    messages.add(Token(report.text))
    update = finish_turn(state, run, answer, state.coded_warnings, messages)
    return update | {"not_found": not_found, "sections": []}


async def _sections_that_hold(state: State, run: RunContext, scope: Scope) -> list[dict[str, Any]]:
    """Return the sections of a report that is gone on with, up to the first whose quotes are not stored any more."""
    quotes = run.deps.quotes
    if state.streamed or quotes is None:
        return state.sections
    for at, section in enumerate(state.sections):
        documents = {one["marker"]: one["document_id"] for one in section["sources"]}
        quoted = [
            Quoted(document, one["start"], one["quote"])
            for one in section["citations"]
            if (document := documents.get(one["marker"]))
        ]
        try:
            if quoted and not all(await quotes.check_quotes(scope, quoted)):
                return state.sections[:at]
        except DependencyError:  # nobody can tell
            break
    return state.sections


def _turn_of(section: PlannedSection, state: ResearchState, run: RunContext, left: int) -> State:
    """Return the state of a question of its own, with a share of the time that is left for so many sections.

    Without a chat model the question itself is answered from what it found by itself, as it is without a report.
    """
    found = passages_by_id(state, section.found)
    if not section.title:
        if run.deps.chat is None:
            found = found[: state.evidence_count]
        return _with_share(replace(state, items=found), run, left)
    asked = {"role": "user", "content": state.question}
    of_whole = state.strategy == Mode.GLOBAL
    turn = replace(
        state,
        question=section.question,
        search=section.question,
        strategy=Mode.MIX.value if of_whole else state.strategy,
        before=[*state.before, asked],
        subquestions=[],
        unanswered=[],
        attempts=0,
        attachments=[],
        items=found,
    )
    return _with_share(turn, run, left)


def _with_share(state: State, run: RunContext, left: int) -> State:
    """Return the state with twice its share of the time: most sections take less than theirs."""
    share = 2 * budget_of(state, run).seconds / (left + 1)
    return replace(state, deadline=time.time() + share)


def _warnings_of(warnings: Sequence[CodedWarning], run: RunContext) -> list[CodedWarning]:
    """Return the warnings of a section, whose time is that of the report."""
    late = limit_warning(Limit.TIME, run.deps.settings.limits)
    return [late if one.code == WarningCode.ANSWER_OUT_OF_TIME else one for one in warnings]


def _events_since(
    sections: Sequence[dict[str, Any]], streamed: int, language: str
) -> Iterator[Token | Cited]:
    """Yield what the sections behind the first `streamed` add to the stream."""
    report = Report(language)
    for at, section in enumerate(sections):
        events = list(report.add(section))
        if at >= streamed:
            yield from events
