"""Read the conversation that a question belongs to, as LangChain messages or turns, within a budget.

A question comes as `query`, or as the last of `messages`, as chat interfaces send it. Either way a turn ends with
its question and its answer in `messages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
)
from langgraph.config import get_config
from langgraph.graph.message import push_message

from sextant.domain.answers import Answer, Event, Reset, Source, Token
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import LimitSettings
from sextant.nodes.question.source_lists import sources_list, without_list
from sextant.nodes.state import State
from sextant.text.characters import clean_text, estimate_tokens

Turn = dict[str, str]

_ROLES = {"human": "user", "ai": "assistant", "system": "system"}
ROLES = frozenset(_ROLES.values())
_IMAGES = frozenset({"image", "image_url"})
# What a conversation keeps of a source: its text is in the documents, its lanes are of that search.
_NOT_STORED = frozenset({"text", "lanes"})


@dataclass(frozen=True, slots=True)
class TurnQuestion:
    """The question of a turn.

    Attributes:
        query: its text.
        content: images and tables that came with it, as `multimodal_content` has them.
        before: the messages before it.
        message: itself, if it came as a message.
    """

    query: str
    content: list[dict[str, Any]]
    before: list[AnyMessage]
    message: HumanMessage | None = None


def read_question(state: State) -> TurnQuestion:
    """Return the question of this turn: `query`, or else the last of `messages` if it is the user's.

    Raises:
        OptionInvalid: that message holds something else than text and images.
    """
    last = state.messages[-1] if state.messages else None
    if state.query or not isinstance(last, HumanMessage):
        return TurnQuestion(state.query, state.multimodal_content, state.messages)
    content = [*state.multimodal_content, *_images(last)]
    return TurnQuestion(_text(last), content, state.messages[:-1], last)


def opening(question: TurnQuestion) -> dict[str, Any]:
    """Return the change of messages as a turn begins: images are replaced by the note that there were some."""
    message = question.message
    if message is None or isinstance(message.content, str):
        return {}
    images = " ".join(["[image]"] * len(_images(message)))
    content = "\n".join(filter(None, (question.query, images)))
    return {"messages": [HumanMessage(content, id=message.id)]}


class AnswerMessages:
    """Sends an answer to LangGraph's `messages` stream: the checked text of `custom`, not the model's own tokens.

    A stream takes nothing back, so an answer that begins anew is another message.

    Attributes:
        question: the message of the question; None: there is none yet.
        question_id: its id, or the one that it gets.
        is_delegated: another graph runs this one, such as an agent whose subagent it is: of what is said here it often
            reads the text alone.
    """

    def __init__(self, state: State) -> None:
        # A question that came as `query` stands in no message yet; else the user's message is the last.
        self.question = None if state.asked else read_question(state).message
        self.question_id = (self.question and self.question.id) or str(uuid4())
        self._begun = 1
        self._streams = self.is_delegated = False
        with suppress(RuntimeError):  # a node that is called by itself
            place = get_config().get("configurable", {}).get("checkpoint_ns", "")
            self._streams, self.is_delegated = True, "|" in place

    @property
    def answer_id(self) -> str:
        """Return the id of the message with the answer's text."""
        again = f"-{self._begun}" if self._begun > 1 else ""
        return f"{self.question_id}-answer{again}"

    def add(self, event: Event) -> None:
        """Send the text of an event."""
        if isinstance(event, Reset):
            self._begun += 1
        elif isinstance(event, Token) and self._streams:
            push_message(AIMessageChunk(content=event.text, id=self.answer_id), state_key=None)


