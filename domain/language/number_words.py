"""Numbers as English writes them out."""

from __future__ import annotations

_CARDINALS = "zero one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"

# From 0 on, and from 1 on.
CARDINALS, ORDINALS = tuple(_CARDINALS.split()), tuple(_ORDINALS.split())
