"""Answer without a chat model: by findings of reports or by quotations of passages that are still stored.

Also here: read the first passages of a few documents, which tell what these are about.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest

from sextant.domain.answers import Done
from sextant.domain.breadth import find_other_subjects, is_broad, may_ask_account
from sextant.domain.documents import DocumentStatus
from sextant.domain.errors import DependencyError, SextantError, describe_reason
from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.models.offline.summary import is_summary_of_topic, named_for_summary, open_documents
from sextant.nodes.answers.computed import ComputedTable
from sextant.nodes.answers.quotations import AnswerEvent, quote_sentences
from sextant.nodes.answers.report_answers import answer_from_reports
from sextant.nodes.citing.citations import is_answered, still_stored
from sextant.nodes.context import Dependencies
from sextant.nodes.state import State, reports_of
from sextant.text.characters import IDEOGRAPHS
from sextant.text.statements import definition_pattern

_SENTENCES = 8  # that tell what all documents are about; at least one of each document
_FEW = 20  # documents; what more are about, reports tell
_LOOKED_AT, _PASSAGES = 50, 40  # documents that are listed, and passages read of all together


@dataclass(frozen=True, slots=True)
class WithoutModel:
    """Answers one question from its documents.

    Attributes:
        state: the question, and what was found.
        deps: where documents are searched and compared, and who quotes them.
        scope: whose they are.
        attached: what came with the question.
        tables: what was computed of tables that were found.
        warnings: takes what was not as it should be.
    """

    state: State
    deps: Dependencies
    scope: Scope
    attached: Sequence[RetrievedItem]
    tables: Sequence[ComputedTable]
    warnings: list[CodedWarning]

    async def events(self) -> AsyncGenerator[AnswerEvent]:
        """Yield the answer from all that was found."""
        state, items = self.state, [*self.attached, *await self._keep_stored(await self._read())]
        async for event in self.answer(state.question, items, state.language):
            yield event

    async def answer(
        self, question: str, items: Sequence[RetrievedItem], language: str
    ) -> AsyncGenerator[AnswerEvent]:
        """Yield findings of reports where the question asks for an overview and nothing was computed, else quotations."""
        answerer, known = self.deps.answerer, {item.id for item in items}
        tables = [table for table in self.tables if known & table.passages]
        begun = False
        computed = bool(tables) or any(map(is_answered, self.attached))
        reports = reports_of(self.state)
        is_whole = asks_of_whole(question)
        topic = not reports and not is_whole and is_summary_of_topic(question, items)
        if topic:
            reports = [item for item in self.state.graph_items if item.kind is ItemKind.COMMUNITY]
        openings = open_documents(items, _SENTENCES) if is_whole else []
        if (reports or openings) and not computed:
            async for event in answer_from_reports(
                question,
                reports,
                items,
                language,
                answerer.name,
                topic=topic,
                openings=openings,
            ):
                begun = True
                yield event
        if not begun:
            plain_question = await asyncio.to_thread(
                replace_aliases, question, items, self.state.graph_items
            )
            quoting = quote_sentences(answerer, plain_question, items, language, tables)
            events = [one async for one in quoting]
            # Nothing was quoted, but reports may answer a broad question.
            has_reports = self.state.strategy in (Mode.HYBRID, Mode.MIX)
            if has_reports and _is_declined(events) and may_ask_account(question):
                events = [one async for one in self._answer_broadly(question, language)] or events
            for event in events:
                yield event

    async def _answer_broadly(self, question: str, language: str) -> AsyncGenerator[AnswerEvent]:
        """Yield findings of reports, as mode `global` does, where each is about the question; else nothing.

        The search is another one, for the passages that findings rest on are rarely among those found before.
        """
        state, top_k = self.state, self.deps.settings.retrieval.top_k
        try:
            found = await self.deps.retriever.search(
                self.scope, state.question, mode=Mode.GLOBAL, top_k=top_k, filters=state.filters
            )
        except SextantError as error:
            cause = {"reason": describe_reason(error)}
            self.warnings.append(CodedWarning(WarningCode.CAUSE, cause))
            return
        reports = [item for item in found.graph_items if item.kind is ItemKind.COMMUNITY]
        passages = [item for item in found.results if item.kind is ItemKind.CHUNK]
        items, answerer = await self._keep_stored(passages), self.deps.answerer
        from_reports = answer_from_reports(
            question, reports, items, language, answerer.name, topic=True
        )
        async for event in from_reports:
            yield event

    async def _keep_stored(self, items: Sequence[RetrievedItem]) -> Sequence[RetrievedItem]:
        """Return the passages that are stored as they were found; all, with a warning, where the store does not answer."""
        try:
            quotes = self.deps.quotes
            check = partial(quotes.check_quotes, self.scope) if quotes else None
            stored = await still_stored(check, items)
        except DependencyError as error:
            reason = {"reason": describe_reason(error)}
            self.warnings.append(CodedWarning(WarningCode.CITATIONS_NOT_COMPARED, reason))
            return items
        if len(stored) < len(items):
            gone = {"passages": count(len(items) - len(stored), "passage")}
            self.warnings.append(CodedWarning(WarningCode.PASSAGES_OUTDATED, gone))
        return stored

    async def _read(self) -> list[RetrievedItem]:
        """Return what was found; ahead of it all passages of a document that the question asks a summary of."""
        state = self.state
        try:
            return await with_whole_of_named(state.question, state.items, self._search_in)
        except DependencyError:  # what was found is enough to answer from
            return state.items

    async def _search_in(self, document: str) -> Retrieval:
        return await self.deps.retriever.search(
            self.scope,
            self.state.question,
            mode=Mode.NAIVE,
            top_k=MOST_PASSAGES,
            filters={**(self.state.filters or {}), "documentIds": [document]},
        )


def _is_declined(events: Sequence[AnswerEvent]) -> bool:
    last = events[-1] if events else None
    return isinstance(last, Done) and last.answer.declined


Search = Callable[[str], Awaitable[Retrieval]]

# Passages of one document that a summary is taken from.
MOST_PASSAGES = 40


async def with_whole_of_named(
    question: str, items: Sequence[RetrievedItem], search: Search
) -> list[RetrievedItem]:
    """Return `items`, and before them the passages of the document that `question` asks a summary of.

    Args:
        question: the question.
        items: the passages found, best first.
        search: finds passages of the document with this id.

    Raises:
        SextantError: what the search raises.
    """
    document = named_for_summary(question, items)
    if document is None:
        return list(items)
    found = [one for one in (await search(document)).results if one.kind is ItemKind.CHUNK]
    known = {one.id for one in found}
    return [*found, *(one for one in items if one.id not in known)]


def replace_aliases(
    question: str, items: Sequence[RetrievedItem], around: Iterable[RetrievedItem]
) -> str:
    """Return `question` with each alias that the passages tell only beside the entity's name as that name.

    Words decide what is quoted: who asks where Jim Cameron was born was told that James Cameron is also
    called so, and not where he was born. An alias that passages go by themselves stays, and so does one of
    which it is asked what that is.

    Args:
        question: as it was asked.
        items: the passages that were found.
        around: what of the graph was found beside them; its entities bear aliases.
    """
    if definition_pattern(question) is not None:
        return question
    texts = [item.text for item in items]
    for entity in around:
        name = str(entity.metadata.get("name", ""))
        if entity.kind is not ItemKind.ENTITY or not name or _name_pattern(name).search(question):
            continue
        for alias in _find_aliases(question, entity):
            positions = [
                (_name_pattern(name).search(text), _name_pattern(alias).search(text))
                for text in texts
            ]
            alone = {
                bool(is_own)
                for is_own, other in positions
                if (is_own is None) is not (other is None)
            }
            if alone == {True} and not _name_pattern(alias).search(name):
                question = _name_pattern(alias).sub(name.replace("\\", r"\\"), question)
                break
    return question


def _find_aliases(question: str, entity: RetrievedItem) -> list[str]:
    """Return the aliases of an entity that a question has, the longest first."""
    question_text = question.lower()
    found = [
        alias for alias in entity.metadata.get("aliases", ()) if alias.lower() in question_text
    ]
    return sorted(
        (alias for alias in found if _name_pattern(alias).search(question)), key=len, reverse=True
    )


def _name_pattern(name: str) -> re.Pattern[str]:
    """Return the name as a whole word, in upper or lower case; Chinese has no bounds of words."""
    before = rf"(?<![^\W{IDEOGRAPHS}])" if name[:1].isascii() else ""
    behind = rf"(?![^\W{IDEOGRAPHS}])" if name[-1:].isascii() else ""
    return re.compile(f"{before}{re.escape(name)}{behind}", re.IGNORECASE)


def asks_of_whole(question: str) -> bool:
    """Return whether a question asks what the documents are about, and of nothing in particular."""
    return is_broad(question) and not find_other_subjects(question).strip()


async def read_openings(state: State, deps: Dependencies, scope: Scope) -> list[RetrievedItem]:
    """Return the first passages of each document by turns; none where there are more than few.

    Raises:
        DependencyError: the store does not answer.
    """
    if deps.documents is None:
        return []
    chosen = (state.filters or {}).get("documentIds")
    if not chosen:
        listed = await deps.documents.list(scope, limit=_LOOKED_AT)
        chosen = [str(one.id) for one in listed if one.status is DocumentStatus.READY]
    if not 0 < len(chosen) <= _FEW:
        return []
    each = _PASSAGES // len(chosen)
    found = await asyncio.gather(*(_read_first(state, deps, scope, one, each) for one in chosen))
    return [item for item in chain.from_iterable(zip_longest(*found)) if item is not None]


async def _read_first(
    state: State, deps: Dependencies, scope: Scope, document: str, limit: int
) -> list[RetrievedItem]:
    """Return the first passages of one document, in their order; of a long one the first of those nearest."""
    found = await deps.retriever.search(
        scope,
        state.question,
        mode=Mode.NAIVE,
        top_k=_PASSAGES,
        filters={**(state.filters or {}), "documentIds": [document]},
    )
    passages = [item for item in found.results if item.kind is ItemKind.CHUNK]
    return sorted(passages, key=lambda item: item.metadata.get("start", 0))[:limit]
