"""Where sentences begin and end, in Chinese, English and text that mixes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.text import has_cjk

# A Chinese stop ends a sentence at once; a Latin one only before white space, so that 3.14 and
# v1.2 stay whole; `!` and `?` also before an ideograph. Closing quotes belong to the sentence.
# Runs of stops are taken whole and from their beginning, so a long one costs no more than its length.
# What a stop begins with is asked first: the alternatives take five times as long to fail at a letter.
_END = re.compile(
    r"""(?=[。！？.!?…\n])(?:[。！？]+["'”’」』）》]*|(?<![.!?…])[.!?…]++["'”’)\]]*+(?=\s|$)"""
    r"""|(?<![!?])[!?]++(?=[\u4e00-\u9fff])|\n+)"""
)
_NO_END = re.compile(
    r"(?:^|[\s(（])(?:[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Nos?|Figs?|Eqs?|Sec|Vol|pp|vs|cf|approx"
    r"|e\.g|i\.e|U\.S)\.$"
)
# Behind a stop, marks alone: quotes, brackets, stars.
_ENDED = re.compile(r"[。！？.!?…]\W*$")
_FENCE = re.compile(r"^\s*```", re.MULTILINE)
# Nothing, or the number of a heading or of an item.
_OPENING = re.compile(r"\s*+(?:[#>*-]*+\s*+\d{1,3}\.)?")
# All that a stop consists of or is followed by.
_STOPPING = ".!?…。！？\"'”’」』）》)] \t\r\n"
# Longer than any abbreviation above: looking back no further keeps a long text linear.
_LOOK_BACK = 12


def undecided(text: str) -> int:
    """Where the last stop of a growing text begins, or the text ends: nothing before it can change."""
    return len(text.rstrip(_STOPPING))


def sentence_end(text: str, start: int = 0, since: int = 0) -> int | None:
    """Return the offset just behind the first sentence that begins at `start`, stop included.

    `since` spares a text that has grown from being searched again: no stop before it ends the sentence.

    `None` when no sentence ends in `text[start:]`. The end of the text ends a sentence only where a
    stop stands before it.
    """
    return next(_ends(text, start, since), None)


def _ends(text: str, start: int, since: int) -> Iterator[int]:
    """The offset behind each sentence, from that which begins at `start`."""
    for stop in _END.finditer(text, max(start, since)):
        end = stop.end()
        abbreviated = _NO_END.search(text[max(start, end - _LOOK_BACK) : end])
        if not (abbreviated or _OPENING.fullmatch(text, start, end)):
            yield end
            start = end


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return `(start, end)` of every sentence, in order, without surrounding white space.

    The spans do not overlap and leave out nothing but white space.
    """
    spans = []
    start = 0
    for end in (*_ends(text, 0, 0), len(text)):
        sentence = text[start:end]
        if stripped := sentence.strip():
            begin = start + sentence.index(stripped)
            spans.append((begin, begin + len(stripped)))
        start = end
    return spans


def is_ended(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return _ENDED.search(text) is not None


def ended(text: str, *, chinese: bool | None = None) -> str:
    """The text with a full stop behind it, unless it ends as a sentence does.

    Args:
        text: a clause or sentences.
        chinese: whether the stop is a Chinese one; None: as the text has ideographs.
    """
    if is_ended(text):
        return text
    return text + ("。" if (has_cjk(text) if chinese is None else chinese) else ".")


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return `(start, end)` of fenced code, in order; what is not closed goes on to the end."""
    marks = [match.start() for match in _FENCE.finditer(text)]
    ends = marks[1::2] if len(marks) % 2 == 0 else [*marks[1::2], len(text)]
    return list(zip(marks[::2], ends, strict=True))
