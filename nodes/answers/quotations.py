"""Answers without a chat model: quotations from the passages, or that there are none."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sextant.domain.answers import Cited, Token, Trust
from sextant.domain.documents import Modality
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.passages import FENCE, describe_row, quotable_spans, table_heads
from sextant.models.offline.wording import is_question
from sextant.nodes.answers.answer_events import NOTHING_FOUND, AnswerEvent, yield_fixed_answer
from sextant.nodes.answers.computed import (
    ComputedTable,
    answer_from_tables,
    cite_table,
    find_table_rows,
    with_computed,
)
from sextant.nodes.answers.sanitizer import sanitize_output
from sextant.nodes.citing.citations import Citations, ending, escape_markers, is_answered, is_table
from sextant.nodes.citing.support import Passages, SupportedQuote, TermLookup, claim_of
from sextant.nodes.question.wording import clauses_of
from sextant.tables.query.parsing import lists_rows
from sextant.text.characters import find_whole, plain_of
from sextant.text.sentences import sentence_spans

if TYPE_CHECKING:
    from sextant.models.offline.extractive import Extraction

Instead = Callable[[str, Sequence[RetrievedItem], str], AsyncGenerator[AnswerEvent]]
"""Answers a question from items in a language, where the chat model does not."""

FOUND = {"en": "According to the documents:", "zh": "根据文档："}
NEAREST = {"en": "The nearest passage is this one:", "zh": "最接近的内容见："}

_WHICH = re.compile(r"哪|谁|\b(?:which|who)\b")
# Of the nearest passage no more than this is quoted.
_NEAREST_CHARS = 200


def quotations(
    question: str, items: Sequence[RetrievedItem], language: str
) -> AsyncGenerator[AnswerEvent]:
    """Return the answer that quotes sentences which share the question's words."""
    return quote_sentences(ExtractiveAnswerer(), question, items, language)


async def quote_sentences(
    answerer: ExtractiveAnswerer,
    question: str,
    items: Sequence[RetrievedItem],
    language: str,
    tables: Sequence[ComputedTable] = (),
) -> AsyncGenerator[AnswerEvent]:
    """Yield the answer that quotes the best sentences of `items`, cited sentence by sentence.

    What was computed of tables that came with the question comes first. What was computed of `tables`
    stands for the rows of tables that could be quoted; a sentence that answers outdoes it. Where nothing is evidence
    enough, it says that the documents do not say, and quotes the nearest passage as the nearest.
    """
    texts = [item for item in items if not is_table(item)]
    items = [*texts, *(item for item in items if is_table(item))]
    found = await answerer.extract(question, texts, language=language)
    if tables and not _outdone(tables, question, found, texts):
        events = _yield_computed(tables, items, language, answerer.name)
    else:
        answered = any(map(is_answered, items)) and not clauses_of(question)
        if answered or not found.quotations:
            # Of what the table has answered, documents tell more where they name the row that it leads to.
            about = [name for name in find_table_rows(items) if len(name) > 1]
            naming = [item for item in texts if _names(item, about)]
            if about or answered:
                items = [*naming, *(item for item in items if item not in naming)]
                found = await answerer.extract(" ".join(about), naming, language=language)
        events = _yield_quotations(found, question, items, language, answerer.name)
    for event in events:
        yield event


def _names(item: RetrievedItem, about: Sequence[str]) -> bool:
    """Return whether a passage has one of these names."""
    text = plain_of(item.text)
    return any(find_whole(text, plain_of(name)) for name in about)


def _outdone(
    tables: Sequence[ComputedTable],
    question: str,
    found: Extraction,
    items: Sequence[RetrievedItem],
) -> bool:
    """Return whether the best that can be quoted is no row of a table, but a sentence that answers.

    One that answers which is so, or which are, names one of them; a rule about all that are so does not.
    """
    if not found.quotations:
        return False
    best = found.quotations[0]
    if items[best.source].metadata.get("modality") == Modality.TABLE:
        return False
    text = plain_of(best.sentence)
    listed = [name for table in tables for name in table.listed]
    asks_which = lists_rows(question) or (listed and _WHICH.search(plain_of(question)))
    return not asks_which or any(find_whole(text, name) for name in listed)


def _yield_computed(
    tables: Sequence[ComputedTable], items: Sequence[RetrievedItem], language: str, model: str
) -> Iterator[AnswerEvent]:
    """Yield what tables that came with the question say, and what was computed of those in the documents."""
    items = with_computed(items, tables)
    given = Citations(items)
    yield from answer_from_tables(items, given, language)
    for table in tables:
        if given.citations:
            yield given.token("\n\n")
        yield from cite_table(table, items, given, language)
    yield from ending(given, model, trust=Trust.SUPPORTED)


