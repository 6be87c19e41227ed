"""What may be asked.

Also here: checks of what callers choose, with errors that name the field.
"""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.errors import OptionInvalid, QuestionInvalid
from sextant.text.characters import clean_text

# What a PostgreSQL integer holds.
LARGEST = 2**31 - 1
# Weights beyond it overflow where they are multiplied and summed, and mean nothing that 1000 does not.
LARGEST_WEIGHT = 1e9
# Below it products underflow to 0, so it must be 0 by itself.
LEAST_WEIGHT = 1e-9


def in_range(value: object, field: str, least: int = 1, most: int = LARGEST) -> int:
    """Return the value, if it is a whole number from `least` to `most`.

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


def as_weight(value: object, field: str) -> float:
    """Return the value, if it is a number that can weigh something: 0, or from 1e-9 to 1e9.

    Raises:
        OptionInvalid: it is something else; carries the field.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        weighs = value == 0 or LEAST_WEIGHT <= value <= LARGEST_WEIGHT  # NaN does not
        if weighs:
            return value
    raise OptionInvalid(
        f"The weight of `{field.rpartition('.')[2]}` is {value!r:.40}; it must be 0, or a number from "
        f"{LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}.",
        next_step="Leave it out to use its default.",
        field=field,
    )


def positive(value: object, field: str) -> None:
    """Nothing, if the value is a number above 0; NaN is none.

    Raises:
        OptionInvalid: it is something else; carries the field.
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return
    raise OptionInvalid(
        f"{field} is {value!r:.40}; it must be a number above 0.",
        next_step=f"Leave {field} out to use its default.",
        field=field,
    )


def of_type(value: object, kind: type, field: str, example: str) -> None:
    """Nothing, if the value is of that class; a dict of the same names is not.

    Raises:
        OptionInvalid: it is something else; carries the field, and how the class is made.
    """
    if not isinstance(value, kind):
        raise OptionInvalid(
            f"{field} is {value!r:.40}; it must be of the class {kind.__name__}.",
            next_step=f"Write {kind.__name__}({example}).",
            field=field,
        )


def field_at(path: Sequence[str | int]) -> str:
    """Return the field that a path of names and positions leads to, as errors name it: `history[0].content`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def check_question(value: object, longest: int | None = None) -> str:
    """Return the question as it is searched: storable text without white space at its ends.

    Args:
        value: what a caller sent; None counts as empty.
        longest: most characters; None: any number.

    Raises:
        QuestionInvalid: it is no text, nothing is left of it, or more than `longest` characters.
    """
    if not isinstance(value, str | None):
        raise QuestionInvalid(
            f"The question is {value!r:.40}, not text.",
            next_step="Send the question as text.",
            field="query",
        )
    question = clean_text(value or "").strip()
    if not question:
        raise QuestionInvalid("The question is empty.", next_step="Ask something.", field="query")
    if longest is not None and len(question) > longest:
        raise QuestionInvalid(
            f"The question has {len(question)} characters; at most {longest} are taken.",
            next_step="Shorten it, or ingest the long text as a document.",
            field="query",
        )
    return question
