"""What every way of answering has in common: its events, and what is said to a question that no document answers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

from sextant.domain.answers import Answer, Cited, Done, Reset, Sources, Token
from sextant.domain.documents import Document, DocumentStatus
from sextant.domain.errors import SextantError
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning
from sextant.nodes.question.arithmetic import compute_term
from sextant.stores.documents.document_reader import DocumentReader

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


async def introduction(
    question: str, language: str, scope: Scope, documents: DocumentReader | None
) -> str:
    """Return the value of plain arithmetic; else why there is no answer, and what can be asked instead.

    Args:
        question: small talk, arithmetic, or any question in `bypass` mode.
        language: `zh` or `en`.
        scope: whose documents.
        documents: tells what there is; None, or a store that does not answer: nothing is told of it.
    """
    if (sum_ := compute_term(question)) is not None:
        return sum_
    return NO_MODEL[language] + await _holdings(language, scope, documents) + _SETTINGS[language]


async def _holdings(language: str, scope: Scope, documents: DocumentReader | None) -> str:
    if documents is None:
        return ""
    try:
        found = await documents.list(scope, limit=_LOOKED_AT)
        ready = [one for one in found if one.status is DocumentStatus.READY]
        if not ready:
            return _NOTHING[language]
        # In the answer's language first, so that the example is in one language.
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


def yield_fixed_answer(
    sentence: str, model: str, *, declined: bool = False
) -> Iterator[AnswerEvent]:
    """Yield a fixed sentence as an answer."""
    yield Token(sentence)
    yield Sources(())
    yield Done(Answer(sentence, mode="", declined=declined, model=model))


def add_warning(event: AnswerEvent, warning: CodedWarning, language: str) -> AnswerEvent:
    """Return the event, a `Done` with one warning more."""
    if not isinstance(event, Done):
        return event
    warnings = (*event.answer.coded_warnings, warning)
    return Done(replace(event.answer, coded_warnings=warnings, language=language))
