"""Lines back to paragraphs: what a page layout or a text editor broke is put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.numbering import number_rank, width

_BULLET = re.compile(r"\s*(?:[-*+•·●○■□◆▪‣–—]\s+|[（(]?\d{1,3}[）).、]\s*|[①-⑳])")
_HYPHENATED = re.compile(r"[A-Za-z]{2}[-\u00ad\ufffe\u2010]$")
_SENTENCE_END = tuple("。！？!?.；;：:…”」』")


def join_lines(lines: Iterable[str]) -> str:
    """One paragraph from its lines.

    No space where a Chinese or Japanese character meets the break; an English word divided by a
    hyphen is closed up when its second half is in lower case.
    """
    text = ""
    for line in map(str.strip, lines):
        if not text or not line:
            text += line
        elif _HYPHENATED.search(text) and line[0].islower():
            text = text[:-1] + line
        elif _is_wide(text[-1]) or _is_wide(line[0]):
            text += line
        else:
            text = f"{text} {line}"
    return text


def starts_item(line: str) -> bool:
    """Whether a line begins a list item or a numbered heading, so that it continues nothing."""
    return _BULLET.match(line) is not None or number_rank(line) is not None


def ends_sentence(line: str) -> bool:
    """Whether a line ends as sentences do."""
    return line.rstrip().endswith(_SENTENCE_END)


def unwrap(lines: list[str]) -> list[str]:
    """Join the lines of hard-wrapped text; a line that stops short or ends a sentence stays a line.

    A line continues in the next when it fills three quarters of the widest one of its block.
    """
    widest = max(map(width, lines), default=0)
    paragraphs: list[list[str]] = []
    for line in lines:
        previous = paragraphs[-1][-1] if paragraphs else ""
        wrapped = 4 * width(previous) >= 3 * widest and not ends_sentence(previous)
        if previous and wrapped and not starts_item(line) and not line.startswith(("\u3000", "  ")):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return [join_lines(paragraph) for paragraph in paragraphs]


def _is_wide(char: str) -> bool:
    return char >= "\u2e80"
