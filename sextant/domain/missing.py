"""What may be missing of a document that was taken in: a sentence each, and a code for programs.

The sentence is what is stored and told; its code follows from its fixed words, so that it is known of
documents of any age.
"""

from __future__ import annotations

import re
from enum import Enum


class Missing(Enum):
    """The sentences; a code is the name in lower case, and stable."""

    UNREADABLE_CHARACTERS = "{number} unreadable characters"
    ENCODING_GUESSED = "It was read as {encoding}, which may be wrong. If it reads badly, save the file as UTF-8 and add it again."
    PAGES_OF_IMAGES = "{blank} of {pages} pages hold only images"
    PAGES_UNREADABLE = (
        "{unmapped} of {pages} pages were left out: their fonts do not say which letters they draw. Run the file "
        "through a text recognition (OCR) program and add the result."
    )
    RUNNING_HEADS = "Left out as running heads and feet: {heads}"
    ATTACHMENTS_NOT_READ = (
        "{number} attachments were not read: {names}. Save them and add them by themselves."
    )
    FORMULAS_NOT_COMPUTED = (
        "{number} cells hold formulas whose results were never saved, and are empty here. Open the workbook in its "
        "program, save it and add it again."
    )
    PARTS_NOT_READ = "Not read: {parts}"
    TEXT_LEFT_OUT = (
        "Characters left out, because the document takes them back or hides them: {characters}"
    )
    QUOTES_NOT_CLOSED = "Never closed: the quotation mark in {rows} (line {lines}). Each line was read as a row of its own; check it."
    LINES_NOT_IMPORTED = (
        "These are lines of an import, and were read as text: their documents, entities and relations are not in the "
        "graph. Delete this document, and bring the file in by `sextant import` (POST /api/graphs/…/import)."
    )
    IMAGES_NOT_LOOKED_AT = (
        "{images} not looked at: no vision model is configured. Set SEXTANT_VISION_MODEL to a model that takes "
        "images, then delete the document and ingest it again."
    )
    IMAGES_NOT_DESCRIBED = "{failed} of {images} images were not described: {reason}"
    PASSAGES_NOT_READ = (
        "The chat model has not read {missing} of {passages}{why}. They can be found; "
        "`sextant entities extract` reads them."
    )

    def told(self, **values: object) -> str:
        """Return the sentence, with what fills its gaps."""
        return self.value.format(**values)


_SHAPES = {
    one.name.lower(): re.compile(re.sub(r"\\{\w+\\}", ".*", re.escape(one.value)), re.DOTALL)
    for one in Missing
}


def code_of(sentence: str) -> str | None:
    """Return the code of a sentence that one of `Missing` told; None for any other."""
    return next((code for code, shape in _SHAPES.items() if shape.fullmatch(sentence)), None)
