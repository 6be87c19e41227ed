"""What may be asked."""

from __future__ import annotations

from domain.errors import QuestionInvalid
from domain.text import clean_text


def checked_question(asked: object, longest: int | None = None) -> str:
    """The question as it is searched: storable text without white space at its ends.

    Args:
        asked: what a caller sent; anything but text counts as empty.
        longest: most characters; None: any number.

    Raises:
        QuestionInvalid: nothing is left, or more than `longest` characters.
    """
    question = clean_text(asked).strip() if isinstance(asked, str) else ""
    if not question:
        raise QuestionInvalid("The question is empty.", next_step="Ask something.", field="query")
    if longest is not None and len(question) > longest:
        raise QuestionInvalid(
            f"The question has {len(question)} characters; at most {longest} are taken.",
            next_step="Shorten it, or ingest the long text as a document.",
            field="query",
        )
    return question
