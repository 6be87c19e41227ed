"""Chinese in traditional characters read as the simplified ones: 臺北 and 台北 are one place."""

from __future__ import annotations

import re
from functools import cache

from sextant.text.characters import has_cjk, normalise

_BLOCKS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00))


def simplify(text: str) -> str:
    """Return the text with every traditional character as its simplified one, by OpenCC's dictionary.

    Character by character, so every offset stays: what is found in the result stands there in the text.
    A text in simplified characters is returned as it is, but for the few that are traditional forms, too.
    """
    if not has_cjk(text):
        return text
    characters, some = _characters()
    # Looking for one takes a twentieth of going through all.
    return text.translate(characters) if some.search(text) else text


def plain_of(text: str) -> str:
    """Return the form in which words are compared in whichever characters they are written: normalised and simplified."""
    return simplify(normalise(text))


@cache
def _characters() -> tuple[dict[int, int], re.Pattern[str]]:
    # Imported with the first Chinese text: it reads its dictionaries then, 20 ms of CPU.
    from opencc import OpenCC

    either = [chr(code) for block in _BLOCKS for code in block]
    convert = OpenCC("t2s").convert
    # A character a line, lest several are taken for a word; twice, since 薴 becomes 苧, and that 苎.
    plain = convert(convert("\n".join(either))).split("\n")
    characters = {
        ord(one): ord(other)
        for one, other in zip(either, plain, strict=True)
        if one != other and len(other) == 1
    }
    return characters, re.compile(f"[{''.join(map(chr, characters))}]")
