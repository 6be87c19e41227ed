"""Which rows of an order a question asks for: "the three cheapest", 销售额前三, "second highest"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sextant.tables.cells.computing import Operation
from sextant.tables.question.wording import LARGEST, MEASURES, SMALLEST
from sextant.text.number_words import CARDINALS, CHINESE_DIGITS, ORDINALS

_COUNTED = {
    **{word: at for at, word in enumerate(CARDINALS)},
    **{word: at for at, word in enumerate(CHINESE_DIGITS)},
    "两": 2,
    "兩": 2,
}
_ENOUGH = "|".join([*CARDINALS[2:], r"\d{1,3}"])
_NTH = "|".join(ORDINALS[1:])
_RANKS = (
    # The operation, the form, and whether only the last of so many is asked for.
    (Operation.MAX, re.compile(rf"\btop\s+(?P<n>{_ENOUGH})\b"), False),
    (None, re.compile(rf"\b(?P<n>{_ENOUGH})\s+(?={LARGEST}|{SMALLEST})"), False),
    (
        None,
        re.compile(rf"\b(?:which|what)\s+(?P<n>{_ENOUGH})\b(?=.*(?:{LARGEST}|{SMALLEST}))"),
        False,
    ),
    (None, re.compile(rf"哪(?P<n>[两兩二三四五六七八九十]|\d{{1,3}})[{MEASURES}](?=.*最)"), False),
    (None, re.compile(rf"\b(?P<nth>{_NTH})[\s-]+(?={LARGEST}|{SMALLEST})"), True),
    (
        None,
        re.compile(
            rf"(?P<behind>(?:最.|最便宜)的?)(?P<n>\d{{1,3}}|[两兩二三四五六七八九十])[{MEASURES}]"
        ),
        False,
    ),
    (
        Operation.MAX,
        re.compile(
            r"(?<![目之以此提])前(?P<n>\d{1,3}|[两兩二三四五六七八九十])(?![\d年月天日周季行条期次])(?:个(?![月季])|[名位家大款种件项])?+"
        ),
        False,
    ),
    (
        Operation.MAX,
        re.compile(r"第(?P<n>[二三四五六七八九十])(?=[高大多贵长重快晚远])[高大多贵长重快晚远]"),
        True,
    ),
    (
        Operation.MIN,
        re.compile(r"第(?P<n>[二三四五六七八九十])(?=[低小少短轻慢早近])[低小少短轻慢早近]"),
        True,
    ),
)


@dataclass(frozen=True, slots=True)
class Rank:
    """Which of the rows in order: the first `last` of them, or with `only` the one at that place.

    `start` and `end` are where the question says so; `operation` is the order where those words imply it.
    """

    last: int
    only: bool
    operation: Operation | None
    start: int
    end: int


def rank_in(question: str) -> Rank | None:
    """Return the rows of an order that a normalised question asks for; None where it asks for none."""
    for operation, form, only in _RANKS:
        if match := form.search(question):
            said = match.groupdict()
            word = said.get("n") or said["nth"]
            last = ORDINALS.index(word) + 1 if word in ORDINALS else _COUNTED.get(word) or int(word)
            start = match.end("behind") if said.get("behind") else match.start()
            return Rank(last, only, operation, start, match.end())
    return None
