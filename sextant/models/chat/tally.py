"""What one answer of a chat model adds up to: its text, its tokens, and how it ended.

Also here: leaving out what reasoning models think aloud.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import regex
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage

from sextant.domain.answers import Usage
from sextant.text.characters import clean_text, estimate_tokens

# How families of models begin and end their thoughts: DeepSeek and Qwen, those that were taught by other
# prompts, Magistral, Kimi, Seed, Command, gpt-oss (OpenAI's harmony format, where what a message is stands before it).
_HARMONY = ("", "<|start|>assistant")
_FINAL = "<|channel|>final<|message|>"
_ENDS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<seed:think>": "</seed:think>",
    "<|START_THINKING|>": "<|END_THINKING|>",
}
# Of a thought that nothing opened.
_UNOPENED_ENDS = [*_ENDS.values(), _FINAL]
_ENDS |= {
    f"{start}<|channel|>{channel}<|message|>": "<|end|>"
    for start in _HARMONY
    for channel in ("analysis", "commentary")
}
_ENDS |= {f"{start}{_FINAL}": "" for start in _HARMONY}  # no thought
_BEGIN = re.compile("|".join(map(re.escape, _ENDS)))
_END = re.compile("|".join(map(re.escape, _UNOPENED_ENDS)))


# What may be the beginning of an end that the next piece brings.
_END_BEGINS = frozenset(end[:length] for end in _UNOPENED_ENDS for length in range(1, len(end)))
_LONGEST_END = max(map(len, _UNOPENED_ENDS))


def ends_a_thought(text: str) -> bool:
    """Return whether a text speaks of the end of a thought."""
    return _END.search(text) is not None


class ThoughtFilter:
    """Leaves out thoughts at the very beginning of a text, however it is cut.

    Whitespace at the beginning goes too. Once the answer has begun, every piece passes as it is, until an end
    without a beginning shows that all before it was thought.

    Args:
        starts_in_thought: the text begins within a thought that nothing opens; where none ends, it is the answer.
        watches: whether an end without a beginning means anything.

    Attributes:
        restarts: how often what had passed turned out to be thought.
        ended_unopened: whether a thought ended that nothing had opened.
    """

    def __init__(self, *, starts_in_thought: bool = False, watches: bool = True) -> None:
        self.restarts = 0
        self.ended_unopened = False
        self._starts_in_thought = starts_in_thought
        self._watches = watches
        self._pending = ""
        self._searched = 0  # characters of an open thought
        self._end = ""
        self._answering = False

    def add(self, piece: str) -> str:
        """Return the part of the text up to the end of `piece` that is now known to be answer."""
        self._pending += piece
        if self._answering:
            return self._answered()
        if self._end and not self._thoughts_end():
            return ""
        opening = self._pending.lstrip()
        if begun := _BEGIN.match(opening):
            self._pending, self._end = opening[begun.end() :], _ENDS[begun[0]]
            self._starts_in_thought = False
            return self.add("")
        if any(begin.startswith(opening) for begin in _ENDS):
            return ""
        if self._starts_in_thought:
            return self._after_unopened()
        self._pending, self._answering = opening, True
        return self._answered()

    @property
    def open_thought(self) -> str:
        """Return a thought that something has opened and nothing ended."""
        return self._pending if self._end else ""

    @property
    def undecided(self) -> str:
        """Return what is held because it may be a thought that nothing opened."""
        return self._pending if self._starts_in_thought and not self._end else ""

    def release(self) -> str:
        """Return what is held, which is answer after all."""
        self._starts_in_thought = False
        return self.add("")

    def finish(self) -> str:
        """Return what is still held when the text ends; thoughts that never ended are dropped."""
        return "" if self._end else (self._pending if self._answering else self._pending.lstrip())

    def _answered(self) -> str:
        """Pass on what is held, but for what may be the beginning of an end."""
        text, self._pending = self._pending, ""
        if not self._watches:
            return text
        if (ended := _END.search(text)) and not _BEGIN.search(text[: ended.start()]):
            self.restarts += 1
            self._answering, self._pending = False, text
            return self._after_unopened()
        if _BEGIN.search(text):
            self._watches = False  # the answer speaks of thoughts
            return text
        for length in range(min(_LONGEST_END, len(text)), 0, -1):
            if text[-length:] in _END_BEGINS:
                self._pending = text[-length:]
                return text[:-length]
        return text

    def _after_unopened(self) -> str:
        """Return what follows the thought that the text began with; nothing as long as that goes on."""
        *_, last = [None, *_END.finditer(self._pending)]
        if last is None:
            return ""
        self._pending, self._starts_in_thought, self.ended_unopened = (
            self._pending[last.end() :],
            False,
            True,
        )
        return self.add("")

    def _thoughts_end(self) -> bool:
        """Drop an open thought up to its end; return whether that has come."""
        ended = self._pending.find(self._end, max(0, self._searched - len(self._end)))
        self._searched = len(self._pending)
        if ended < 0:
            return False
        self._pending, self._end, self._searched = self._pending[ended + len(self._end) :], "", 0
        return True


# Tokens of chat templates: what a model writes behind one, where its endpoint does not stop there, is no part of its answer.
_CONTROL = r"(?:<tool_call>|<[|｜][^<>|｜\s]{1,40}[|｜]>|</?s>|<(?:end|start)_of_turn>|<[eb]os>|\[/?INST\])"
_TOKEN = regex.compile(_CONTROL)
_BLANK = r"[\s\ufeff\u200b]"
_HEADER_SO_FAR = regex.compile(rf"(?:{_BLANK}|{_CONTROL}|assistant|model)*")
_HEADER_TOKEN = rf"(?!<[|｜]?tool){_CONTROL}"  # an answer that calls a tool says nothing
# A role is none where a sentence begins with the word.
_HEADER = regex.compile(
    rf"(?:{_BLANK}|{_HEADER_TOKEN}|(?:assistant|model)(?=\s*(?:\n|{_CONTROL})))*+"
)
_DEFUSED = str.maketrans("‹", "<")


class TurnFilter:
    """Leaves out the header of a turn ahead of an answer, and all behind the answer's end, as chat templates mark them.

    Args:
        watches: whether such tokens mean anything; they do not in an answer to what speaks of them.
    """

    def __init__(self, *, watches: bool) -> None:
        self._watches = watches
        self._begun = self.is_over = False
        self._held = ""

    def add(self, piece: str, *, final: bool = False) -> str:
        """Return what of the text up to the end of `piece` is known to be answer."""
        self._held += piece
        if self.is_over or (self._watches and not (self._begun or self._begins(final=final))):
            return ""
        text, self._held = self._held, ""
        found = _TOKEN.search(text, partial=not final) if self._watches else None
        if found is None:
            return text
        self.is_over = not found.partial
        self._held = text[found.start() :]
        return text[: found.start()]

    def _begins(self, *, final: bool) -> bool:
        """Take off a header; return whether that is known by now."""
        if not final and _HEADER_SO_FAR.fullmatch(self._held, partial=True):
            return False
        header = _HEADER.match(self._held)
        self._held = self._held[header.end() if header else 0 :]
        self._begun = True
        # Strings of JSON may have any token, and what stands behind the object is known for what it is.
        self._watches = not self._held.startswith("{")
        return True


def _speaks_of_tokens(text: str) -> bool:
    """Return whether a text has a token of a chat template, in its own form or as prompts show it."""
    return _TOKEN.search(text.translate(_DEFUSED)) is not None


# Ends of an answer that is not whole: of OpenAI, Anthropic, Mistral, and Google's in lower case.
_CUT_ENDS = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_WITHHELD_ENDS = frozenset(
    {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "sensitive"}
)
# Of vLLM, SGLang, OpenRouter, Zhipu and DeepSeek: the model's server failed on the way.
_FAILED_ENDS = frozenset({"abort", "error", "network_error", "insufficient_system_resource"})
# What chat templates add around one message, in tokens; only used where an endpoint is silent.
_MESSAGE_OVERHEAD = 4


class Tally:
    """Adds up one answer, chunk by chunk or as a whole.

    Args:
        prompt: what was asked, for an estimate of its tokens.
        most_chars: characters (thoughts included) after which `overrun` is set and nothing is kept; None: no limit.
        thinks_unopened: whether the model's answers begin with a thought that no tag opens; None: not known, so that
            nothing passes until the text ends, its thought does, or it is released.

    Attributes:
        ended: why the answer ended, as the endpoint says it; "" before that.
        truncated: the answer was cut short by a limit.
        requests: calls it took: one, and one for each that failed or was refused before.
        overrun: the answer is longer than `most_chars`.
    """

    def __init__(
        self,
        prompt: list[BaseMessage],
        most_chars: int | None = None,
        *,
        thinks_unopened: bool | None = False,
    ) -> None:
        self.prompt = prompt
        self.ended = ""
        self.truncated = False
        self.overrun = False
        self.requests = 1
        self._most_chars = most_chars
        self._chars = 0
        self._pieces: list[str] = []
        # An answer to what speaks of the end of a thought may do so, too.
        watches = not any(ends_a_thought(message.text) for message in prompt)
        is_held = watches if thinks_unopened is None else thinks_unopened
        self._may_be_released = thinks_unopened is None
        self._thoughts = ThoughtFilter(starts_in_thought=is_held, watches=watches)
        self._turns = TurnFilter(watches=not any(_speaks_of_tokens(m.text) for m in prompt))
        self._reported: UsageMetadata | None = None

    @property
    def text(self) -> str:
        """Return the answer so far, without thoughts."""
        return "".join(self._pieces)

    @property
    def is_withheld(self) -> bool:
        """Return whether the endpoint's filter ended the answer."""
        return self.ended in _WITHHELD_ENDS

    @property
    def has_failed(self) -> bool:
        """Return whether the answer ended since the endpoint failed."""
        return self.ended in _FAILED_ENDS

    @property
    def restarts(self) -> int:
        """Return how often what had been given out turned out to be thought."""
        return self._thoughts.restarts

    @property
    def is_over(self) -> bool:
        """Return whether the answer has ended, whatever the model goes on with."""
        return self._turns.is_over

    @property
    def thought_unopened(self) -> bool:
        """Return whether the text began with a thought that no tag opened."""
        return self._thoughts.ended_unopened

    def add(self, message: AIMessage) -> str:
        """Take a chunk into account; the piece of the answer that it brings."""
        if message.usage_metadata:
            self._reported = _add_usage(self._reported, message.usage_metadata)
        self.ended = _reason_of_end(message) or self.ended
        self.truncated |= self.ended in _CUT_ENDS
        before = self.restarts
        piece = self._thoughts.add(clean_text(self._inside(message.text)))
        if self.restarts > before:
            self._pieces.clear()
            self._turns = TurnFilter(watches=True)
        return self._keep(self._turns.add(piece))

    def _inside(self, raw: str) -> str:
        """Return what of a chunk is not beyond the limit: an endpoint that ignores limits may send any amount at once.

        Of thoughts there may be any amount: not all endpoints count them.
        """
        if self._thoughts.open_thought:
            return raw
        self._chars += len(raw)
        if self._most_chars is None or self._chars <= self._most_chars:
            return raw
        self.overrun = self.truncated = True
        return raw[: max(0, len(raw) - (self._chars - self._most_chars))]

    @property
    def undecided(self) -> str:
        """Return the text so far of which it is open whether it is a thought; "" for none."""
        return self._thoughts.undecided if self._may_be_released else ""

    def release(self) -> str:
        """Return the undecided text as a piece of the answer."""
        return self._keep(self._turns.add(self._thoughts.release()))

    def finish(self, is_answer: Callable[[str], bool]) -> str:
        """Return the rest of the answer, once no more chunks come.

        A thought that never ended, and that nothing followed, may be all of it: some endpoints take answers for thoughts.
        """
        rest = self._thoughts.finish()
        if not (rest or self.text or self.truncated) and is_answer(self._thoughts.open_thought):
            rest = self._thoughts.open_thought
        return self._keep(self._turns.add(rest, final=True))

    @property
    def shown_tokens(self) -> int:
        """Return the tokens of the answer without thoughts, estimated."""
        return estimate_tokens(self.text)

    @property
    def prompt_tokens(self) -> int:
        """Return the tokens of the prompt, estimated from its text."""
        return sum(estimate_tokens(m.text) + _MESSAGE_OVERHEAD for m in self.prompt)

    @property
    def has_pictures(self) -> bool:
        """Return whether the prompt is not text alone."""
        return not all(isinstance(message.content, str) for message in self.prompt)

    @property
    def cached_tokens(self) -> int:
        """Return the tokens of the prompt that the endpoint had read before, as far as it says so."""
        details = self._reported.get("input_token_details") if self._reported else None
        return (details or {}).get("cache_read") or 0

    def usage(self) -> Usage:
        """Return the tokens as the endpoint reports them, or else estimated."""
        if self._reported is None or not self._reported["input_tokens"]:
            return Usage(
                self.requests,
                self.prompt_tokens,
                estimate_tokens(self.text),
                estimated=True,
                truncated=self.truncated,
            )
        prompt_tokens, answer_tokens = (
            self._reported["input_tokens"],
            self._reported["output_tokens"],
        )
        return Usage(self.requests, prompt_tokens, answer_tokens, truncated=self.truncated)

    def _keep(self, piece: str) -> str:
        if piece:
            self._pieces.append(piece)
        return piece


def _add_usage(before: UsageMetadata | None, reported: UsageMetadata) -> UsageMetadata:
    """Return what a stream has cost so far: some endpoints tell parts, others the total again with each chunk."""
    if before and reported["input_tokens"] >= before["input_tokens"] > 0:
        return reported
    return add_usage(before, reported)


def _reason_of_end(message: AIMessage) -> str:
    """Return why an answer ended; "" before that. Each provider has a name and a spelling of its own for it."""
    metadata = message.response_metadata
    reasons = (metadata.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))
    return str(next(filter(None, reasons), "")).lower()
