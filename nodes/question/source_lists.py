"""Sources listed below an answer, for those who get its text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.answers import Source
from sextant.text.characters import language_of

_HEADS = {"en": "Sources:", "zh": "来源："}
_HEAD = re.compile(r"\n\n(?:Sources:|来源：)\n(?=- \[)")
_ENTRY = re.compile(r"- \[\d{1,3}\] ")
# Removed from names of files and sections, so that they cannot make links, images or tags.
_MARKUP = re.compile(r"[\[\]<>`|\\]|!(?=\[)|[\x00-\x1f\x7f]")


def sources_list(sources: Sequence[Source], answer: str) -> str:
    """Return the list of sources below an answer, a line for each; empty without sources."""
    if not sources:
        return ""
    lines = "".join(f"\n- [{source.marker}] {_source_location(source)}" for source in sources)
    return f"\n\n{_HEADS[language_of(answer)]}{lines}"


def without_list(text: str) -> str:
    """Return an answer from the history without its list of sources."""
    *_, head = [None, *_HEAD.finditer(text)]
    if head is None:
        return text
    entries = text[head.end() :].rstrip().split("\n")
    return text[: head.start()] if all(map(_ENTRY.match, entries)) else text


def _source_location(source: Source) -> str:
    names = [
        _MARKUP.sub(" ", name).strip()[:120] for name in (source.filename, *source.section_path)
    ]
    page = [f"p. {source.page}"] if source.page else []
    ocr = ["OCR"] if source.ocr else []
    return " › ".join(filter(None, [*names, *page, *ocr]))
