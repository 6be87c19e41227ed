"""A made-up corpus for two systems, and an instant model that reads it.

Names, verbs and subjects come from a seed; names are frequent by Zipf's law within their topic. Needs
nothing but the standard library and numpy, because the peer runs in an environment of its own.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

DIMENSION = 384
PASSAGES_PER_DOCUMENT = 10
# LightRAG splits documents here; Sextant takes it for a line of its own.
SEPARATOR = "\n\n=====\n\n"

_TOPICS, _NAMES_PER_PASSAGE, _WORDS = 40, 5, 260
_KINDS = ("organization", "person", "place", "method")
_VERBS = (
    "supplies",
    "regulates",
    "evaluates",
    "funds",
    "monitors",
    "replaces",
    "supports",
    "audits",
)
_PLAIN = (  # noqa: SIM905 - a text is easier to read
    "during the last period several teams compared earlier results with measurements from the field and"
    " asked the regional office for more detail about costs data quality training contracts weather"
    " demand and the schedule of the next visit because small gaps between written procedure and daily"
    " practice had been found before although most of them were closed within weeks"
).split()

_NAME = r"([A-Z][a-z]+ [A-Z][a-z]+)"
IS_A = re.compile(rf"{_NAME} is an? (\w+) (?:known for|concerned with) ([a-z ]+)\.")
STATES = re.compile(rf"{_NAME} ({'|'.join(_VERBS)}) {_NAME} for ([a-z ]+)\.")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one passage; `themes` and `names` are its high- and low-level keywords.

    `answer` is the passage's sentence about both names. It is looked for, and not the number that the passage
    begins with: Sextant's chunks have bounds of their own, and the number may lie in another chunk.
    """

    text: str
    names: tuple[str, str]
    themes: tuple[str, str]
    answer: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Passages, and questions about the first of them."""

    passages: Sequence[str]
    questions: Sequence[Question]

    def documents(self, first: int, last: int) -> list[tuple[str, str]]:
        """Return passages `first` to `last` as (file name, text)."""
        return [
            (
                f"report_{start:06d}.md",
                SEPARATOR.join(self.passages[start : min(start + PASSAGES_PER_DOCUMENT, last)]),
            )
            for start in range(first, last, PASSAGES_PER_DOCUMENT)
        ]


def make_corpus(passages: int, *, names: int = 3_000, questions: int = 60, seed: int = 7) -> Corpus:
    """Return passages of about 260 words that name six things and relate them; questions ask the first 500."""
    dice = random.Random(seed)  # noqa: S311 - repeatable, not secret
    known = sorted({f"{_word(dice, 2).title()} {_word(dice, 3).title()}" for _ in range(names)})
    dice.shuffle(known)
    themes = [[_word(dice, 3) for _ in range(25)] for _ in range(_TOPICS)]
    texts: list[str] = []
    asked: list[Question] = []
    for number in range(passages):
        topic = dice.randrange(_TOPICS)
        chosen = _some_names(dice, known, topic)
        texts.append(_passage(dice, number, chosen, themes[topic]))
        if number < 500:
            asked.append(_question(dice, texts[-1], chosen, themes[topic]))
    return Corpus(texts, dice.sample(asked, min(questions, len(asked))))


def _about_both(passage: str, names: tuple[str, str]) -> str:
    """Return the first sentence of a passage that holds both names."""
    sentences = passage.split(". ")
    return next(one for one in sentences if names[0] in one and names[1] in one)


_FUNCTION = (
    "a",
    "an",
    "and",
    "does",
    "for",
    "how",
    "is",
    "known",
    "regard",
    "relate",
    "to",
    "with",
)
# What says nothing of a text's subject: a trained model gives it little weight too.
_LIGHT = frozenset((*_PLAIN, *_VERBS, *_KINDS, *_FUNCTION))
_MADE_UP = re.compile(r"(?:[bcdfghjklmnprstvz][aeiou]){2,3}")


def vector_of(text: str) -> npt.NDArray[np.float32]:
    """Return a vector of hashed words, for both systems: an instant embedding model.

    Names and subjects carry it, as in a trained model's; were all words alike, LightRAG's bound of 0.2
    on the cosine would leave five entities of the forty that it asks for.
    """
    vector = np.zeros(DIMENSION, np.float32)
    for word in set(re.findall(r"\w+", text.lower())):
        code = zlib.crc32(word.encode())
        weight = 1.0 if _MADE_UP.fullmatch(word) and word not in _LIGHT else 0.1
        vector[code % DIMENSION] += weight if code & 0x10000 else -weight
    vector[0] += 1e-3
    return vector / np.float32(np.linalg.norm(vector))


def _word(dice: random.Random, syllables: int) -> str:
    return "".join(
        dice.choice("bcdfghjklmnprstvz") + dice.choice("aeiou") for _ in range(syllables)
    )


def _some_names(dice: random.Random, known: Sequence[str], topic: int) -> list[str]:
    pool = known[topic::_TOPICS]
    weights = [1 / (rank + 1) ** 0.7 for rank in range(len(pool))]
    chosen = dict.fromkeys(dice.choices(pool, weights, k=3 * _NAMES_PER_PASSAGE))
    return [*list(chosen)[:_NAMES_PER_PASSAGE], dice.choice(known)]


def _passage(dice: random.Random, number: int, names: Sequence[str], themes: Sequence[str]) -> str:
    sentences = [f"This is record {number:06d}."]
    for name in names:
        kind = _KINDS[zlib.crc32(name.encode()) % len(_KINDS)]
        a, b = dice.sample(themes, 2)
        sentences.append(f"{name} is a {kind} known for {a} and {b}.")
    for left, right in pairwise(names):
        a, b = dice.sample(themes, 2)
        sentences.append(f"{left} {dice.choice(_VERBS)} {right} for {a} {b}.")
    words = sum(len(sentence.split()) for sentence in sentences)
    while words < _WORDS:
        start = dice.randrange(len(_PLAIN) - 12)
        part = [*_PLAIN[start : start + 12], dice.choice(themes)]
        sentences.append(" ".join(part).capitalize() + ".")
        words += len(part)
    return " ".join(sentences)


def _question(
    dice: random.Random, passage: str, names: Sequence[str], themes: Sequence[str]
) -> Question:
    place = dice.randrange(len(names) - 1)
    a, b = dice.sample(themes, 2)
    pair = (names[place], names[place + 1])
    text = f"How does {pair[0]} relate to {pair[1]} with regard to {a} and {b}?"
    return Question(text, pair, (a, b), _about_both(passage, pair))