def _yield_quotations(
    found: Extraction, question: str, items: Sequence[RetrievedItem], language: str, model: str
) -> Iterator[AnswerEvent]:
    given = Citations(items)
    if any(map(is_table, items)):
        yield from answer_from_tables(items, given, language)
    computed = bool(given.citations)
    if found.quotations:
        yield given.token(("\n\n" if computed else "") + FOUND[language])
        yield from _quotations(found, items, given)
    elif computed:
        pass
    elif found.nearest is None:
        yield from yield_fixed_answer(NOTHING_FOUND[language], model, declined=True)
        return
    else:
        yield given.token(NOTHING_FOUND[language])
        yield from _nearest(given, question, items, found.nearest, language)
    # What was computed alone is supported by its cells; a quotation says only that it stands there.
    trust = Trust.SUPPORTED if computed and not found.quotations else Trust.QUOTED
    declined = not (computed or found.quotations)
    yield from ending(given, model, trust=trust, declined=declined)


def with_nearest(
    given: Citations, question: str, items: Sequence[RetrievedItem], language: str
) -> Iterator[Token | Cited]:
    """Add the nearest passage to an answer that says only that the documents do not say."""
    claim = claim_of(question)
    index = max(
        range(len(items)), key=lambda index: (TermLookup(items[index].text).covers(claim), -index)
    )
    yield from _nearest(given, question, items, index, language)


def _nearest(
    given: Citations, question: str, items: Sequence[RetrievedItem], index: int, language: str
) -> Iterator[Token | Cited]:
    nearest = items[index]
    quote = Passages(items)[index].best_quote(claim_of(question))
    if quote is None or quote.text.startswith(FENCE) or quote.text.strip("| ") in _heads(nearest):
        quote = _opening(nearest)
    quote = _without_bars(quote)
    if is_question(quote.text):
        quote = _with_answer(quote, nearest)
    row_text = describe_row(
        quote.text, nearest, quote.start - int(nearest.metadata.get("start") or 0)
    )
    shown = _format_sentence(row_text[:_NEAREST_CHARS], items, language)
    shown += "…" if len(row_text) > _NEAREST_CHARS else ""
    gap = "" if language == "zh" else " "
    yield given.token(f"{gap}{NEAREST[language]}\n{shown}")
    marker = given.shown(index)
    yield given.token(marker)
    yield given.cite(index, f"{shown}{marker}", quote)


def _without_bars(quote: SupportedQuote) -> SupportedQuote:
    """Return a row of a table as rows are quoted elsewhere, without the bars around it; all else as it stands."""
    row = quote.text.strip("| ")
    if not quote.text.startswith("|") or "\n" in row:
        return quote
    start = quote.start + quote.text.index(row)
    return replace(quote, text=row, start=start, end=start + len(row))


def _with_answer(quote: SupportedQuote, item: RetrievedItem) -> SupportedQuote:
    """Return a question of a passage together with the sentence behind it."""
    offset = int(item.metadata.get("start") or 0)
    behind = (end for start, end in sentence_spans(item.text) if offset + start >= quote.end)
    end = offset + next(behind, quote.end - offset)
    return replace(quote, text=item.text[quote.start - offset : end - offset], end=end)


def _opening(item: RetrievedItem) -> SupportedQuote:
    """Return the first sentence or row of a passage of which nothing but the names of columns is asked about."""
    heads = _heads(item)
    spans = (span for span in quotable_spans(item.text) if item.text[slice(*span)] not in heads)
    start, end = next(spans, (0, len(item.text)))
    offset = int(item.metadata.get("start") or 0)
    return SupportedQuote(item.text[start:end], offset + start, offset + end, 0.0)


def _heads(item: RetrievedItem) -> list[str]:
    return [head.strip("| ") for head in table_heads(item)]


def _quotations(
    found: Extraction, items: Sequence[RetrievedItem], given: Citations
) -> Iterator[Token | Cited]:
    for quotation in found.quotations:
        marker = given.shown(quotation.source)
        row_text = describe_row(quotation.sentence, items[quotation.source], quotation.start)
        shown = _format_sentence(row_text, items)
        if shown.endswith(FENCE):  # which ends code only where nothing follows it on its line
            shown += "\n"
        yield given.token(f"\n{shown}")
        yield given.token(marker)
        offset = int(items[quotation.source].metadata.get("start") or 0)
        quote = SupportedQuote(
            quotation.sentence, offset + quotation.start, offset + quotation.end, 1.0
        )
        yield given.cite(quotation.source, f"{shown}{marker}", quote)


def _format_sentence(sentence: str, items: Sequence[RetrievedItem], language: str = "en") -> str:
    """Return a sentence of a document as an answer may show it; the citation has its very words."""
    return escape_markers(sanitize_output(sentence, [item.text for item in items], language))
