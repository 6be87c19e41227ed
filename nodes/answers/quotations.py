"""Answer without a chat model by quotations from the passages, or say that there are none."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sextant.domain.answers import Answer, Cited, Done, Reset, Sources, Token, Trust
from sextant.domain.documents import Document, DocumentStatus
from sextant.domain.errors import SextantError
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning
from sextant.models.offline.extractive import (
    ExtractiveAnswerer,
    Quotation,
    quote_nearest,
)
from sextant.models.offline.passages import FENCE, describe_row, section_of
from sextant.nodes.answers.computed import (
    ComputedTable,
    answer_from_tables,
    cite_table,
    find_table_rows,
    with_computed,
)
from sextant.nodes.answers.sanitizer import sanitize_output
from sextant.nodes.citing.citations import Citations, ending, escape_markers, is_answered, is_table
from sextant.nodes.citing.support import SupportedQuote
from sextant.nodes.question.wording import clauses_of
from sextant.stores.documents.document_reader import DocumentReader
from sextant.tables.query.parsing import lists_rows
from sextant.text.analysis import find_unmentioned, names_code
from sextant.text.characters import find_whole, plain_of
from sextant.text.statements import AnswerType

if TYPE_CHECKING:
    from sextant.models.offline.extractive import Extraction

_log = logging.getLogger(__name__)

NO_MODEL = {
    "en": "No chat model is configured, so I quote from your documents and cannot do more.",
    "zh": "没有配置聊天模型，因此我只能引用你的文档来回答。",
}
_HOLDINGS = {"en": " Here are, for example: {names}.", "zh": "这里有：{names}等。"}
_EXAMPLE = {
    "en": "\nYou could ask: What does {name} say about {section}?",
    "zh": "\n可以这样问：{name}中关于“{section}”是怎么说的？",
}
_NOTHING = {
    "en": " There are no documents here yet: add some with `sextant ingest`.",
    "zh": "这里还没有文档：请先用 `sextant ingest` 添加。",
}
_SETTINGS = {
    "en": "\nFor direct answers set SEXTANT_CHAT_MODEL and OPENAI_BASE_URL or OPENAI_API_KEY.",
    "zh": "\n如需直接回答，请设置 SEXTANT_CHAT_MODEL 以及 OPENAI_BASE_URL 或 OPENAI_API_KEY。",
}
_LOOKED_AT, _NAMED = 20, 3


async def introduction(language: str, scope: Scope, documents: DocumentReader | None) -> str:
    """Return a text that says what can be asked where no chat model answers by itself.

    Args:
        language: `zh` or `en`.
        scope: whose documents.
        documents: lists the documents to name; None: none are named.
    """
    return NO_MODEL[language] + await _holdings(language, scope, documents) + _SETTINGS[language]


async def _holdings(language: str, scope: Scope, documents: DocumentReader | None) -> str:
    if documents is None:
        return ""
    try:
        found = await documents.list(scope, limit=_LOOKED_AT)
        ready = [one for one in found if one.status is DocumentStatus.READY]
        if not ready:
            return _NOTHING[language]
        # Those in the answer's language first, so that the example does not mix languages.
        ready.sort(key=lambda one: one.language != language)
        mark = "、" if language == "zh" else ", "
        names = mark.join(one.filename for one in ready[:_NAMED])
        section = await _section_of(scope, ready[0], documents)
    except SextantError as error:
        _log.warning("the documents are not named: %s", error)
        return ""
    text = _HOLDINGS[language].format(names=names)
    if section:
        text += _EXAMPLE[language].format(name=ready[0].filename, section=section)
    return text


async def _section_of(scope: Scope, document: Document, documents: DocumentReader) -> str:
    """Return the title of the document's second section below its title; the first often introduces it."""
    sections = await documents.structure(scope, document.id)
    titles = [one.title for one in sections if one.title and one.parent_id is not None]
    return next(iter(titles[1:2] or titles), "")


AnswerEvent = Token | Cited | Reset | Sources | Done

NOTHING_FOUND = {
    "en": "The documents do not say.",
    "zh": "文档中没有提到。",
}
# Stands ahead of the nearest passage, which may be an answer after all.
_NOT_CLEARLY = {
    "en": "The documents do not say this clearly.",
    "zh": "文档中没有明确提到。",
}


def yield_fixed_answer(
    sentence: str, model: str, *, declined: bool = False
) -> Iterator[AnswerEvent]:
    """Yield a fixed sentence as an answer."""
    yield Token(sentence)
    yield Sources(())
    yield Done(Answer(sentence, mode="", declined=declined, model=model))


def add_warning(event: AnswerEvent, warning: CodedWarning, language: str) -> AnswerEvent:
    """Return the event; to a `Done` the warning is added."""
    if not isinstance(event, Done):
        return event
    warnings = (*event.answer.coded_warnings, warning)
    return Done(replace(event.answer, coded_warnings=warnings, language=language))


Instead = Callable[[str, Sequence[RetrievedItem], str], AsyncGenerator[AnswerEvent]]
"""Answers a question from items in a language, where the chat model does not."""

FOUND = {"en": "According to the documents:", "zh": "根据文档："}
NEAREST = {"en": "The nearest passage is this one:", "zh": "最接近的内容见："}

