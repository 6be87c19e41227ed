"""What may be asked."""

from __future__ import annotations

from sextant.domain.errors import QuestionInvalid
from sextant.text.characters import clean_text


def check_question(asked: object, longest: int | None = None) -> str:
    """Return the question as it is searched: storable text without white space at its ends.

    Args:
        asked: what a caller sent; None counts as empty.
        longest: most characters; None: any number.

    Raises:
        QuestionInvalid: it is no text, nothing is left of it, or more than `longest` characters.
    """
    if not isinstance(asked, str | None):
        raise QuestionInvalid(
            f"The question is {asked!r:.40}, not text.",
            next_step="Send the question as text.",
            field="query",
        )
    question = clean_text(asked or "").strip()
    if not question:
        raise QuestionInvalid("The question is empty.", next_step="Ask something.", field="query")
    if longest is not None and len(question) > longest:
        raise QuestionInvalid(
            f"The question has {len(question)} characters; at most {longest} are taken.",
            next_step="Shorten it, or ingest the long text as a document.",
            field="query",
        )
    return question
