"""A state that was edited over HTTP may hold anything: what nodes cannot work with is named before they try."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sextant.domain.errors import OptionInvalid
from sextant.nodes.state import State

_Fits = Callable[[object], bool]

# LangGraph holds these to their types as they are written (`add_messages`, `sextant.domain.retrieval.items_of`).
_HELD = {"messages", "items", "around"}
_IN_WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def check_edits(state: State) -> None:
    """Nothing, if every field of a state from a checkpoint holds a value of its type.

    Only such a state has no deadline, and only between runs is one edited, so that others are not looked at.

    Raises:
        OptionInvalid: one does not; carries the field.
    """
    if state.deadline:
        return
    for name, (fits, wanted) in _fields().items():
        value = getattr(state, name)
        if not fits(value):
            raise OptionInvalid(
                f"{name} of the state is {value!r:.40}; it must be {wanted}.",
                next_step="Edit the state anew, with a value of that kind (docs/studio.md).",
                field=name,
            )


@cache
def _fields() -> Mapping[str, tuple[_Fits, str]]:
    """For each field whether a value fits it, and what does in words."""
    hints = get_type_hints(State)
    return {
        name: (_of(hint), _describe_hint(hint)) for name, hint in hints.items() if name not in _HELD
    }


def _of(hint: Any) -> _Fits:  # noqa: ANN401 - a type as it is written
    """Return whether a value is of the type; numbers of JSON have no point where they are whole."""
    if hint is Any:
        return lambda _: True
    if (origin := get_origin(hint)) is Literal:
        return lambda value: value in get_args(hint)
    parts = [_of(part) for part in get_args(hint)]
    if origin in {Union, UnionType}:
        return lambda value: any(fits(value) for fits in parts)
    if origin is list:
        [each] = parts
        return lambda value: isinstance(value, list) and all(map(each, value))
    if origin is dict:
        _, each = parts
        return lambda value: isinstance(value, dict) and all(map(each, value.values()))
    kinds = (int, float) if hint is float else hint
    return lambda value: isinstance(value, kinds) and (hint is bool or not isinstance(value, bool))


def _describe_hint(hint: Any) -> str:  # noqa: ANN401 - a type as it is written
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return " or ".join(map(_describe_hint, parts))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is list:
        return f"a list, each entry {_describe_hint(parts[0])}"
    if origin is dict:
        return "an object"
    return _IN_WORDS.get(hint, "null")