def closing(
    state: State, answer: Answer, warnings: Sequence[str], most: int, messages: AnswerMessages
) -> list[Any]:
    """Return the change of messages as a turn ends: its question, if that is not there, and its answer.

    Args:
        state: of the turn.
        answer: as it was given.
        warnings: all of them.
        most: turns to keep; the oldest go.
        messages: as which it was streamed.
    """
    listed = sources_list(answer.sources, answer.answer) if messages.is_delegated else ""
    answer_message = AIMessage(
        answer.answer + listed,
        id=messages.answer_id,
        additional_kwargs={
            "citations": [asdict(citation) for citation in answer.citations],
            "sources": [_stored_source(source) for source in answer.sources],
            "mode": state.strategy,
            "trust": answer.trust.value,
            "grounded": answer.grounded,
            "declined": answer.declined,
            "warnings": list(warnings),
        },
    )
    new = (
        [answer_message]
        if messages.question
        else [HumanMessage(state.asked, id=messages.question_id), answer_message]
    )
    too_many = len(state.messages) + len(new) - 2 * most
    old = [RemoveMessage(str(one.id)) for one in state.messages[: max(too_many, 0)]]
    return [*old, *new]


def history_of(state: State, question: TurnQuestion, limits: LimitSettings) -> list[Turn]:
    """Return the conversation before the question, within its budget: as it was given, else the messages."""
    given = state.history or as_history(question.before)
    return trim_history(given, limits.history_turns, limits.history_tokens)


def as_history(messages: Iterable[AnyMessage]) -> list[Turn]:
    """Return messages as turns, without calls of tools, their results, and lists of sources below answers."""
    turns = list[Turn]()
    for message in messages:
        if message.type in _ROLES:
            text = _text(message)
            said = without_list(text) if isinstance(message, AIMessage) else text
            turns.append({"role": _ROLES[message.type], "content": said})
    return turns


def trim_history(history: Sequence[Mapping[str, Any]], turns: int, tokens: int) -> list[Turn]:
    """Return the newest turns that fit, each whole, the very newest in any case; oldest first.

    Instructions (`system`) at the head stay there, and count.

    Args:
        history: as `{"role", "content"}`, oldest first.
        turns: how many at most.
        tokens: estimated, of all of them.
    """
    head = [_turn(turn) for turn in history[:1] if turn.get("role") == "system"][:turns]
    turns_left = turns - len(head)
    left = tokens - sum(estimate_tokens(turn["content"]) for turn in head)
    recent: list[Turn] = []
    for turn in map(_turn, reversed(history[len(head) :][-turns_left:] if turns_left else [])):
        left -= estimate_tokens(turn["content"])
        if recent and left < 0:
            break
        recent.append(turn)
    return head + recent[::-1]


def _turn(turn: Mapping[str, Any]) -> Turn:
    return {
        "role": str(turn.get("role", "user")),
        "content": clean_text(str(turn.get("content", ""))),
    }


def _stored_source(source: Source) -> dict[str, Any]:
    values = {name: value for name, value in asdict(source).items() if name not in _NOT_STORED}
    return values | {"section_path": list(source.section_path)}


def _text(message: AnyMessage) -> str:
    parts = [part["text"] for part in _parts(message) if part.get("type") == "text"]
    return clean_text("\n".join(parts))


def _images(message: AnyMessage) -> list[dict[str, Any]]:
    others = [part for part in _parts(message) if part.get("type") != "text"]
    for part in others:
        if part.get("type") not in _IMAGES:
            raise OptionInvalid(
                f"A message holds a part of the type {part.get('type')!r}.",
                next_step="Send text and images; add documents to the knowledge base instead.",
                field="messages",
            )
    return [{"type": "image", "img_path": _address(part)} for part in others]


def _parts(message: AnyMessage) -> list[dict[str, Any]]:
    """Return the content as parts, which may have been written as bare strings."""
    content = [message.content] if isinstance(message.content, str) else message.content
    return [
        {"type": "text", "text": part} if isinstance(part, str) else cast("dict[str, Any]", part)
        for part in content
    ]


def _address(part: Mapping[str, Any]) -> str:
    """Return the address of an image in any form that chat interfaces send; most are `data:` addresses."""
    url = part.get("image_url") or part.get("url")
    if isinstance(url, Mapping):
        url = cast("Mapping[str, Any]", url).get("url")
    if url:
        return str(url)
    kind = part.get("mime_type") or part.get("mimeType") or "image/png"
    return f"data:{kind};base64,{part.get('base64') or part.get('data') or ''}"
