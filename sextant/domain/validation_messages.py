"""What pydantic finds wrong with a value, in the words of who wrote it, in JSON or as a setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Pydantic speaks of Python's types, and of when it looked.
_IN_JSON = {
    "valid tuple": "valid list",
    "Tuple should": "List should",
    "valid dictionary": "valid object",
    " after validation": "",
}


def describe_error(fault: Mapping[str, Any]) -> str:
    """Return the sentence of one of `ValidationError.errors()`, without its full stop.

    A text that was cleaned or hidden before it was measured is a `Value` with items to pydantic. How long
    one is, is told where it is too long, which is hard to see; where it is too short it may be a secret.
    """
    limits: Mapping[str, Any] = fault.get("ctx") or {}
    text = fault.get("input")
    most, least = limits.get("max_length"), limits.get("min_length")
    if (
        most is not None
        and fault["type"] in {"string_too_long", "too_long"}
        and isinstance(text, str)
    ):
        return f"String should have at most {most:,} characters, not {len(text):,}; shorten it"
    if least is not None and fault["type"] == "too_short" and limits.get("field_type") == "Value":
        return f"String should have at least {least} character{'s' * (least > 1)}"
    said = str(fault["msg"]).removeprefix("Value error, ")
    for ours, theirs in _IN_JSON.items():
        said = said.replace(ours, theirs)
    return said
