"""From the messages of a chat to a question with its history and its images."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sextant.domain.errors import OptionInvalid, QuestionInvalid
from sextant.server.openai.schemas import ChatMessage
from sextant.server.openai.sources import without_list
from sextant.text.characters import clean_text

# What one turn may add to a prompt; the longest answer (`limits.answer_tokens`) is shorter.
_TURN_CHARS = 8000
# RFC 2397, of images only: a URL is never fetched, so that nobody makes this server call others.
_DATA_URI = re.compile(r"data:image/[a-z0-9.+-]{1,40};base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The last message is the question; what precedes it is history."""

    question: str
    history: list[dict[str, str]]
    images: list[dict[str, Any]]


def read(messages: Sequence[ChatMessage], most_turns: int) -> Conversation:
    """Return what the messages ask.

    Instructions (`system`, `developer`) stay at the head of the history, however long it is. Lists
    of sources that we put below answers are taken out again; another model's calls of tools and
    their results are left out.

    Args:
        messages: the oldest first.
        most_turns: turns that the workflow takes.

    Raises:
        QuestionInvalid: the last message is not the user's.
        OptionInvalid: a message holds what cannot be read.
    """
    *before, last = messages
    if last.role != "user":
        raise QuestionInvalid(
            "The last message is not the user's.",
            next_step="End `messages` with the question.",
            field="messages",
        )
    texts = [(message.role, _text(message)) for message in before]
    rules = "\n".join(text for role, text in texts if role in {"system", "developer"})
    turns = [_turn(role, text) for role, text in texts if role in {"user", "assistant"} and text]
    head = [_turn("system", rules)] if rules else []
    room = max(most_turns - len(head), 0)
    kept = turns[-room:] if room else []
    return Conversation(_text(last), head + kept, _images(last))


def _turn(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": without_list(text)[:_TURN_CHARS]}


def _text(message: ChatMessage) -> str:
    return clean_text("\n".join(part.text or "" for part in message.content))


def _images(message: ChatMessage) -> list[dict[str, Any]]:
    urls = [part.image_url.url for part in message.content if part.image_url]
    for url in urls:
        if not _DATA_URI.match(url):
            raise OptionInvalid(
                "An image must be in the request itself.",
                next_step="Send it as `data:image/png;base64,…`; addresses are not fetched.",
                field="messages",
            )
    return [{"type": "image", "img_path": url} for url in urls]
