"""The row that a follow-up calls by its place: "and the second one?", 那第二个呢？.

It asks of the table that answered before, which the words borrowed from the conversation find
(`sextant.nodes.question.conversation`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.passages import heads_in, is_row, table_heads
from sextant.models.offline.wording import own_part
from sextant.text.number_words import CHINESE_DIGITS, ORDINALS, number_of

_ENGLISH = re.compile(
    r"(?:(?:and|but|so|or|then|ok(?:ay)?|what about|how about)[\s,]+)*(?:the\s+)?"
    rf"(?:(?P<word>{'|'.join(ORDINALS)})|(?P<nth>\d{{1,4}})(?:st|nd|rd|th)|(?P<last>last))"
    r"(?:\s+(?:one|row|item|entry|line))?\s*[?.!]*",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    rf"(?:第\s*(?P<nth>\d{{1,4}}|[{CHINESE_DIGITS[1:]}])\s*[个個项項条條行种種款]?|(?P<last>最后一[个行项条种款]))"
    r"(?:是什么)?\s*[?？。]*"
)
_LAST = -1


def asked_place(question: str) -> int | None:
    """Return the place, from 0, or -1 for the last, that a follow-up asks for and nothing else."""
    own = own_part(question)
    if own == question:
        return None
    if found := _ENGLISH.fullmatch(own):
        word = (found["word"] or "").lower()
        at = ORDINALS.index(word) if word else int(found["nth"] or 0) - 1
    elif found := _CHINESE.fullmatch(own):
        at = number_of(found["nth"] or "0") - 1
    else:
        return None
    return at if at >= 0 or found["last"] else None


def row_at(
    place: int, ranked: Sequence[Candidate], items: Sequence[RetrievedItem]
) -> Candidate | None:
    """Return the row at `place` of the best row's table; None where it has none there, or is not wholly at hand.

    Args:
        place: from 0; -1 is the last.
        ranked: the sentences, best first.
        items: the passages they stand in.
    """
    source = ranked[0].source
    heads = table_heads(items[source])
    parts = [item for item in items if table_heads(item) == heads]
    if len(heads) != 1 or not heads_in(items[source].text):
        return None
    rows = sorted(
        (one for one in ranked if one.source == source and is_row(one.text)),
        key=lambda row: row.start,
    )
    if place == _LAST:
        return rows[-1] if len(parts) == 1 else None
    return rows[place] if place < len(rows) else None
