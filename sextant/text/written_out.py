"""Chinese words in short and written out: 年假 and 年休假, 物业费 and 物业管理费."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.text.characters import IDEOGRAPHS
from sextant.text.segmenter import cut_known_words
from sextant.text.stopwords import CHINESE_STOP_WORDS

_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_LEFT_OUT = "一二两三四五六七八九十" + "".join(
    sorted(word for word in CHINESE_STOP_WORDS if len(word) == 1)
)
_SHORT, _LONGER = 2, 4
# What a word of two leaves out is one ideograph: 年休假. With more between them any two would do.
_BETWEEN_TWO, _BETWEEN_MORE = "", "{1,2}"


def expanded_form_patterns(question: str) -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return each Chinese word of a normalised question, and where a text has it with more before its last ideograph."""
    words = (word for run in _RUN.findall(question) for word in cut_known_words(run))
    return [
        (word, _longer(word))
        for word in dict.fromkeys(words)
        if _SHORT <= len(word) <= _LONGER and CHINESE_STOP_WORDS.isdisjoint((word, *word))
    ]


def _longer(word: str) -> re.Pattern[str]:
    between = _BETWEEN_TWO if len(word) == _SHORT else _BETWEEN_MORE
    return re.compile(f"{word[:-1]}(?:(?![{_LEFT_OUT}])[{IDEOGRAPHS}]){between}{word[-1]}")
