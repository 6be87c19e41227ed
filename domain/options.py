"""Checks of what callers choose, with errors that name the field."""

from __future__ import annotations

from domain.errors import OptionInvalid

# What a PostgreSQL integer holds.
LARGEST = 2**31 - 1


def in_range(value: object, field: str, least: int = 1, most: int = LARGEST) -> int:
    """The value, if it is a whole number from `least` to `most`.

    Raises:
        OptionInvalid: it is something else; carries the field.
    """
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise OptionInvalid(
        f"{field} is {value!r:.40}; it must be a whole number from {least} to {most}.",
        next_step=f"Give a number from {least} to {most}.",
        field=field,
    )
