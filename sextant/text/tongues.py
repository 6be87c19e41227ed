"""Whether a text is in a language that is neither Chinese nor English, told by its letters and commonest words."""

from __future__ import annotations

import re

from sextant.text.characters import IDEOGRAPHS, normalise
from sextant.text.stopwords import ENGLISH_STOP_WORDS

# The commonest words of French, German, Spanish, Italian, Portuguese and Dutch that are no English ones.
_COMMON = """
le la les des du une est et dans pour que qui sur avec pas ne nous vous ce cette sont au aux par plus il elle
der das und ist nicht ein eine mit für auf den dem von zu sich werden wird auch sie es
el los las y en por para con se su del al como más sus
lo gli è di che non sono della per nel
o os um uma é de com não em da na são está ao
het een van op te dat niet met voor zijn
"""
_OF_OTHERS = frozenset(_COMMON.split()) - ENGLISH_STOP_WORDS
_WORD = re.compile(r"[a-zà-öø-ÿœ]+")
# Letters of scripts that neither language has; kana and Hangul stand beside ideographs.
_OTHER_SCRIPT = re.compile(rf"(?![{IDEOGRAPHS}])[^\W\d_a-zà-öø-ÿœ]")
_LETTER = re.compile(r"[^\W\d_]")
_MUCH = 5


def is_of_others(text: str) -> bool:
    """Return whether `text` is in a language other than Chinese and English, as far as that is told; names tell nothing."""
    plain = normalise(text)
    if _MUCH * len(_OTHER_SCRIPT.findall(plain)) > len(_LETTER.findall(plain)):
        return True
    words = _WORD.findall(plain)
    english = sum(word in ENGLISH_STOP_WORDS for word in words)
    return sum(word in _OF_OTHERS for word in words) > 2 * english
