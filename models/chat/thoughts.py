"""Leaving out what reasoning models think aloud: `<think>…</think>` before the answer.

Some servers hand a model's reasoning on as part of its text. It is neither the answer nor checked
against any source, so no reader should see it.
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


def without_thoughts(text: str) -> str:
    """A whole answer after its thoughts, also where the chat template wrote `<think>` itself."""
    return _BEGIN.split(_END.split(text)[-1])[0]


class ThoughtFilter:
    """Leaves out thoughts at the very beginning of a streamed text, however it is cut.

    Whitespace at the beginning goes too. Once the answer has begun, every piece passes as it is.
    """

    def __init__(self) -> None:
        self._held = ""
        self._end = ""
        self._answering = False

    def add(self, piece: str) -> str:
        """The part of the text up to the end of `piece` that is now known to be answer."""
        if self._answering:
            return piece
        self._held += piece
        if self._end and not self._thoughts_end():
            return ""
        opening = self._held.lstrip()
        if begun := _BEGIN.match(opening):
            self._held, self._end = opening[begun.end() :], _ENDS[begun[0]]
            return self.add("")
        if any(begin.startswith(opening) for begin in _ENDS):
            return ""
        self._answering = True
        return opening

    def finish(self) -> str:
        """What is still held when the text ends; thoughts that never ended are dropped."""
        return "" if self._answering or self._end else self._held.lstrip()

    def _thoughts_end(self) -> bool:
        _, ended, rest = self._held.partition(self._end)
        self._held = rest if ended else self._held[-len(self._end) :]
        self._end = "" if ended else self._end
        return bool(ended)
