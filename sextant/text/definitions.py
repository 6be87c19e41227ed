"""Whether a question asks what something is, and which sentences say so: those with "a crate is" or 货箱是指."""

from __future__ import annotations

import re

from sextant.text.characters import normalise

_ASKS = re.compile(
    r"^\s*what(?:'s| is| are| was| were) (?:an? |the )?(?P<en>[^,;:?]{2,60}?)\s*\??\s*$"
    r"|^\s*what does (?:an? |the )?(?P<does>[^,;:?]{2,60}?) (?:do|mean|stand for)\s*\??\s*$"
    r"|^\s*(?:请问)?(?:什么是|什么叫|何谓|何为|什麼是)(?P<zh>[^，。；：？?]{2,30})[？?]?\s*$"
    r"|^\s*(?:请问)?(?P<what>[^，。；：？?]{2,30}?)(?:是什么|是啥|是什麼|是什么意思|指什么|指的是什么|有什么用|是做什么的)[？?]?\s*$"
)


def definition_pattern(question: str) -> re.Pattern[str] | None:
    """Return where a normalised sentence says what the question asks of by name; None where it asks otherwise."""
    match = _ASKS.match(normalise(question))
    if match is None:
        return None
    name = re.escape(match["en"] or match["does"] or match["zh"] or match["what"])
    if match["en"] or match["does"]:
        verbs = "is|are|was|were|means?|refers?|stands? for|denotes?|provides?|describes?|contains?|lets?|allows?|returns?"
        return re.compile(rf"(?<!\w){name}s?(?!\w)(?:[^.;:]|\.\d){{0,40}}?\b(?:{verbs})\b")
    return re.compile(rf"{name}[^，。；]{{0,12}}?(?:是|为|指|即|用于|用来|负责|提供)")
