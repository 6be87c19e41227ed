"""Telling what a chat model says from what it only repeats of its instructions.

Small models fill a field with the sentence that describes it. Such a text says nothing of the documents, and
would be searched for, stored, or shown as a title.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from langchain_core.messages import BaseMessage, SystemMessage

from sextant.text.characters import ideographs, normalise

_NO_WORD = re.compile(r"[\W_]+")
_TAGGED = re.compile(r"^<([a-z-]+)>\n.*?^</\1>$", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(r"[.;:,!?。；：，！？()（）\[\]{}\"“”\n]+")
# Letters, ideographs counting twice, from which on a text is no coincidence: "procedure" may be both an example
# of the instructions and what a passage is.
_TELLING = 16
_TELLING_CLAUSE = 20


class Echoes:
    """Knows the instructions of one prompt, and the data that came with them.

    Args:
        prompt: system messages instruct, and so does what stands outside of tags in a message that has any; whatever
            else is said is data, which a reply may repeat.
        instruction: what is appended to the prompt about the form of the answer.
        choices: words that the answer is to be chosen from.
    """

    def __init__(
        self, prompt: Sequence[BaseMessage], instruction: str, choices: Collection[str] = ()
    ) -> None:
        parts = [_split_task(message) for message in prompt]
        self._instructions = "\n".join([*(task for _, task in parts), instruction])
        self._data = "\n".join(data for data, _ in parts)
        self._choices = frozenset(choices)
        self._folded = _fold_text(self._instructions)
        self._clauses: list[str] | None = None
        self._folded_data: str | None = None

    def includes(self, text: str) -> bool:
        """Return whether `text` is a piece of the instructions, or has a clause of them in it, and is not in the data."""
        if text in self._choices:
            return False
        folded = _fold_text(text)
        if _weight(folded) < _TELLING:
            return False
        if folded in self._folded:
            return folded not in self._data_folded
        return any(
            clause in folded and clause not in self._data_folded for clause in self._telling_clauses
        )

    @property
    def _data_folded(self) -> str:
        if self._folded_data is None:
            self._folded_data = _fold_text(self._data)
        return self._folded_data

    @property
    def _telling_clauses(self) -> list[str]:
        if self._clauses is None:
            clauses = map(_fold_text, _CLAUSE.split(self._instructions))
            self._clauses = [one for one in clauses if _weight(one) >= _TELLING_CLAUSE]
        return self._clauses


def _split_task(message: BaseMessage) -> tuple[str, str]:
    """Return what of a message is data, and what instructs."""
    if isinstance(message, SystemMessage):
        return "", message.text
    blocks = [block[0] for block in _TAGGED.finditer(message.text)]
    return ("\n".join(blocks), _TAGGED.sub("", message.text)) if blocks else (message.text, "")


def _fold_text(text: str) -> str:
    """Return the letters and digits of `text`, whatever stands between them."""
    return _NO_WORD.sub("", normalise(text))


def _weight(folded: str) -> int:
    return len(folded) + ideographs(folded)
