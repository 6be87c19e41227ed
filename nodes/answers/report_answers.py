"""Answers to broad questions from reports of communities, cited to the passages behind them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Annotated, Any

from pydantic import Field, model_validator

from sextant import prompts
from sextant.domain.answers import Cited, Done, Token, Trust, Usage
from sextant.domain.breadth import find_other_subjects
from sextant.domain.errors import ContextTooLong, ModelOutputInvalid, ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.call_limits import keeping
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.replies import Numbers, Sentence, Weight
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.models.offline.extractive import lacks_named
from sextant.models.offline.passages import Span, describe_row, document_of
from sextant.nodes.answers import quotations
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.nodes.answers.passages import Layout, knowledge_of, number_passages, with_reports
from sextant.nodes.answers.quotations import AnswerEvent
from sextant.nodes.budget import calls_to_read, usage_of_failure
from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.citations import Citations, ending, escape_markers, format_marker
from sextant.nodes.citing.markers import MARKER, read, strip_markers
from sextant.nodes.citing.support import SupportedQuote, TermLookup, claim_of
from sextant.nodes.citing.terms import Text, terms_of
from sextant.nodes.judgements import failure_reason
from sextant.nodes.prompt_lines import KNOWLEDGE_TOKENS, PromptLines, format_reports

_log = logging.getLogger(__name__)

FOUND = {
    "en": "According to the reports on this knowledge base:",
    "zh": "根据知识库各主题的报告：",
}

_FINDINGS = 6


class Point(ModelReply):
    """One thing that a report contributes to the answer, and the numbers of the passages it rests on."""

    text: Sentence = ""
    importance: Weight = 0.0
    passages: Numbers = Field(default_factory=list[int])

    @model_validator(mode="before")
    @classmethod
    def _of_a_line(cls, value: object) -> object:
        """Read a line of text, as some models write a point, with its passages by markers."""
        if isinstance(value, str):
            return {
                "text": strip_markers(value),
                "passages": [read(one).names for one in MARKER.finditer(value)],
            }
        return value if isinstance(value, dict) else {}


class Points(ModelReply):
    """What the chat model takes from some reports."""

    points: Annotated[list[Point], AtMost(_FINDINGS)] = Field(default_factory=list[Point])


async def answer_from_reports(
    question: str,
    reports: Sequence[RetrievedItem],
    items: Sequence[RetrievedItem],
    language: str,
    model: str,
    *,
    topic: bool = False,
    openings: Sequence[Span] = (),
) -> AsyncGenerator[AnswerEvent]:
    """Yield the best findings of the best reports, without a model, each with the passage it rests on.

    A finding that rests on none of `items` is left out, and so is one that has nothing of what the question asks for
    in particular. Yields nothing when that leaves none, or none that speaks of it; nor where the question
    names by a code or a number what stands in none of `items`.
    Of a `topic` each of them speaks. Where there are `openings`, spans of `items`, each report gives one finding, and
    they tell the other documents.
    """
    if lacks_named(question, items):
        return
    given = Citations(items)
    question_terms = terms_of(find_other_subjects(question))
    cited = (
        one
        for one in _cite_findings(question, reports, items)
        if (
            _speaks_of([one], question)
            if topic
            else not question_terms or _count_terms([one], question_terms)
        )
    )
    limit = min(_FINDINGS, len(reports)) if openings else _FINDINGS
    findings = list(islice(cited, limit))
    title = FOUND[language] if findings else quotations.FOUND[language]
    told = {document_of(items[one.place]) for one in findings}
    opened = (_open(items[at], at, start, end) for at, start, end in openings)
    findings += [one for one in opened if document_of(items[one.place]) not in told]
    is_of_one = not reports and len({document_of(items[one.place]) for one in findings}) == 1
    if not findings or not _speaks_of(findings, question):
        return
    yield given.token(title)
    for one in findings:
        item = items[one.place]
        at = item.text.find(one.finding)
        finding = describe_row(one.finding, item, at) if at >= 0 else one.finding
        statement = finding if is_of_one else f"{one.title}{_COLON[language]}{finding}"
        for event in _state_finding(given, statement, one.place, one.quote):
            yield event
    for last in ending(given, model, trust=Trust.QUOTED):
        yield last


_COLON = {"en": ": ", "zh": "："}


@dataclass(frozen=True, slots=True)
class _CitedFinding:
    """A finding, the report it is from, the place of the passage it rests on, and the words there."""

    title: str
    finding: str
    place: int
    quote: SupportedQuote


def _open(item: RetrievedItem, place: int, start: int, end: int) -> _CitedFinding:
    """Return a sentence of a passage under the title of its document."""
    offset, text = int(item.metadata.get("start") or 0), item.text[start:end]
    quote = SupportedQuote(text, offset + start, offset + end, 1.0)
    title = item.metadata.get("document_title") or item.metadata.get("filename") or ""
    return _CitedFinding(str(title), text, place, quote)


def _cite_findings(
    question: str, reports: Sequence[RetrievedItem], items: Sequence[RetrievedItem]
) -> Iterator[_CitedFinding]:
    """Yield the best finding of every report, then the second best ones; each passage's words once.

    Best is what shares most of the question's terms; where none does, what the report says first.
    """
    claim = claim_of(question)
    indices = {item.id: index for index, item in enumerate(items)}
    evidence = AnswerEvidence(items)
    ordered = [
        sorted(report.metadata["findings"], key=lambda one: -TermLookup(one["text"]).covers(claim))
        for report in reports
    ]
    for turn in zip_longest(*ordered):
        for report, finding in zip(reports, turn, strict=True):
            ids = finding["chunk_ids"] if finding else ()
            for index in (indices[one] for one in ids if one in indices):
                quote = evidence.find_quote(index, finding["text"])
                if quote is not None:
                    yield _CitedFinding(
                        report.metadata["title"], finding["text"].strip(), index, quote
                    )
                    break


def _speaks_of(findings: Sequence[_CitedFinding], question: str) -> bool:
    """Return whether the findings are about the topic of a question: most of its terms, or one of them in a title."""
    question_terms = terms_of(find_other_subjects(question))
    if not question_terms:
        return True
    titles = [Text(one.title) for one in findings]
    if any(title.has(term) == 1 for title in titles for term in question_terms):
        return True
    return 2 * _count_terms(findings, question_terms) > len(question_terms)


def _count_terms(findings: Sequence[_CitedFinding], question_terms: Collection[str]) -> int:
    """Return how many of the question's terms the findings have together."""
    found = [Text(f"{one.title} {one.finding} {one.quote.text}") for one in findings]
    return sum(any(text.has(term) == 1 for text in found) for term in question_terms)