_WHICH = re.compile(r"哪|谁|\b(?:which|who)\b")
_WHICH_VERSION = re.compile(r"哪个?版本|\bwhich (?:\w+ )?(?:version|release)\b")
# Of the nearest passage no more than this is quoted.
_NEAREST_CHARS = 200
_SENTENCE_ENDS = '.。!！?？…:："”」)）]'


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

    Results from tables that came with the question come first. Results from `tables` of the documents stand in for
    quoted rows, unless a sentence answers better. Where no evidence is enough, the answer says so and quotes the
    nearest passage.
    """
    texts = [item for item in items if not is_table(item)]
    items = [*texts, *(item for item in items if is_table(item))]
    found = await answerer.extract(question, texts, language=language)
    if tables and not _outdone(tables, question, found, texts):
        events = _yield_computed(tables, items, language, answerer.name)
    else:
        answered = any(map(is_answered, items)) and not clauses_of(question)
        if answered or not found.quotations:
            # Documents that name the row of the result may tell more about it.
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
    """Return whether the best quotation is a sentence that answers, and no row of a table.

    Where the question asks which, it has to name one of the rows in the result.
    """
    if not found.quotations:
        return False
    best = found.quotations[0]
    if items[best.source].is_table:
        return False
    text = plain_of(best.sentence)
    listed = [name for table in tables for name in table.listed]
    asks_which = lists_rows(question) or (listed and _WHICH.search(plain_of(question)))
    return not asks_which or any(find_whole(text, name) for name in listed)


def _yield_computed(
    tables: Sequence[ComputedTable], items: Sequence[RetrievedItem], language: str, model: str
) -> Iterator[AnswerEvent]:
    """Yield the results from tables that came with the question, then those from tables in the documents."""
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
        yield from _quotations(found, question, items, given)
    elif computed:
        pass
    elif found.nearest is None:
        yield from yield_fixed_answer(NOTHING_FOUND[language], model, declined=True)
        return
    else:
        yield given.token(_NOT_CLEARLY[language])
        yield from _yield_nearest(given, found.nearest, items, language)
    # A computed result is supported by its cells; a quotation proves only that the document says it.
    trust = Trust.SUPPORTED if computed and not found.quotations else Trust.QUOTED
    declined = not (computed or found.quotations)
    yield from ending(given, model, trust=trust, declined=declined)


def with_nearest(
    given: Citations, question: str, items: Sequence[RetrievedItem], language: str
) -> Iterator[Token | Cited]:
    """Add the nearest sentence to an answer that says only that the documents do not say."""
    if (nearest := quote_nearest(question, items)) is not None:
        yield from _yield_nearest(given, nearest, items, language)


def _yield_nearest(
    given: Citations, nearest: Quotation, items: Sequence[RetrievedItem], language: str
) -> Iterator[Token | Cited]:
    item = items[nearest.source]
    row_text = describe_row(nearest.sentence, item, nearest.start)
    shown = _format_sentence(row_text[:_NEAREST_CHARS], items, language)
    shown += "…" if len(row_text) > _NEAREST_CHARS else ""
    # A model may end without a mark.
    is_ended = not given.text.strip() or given.text.rstrip()[-1] in _SENTENCE_ENDS
    mark, space = ("。", "") if language == "zh" else (".", " ")
    lead = f"{'' if is_ended else mark}{space}{NEAREST[language]}\n"
    yield from _cite(given, nearest, item, shown, lead=lead, support=0.0)  # it answers nothing


def _cite(
    given: Citations,
    quotation: Quotation,
    item: RetrievedItem,
    shown: str,
    *,
    lead: str = "\n",
    support: float = 1.0,
) -> Iterator[Token | Cited]:
    """Yield a quotation as it is shown, with its marker and the citation of its very words."""
    offset = int(item.metadata.get("start") or 0)
    start, end = offset + quotation.start, offset + quotation.end
    quote = SupportedQuote(quotation.sentence, start, end, support)
    yield from given.state(quotation.source, shown, quote, lead=lead)


def _quotations(
    found: Extraction, question: str, items: Sequence[RetrievedItem], given: Citations
) -> Iterator[Token | Cited]:
    for quotation in found.quotations:
        row_text = describe_row(quotation.sentence, items[quotation.source], quotation.start)
        if quotation is found.quotations[0]:
            title = _find_telling_title(question, items[quotation.source], quotation.sentence)
            row_text = f"{title}: {row_text}" if title else row_text
        shown = _format_sentence(row_text, items)
        if shown.endswith(FENCE):  # which ends code only where nothing follows it on its line
            shown += "\n"
        yield from _cite(given, quotation, items[quotation.source], shown)


def _find_telling_title(question: str, item: RetrievedItem, sentence: str) -> str:
    """Return the title of a passage's section where it tells the version or date asked for and the sentence does not."""
    title, asked = section_of(item), AnswerType(question)
    is_date = asked.is_quantity and asked.is_in(title) and not find_unmentioned(question, [title])
    is_wanted = is_date or _WHICH_VERSION.search(plain_of(question))
    return title if is_wanted and names_code(title) and not asked.is_in(sentence) else ""


def _format_sentence(sentence: str, items: Sequence[RetrievedItem], language: str = "en") -> str:
    """Return a sentence of a document as an answer may show it; the citation has its very words."""
    return escape_markers(sanitize_output(sentence, [item.text for item in items], language))
