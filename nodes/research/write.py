"""write: write the sections of a report; compose: join them to one answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from langgraph.func import task
from langgraph.runtime import Runtime

from sextant import prompts
from sextant.domain.answers import (
    Answer,
    Done,
    Quoted,
    ReportProgress,
    Source,
    Sources,
    Token,
    Usage,
    as_values,
)
from sextant.domain.breadth import find_other_subjects, is_broad
from sextant.domain.errors import DependencyError
from sextant.domain.retrieval import Mode, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning
from sextant.models.chat.call_limits import AdaptiveLimit, allowing, count_earlier
from sextant.models.offline.extractive import Extraction, ExtractiveAnswerer, Quotation
from sextant.models.offline.passages import quotable_spans
from sextant.nodes.budget import (
    answer_length,
    budget_of,
    merge_warnings,
    prompt_tokens,
    usage_of,
)
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.nodes.context import RunContext, scope_of, wait_for_reader
from sextant.nodes.generate import finish_turn, open_writer
from sextant.nodes.question.conversation import AnswerMessages
from sextant.nodes.research.report import Report, as_section, unanswered
from sextant.nodes.research.state import (
    PlannedSection,
    ResearchState,
    outline_of,
    passages_by_id,
    section_title,
    without_subject,
)
from sextant.nodes.state import State

# Passages that are quoted about a subject, a sentence of each, and the share of its terms that a sentence must exceed.
_MOST, _LEAST_NAMED = 3, 0.5


async def write(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the sections at the same time, each an answer of its own, and stream them in order once they are checked.

    Each is a task of LangGraph, whose result is checkpointed when it is done. A run that is resumed writes the missing
    sections only, and those whose quotes the documents no longer hold.
    """
    writing = SectionWriting(state, runtime.context, scope_of(state, runtime))
    total = len(writing.planned)
    pending = [task(writing.write)(at) for at in range(total)]
    report, written, warnings = Report(state.language), list[dict[str, Any]](), state.coded_warnings
    for at, (section, result) in enumerate(zip(writing.planned, pending, strict=True)):
        runtime.stream_writer(as_values(ReportProgress("section", at + 1, total, section.title)))
        values = await writing.renew(at, await result)
        written.append(values["section"])
        before = (warning for warning in warnings if warning not in values["implied"])
        warnings = merge_warnings(before, *map(CodedWarning.from_json, values["warnings"]))
        for event in report.add(values["section"]):
            await wait_for_reader()
            runtime.stream_writer(as_values(event))
    return {
        "sections": written,
        "streamed": total,
        "unreachable": writing.unreachable,
        "usage": asdict(writing.spent),
        "coded_warnings": warnings,
    }


