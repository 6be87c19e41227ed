"""Leaving out what reasoning models think aloud: `<think>…</think>` before the answer.

Some servers hand a model's reasoning on as part of its text. It is neither the answer nor checked
against any source, so no reader should see it. Some chat templates write the opening tag themselves, so that
the text has only the closing one.
"""

from __future__ import annotations

import re

# How families of models begin and end their thoughts: DeepSeek and Qwen, those that were taught by other
# prompts, Magistral, Kimi, gpt-oss (OpenAI's harmony format).
_ENDS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
_BEGIN = re.compile("|".join(map(re.escape, _ENDS)))
_END = re.compile("|".join(map(re.escape, _ENDS.values())))


# What may be the beginning of an end that the next piece brings.
_END_BEGINS = frozenset(end[:length] for end in _ENDS.values() for length in range(1, len(end)))
_LONGEST_END = max(map(len, _ENDS.values()))


def ends_a_thought(text: str) -> bool:
    """Return whether a text speaks of the end of a thought, so that an answer to it may, too."""
    return _END.search(text) is not None


class ThoughtFilter:
    """Leaves out thoughts at the very beginning of a text, however it is cut.

    Whitespace at the beginning goes too. Once the answer has begun, every piece passes as it is, until an end
    without a beginning shows that all before it was thought.

    Args:
        begins_within: the text begins within a thought that nothing opens; where none ends, it is the answer.
        watches: whether an end without a beginning means anything.

    Attributes:
        restarts: how often what had passed turned out to be thought.
        ended_unopened: whether a thought ended that nothing had opened.
    """

    def __init__(self, *, begins_within: bool = False, watches: bool = True) -> None:
        self.restarts = 0
        self.ended_unopened = False
        self._begins_within = begins_within
        self._watches = watches
        self._held = ""
        self._end = ""
        self._answering = False

    def add(self, piece: str) -> str:
        """Return the part of the text up to the end of `piece` that is now known to be answer."""
        self._held += piece
        if self._answering:
            return self._answered()
        if self._end and not self._thoughts_end():
            return ""
        opening = self._held.lstrip()
        if begun := _BEGIN.match(opening):
            self._held, self._end = opening[begun.end() :], _ENDS[begun[0]]
            self._begins_within = False
            return self.add("")
        if any(begin.startswith(opening) for begin in _ENDS):
            return ""
        if self._begins_within:
            return self._after_unopened()
        self._held, self._answering = opening, True
        return self._answered()

    def finish(self) -> str:
        """Return what is still held when the text ends; thoughts that never ended are dropped."""
        return "" if self._end else (self._held if self._answering else self._held.lstrip())

    def _answered(self) -> str:
        """Pass on what is held, but for what may be the beginning of an end."""
        text, self._held = self._held, ""
        if not self._watches:
            return text
        if (ended := _END.search(text)) and not _BEGIN.search(text[: ended.start()]):
            self.restarts += 1
            self._answering, self._held = False, text
            return self._after_unopened()
        if _BEGIN.search(text):
            self._watches = False  # the answer speaks of thoughts
            return text
        for length in range(min(_LONGEST_END, len(text)), 0, -1):
            if text[-length:] in _END_BEGINS:
                self._held = text[-length:]
                return text[:-length]
        return text

    def _after_unopened(self) -> str:
        """Return what follows the thought that the text began with; nothing as long as that goes on."""
        *_, last = [None, *_END.finditer(self._held)]
        if last is None:
            return ""
        self._held, self._begins_within, self.ended_unopened = self._held[last.end() :], False, True
        return self.add("")

    def _thoughts_end(self) -> bool:
        _, ended, rest = self._held.partition(self._end)
        self._held = rest if ended else self._held[-len(self._end) :]
        self._end = "" if ended else self._end
        return bool(ended)
