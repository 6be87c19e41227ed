"""How questions call what a column of states has: 还没付款 for 未付, "not paid yet" for "unpaid", 已经付款 for 已付."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STATE = re.compile(r"(?P<zh>[未已没])(?P<what>[\u4e00-\u9fff]{1,4})|un(?P<en>[a-z]{3,})")
_NOT_YET = ("未", "没", "没有", "还没", "还没有", "还未", "尚未")
_DONE = ("已", "已经")


def other_states(value: str) -> Iterator[str]:
    """Yield what else a normalised value is called that tells whether something is done; nothing for any other."""
    match = _STATE.fullmatch(value)
    if match is None:
        return
    if match["en"]:
        for words in ("not", "not yet", "not been", "not yet been"):
            yield f"{words} {match['en']}"
        return
    for words in _DONE if match["zh"] == "已" else _NOT_YET:
        yield f"{words}{match['what']}"