def _state_finding(
    given: Citations, finding: str, index: int, quote: SupportedQuote
) -> Iterator[Token | Cited]:
    marker, shown = given.shown(index), escape_markers(finding)
    yield given.token(f"\n- {shown}")
    yield given.token(marker)
    yield given.cite(index, f"{shown}{marker}", quote)


@dataclass(frozen=True, slots=True)
class ReportReader:
    """Who reads reports in how many calls and how long, how much fits a prompt, the answer's language."""

    chat: ChatModel
    calls: int
    seconds: float
    tokens: int
    language: str


async def map_reports(
    writer: Callable[[Usage], AnswerGenerator],
    question: str,
    items: Sequence[RetrievedItem],
    reading: ReportReader,
    warnings: list[CodedWarning],
) -> AsyncGenerator[AnswerEvent]:
    """Map and reduce: points are noted from groups of reports at once, then one answer is written.

    Reports are read whose passages the answer is shown: of others no point could be cited. Those that fit
    one call are read by one; more of them by at most `reading.calls`, besides those of
    the `writer`, which answers and is made when they are read, of what that has cost. The points name
    passages, and the answer cites passages, so that reports lead but are never the evidence. A call that
    fails costs its reports only, with a warning.

    Source: the global search of GraphRAG (Edge et al. 2024, arXiv 2404.16130).

    Raises:
        ModelUnavailable, ModelOutputInvalid: the answer itself could not be written.
    """
    passages, found = with_reports(items, reading.tokens)
    shown = {passage.id for passage in passages}
    reports = [report for report in found if not shown.isdisjoint(_rests_on(report))]
    calls = calls_to_read(reports, reading.calls)
    calls_of_points = [
        _points(reading, question, reports[at::calls], passages) for at in range(calls)
    ]
    with keeping(1):  # for the answer
        read = await asyncio.gather(*calls_of_points)
    failed = [outcome for outcome in read if outcome.failure]
    if failed:
        params = {
            "unread": sum(outcome.reports for outcome in failed),
            "reports": len(reports),
            "reasons": list({one.failure["code"]: one.failure for one in failed}.values()),
        }
        warnings.append(CodedWarning(WarningCode.REPORTS_NOT_READ, params))
    usage = sum((outcome.usage for outcome in read), Usage())
    noted = _format_points([point for outcome in read for point in outcome.points])
    layout = Layout(passages, noted or knowledge_of(question, items, passages))
    writing = writer(usage).answer_layout(question, layout, reading.language)
    try:
        async with aclosing(_with_usage(writing, usage)) as events:
            async for event in events:
                yield event
    except ContextTooLong:  # before its first word; points have no meaning among fewer passages
        shorter = writer(usage).astream(question, items, language=reading.language)
        async with aclosing(_with_usage(shorter, usage)) as events:
            async for event in events:
                yield event


