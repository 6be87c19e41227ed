"""A call of the chat model for JSON, in the form that its endpoint takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from sextant.models.chat.dialect import Dialect, arrange
from sextant.models.chat.endpoint_memory import RequestForm
from sextant.models.chat.structured import ModelReply, instruction


@dataclass(frozen=True, slots=True)
class JsonRequest:
    """A call for JSON of `schema`, by the form in which it is made; `after`: messages that follow the prompt."""

    prompt: list[BaseMessage]
    schema: type[ModelReply]
    language: str
    dialect: Dialect
    answer_tokens: int | None = None
    after: tuple[BaseMessage, ...] = ()

    def messages(self, form: RequestForm) -> list[BaseMessage]:
        """Return the prompt, which states the schema where the request does not."""
        stated = self.dialect.states_schema(form)
        text = instruction(self.schema, self.language, with_schema=not stated)
        return arrange([*_with_instruction(self.prompt, text), *self.after], form)

    def options(self, form: RequestForm) -> dict[str, Any]:
        """Return the options that go with the call."""
        return self.dialect.json_options(self.schema, form, self.answer_tokens)

    def bound(self, form: RequestForm) -> Runnable[Any, Any] | None:
        """Return the model that is asked in place of the plain one, if any."""
        return self.dialect.bind_schema(self.schema, form)


def _with_instruction(prompt: list[BaseMessage], text: str) -> list[BaseMessage]:
    """Return `prompt` with `text` appended to its last message.

    Not as one more message: many chat templates want user and assistant to take strict turns.
    """
    *before, last = prompt
    content = last.content
    longer = (
        f"{content}\n\n{text}"
        if isinstance(content, str)
        else [*content, {"type": "text", "text": text}]
    )
    return [*before, last.model_copy(update={"content": longer})]
