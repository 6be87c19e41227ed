"""Field types of the chat model's judgements, read as small models write them.

Instead of a list of words they write a sentence with commas or objects with a `name`; instead of a number "[1]",
"passage 2" or "9/10"; instead of yes or no "partially". All of that is read, or counts as left out: no second call is
made for it.

Also here: `Echoes`, which tells texts that only repeat the instructions. Small models fill a field with the sentence that
describes it, and that must not be searched for, stored or shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

from pydantic import BeforeValidator

from sextant.models.chat.structured import AtMost, Declared
from sextant.text.characters import ideographs, normalise

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_MOST = 20  # entries of a list
_LONGEST = 300  # characters of an entry
_LONGEST_LINE = 2000  # characters of a whole question, which may be repeated
_LONGEST_TEXT = 1000  # characters of a sentence or a few that are shown
_LARGEST_NUMBER = 999
_COMMA = re.compile(r"\s*[,;，、；\n]\s*")
# A whole number: a hyphen behind a word or a number joins (doc-2, 2-4), any other is a minus.
_NUMBER = re.compile(r"(?<![\d.])(?<!(?<!\w)[-−])\d{1,8}(?![\d.]*\d)")
_WEIGHT = re.compile(r"\d{1,9}(?:\.\d+)?")
_YES = frozenset({"true", "yes", "y", "1", "1.0", "是", "对", "充分", "足够"})
# Under these keys an object holds what its list is about.
_NAMES = ("name", "text", "question", "query", "keyword", "entity", "value", "title")


def _words(value: object) -> list[str]:
    """Return words or phrases; a lone string is a list with commas."""
    found = list(_texts(value))
    return _each_once(_COMMA.split(found[0]) if len(found) == 1 else found)


def _sentences(value: object) -> list[str]:
    """Return sentences, which may hold commas; a lone string is one a line."""
    return _each_once([line for text in _texts(value) for line in text.splitlines()])


def _each_once(found: Iterable[str]) -> list[str]:
    plain = (" ".join(text.split()) for text in found)
    return [text for text in dict.fromkeys(plain) if text]


def _texts(value: object) -> Iterator[str]:
    return map(str, _leaves(value))


def _leaves(value: object) -> Iterator[str | int | float]:
    if isinstance(value, dict):
        named = [value[key] for key in _NAMES if key in value]
        yield from _leaves(named[:1] or list(value.values()))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield value


def _numbers(value: object) -> list[int]:
    return [number for leaf in _leaves(value) for number in _whole(leaf)]


def _whole(value: str | int | float) -> list[int]:
    if isinstance(value, str):
        return [int(digits) for digits in _NUMBER.findall(value.removesuffix(".0"))[:_MOST]]
    return [int(value)] if 0 <= value < 1e9 and value % 1 == 0 else []  # NaN is above nothing


def _weight(value: object) -> float:
    """Return the first number that is said, 0 for none."""
    match = None if isinstance(value, bool) else _WEIGHT.search(str(value))
    return float(match.group()) if match else 0.0


def _yes(value: object) -> bool:
    return value is True or str(value).strip().casefold().rstrip(".。") in _YES


def _line(value: object) -> str:
    return "; ".join(_texts(value))


def _sentence(value: object) -> str:
    return " ".join(_line(value).split())


def _number(value: object) -> int | None:
    """Return the first number that is said; None for none."""
    return next(iter(_numbers(value)), None)


Entry = Annotated[str, AtMost(_LONGEST)]
Words = Annotated[list[Entry], BeforeValidator(_words), AtMost(_MOST)]
Sentences = Annotated[list[Entry], BeforeValidator(_sentences), AtMost(_MOST)]
_AN_INTEGER = Declared(minimum=0, maximum=_LARGEST_NUMBER)
Number = Annotated[int | None, BeforeValidator(_number), _AN_INTEGER]
Numbers = Annotated[
    list[Annotated[int, _AN_INTEGER]], BeforeValidator(_numbers), Declared(maxItems=_MOST)
]
Yes = Annotated[bool, BeforeValidator(_yes)]
Line = Annotated[str, BeforeValidator(_line), AtMost(_LONGEST_LINE)]
Sentence = Annotated[str, BeforeValidator(_sentence), AtMost(_LONGEST)]
Text = Annotated[str, BeforeValidator(_line), AtMost(_LONGEST_TEXT)]
Weight = Annotated[float, BeforeValidator(_weight), Declared(minimum=0, maximum=10)]
"""A weight from 0 to 10, as far as the model keeps to that."""


def numbered_objects(value: object) -> object:
    """Return the objects of a list, or of an object that has one under each passage's number."""
    if isinstance(value, dict):
        value = [{"passage": key} | one for key, one in value.items() if isinstance(one, dict)]
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else value


class _Numbered(Protocol):
    @property
    def passage(self) -> int | None: ...


R = TypeVar("R", bound=_Numbered)


def index_replies(replies: Sequence[R], count: int) -> dict[int, R]:
    """Return the reply about each passage by its number from 1, the first of several.

    A model may count from 0. Where it leaves nothing out, but gives no numbers or one of them twice, the order counts.
    """
    by_number = {number: one for one in reversed(replies) if (number := one.passage) is not None}
    if len(replies) == count and len(by_number) < count:
        return dict(enumerate(replies, 1))
    if 0 in by_number and count not in by_number:
        return {number + 1: one for number, one in by_number.items()}
    return by_number


_NO_WORD = re.compile(r"[\W_]+")
_TAGGED = re.compile(r"^<([a-z-]+)>\n.*?^</\1>$", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(r"[.;:,!?。；：，！？()（）\[\]{}\"“”\n]+")
# Letters (ideographs count twice) of the shortest text and clause that are no coincidence: "procedure" may be both an
# example in the instructions and a passage's topic.
_TELLING = 16
_TELLING_CLAUSE = 20


class Echoes:
    """Tells texts that repeat the instructions of a prompt.

    Args:
        prompt: system messages instruct, and so does the text outside of tags in a message that has any; all else is
            data, which a reply may repeat.
        instruction: the instruction on the form of the answer.
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
        if _letters(folded) < _TELLING:
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
            self._clauses = [one for one in clauses if _letters(one) >= _TELLING_CLAUSE]
        return self._clauses


def _split_task(message: BaseMessage) -> tuple[str, str]:
    """Return the data and the instructions of a message."""
    if message.type == "system":
        return "", message.text
    blocks = [block[0] for block in _TAGGED.finditer(message.text)]
    return ("\n".join(blocks), _TAGGED.sub("", message.text)) if blocks else (message.text, "")


def _fold_text(text: str) -> str:
    """Return the letters and digits of `text` alone."""
    return _NO_WORD.sub("", normalise(text))


def _letters(folded: str) -> int:
    """Return how many letters a text has, where an ideograph counts twice."""
    return len(folded) + ideographs(folded)
