"""Everyday words that mean the same: 价格 and "price", "CEO" and "managing director".

They are listed in `other_words.txt`; whatever else a question asks for is compared by meaning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from importlib.resources import files
from itertools import islice, product

from sextant.text.characters import plain_of
from sextant.text.word_forms import (
    expanded_form_patterns,
    kin_of,
    object_verb_patterns,
    split_particle_patterns,
)

Otherwise = Sequence[tuple[str, re.Pattern[str]]]
"""Words of a question, and where a text says the same otherwise."""

# So many names are made at the most of one, whose words have several translations each.
_MOST_WAYS = 24
_SAYS = re.compile(r"[^\W_]")
_MEANING = defaultdict[str, list[str]](list)
for _line in (files("sextant.text") / "other_words.txt").read_text(encoding="utf-8").split("\n"):
    if _line and not _line.startswith("#"):
        for _word in _line.split(", "):
            _MEANING[_word] += _line.split(", ")


def _wherever(words: Collection[str]) -> re.Pattern[str]:
    """Return any of the words in a normalised text, English ones whole and with their plural."""
    english = "|".join(re.escape(word) for word in words if word.isascii())
    chinese = "|".join(word for word in words if not word.isascii())
    forms = [rf"\b(?P<en>{english})s?(?!\w)"] if english else []
    return re.compile("|".join([*forms, *([f"(?P<zh>{chinese})"] if chinese else [])]))


_KNOWN = _wherever(sorted(_MEANING, key=len, reverse=True))


def synonym_patterns(question: str) -> dict[str, re.Pattern[str]]:
    """For each listed word of `question`, where a normalised text has it in other words."""
    return {word: _wherever(others) for word, others in synonyms(question).items()}


def synonyms(question: str) -> dict[str, list[str]]:
    """For each listed word of `question`, what else it is called, in either language."""
    words = dict.fromkeys(
        match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))
    )
    return {word: [one for one in _MEANING[word] if one != word] for word in words}


def as_tables_say(question: str) -> str:
    """Return what a question speaks of, in the words that columns and cells may have for it; "" where none are known.

    "How much does the Heron 3 cost?" shares no word with the head of a price list.
    """
    known = [other for others in synonyms(question).values() for other in others]
    return f"{question} {' '.join(dict.fromkeys(known))}" if known else ""


def other_names(name: str) -> list[str]:
    """Return what else a name may be called, where each of its words is listed: 最低库存 for "minimum stock"."""
    plain = plain_of(name)
    found = list(_KNOWN.finditer(plain))
    if not found or _SAYS.search(_KNOWN.sub(" ", plain)):
        return []
    meanings = [_MEANING[match["en"] or match["zh"]] for match in found]
    ways = list[str]()
    for english, gap in ((True, " "), (False, "")):
        words = [[word for word in meant if word.isascii() is english] for meant in meanings]
        ways += [gap.join(way) for way in islice(product(*words), _MOST_WAYS)]
    return [way for way in dict.fromkeys(ways) if way != plain]


def translate_words(question: str) -> dict[str, list[str]]:
    """For each listed word of `question`, what it is in the other language: Shanghai for 上海."""
    words = {match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))}
    others = {
        word: [one for one in _MEANING[word] if one.isascii() is not word.isascii()]
        for word in sorted(words)
    }
    return {word: known for word, known in others.items() if known}


def name_synonyms(question: str) -> Otherwise:
    """Return words of `question`, and where a normalised text has the same in other words.

    In other words of the list; in another of its family; written out; the object before its verb; in two words, where a particle may stand alone.
    """
    plain = plain_of(question)
    return [
        *synonym_patterns(question).items(),
        *split_particle_patterns(plain),
        *kin_of(plain),
        *expanded_form_patterns(plain),
        *object_verb_patterns(plain),
    ]
