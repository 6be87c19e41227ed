"""English words of a verb and its particle, written as one word or as two: "back up" and "backup".

Whoever asks how to log in writes the verb, and a text's headings have the noun, login.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.text.characters import normalise
from sextant.text.stems import stem
from sextant.text.stopwords import ENGLISH_STOP_WORDS

_PARTICLES = "up|out|in|off|down|on|over|back|away|around|through"
_TWO = re.compile(rf"\b([a-z]{{3,}})[ -]({_PARTICLES})\b")
_ONE = re.compile(rf"\b([a-z]{{3,}})({_PARTICLES})s?\b")
# "logging" is of "log", "setting" of "set"; "calling" and "adding" have both letters of their own.
_DOUBLED = re.compile(r"(?<=\w{2})([bdgmnprt])\1$")


def join_particles(question: str) -> list[tuple[str, str]]:
    """Return each verb of a question with its particle, as it is there and as one word: `backing up`, `backup`."""
    return [
        (match[0], _base(match[1]) + match[2])
        for match in _TWO.finditer(normalise(question))
        if match[1] not in ENGLISH_STOP_WORDS
    ]


def _base(verb: str) -> str:
    bare = stem(verb)
    return bare if bare == verb else _DOUBLED.sub(r"\1", bare)


def split_particle_patterns(question: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each word of a normalised question with a particle in it, and where a text has it as two words."""
    return [
        (match[0], re.compile(rf"\b{match[1]}\w{{0,4}}[ -]{match[2]}\b"))
        for match in _ONE.finditer(question)
    ]
