"""A Chinese verb joined with its object, and the two the other way round: 发工资 and 工资于十日发放."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.text.characters import IDEOGRAPHS
from sextant.text.segmenter import cut_known_words
from sextant.text.stopwords import CHINESE_STOP_WORDS

_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_JOINED = 3  # a verb of one ideograph, an object of two
_BETWEEN = "[^。；！？!?\n]{0,12}"


def object_verb_patterns(question: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each such word of a normalised question, and where a text has the object and then the verb."""
    words = (word for run in _RUN.findall(question) for word in cut_known_words(run))
    return [
        (word, re.compile(f"{word[1:]}{_BETWEEN}{word[0]}"))
        for word in dict.fromkeys(words)
        if len(word) == _JOINED and CHINESE_STOP_WORDS.isdisjoint(word)
    ]
