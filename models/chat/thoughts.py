"""Leaving out what reasoning models think aloud: `<think>…</think>` before the answer.

Some servers hand a model's reasoning on as part of its text. It is neither the answer nor checked
against any source, so no reader should see it.
"""

from __future__ import annotations

_BEGIN, _END = "<think>", "</think>"


def without_thoughts(text: str) -> str:
    """A whole answer after its thoughts, also where the chat template wrote `<think>` itself."""
    return text.rpartition(_END)[2].partition(_BEGIN)[0]


class ThoughtFilter:
    """Leaves out `<think>` blocks at the very beginning of a streamed text, however it is cut.

    Whitespace at the beginning goes too. Once the answer has begun, every piece passes as it is.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._answering = False

    def add(self, piece: str) -> str:
        """The part of the text up to the end of `piece` that is now known to be answer."""
        if self._answering:
            return piece
        self._held += piece
        if self._thinking and not self._thoughts_end():
            return ""
        opening = self._held.lstrip()
        if opening.startswith(_BEGIN):
            self._held, self._thinking = opening.removeprefix(_BEGIN), True
            return self.add("")
        if _BEGIN.startswith(opening):
            return ""
        self._answering = True
        return opening

    def finish(self) -> str:
        """What is still held when the text ends; thoughts that never ended are dropped."""
        return "" if self._answering or self._thinking else self._held.lstrip()

    def _thoughts_end(self) -> bool:
        _, ended, rest = self._held.partition(_END)
        self._held = rest if ended else self._held[-len(_END) :]
        self._thinking = not ended
        return bool(ended)
