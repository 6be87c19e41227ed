"""A user's conversations, and example questions made from headings of the documents."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from enum import IntEnum
from itertools import chain, groupby, islice, zip_longest
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.types import Command, Interrupt, StateSnapshot
from pydantic import TypeAdapter

from sextant.domain import CAMEL_CASE
from sextant.domain.answers import (
    Citation,
    Done,
    Event,
    Interrupted,
    Planned,
    ReportProgress,
    Source,
    Trust,
)
from sextant.domain.errors import ConversationNotFound, OptionInvalid
from sextant.graph.streaming import stream_answer
from sextant.graph.threads import Thread, Threads
from sextant.nodes.context import Context
from sextant.nodes.decisions import read_decision
from sextant.nodes.question.conversation import as_history
from sextant.stores.documents.document_reader import DocumentHeading
from sextant.stores.postgresql.database import Database
from sextant.text.characters import clean_text, has_cjk
from sextant.text.name_linker import bare_title

if TYPE_CHECKING:
    from sextant.graph.workflow import Workflow

DOCUMENTS = 50  # documents that example questions are made from, the newest first
EACH = 20  # headings of each

_ABOUT = {"zh": "“{heading}”是什么？", "en": "What about “{heading}”?"}
_SUMMARY = {"zh": "《{title}》主要讲什么？", "en": "What are the key points of “{title}”?"}
# The end of a record's heading: "How is it cleaned? (FAQ-007, en, Heron 3)".
_ASIDE = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
# Single words, which mean little without the document, and headings such as "What ownership is".
_BARE = re.compile(
    r"[^\u4e00-\u9fff\s]+|[\u4e00-\u9fff]{1,3}|(?:what|how|why|when|where|who|which)\b.*", re.I
)


class _Kind(IntEnum):
    """The kinds of example questions, best first."""

    QUESTION = 0
    SUBJECT = 1
    BARE = 2
    SUMMARY = 3


@dataclass(frozen=True, slots=True)
class Example:
    """A question that a document can answer, in the document's language."""

    __pydantic_config__ = CAMEL_CASE

    question: str
    document_id: UUID
    filename: str


def examples_of(headings: Sequence[DocumentHeading], language: str, most: int) -> list[Example]:
    """Return example questions, taken in turn from the documents, the best of each first; then questions for a summary.

    Args:
        headings: grouped by document.
        language: documents in this language come first.
        most: questions at most.
    """
    documents = [
        sorted(
            ((*_question_from_heading(one), one) for one in headings_of_document),
            key=lambda question: (question[0], (language == "zh") != has_cjk(question[1])),
        )
        for _, headings_of_document in groupby(headings, lambda one: one.document_id)
    ]
    documents.sort(key=lambda question: (question[0][2].language != language, question[0][0]))
    turns = filter(None, chain.from_iterable(zip_longest(*documents)))
    ranked = chain(
        turns,
        (
            (_Kind.SUMMARY, _summary(headings_of_document[0][2]), headings_of_document[0][2])
            for headings_of_document in documents
        ),
    )
    questions = {
        question: Example(question, one.document_id, one.filename) for _, question, one in ranked
    }
    return list(islice(questions.values(), most))


def _question_from_heading(one: DocumentHeading) -> tuple[_Kind, str]:
    """Return the kind and the text of the question made from a heading."""
    if one.heading is None:
        return _Kind.SUMMARY, _summary(one)
    heading = _ASIDE.sub("", bare_title(one.heading)) or one.heading
    if heading.rstrip().endswith(("?", "？")):
        return _Kind.QUESTION, heading
    question = _ABOUT["zh" if has_cjk(heading) else "en"].format(heading=heading)
    return _Kind.BARE if _BARE.fullmatch(heading) else _Kind.SUBJECT, question


def _summary(one: DocumentHeading) -> str:
    return _SUMMARY["zh" if one.language == "zh" else "en"].format(title=one.document_title)


_CITATIONS = TypeAdapter(tuple[Citation, ...])
_SOURCES = TypeAdapter(tuple[Source, ...])


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """One turn of a conversation. The user's turns have only `role` and `text`.

    Text and lanes of sources are not stored; the text is in the document.
    """

    role: str
    text: str
    mode: str = ""
    trust: Trust = Trust.UNSUPPORTED
    grounded: bool = False
    declined: bool = False
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()


