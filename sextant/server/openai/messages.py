"""From the messages of a chat to a question with its history and its images.

Also here: models are ways to answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from sextant.domain.answers import Effort
from sextant.domain.errors import NotFound, OptionInvalid, QuestionInvalid
from sextant.domain.retrieval import AUTO, Mode
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.server.openai.completions import without_list
from sextant.server.openai.schemas import ChatMessage
from sextant.text.characters import clean_text

_NAME = "sextant"
_OWNER = "sextant"
_EFFORTS: tuple[Effort, ...] = get_args(Effort)
_MODEL = re.compile(
    rf"{_NAME}(?:-(?P<mode>{'|'.join(Mode)}))?(?:-(?P<effort>{'|'.join(_EFFORTS)}))?"
)


class ModelNotFound(NotFound):
    """No model has this name; the code is OpenAI's own."""


def chosen_by(model: str, graph_id: str | None) -> tuple[str, Effort, str]:
    """Return the mode, the effort and the knowledge base that a model's name says.

    Args:
        model: `sextant`, then `-` and a mode if not `auto`, then `-` and an effort if not `medium`, then `:` and a
            knowledge base if not the default one.
        graph_id: the request's own word for the knowledge base, which outranks the name's.

    Raises:
        ModelNotFound: the name is none of these.
    """
    name, _, graph = model.partition(":")
    found = _MODEL.fullmatch(name)
    if found is None:
        raise ModelNotFound(
            f"There is no model {model!r:.100}.",
            next_step=f"Models: {', '.join(names())}; a knowledge base follows after a colon.",
            field="model",
        )
    effort: Effort = cast("Effort", found["effort"] or "medium")
    return found["mode"] or AUTO, effort, graph_id or graph or DEFAULT_GRAPH


def names() -> list[str]:
    """Return the models for the default knowledge base."""
    kinds = (*Mode, *(effort for effort in _EFFORTS if effort != "medium"))
    return [_NAME, *(f"{_NAME}-{kind}" for kind in kinds)]


def models_response(graphs: Iterable[str]) -> list[dict[str, Any]]:
    """Return the models as the API lists them: those of the default knowledge base, one for each other."""
    others = [f"{_NAME}:{graph}" for graph in graphs if graph != DEFAULT_GRAPH]
    return [model_response(name) for name in (*names(), *others)]


def model_response(name: str) -> dict[str, Any]:
    """Return one model as the API describes it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": _OWNER}


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
    turns_left = max(most_turns - len(head), 0)
    recent = turns[-turns_left:] if turns_left else []
    return Conversation(_text(last), head + recent, _images(last))


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
