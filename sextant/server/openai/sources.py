"""The list of sources below an answer, for chats that show nothing but text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.answers import Source
from sextant.text.characters import language_of

_HEADS = {"en": "Sources:", "zh": "来源："}
_HEAD = re.compile(r"\n\n(?:Sources:|来源：)\n(?=- \[)")
_ENTRY = re.compile(r"- \[\d{1,3}\] ")
# Names of files and sections are a document's own words: they make no links, images or tags.
_MARKUP = re.compile(r"[\[\]<>`|\\]|!(?=\[)|[\x00-\x1f\x7f]")
_NAME_CHARS = 120


def sources_list(sources: Sequence[Source], answer: str) -> str:
    """Return what follows `answer`: a line for each source, or nothing."""
    if not sources:
        return ""
    lines = "".join(f"\n- [{source.marker}] {_source_location(source)}" for source in sources)
    return f"\n\n{_HEADS[language_of(answer)]}{lines}"


def without_list(text: str) -> str:
    """Return an answer that comes back as history, as it was before its sources were listed."""
    *_, head = [None, *_HEAD.finditer(text)]
    if head is None:
        return text
    entries = text[head.end() :].rstrip().split("\n")
    return text[: head.start()] if all(map(_ENTRY.match, entries)) else text


def _source_location(source: Source) -> str:
    names = [_plain(name) for name in (source.filename, *source.section_path)]
    page = [f"p. {source.page}"] if source.page else []
    return " › ".join(filter(None, [*names, *page]))


def _plain(name: str) -> str:
    return _MARKUP.sub(" ", name).strip()[:_NAME_CHARS]
