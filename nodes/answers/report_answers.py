"""Answer broad questions from the reports of communities, and cite the passages behind them."""

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
from sextant.domain.answers import Done, Trust, Usage
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
from sextant.nodes.citing.markers import MARKER, strip_markers
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
    """A statement of a report that helps to answer, with the numbers of its passages."""

    text: Sentence = ""
    importance: Weight = 0.0
    passages: Numbers = Field(default_factory=list[int])

    @model_validator(mode="before")
    @classmethod
    def _of_a_line(cls, value: object) -> object:
        """Accept a line of text with markers, as some models write a point."""
        if isinstance(value, str):
            return {
                "text": strip_markers(value),
                "passages": [one["names"] for one in MARKER.finditer(value)],
            }
        return value if isinstance(value, dict) else {}


class Points(ModelReply):
    """The points that the chat model found in some reports."""

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
    """Answer without a chat model: yield the best findings of the reports, each with a quote of its passage.

    Findings without a passage among `items` are left out, and so are those without any term of the question. Nothing is
    yielded if no finding is left, or if the question has a code or a number that no passage has.

    Args:
        question: a broad question.
        reports: best first.
        items: the passages that may be cited.
        language: `zh` or `en`, of the answer.
        model: the name that the answer gives as its author.
        topic: whether every finding must have more than half of the question's terms, beside those of documents.
        openings: spans of `items`, the first sentences of documents. Those of several documents come first, and each report
            gives one finding besides.
    """
    if lacks_named(question, items):
        return
    given = Citations(items)
    question_terms = terms_of(find_other_subjects(question))
    cited = (
        one
        for one in _cite_findings(question, reports, items)
        if (
            2 * _count_terms([one], question_terms) > len(question_terms)
            if topic
            else not question_terms or _count_terms([one], question_terms)
        )
    )
    limit = min(_FINDINGS, len(reports)) if openings else _FINDINGS
    further = await asyncio.to_thread(list, islice(cited, limit))
    opened = [_open(items[at], at, start, end) for at, start, end in openings]
    documents = {document_of(items[one.index]) for one in opened}
    if len(documents) == 1 and further:  # the beginning of one document tells less than its reports
        opened = []
    beginnings = "\n".join(one.finding for one in opened)
    findings = [*opened, *(one for one in further if one.finding.rstrip(".。") not in beginnings)]
    title = FOUND[language] if further else quotations.FOUND[language]
    is_of_one = not reports and len({document_of(items[one.index]) for one in findings}) == 1
    if not findings or not _speaks_of(findings, question):
        return
    yield given.token(title)
    for one in findings:
        item = items[one.index]
        at = item.text.find(one.finding)
        finding = describe_row(one.finding, item, at) if at >= 0 else one.finding
        statement = finding if is_of_one else f"{one.title}{_COLON[language]}{finding}"
        for event in given.state(one.index, escape_markers(statement), one.quote, lead="\n- "):
            yield event
    for last in ending(given, model, trust=Trust.QUOTED):
        yield last


_COLON = {"en": ": ", "zh": "："}


@dataclass(frozen=True, slots=True)
class _CitedFinding:
    """A finding, the title of its report, the index of its passage, and the quote there."""

    title: str
    finding: str
    index: int
    quote: SupportedQuote


def _open(item: RetrievedItem, index: int, start: int, end: int) -> _CitedFinding:
    """Return a sentence of a passage as a finding with the title of its document."""
    offset, text = int(item.metadata.get("start") or 0), item.text[start:end]
    quote = SupportedQuote(text, offset + start, offset + end, 1.0)
    title = item.metadata.get("document_title") or item.metadata.get("filename") or ""
    return _CitedFinding(str(title), text, index, quote)


def _cite_findings(
    question: str, reports: Sequence[RetrievedItem], items: Sequence[RetrievedItem]
) -> Iterator[_CitedFinding]:
    """Yield the best finding of every report, then the second best ones, and so on.

    The findings of a report are ordered by the share of the question's terms that they have, then as they stand.
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


@dataclass(frozen=True, slots=True)
class ReportReader:
    """The chat model that reads reports, and its limits.

    Attributes:
        chat: the model.
        calls: the most calls.
        seconds: the time of a call.
        tokens: the size of a prompt's context.
        language: `zh` or `en`, of the answer.
    """

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
    """Answer by map and reduce: several calls extract points from the reports, then one call writes the answer.

    Only reports are read whose passages are in the answer's context. Points name passages and the answer cites passages,
    so reports are never the evidence. A call that fails is a warning, and its reports are left out.

    Source: the global search of GraphRAG (Edge et al. 2024, arXiv 2404.16130).

    Args:
        writer: makes the generator of the answer from the usage of the calls before it.
        question: a broad question.
        items: passages and reports, best first.
        reading: the model that reads the reports, and its limits.
        warnings: where the warning of failed calls is added.

    Raises:
        ModelUnavailable, ModelOutputInvalid: the answer itself could not be written.
    """
    passages, found = with_reports(items, reading.tokens)
    shown = {passage.id for passage in passages}
    reports = [report for report in found if not shown.isdisjoint(_chunk_ids(report))]
    calls = calls_to_read(reports, reading.calls)
    calls_of_points = [
        _extract_points(reading, question, reports[at::calls], passages) for at in range(calls)
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
    except (
        ContextTooLong
    ):  # raised before the first word; points would name passages that are left out
        shorter = writer(usage).astream(question, items, language=reading.language)
        async with aclosing(_with_usage(shorter, usage)) as events:
            async for event in events:
                yield event


async def _with_usage(
    writing: AsyncGenerator[AnswerEvent], usage: Usage
) -> AsyncGenerator[AnswerEvent]:
    """Yield the events of an answer, and add what was spent before it to its usage."""
    async with aclosing(writing) as events:
        async for event in events:
            if isinstance(event, Done):
                yield Done(replace(event.answer, usage=event.answer.usage + usage))
            else:
                yield event


@dataclass(frozen=True, slots=True)
class _ReadReports:
    """The points that one call found in a number of reports, or the reason of its failure."""

    reports: int
    points: Sequence[Point]
    usage: Usage
    failure: Mapping[str, Any] = field(default_factory=dict[str, Any])


async def _extract_points(
    reading: ReportReader,
    question: str,
    reports: Sequence[RetrievedItem],
    passages: Sequence[RetrievedItem],
) -> _ReadReports:
    chunks = {chunk for report in reports for chunk in _chunk_ids(report)}
    numbers = [number for number, item in enumerate(passages, start=1) if item.id in chunks]
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
        return _ReadReports(len(reports), (), lost, reason)
    return _ReadReports(
        len(reports), [_keep_known_passages(point, numbers) for point in reply.points], usage
    )


def _keep_known_passages(point: Point, shown: Collection[int]) -> Point:
    """Return the point without the passages that the call was not shown."""
    known = [number for number in dict.fromkeys(point.passages) if number in shown]
    return point.model_copy(update={"passages": known})


def _chunk_ids(report: RetrievedItem) -> list[str]:
    return [chunk for finding in report.metadata["findings"] for chunk in finding["chunk_ids"]]


def _format_points(points: Iterable[Point]) -> str:
    """Return the points with their markers for a prompt, most important first; those without passages are left out."""
    lines = PromptLines(KNOWLEDGE_TOKENS)
    for point in sorted(points, key=lambda point: -point.importance):
        if point.text and point.passages:
            lines.add(f"{escape_markers(point.text)} {''.join(map(format_marker, point.passages))}")
    return lines.text