class SectionWriting:
    """Writes the sections of a report, and adds up their cost.

    Attributes:
        planned: the sections.
        spent: the cost so far; sections under way count with their prompts.
        unreachable: why the chat model is not asked again; empty: it is.
    """

    def __init__(self, state: ResearchState, run: RunContext, scope: Scope) -> None:
        self.planned = outline_of(state)
        self.spent = usage_of(state)
        self.unreachable = state.unreachable
        deps = run.deps.without_chat_models() if state.model_declined else run.deps
        self._state, self._run, self._scope = state, replace(run, deps=deps), scope
        self._limit = _sections_at_a_time(state, self._run)
        self._left = len(self.planned)
        self._new = set[int]()

    async def write(self, at: int) -> dict[str, Any]:
        """Write a section when a slot is free; return its values, usage and warnings."""
        async with self._limit.slot() as slot:
            began = time.monotonic()
            values, failure = await self._answer(at)
            used = Usage(**values["usage"])
            if failure and self._limit.busy > 1:  # perhaps only since it had too much to do
                slot.note_overload()
            elif failure:
                self.unreachable = failure
            else:
                slot.note_answer(time.monotonic() - began, used)
        self._new.add(at)
        return values

    async def renew(self, at: int, values: dict[str, Any]) -> dict[str, Any]:
        """Return a section; one of an earlier run whose quotes no longer hold is written anew."""
        if at in self._new:
            return values
        count_earlier(values["usage"]["calls"])
        self.spent += Usage(**values["usage"])
        if await _holds(values["section"], self._run, self._scope):
            return values
        return await self.write(at)

    async def _answer(self, at: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values of a section, and why the chat model need not be asked again; empty: it may be."""
        section, run = self.planned[at], self._run
        if section.title:
            answerer = SectionAnswerer(run.deps.answerer, section, self._state.question)
            run = replace(run, deps=replace(run.deps, answerer=answerer))
        turn = self._turn(section)
        self._left -= 1
        reserved = Usage(1, prompt_tokens(turn, run)) if run.deps.chat else Usage()
        self.spent += reserved
        with allowing(budget_of(turn, run).calls) as allowance:
            writer = await open_writer(turn, run, self._scope)
            if section.title:
                writer.prompt = prompts.SECTION
            answer = Answer("", mode=turn.strategy)
            async with aclosing(writer.events()) as events:
                async for event in events:
                    if isinstance(event, Done):
                        answer = event.answer
        opened = usage_of(writer.state) - usage_of(turn)
        used = replace(opened + answer.usage + writer.lost, calls=allowance.made)
        self.spent += used - reserved
        warnings = [*writer.warnings, *answer.coded_warnings]
        values = {
            "section": as_section(section, answer),
            "usage": asdict(used),
            "warnings": [warning.to_json() for warning in warnings],
            "implied": writer.implied,
        }
        return values, writer.failure

    def _turn(self, section: PlannedSection) -> State:
        """Return the state in which a section is answered like a question of its own.

        It may take twice its share of the time, since most sections take less. Without a chat model the first section
        answers from the passages of the question itself, as an answer without a report does.
        """
        state, run = self._state, self._run
        state = replace(state, unreachable=self.unreachable, usage=asdict(self.spent))
        at_a_time = self._limit.size
        share = 2 * at_a_time * budget_of(state, run).seconds / (self._left + at_a_time)
        state = replace(state, deadline=min(state.deadline, time.time() + share))
        found = passages_by_id(state, section.found)
        if not section.title:
            own = found[: state.evidence_count] if run.deps.chat is None else found
            return replace(state, items=own)
        return replace(
            state,
            question=section.question,
            search=section.question,
            strategy=Mode.NAIVE.value,  # from its passages, not from reports on the whole
            before=[*state.before, {"role": "user", "content": state.question}],
            subquestions=[],
            unanswered=[],
            attempts=0,
            attachments=[],
            items=found,
        )


def _sections_at_a_time(state: State, run: RunContext) -> AdaptiveLimit:
    """Return the limit of sections at a time: that of the endpoint; one where a section takes half of the model's timeout.

    Such an endpoint may have a single slot, and a second call would time out while it waits.
    """
    chat = run.deps.chat
    if chat is None:
        return AdaptiveLimit(1)
    seconds = chat.speed.seconds(prompt_tokens(state, run), round(answer_length(chat.speed)))
    return AdaptiveLimit(1) if 2 * seconds > run.deps.settings.model_timeout else chat.parallel


async def compose(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Join the sections to one answer, and list the questions that the documents do not answer."""
    run, scope, sections = runtime.context, scope_of(state, runtime), state.sections
    if not state.streamed:  # a run that goes on from here
        sections = [one for one in sections if await _holds(one, run, scope)]
    report = Report(state.language)
    events = [event for section in sections for event in report.add(section)]
    missing = unanswered(sections, in_parts=bool(state.subquestions)) if sections else []
    both = [*state.not_found, *missing]
    not_found = list(dict.fromkeys(without_subject(one, state.question) for one in both))
    rest = [*([] if state.streamed else events), *report.close(sections, not_found)]
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


async def _holds(section: dict[str, Any], run: RunContext, scope: Scope) -> bool:
    """Return whether the documents still hold all quotes of a section; True where that cannot be checked."""
    documents = {one["marker"]: one["document_id"] for one in section["sources"]}
    quoted = [
        Quoted(document, one["start"], one["quote"])
        for one in section["citations"]
        if (document := documents.get(one["marker"]))
    ]
    if not quoted or run.deps.quotes is None:
        return True
    try:
        return all(await run.deps.quotes.check_quotes(scope, quoted))
    except DependencyError:
        return True


class SectionAnswerer(ExtractiveAnswerer):
    """Quotes answers to the questions of a section; for a question without one, sentences about its subject.

    Args:
        answerer: answers each question.
        section: its questions and subjects.
        question: of the report; sentences about a subject share terms with it.
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
            read = _keep_section(subject, items)
            found = await self._answerer.extract(part, read, language=language)
            nearest = found.nearest if nearest is None else nearest
            quoted = found.quotations or self._about(subject, read)
            quotations += (one for one in quoted if one not in quotations)
        return Extraction(tuple(quotations), nearest)

    def _about(self, subject: str, items: Sequence[RetrievedItem]) -> Sequence[Quotation]:
        """Return a sentence of each passage that names a subject, or stands under it, and shares terms with the question."""
        if not subject:
            return ()
        named, asked = claim_of(subject), claim_of(matter_of(self._question))
        quotations = list[Quotation]()
        for source, item in enumerate(items):
            above = headings(item)
            found = [
                (TermLookup(item.text[slice(*span)]).covers(asked), span)
                for span in quotable_spans(item.text)
                if (lookup := TermLookup(f"{above}\n{item.text[slice(*span)]}")).covers(named)
                > _LEAST_NAMED
                and (lookup.common_terms(asked) or not asked)
                # No header of a table, which says nothing alone.
                and not item.text[span[1] :].partition("\n")[2].startswith("| -")
            ]
            if found:
                _, (start, end) = max(found, key=lambda one: one[0])
                quotations.append(Quotation(item.text[start:end], source, start, end))
        return quotations[:_MOST]


def _keep_section(title: str, items: Sequence[RetrievedItem]) -> Sequence[RetrievedItem]:
    """Return the passages with the texts of the section called `title` alone; as they are where none stands in one."""
    titles = [section_title(item) for item in items]
    if not title or title not in titles:
        return items
    pairs = zip(items, titles, strict=True)
    return [
        one if f"{its} › ".startswith(f"{title} › ") else replace(one, text="")
        for one, its in pairs
    ]


def matter_of(question: str) -> str:
    """Return the subject of a question; of a broad one, what it is about, which may be nothing."""
    return find_other_subjects(question) if is_broad(question) else question