async def _with_usage(
    writing: AsyncGenerator[AnswerEvent], usage: Usage
) -> AsyncGenerator[AnswerEvent]:
    """Yield the events of an answer, whose usage has what was spent before it."""
    async with aclosing(writing) as events:
        async for event in events:
            if isinstance(event, Done):
                yield Done(replace(event.answer, usage=event.answer.usage + usage))
            else:
                yield event


@dataclass(frozen=True, slots=True)
class _Noted:
    """What one call took from so many reports, or why nothing."""

    reports: int
    points: Sequence[Point]
    usage: Usage
    failure: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def _points(
    reading: ReportReader,
    question: str,
    reports: Sequence[RetrievedItem],
    passages: Sequence[RetrievedItem],
) -> _Noted:
    resting = {chunk for report in reports for chunk in _rests_on(report)}
    numbers = [number for number, item in enumerate(passages, start=1) if item.id in resting]
    messages = prompts.POINTS.messages(
        reading.language,
        question=prompts.as_data(question),
        reports=format_reports(reports),
        passages=number_passages([passages[number - 1] for number in numbers], numbers),
    )
    try:
        async with asyncio.timeout(reading.seconds):
            reply, usage = await reading.chat.structured(messages, Points, patient=False)
    except (ModelUnavailable, ModelOutputInvalid, TimeoutError) as error:
        _log.warning("chat model read no report (%s)", error)
        reason = failure_reason(error)
        lost = usage_of_failure(error, messages, reading.chat.name)
        return _Noted(len(reports), (), lost, reason)
    return _Noted(len(reports), [_resting(point, numbers) for point in reply.points], usage)


def _resting(point: Point, shown: Collection[int]) -> Point:
    """Return the point with only those of its passages that the call was shown; a model may name others."""
    known = [number for number in dict.fromkeys(point.passages) if number in shown]
    return point.model_copy(update={"passages": known})


def _rests_on(report: RetrievedItem) -> list[str]:
    return [chunk for finding in report.metadata["findings"] for chunk in finding["chunk_ids"]]


def _format_points(points: Iterable[Point]) -> str:
    """Return the points as a prompt shows them, most important first, each with its passages' numbers.

    One that rests on no passage is left out.
    """
    lines = PromptLines(KNOWLEDGE_TOKENS)
    for point in sorted(points, key=lambda point: -point.importance):
        if point.text and point.passages:
            lines.add(f"{escape_markers(point.text)} {''.join(map(format_marker, point.passages))}")
    return lines.text
