"""Lines back to paragraphs: what a page layout or a text editor broke is put together again."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sextant.ingestion.parsing.numbering import is_strong, number_rank, width

# A line that goes on with "99.95 % of …" begins no item.
_BULLET = re.compile(r"\s*(?:[-*+•·●○■□◆▪‣–—]\s+|[（(]?\d{1,3}(?:[）)、]|\.(?!\d))\s*|[①-⑳])")
# A word divided at a line's end; these first parts keep their hyphen in any place, and so does a compound that has
# one already (state-of-the-): typesetters break it there and nowhere else.
_HYPHENATED = re.compile(
    r"[^\s-]*[A-Za-z]{2}(?<!\b[Ss]elf)(?<!\b[Hh]alf)(?<!\b[Ww]ell)(?<!\b[Cc]ross)(?<!\b[Hh]igh)(?<!\b[Ll]ow)"
    r"[-\u00ad\ufffe\u2010]$"
)
_FIELD = re.compile(r"[^\s：:]{1,12}[：:]")
_SPACED = re.compile(r"\S {3,}\S|\t")
_COLUMN = 50
_HYPHEN = re.compile(r"\w[-\u2010]$")
_SENTENCE_END = tuple("。！？!?.；;：:…”」』")


def join_lines(lines: Iterable[str]) -> str:
    """Return one paragraph from its lines.

    No space where a Chinese or Japanese character meets the break; an English word divided by a
    hyphen is closed up when its second half is in lower case; self-test, MC- and 200 keep theirs.
    """
    parts: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        above = parts[-1] if parts else ""
        if above and line[0].islower() and _HYPHENATED.fullmatch(above.split()[-1]):
            parts[-1] = above[:-1]
        elif above and not (_is_wide(above[-1]) or _is_wide(line[0]) or ends_in_hyphen(above)):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def with_fields(lines: Iterable[str]) -> str:
    """As `join_lines`, but a field below another one (`Owner: …`) stays a line of its own."""
    fields: list[list[str]] = [[]]
    for line in lines:
        if fields[-1] and _is_field(line) and _is_field(fields[-1][0]):
            fields.append([])
        fields[-1].append(line)
    return "\n".join(map(join_lines, fields))


def ends_in_hyphen(line: str) -> bool:
    """Return whether a line breaks off inside a word or a code like MC-200."""
    return _HYPHEN.search(line[-2:]) is not None


def starts_item(line: str) -> bool:
    """Return whether a line begins a list item or a numbered heading, so that it continues nothing."""
    return _BULLET.match(line) is not None or is_strong(number_rank(line))


def ends_sentence(line: str) -> bool:
    """Return whether a line ends as sentences do."""
    return line.rstrip().endswith(_SENTENCE_END)


def unwrap(lines: list[str]) -> list[str]:
    """Join the lines of hard-wrapped text; a line that stops short or ends a sentence stays a line.

    A line continues in the next when it fills most of the widest one of its block, and that is as
    wide as text columns are; fields (`Owner: …`) and lines set with spaces stand for themselves.
    """
    widest = max(_COLUMN, *map(width, lines)) if lines else _COLUMN
    paragraphs: list[list[str]] = []
    for line in lines:
        previous = paragraphs[-1][-1] if paragraphs else ""
        if previous and _is_wrapped(previous, widest) and not _starts_paragraph(line):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return [join_lines(paragraph) for paragraph in paragraphs]


def _is_wrapped(line: str, widest: int) -> bool:
    return 4 * width(line) >= 3 * widest and not ends_sentence(line) and not _SPACED.search(line)


def _starts_paragraph(line: str) -> bool:
    return line.startswith(("\u3000", "  ")) or starts_item(line) or _FIELD.match(line) is not None


def _is_field(line: str) -> bool:
    match = _FIELD.match(line)
    return match is not None and not line.startswith("//", match.end())


def _is_wide(char: str) -> bool:
    return char >= "\u2e80"
