"""Measures a chat model's endpoint: how fast it reads and writes, how long its context is, what it refuses, whether it thinks.

Three calls: one for JSON, a prompt of 2,000 tokens, and one as long as an answer's may become, if there is time for it.
Long prompts begin with a code word that is asked for: an endpoint that cuts them without a word does not know it.
What is found is noted like all that is learnt of an endpoint (`endpoint_memory`).

Also here: what the measurement advises.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from sextant.domain.errors import ContextTooLong, ModelOutputInvalid, SextantError
from sextant.domain.settings import Settings
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.endpoint_memory import INSTRUCTION_TOKENS, USUAL_ANSWER, ContextLimit
from sextant.models.chat.replies import Line
from sextant.models.chat.roles import Role
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


_PATIENCE = 5  # factor of the advised time limit for a model that was too slow
_ROOMY = 16_384  # tokens of context that suffice for all defaults


def describe(found: Measurement) -> str:
    """Return the measured figures in one line."""
    rates = f"reads {found.prompt_rate:.0f} and writes {found.answer_rate:.0f} tokens a second"
    parts = [
        rates if found.prompt_rate and found.answer_rate else "its speed could not be measured"
    ]
    if found.thinking_tokens:
        parts.append(f"thinks {found.thinking_tokens} tokens first")
    if found.limit:
        how = "cuts" if found.limit.is_cut else "refuses"
        parts.append(f"{how} prompts beyond a context of {found.limit.tokens:,} tokens")
    elif found.longest_read:
        parts.append(f"read a prompt of {found.longest_read:,} tokens whole")
    if found.refused:
        parts.append(f"takes no {', '.join(found.refused)}")
    return "; ".join(parts)


def advise(found: Measurement, settings: Settings, role: Role) -> list[str]:
    """Return what to change, the most urgent first."""
    advice = list[str]()
    if found.failure:
        seconds = f"SEXTANT_LIMITS__ANSWER_SECONDS={_PATIENCE * settings.limits.answer_seconds:.0f}"
        advice.append(f"{found.failure} Set {seconds}, or choose a faster model.")
    advice += [*_advise_on_context(found, settings), *_advise_on_speed(found, settings, role)]
    if found.json_failure:
        advice.append(
            f"{found.json_failure} Judgements need JSON: set SEXTANT_ANSWERS__JUDGEMENTS=never, or choose another model."
        )
    return advice


def _advise_on_context(found: Measurement, settings: Settings) -> Iterator[str]:
    """Yield advice where the model's context is shorter than prompts may be."""
    if found.limit is None:
        return
    limits, prompt_tokens = settings.limits, found.limit.for_prompt - INSTRUCTION_TOKENS
    if found.limit.is_cut:
        yield (
            "Longer prompts lose their beginning without a word. With Ollama start the server with "
            f"OLLAMA_CONTEXT_LENGTH={_ROOMY}, or name the model with the provider `ollama:` and set num_ctx "
            "(docs/providers/ollama.md)."
        )
    else:
        yield f"Give the model {_ROOMY} tokens of context where it is served (vLLM: --max-model-len, llama.cpp: -c)."
    passages, history = max(200, prompt_tokens * 2 // 3), max(0, prompt_tokens // 3)
    if limits.context_tokens + limits.history_tokens > prompt_tokens:
        yield (
            f"Or set SEXTANT_LIMITS__CONTEXT_TOKENS={passages}, SEXTANT_LIMITS__HISTORY_TOKENS={history} and "
            f"SEXTANT_LIMITS__ANSWER_TOKENS={found.limit.for_answer}; until then prompts are shortened to fit."
        )


def _advise_on_speed(found: Measurement, settings: Settings, role: Role) -> Iterator[str]:
    """Yield advice where an ordinary answer would be late, or the model mostly thinks."""
    if not (found.prompt_rate and found.answer_rate) or role not in (Role.ANSWER, Role.JUDGE):
        return
    prompt = settings.answers.passage_tokens + INSTRUCTION_TOKENS
    thought = found.thinking_tokens / found.answer_rate
    seconds = prompt / found.prompt_rate + USUAL_ANSWER / found.answer_rate + thought
    most = settings.limits.answer_seconds
    if seconds > most:
        yield (
            f"An ordinary answer would take about {seconds:.0f} seconds, more than the {most:g} that it has: set "
            f"SEXTANT_LIMITS__ANSWER_SECONDS={1.5 * seconds:.0f}; until then it gets fewer passages."
        )
    if thought > most / 4:
        yield (
            f"Before each answer it thinks for {thought:.0f} seconds: set SEXTANT_MODELS__{role.upper()}__REASONING_EFFORT=low, "
            f"or switch it off (SEXTANT_MODELS__{role.upper()}__EXTRA_BODY, see the page of its server in docs/providers)."
        )