class Conversations:
    """The conversations of one user.

    Args:
        database: where they are.
        user_id: whose they are.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        self._settings = database.settings
        self._threads = Threads(database, user_id)

    def stream(
        self,
        workflow: Workflow,
        question: Mapping[str, Any],
        thread_id: str,
        choices: Context | None = None,
    ) -> AsyncGenerator[Event]:
        """Answer a question as the next turn of a conversation; errors are raised with the first event.

        Args:
            workflow: the workflow that answers.
            question: the keys of `InputState`.
            thread_id: the conversation; created if it is new.
            choices: the context of this turn.

        Raises:
            OptionInvalid: the name is empty or too long.
            ConversationBusy: another question of it is being answered.
        """
        return self._turn(workflow, question, thread_id, str(question["query"]), choices)

    def resume(self, workflow: Workflow, thread_id: str, decision: object) -> AsyncGenerator[Event]:
        """Resume the turn that waits for a decision, or the report that was stopped.

        Args:
            workflow: the workflow that answers.
            thread_id: the conversation.
            decision: for a turn that waits for one (`sextant.nodes.decisions`).

        Raises:
            ConversationNotFound: there is no such conversation, or nothing to resume in it.
            OptionInvalid: the decision is not one of the choices; another may be made.
            ConversationBusy: another question of it is being answered.
        """
        resumed: Command[Any] | None = None if decision is None else Command(resume=decision)
        return self._turn(workflow, resumed, thread_id, "", None)

    async def _turn(
        self,
        workflow: Workflow,
        question: Mapping[str, Any] | Command[Any] | None,
        thread_id: str,
        title: str,
        choices: Context | None,
    ) -> AsyncGenerator[Event]:
        settings = self._settings
        lease = timedelta(seconds=settings.ingestion.job_stale)
        keep = timedelta(days=settings.conversations.days)
        remembering = workflow.copy({"checkpointer": self._threads})
        async with self._threads.turn(thread_id, title, lease, keep) as turn:
            if not isinstance(question, Mapping):
                # There must be something to resume, and the decision one of the choices.
                state = await remembering.aget_state(turn.config, subgraphs=True)
                waiting = _waiting(state)
                if not (waiting if question else state.next):
                    raise ConversationNotFound(
                        "There is nothing to decide or to resume in a conversation of that name.",
                        next_step="Ask a question in it; whoever decided first has its answer.",
                        field="thread_id",
                    )
                if question:
                    try:
                        read_decision(waiting[0].value, question.resume)
                    except OptionInvalid as error:
                        raise error.speak(state.values.get("language", "en")) from None
            answering = stream_answer(remembering, question, context=choices, config=turn.config)
            async with aclosing(answering) as events:
                async for event in events:
                    turn.done = turn.done or isinstance(event, Done | Interrupted)
                    turn.unfinished = isinstance(event, Interrupted) or (
                        (turn.unfinished or isinstance(event, Planned | ReportProgress))
                        and not isinstance(event, Done)
                    )
                    yield event

    async def known(self, limit: int = 100, after: Thread | None = None) -> list[Thread]:
        """Return the conversations, the latest first, or those that follow `after`."""
        return await self._threads.known(limit, after)

    async def turns(self, thread_id: str) -> list[ConversationTurn]:
        """Return the turns of a conversation, the oldest first, and at the end a question that waits for a decision.

        Raises:
            ConversationNotFound: the user has no conversation of that name.
        """
        messages, waiting = await self._threads.read(thread_id)
        if not messages and not waiting:
            raise _not_found()
        pending = [ConversationTurn("user", waiting)] if waiting else []
        return [*map(_turn, messages), *pending]

    async def rename(self, thread_id: str, title: str) -> None:
        """Give a conversation another title, of which the first 160 characters are kept.

        Raises:
            ConversationNotFound: the user has no conversation of that name.
            OptionInvalid: there is nothing in the title.
        """
        if not clean_text(title).strip():
            raise OptionInvalid(
                "A title needs at least one character.",
                next_step="Give the conversation a title that says what it is about.",
                field="title",
            )
        if not await self._threads.rename(thread_id, title):
            raise _not_found()

    async def forget(self, thread_id: str) -> None:
        """Delete a conversation with all its turns.

        Raises:
            ConversationNotFound: the user has no conversation of that name.
        """
        if not await self._threads.forget(thread_id):
            raise _not_found()


def _waiting(state: StateSnapshot) -> list[Interrupt]:
    """Return the open interrupts of a run, those of its subgraphs included."""
    found = list[Interrupt]()
    for task in state.tasks:
        found += _waiting(task.state) if isinstance(task.state, StateSnapshot) else task.interrupts
    return found


def _turn(message: AnyMessage) -> ConversationTurn:
    [turn] = as_history([message])
    if not isinstance(message, AIMessage):
        return ConversationTurn(turn["role"], turn["content"])
    about: Mapping[str, Any] = message.additional_kwargs
    return ConversationTurn(
        turn["role"],
        turn["content"],
        mode=about["mode"],
        trust=Trust(about["trust"]),
        grounded=about["grounded"],
        declined=about.get("declined", False),  # turns of before had none
        citations=_CITATIONS.validate_python(about["citations"]),
        sources=_SOURCES.validate_python([{"text": ""} | source for source in about["sources"]]),
        warnings=tuple(about["warnings"]),
    )


def _not_found() -> ConversationNotFound:
    return ConversationNotFound(
        "There is no conversation of that name.",
        next_step="`sextant chat --list` or GET /api/threads lists those there are.",
        field="thread_id",
    )
