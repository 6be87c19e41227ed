"""Adds up one answer of a chat model: its text without thoughts, its tokens, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable

import regex
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage

from sextant.domain.answers import Usage
from sextant.text.characters import clean_text, estimate_tokens

# How models begin and end their thoughts: DeepSeek and Qwen, models taught by other prompts, Magistral, Kimi, Seed,
# Command, gpt-oss (OpenAI's harmony format, where a channel stands before each message).
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
# Ends of thoughts that nothing opened.
_UNOPENED_ENDS = [*_ENDS.values(), _FINAL]
_ENDS |= {
    f"{start}<|channel|>{channel}<|message|>": "<|end|>"
    for start in _HARMONY
    for channel in ("analysis", "commentary")
}
_ENDS |= {f"{start}{_FINAL}": "" for start in _HARMONY}  # no thought
_BEGIN = re.compile("|".join(map(re.escape, _ENDS)))
_END = re.compile("|".join(map(re.escape, _UNOPENED_ENDS)))


# Beginnings of an end whose rest may come with the next piece.
_END_BEGINS = frozenset(end[:length] for end in _UNOPENED_ENDS for length in range(1, len(end)))
_LONGEST_END = max(map(len, _UNOPENED_ENDS))


def ends_a_thought(text: str) -> bool:
    """Return whether a text holds the end of a thought."""
    return _END.search(text) is not None


class ThoughtFilter:
    """Leaves out thoughts at the beginning of a text that comes in pieces, and whitespace.

    Once the answer has begun, every piece passes, until an end without a beginning shows that all before it was thought.

    Args:
        starts_in_thought: whether the text begins within a thought; if that never ends, the text is the answer.
        watches: whether an end without a beginning counts.

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
        """Add a piece, and return the text that is now known to be answer."""
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
        """Return the text of a thought that is open; "" for none."""
        return self._pending if self._end else ""

    @property
    def undecided(self) -> str:
        """Return the text that is held back because it may be a thought that nothing opened."""
        return self._pending if self._starts_in_thought and not self._end else ""

    def release(self) -> str:
        """Return the text that was held back: it is answer after all."""
        self._starts_in_thought = False
        return self.add("")

    def finish(self) -> str:
        """Return the text still held back when no more comes; an open thought is dropped."""
        return "" if self._end else (self._pending if self._answering else self._pending.lstrip())

    def _answered(self) -> str:
        """Return the text held back, without what may be the beginning of an end."""
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
        """Return the text behind the thought that the text began with; "" while that goes on."""
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


# Tokens of chat templates. Some endpoints do not stop at them; the text behind is no part of the answer.
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
    """Leaves out the header of a turn before an answer, and all text behind the tokens that end the answer.

    Args:
        watches: whether such tokens count; they do not where the prompt speaks of them.
    """

    def __init__(self, *, watches: bool) -> None:
        self._watches = watches
        self._begun = self.is_over = False
        self._held = ""

    def add(self, piece: str, *, final: bool = False) -> str:
        """Add a piece, and return the text that is now known to be answer."""
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
        """Remove a header; return whether the answer has begun."""
        if not final and _HEADER_SO_FAR.fullmatch(self._held, partial=True):
            return False
        header = _HEADER.match(self._held)
        self._held = self._held[header.end() if header else 0 :]
        self._begun = True
        # Strings of JSON may have any token; the reader of JSON ignores text behind the object.
        self._watches = not self._held.startswith("{")
        return True


# Reasons of an end before the answer was whole: of OpenAI, Anthropic, Mistral, and Google's in lower case.
_CUT_ENDS = frozenset({"length", "max_tokens", "model_length", "model_context_window_exceeded"})
_WITHHELD_ENDS = frozenset(
    {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "sensitive"}
)
# Reasons that the server failed: of vLLM, SGLang, OpenRouter, Zhipu and DeepSeek.
_FAILED_ENDS = frozenset({"abort", "error", "network_error", "insufficient_system_resource"})
# Tokens that chat templates add to a message; used where an endpoint reports none.
_MESSAGE_OVERHEAD = 4


class Tally:
    """Adds up one answer, chunk by chunk or as a whole.

    Args:
        prompt: what was asked, for an estimate of its tokens.
        most_chars: characters (thoughts included) after which `overrun` is set and nothing is kept; None: no limit.
        thinks_unopened: whether the model's answers begin with a thought that no tag opens; None: not known, so the text
            is held back until it ends, its thought ends, or `release` is called.

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
        self._turns = TurnFilter(
            watches=not any(_TOKEN.search(m.text.translate(_DEFUSED)) for m in prompt)
        )
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
        """Return how often text that had passed turned out to be thought."""
        return self._thoughts.restarts

    @property
    def is_over(self) -> bool:
        """Return whether the answer has ended, even if the model writes on."""
        return self._turns.is_over

    @property
    def thought_unopened(self) -> bool:
        """Return whether the text began with a thought that no tag opened."""
        return self._thoughts.ended_unopened

    def add(self, message: AIMessage) -> str:
        """Add a chunk, and return the new text of the answer."""
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
        """Return a chunk's text up to the limit, which some endpoints ignore; thoughts count for nothing."""
        if self._thoughts.open_thought:
            return raw
        self._chars += len(raw)
        if self._most_chars is None or self._chars <= self._most_chars:
            return raw
        self.overrun = self.truncated = True
        return raw[: max(0, len(raw) - (self._chars - self._most_chars))]

    @property
    def undecided(self) -> str:
        """Return the text so far that may be a thought; "" for none."""
        return self._thoughts.undecided if self._may_be_released else ""

    def release(self) -> str:
        """Return the undecided text as a piece of the answer."""
        return self._keep(self._turns.add(self._thoughts.release()))

    def finish(self, is_answer: Callable[[str], bool]) -> str:
        """Return the rest of the answer, once no more chunks come.

        A thought that never ended is the answer if `is_answer` says so: some endpoints take answers for thoughts.
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
        """Return the tokens of the prompt that the endpoint had in its cache, as it reports them."""
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
    """Return the usage of a stream so far: some endpoints report parts, others the total with each chunk."""
    if before and reported["input_tokens"] >= before["input_tokens"] > 0:
        return reported
    return add_usage(before, reported)


def _reason_of_end(message: AIMessage) -> str:
    """Return why an answer ended; "" before that. Each provider has a name and a spelling of its own for it."""
    metadata = message.response_metadata
    reasons = (metadata.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))
    return str(next(filter(None, reasons), "")).lower()
