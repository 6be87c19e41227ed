"""Measures a chat model's endpoint: how fast it reads and writes, how long its context is, what it refuses, whether it thinks.

Three calls: one for JSON, a prompt of 2,000 tokens, and one as long as an answer's may become, if there is time for it.
Long prompts begin with a code word that is asked for: an endpoint that cuts them without a word does not know it.
What is found is noted like all that is learnt of an endpoint (`endpoint_memory`).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from sextant.domain.errors import ContextTooLong, ModelOutputInvalid, SextantError
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.endpoint_memory import ContextLimit
from sextant.models.chat.replies import Line
from sextant.models.chat.structured import ModelReply
from sextant.text.characters import estimate_tokens

READ_FIRST = 2000
"""Tokens of the prompt by which the speed is measured."""

# What of the time that is left a longer prompt may take.
_SHARE = 0.8
# A longer prompt must be this much longer to tell something new.
_LONGER = 1.25
# Tokenizers differ from the estimate by as much; an endpoint that counts fewer has cut the prompt.
_COUNTED = 0.7

_SYSTEM = "You follow instructions exactly and briefly."
_QUESTION = "Which colour has a ripe banana? Reply with one JSON object with the key “colour”."
# By what is written the rate of writing is measured, once; weak models do the first thing that they are told.
_WORD = "the code word with which the list above begins"
_TASKS = {
    True: f"Write the numbers from 1 to 30, separated by spaces. Then write {_WORD}, and nothing else.",
    False: f"Write {_WORD}, and nothing else.",
}
# Tokens of a reply of one word, and of a thought that is more than another way to count.
_WORD_TOKENS, _LEAST_THOUGHT = 10, 100
# Tokens of a reply to a long prompt; weak models go on and on.
_ENOUGH = 150


class Colour(ModelReply):
    """What the call for JSON asks."""

    colour: Line = ""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was found of an endpoint; rates are tokens a second, 0 where they are not known.

    Attributes:
        prompt_rate: that are read.
        answer_rate: that are written.
        thinking_tokens: of an answer that are not shown.
        longest_read: tokens of the longest prompt that was read whole.
        limit: how much the model takes, where it refused or cut a prompt.
        refused: what of a request the endpoint does not take.
        json_failure: why it gave no JSON; "" where it did.
        failure: why a prompt was not answered; "" where all were.
    """

    prompt_rate: float = 0.0
    answer_rate: float = 0.0
    thinking_tokens: int = 0
    longest_read: int = 0
    limit: ContextLimit | None = None
    refused: tuple[str, ...] = ()
    json_failure: str = ""
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the measurement as JSON holds it."""
        return {
            "prompt_tokens_per_second": round(self.prompt_rate, 1),
            "answer_tokens_per_second": round(self.answer_rate, 1),
            "thinking_tokens": self.thinking_tokens,
            "longest_prompt_read": self.longest_read,
            "context_tokens": self.limit.tokens if self.limit else None,
            "cuts_prompts": bool(self.limit and self.limit.is_cut),
            "refused": list(self.refused),
            "json_failure": self.json_failure,
            "failure": self.failure,
        }


async def measure(
    chat: ChatModel, longest: int, seconds: float, report: Callable[[str], None]
) -> Measurement:
    """Ask a chat model, for so many seconds at most, what it is capable of.

    Args:
        chat: the model; what was learnt of it before is forgotten.
        longest: tokens of the longest prompt that it may have to read.
        seconds: after which no further call is waited for.
        report: is told what is being done.

    Raises:
        SextantError: it does not answer at all.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + seconds
    chat.dialect.known.forget()
    report("a call for JSON")
    found = replace(Measurement(), json_failure=await _ask_json(chat, seconds))
    sizes = [READ_FIRST]
    for size in sizes:
        report(f"a prompt of {size:,} tokens")
        found = await _read(chat, size, until - clock(), found)
        left = until - clock()
        affordable = chat.speed.prompt_tokens_within(_SHARE * left, _WORD_TOKENS)
        next_size = int(min(longest, affordable))
        if len(sizes) == 1 and found.longest_read and next_size > _LONGER * size:
            sizes.append(next_size)
    speed = chat.speed
    await chat.dialect.save_news()
    return replace(
        found,
        prompt_rate=speed.prompt,
        answer_rate=speed.answer,
        thinking_tokens=round(speed.thinking) if speed.thinking > _LEAST_THOUGHT else 0,
        limit=chat.context,
        refused=chat.dialect.form.lacking,
    )


async def _ask_json(chat: ChatModel, seconds: float) -> str:
    """Return why a model gave no JSON; "" where it did.

    Raises:
        SextantError: it does not answer at all.
    """
    messages = [SystemMessage(_SYSTEM), HumanMessage(_QUESTION)]
    try:
        async with asyncio.timeout(seconds / 2):
            await chat.structured(messages, Colour, repair=False, patient=False)
    except ModelOutputInvalid as error:
        return error.message
    except TimeoutError:
        return f"It did not answer within {seconds / 2:.0f} seconds."
    return ""


async def _read(chat: ChatModel, size: int, seconds: float, found: Measurement) -> Measurement:
    """Return what is found by a prompt of so many tokens."""
    code, prompt = _write_prompt(size, _TASKS[size == READ_FIRST])
    try:
        async with asyncio.timeout(max(1.0, seconds)):
            reply = await chat.complete(prompt, answer_tokens=_ENOUGH)
    except TimeoutError:
        chat.speed.observe_silence(size, seconds)
        reason = f"A prompt of {size:,} tokens was not answered within {seconds:.0f} seconds."
        return replace(found, failure=reason)
    except ContextTooLong:
        return found
    except SextantError as error:
        return replace(found, failure=error.message)
    counted = 0 if reply.usage.estimated else reply.usage.prompt_tokens
    is_open = reply.usage.truncated and not counted  # it had not come to the code yet
    if code in reply.text or counted >= _COUNTED * size or is_open:
        return replace(found, longest_read=size)
    tokens = counted or found.longest_read or size // 2
    chat.dialect.known.limit = ContextLimit.learnt_now(tokens, is_cut=True)
    return found


def _write_prompt(size: int, task: str) -> tuple[str, list[BaseMessage]]:
    """Return a prompt of about so many tokens that no cache has, and the code word at its beginning."""
    code = secrets.token_hex(3).upper()
    lines, tokens = [f"The code word is {code}."], 60
    while tokens < size:
        number = len(lines)
        lines.append(f"{number}. The ferry of pier {number % 7 + 1} leaves at {number % 24}:30.")
        tokens += estimate_tokens(lines[-1])
    text = "\n".join([*lines, "", task])
    return code, [SystemMessage(_SYSTEM), HumanMessage(text)]
