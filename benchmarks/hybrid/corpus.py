"""A made-up library of many tenants: mixed Chinese and English chunks, vectors by topic, questions.

Everything follows from a seed. Words are real and as frequent as they are: Chinese ones are pieces of
the embedding model's vocabulary with its probabilities, English ones come from the docstrings of
Python's standard library. A topic has words and a place among the vectors of its own; a tenant has
a few topics. Limits: sentences mean nothing, and vectors are drawn, or those of other, real texts.
"""

from __future__ import annotations

import re
import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sextant.models.embedding.e5.weights import WeightFile, weights_path
from sextant.models.protocols import Vectors
from sextant.retrievers.arrays import unit
from sextant.text.stopwords import ENGLISH_STOP_WORDS

DIMENSION = 384
TENANTS = 100
_TOPICS, _SUBJECTS, _TOPIC_WORDS = 400, 40, 80
_CHUNKS_PER_TOPIC = 150
_DIRECTIONS = 24
_BLOCK = 10_000
# Chunks that a tenant stores at a time: a document of ten passages.
_TOGETHER = 10
# What products of equal vectors may differ by.
_EQUAL = 1e-6
_PARTICLES = list("的了是在和与对中为有也就不")
_ENGLISH = re.compile(r"[A-Za-z]{2,14}")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_IDEOGRAPHS = re.compile(r"[\u4e00-\u9fff]{2,4}")
_RUNS = re.compile(r"[\u4e00-\u9fff]{6,}")


@dataclass(frozen=True)
class Question:
    """What is looked for in one tenant: keywords cut out of one of its chunks, and a vector.

    `bucket` is the tenant's size, L, M or S; `off` says that the vector lies in a topic that the tenant
    does not have.
    """

    tenant: int
    bucket: str
    off: bool
    keywords: tuple[str, ...]
    vector: Vectors

    @property
    def text(self) -> str:
        """Return the keywords as a question."""
        return " ".join(self.keywords)


@dataclass(frozen=True)
class Library:
    """All chunks, tenant after tenant; tenant 0 is the largest."""

    texts: list[str]
    vectors: Vectors
    tenants: npt.NDArray[np.intp]
    questions: list[Question]

    def rows_of(self, tenant: int) -> range:
        """Return the chunks of a tenant."""
        first, last = np.searchsorted(self.tenants, [tenant, tenant + 1])
        return range(int(first), int(last))

    def arrivals(self) -> list[range]:
        """Return rows of a tenant, ten at a time, in the order in which they are stored: tenants take turns.

        Stored tenant after tenant, a tenant's rows would share pages, as they do in no grown table.
        """
        parts = [
            range(first, min(first + _TOGETHER, rows.stop))
            for rows in map(self.rows_of, np.unique(self.tenants).tolist())
            for first in range(rows.start, rows.stop, _TOGETHER)
        ]
        np.random.default_rng(0).shuffle(parts)
        return parts

    def nearest(self, question: Question) -> tuple[list[int], list[int]]:
        """Return rows of chunks nearer than the tenth nearest, and of those as near, by comparing all of the tenant.

        Of the latter any are right. They are many where vectors are equal: where a topic has one passage,
        so have all of its chunks.
        """
        rows = self.rows_of(question.tenant)
        cosines = self.vectors[rows.start : rows.stop] @ question.vector
        tenth = np.sort(cosines)[-10:][0]
        nearer = cosines > tenth + _EQUAL
        equal = (cosines >= tenth - _EQUAL) & ~nearer
        sure, any_of = (rows.start + np.flatnonzero(some) for some in (nearer, equal))
        return sure.tolist(), any_of.tolist()


@dataclass(frozen=True)
class _Words:
    words: npt.NDArray[np.str_]
    share: npt.NDArray[np.float64]
    reach: npt.NDArray[np.float64]

    @classmethod
    def of(cls, frequency: dict[str, float], most: int) -> _Words:
        best = sorted(frequency, key=lambda word: (-frequency[word], word))[:most]
        share = np.array([frequency[word] for word in best])
        return cls(np.array(best), share / share.sum(), np.cumsum(share))

    def topics(self, rng: np.random.Generator) -> npt.NDArray[np.intp]:
        rare = self.share**0.5 / (self.share**0.5).sum()
        picks = [
            rng.choice(len(self.words), _TOPIC_WORDS, replace=False, p=rare) for _ in range(_TOPICS)
        ]
        return np.array(picks)


def make_library(
    chunks: int,
    questions: int,
    seed: int,
    embedded: tuple[Vectors, Vectors] | None = None,
    number_of_tenants: int = TENANTS,
) -> Library:
    """Make `chunks` chunks of about 550 bytes (a twentieth of 2 to 4 KB) and a number of questions.

    Args:
        chunks: how many.
        questions: how many.
        seed: everything follows from it.
        embedded: vectors of real passages and real questions, instead of drawn ones.
        number_of_tenants: whose sizes follow Zipf's law.
    """
    rng = np.random.default_rng(seed)
    sizes = 1 / np.arange(1, number_of_tenants + 1) ** 1.1  # Zipf
    sizes = np.maximum((sizes / sizes.sum() * chunks).astype(int), 5)
    sizes[0] += chunks - sizes.sum()
    tenants = np.repeat(np.arange(number_of_tenants), sizes)
    own = [
        rng.choice(_TOPICS, min(_TOPICS // 2, 2 + n // _CHUNKS_PER_TOPIC), replace=False)
        for n in sizes
    ]
    topics = np.concatenate([rng.choice(mine, size) for mine, size in zip(own, sizes, strict=True)])
    places = _Drawn(rng) if embedded is None else _Embedded(rng, *embedded)
    library = Library(
        _texts(topics, rng), places.chunks(topics, rng), np.asarray(tenants, np.intp), []
    )
    library.questions.extend(_questions(library, own, places, questions, seed))
    return library


class _Places(Protocol):
    """Vectors of chunks and of questions by their topics."""

    def chunks(self, topics: npt.NDArray[np.intp], rng: np.random.Generator) -> Vectors: ...

    def questions(self, topics: npt.NDArray[np.intp], rng: np.random.Generator) -> Vectors: ...


class _Drawn:
    """Where topics lie: in 24 directions, neighbours overlapping, chunks with a direction of their own.

    Vectors of real sentences vary in few directions too; drawn in all 384, what lies outside of a
    tenant's topics is equally far from everything, and no graph of neighbours leads anywhere.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        subjects = unit(rng.normal(size=(_SUBJECTS, _DIRECTIONS)))
        apart = unit(rng.normal(size=(_TOPICS, _DIRECTIONS)))
        self._topics = unit(subjects[rng.integers(0, _SUBJECTS, _TOPICS)] + apart)
        self._directions = np.linalg.qr(rng.normal(size=(DIMENSION, _DIRECTIONS)))[0].T

    def chunks(self, topics: npt.NDArray[np.intp], rng: np.random.Generator) -> Vectors:
        places = unit(
            self._topics[topics] + 1.3 * unit(rng.normal(size=(len(topics), _DIRECTIONS)))
        )
        own = unit(rng.normal(size=(len(topics), DIMENSION)))
        return unit(places @ self._directions + 0.2 * own).astype(np.float32)

    questions = chunks


class _Embedded:
    """Real vectors: a topic is a cell around one of 400 passages, and the questions that fall in it.

    There are more chunks than passages, so a chunk lies up to a third of the way from one passage of its
    topic to another.
    """

    def __init__(self, rng: np.random.Generator, passages: Vectors, questions: Vectors) -> None:
        self._vectors = passages, questions
        middles = passages[rng.choice(len(passages), _TOPICS, replace=False)]
        cells = [(vectors @ middles.T).argmax(axis=1) for vectors in self._vectors]
        self._members = [[np.flatnonzero(cell == own) for own in range(_TOPICS)] for cell in cells]

    def chunks(self, topics: npt.NDArray[np.intp], rng: np.random.Generator) -> Vectors:
        one, other = (
            np.array([rng.choice(self._members[0][topic]) for topic in topics]) for _ in range(2)
        )
        way = rng.random((len(topics), 1)) / 3
        passages = self._vectors[0]
        vectors = np.empty((len(topics), passages.shape[1]), np.float32)
        for start in range(0, len(topics), _BLOCK):  # doubles of a million would take 10 GB
            some = slice(start, start + _BLOCK)
            near, far = passages[one[some]], passages[other[some]]
            vectors[some] = unit(near + way[some] * (far - near))
        return vectors

    def questions(self, topics: npt.NDArray[np.intp], rng: np.random.Generator) -> Vectors:
        asked = [self._members[1][topic] for topic in topics]
        passages, questions = self._vectors
        return np.stack(
            [
                questions[rng.choice(mine)]
                if len(mine)
                else passages[rng.choice(self._members[0][topic])]
                for topic, mine in zip(topics, asked, strict=True)
            ]
        )


def _vocabularies() -> tuple[_Words, _Words]:
    vocabulary = WeightFile.open(weights_path()).vocabulary
    chinese = {
        piece: float(np.exp(score))
        for piece, score in zip(vocabulary.pieces, vocabulary.scores, strict=True)
        if _IDEOGRAPHS.fullmatch(piece)
    }
    english = Counter[str]()
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for docstring in _DOCSTRING.findall(file.read_text("utf-8", errors="ignore")):
            english.update(_ENGLISH.findall(docstring))
    return _Words.of(chinese, 20_000), _Words.of(dict(english), 6_000)


def _texts(topics: npt.NDArray[np.intp], rng: np.random.Generator) -> list[str]:
    chinese, english = _vocabularies()
    of_topic = chinese.topics(rng), english.topics(rng)
    lengths = np.where(
        rng.random(len(topics)) < 0.05,
        rng.integers(250, 500, len(topics)),
        rng.integers(30, 100, len(topics)),
    )
    texts = []
    for topic, length in zip(topics, lengths, strict=True):
        share = (
            rng.random()
        )  # of Chinese: a third of the chunks is all Chinese, a fifth all English
        many = length if share < 0.35 else 0 if share > 0.8 else length // 2
        parts = [
            _chinese(_picked(chinese, of_topic[0][topic], many, rng), rng),
            " ".join(_picked(english, of_topic[1][topic], length - many, rng)),
        ]
        texts.append("".join(parts) if share < 0.5 else " ".join(filter(None, parts)))
    return texts


def _picked(
    words: _Words, topic: npt.NDArray[np.intp], count: int, rng: np.random.Generator
) -> list[str]:
    """Half of the words of the topic, half of any."""
    general = np.searchsorted(words.reach, rng.random(count) * words.reach[-1])
    own = topic[rng.integers(0, len(topic), count)]
    picked: list[str] = words.words[np.where(rng.random(count) < 0.5, own, general)].tolist()
    return picked


def _chinese(words: list[str], rng: np.random.Generator) -> str:
    chances = rng.random(len(words))
    particles = rng.integers(0, len(_PARTICLES), len(words))
    parts = []
    for word, chance, particle in zip(words, chances, particles, strict=True):
        after = _PARTICLES[particle] if chance < 0.3 else "，" if chance < 0.42 else ""
        parts.append(word + ("。" if 0.42 <= chance < 0.48 else after))
    return "".join(parts)


def _questions(
    library: Library, own: list[npt.NDArray[np.intp]], places: _Places, count: int, seed: int
) -> list[Question]:
    rng = np.random.default_rng(seed)
    share = np.bincount(library.tenants) / len(library.tenants)
    buckets = {
        "L": np.flatnonzero(share >= 0.04),
        "M": np.flatnonzero((share >= 0.007) & (share < 0.04)),
        "S": np.flatnonzero(share < 0.007),
    }
    kinds = [
        (name, off) for name, tenants in buckets.items() if tenants.size for off in (False, True)
    ]
    questions = []
    for number in range(count):
        bucket, off = kinds[number % len(kinds)]
        tenant = int(rng.choice(buckets[bucket]))
        others = np.setdiff1d(np.arange(_TOPICS), own[tenant])
        topic = rng.choice(others if off else own[tenant], 1)
        keywords = _keywords(library, tenant, rng)
        questions.append(Question(tenant, bucket, off, keywords, places.questions(topic, rng)[0]))
    return questions


def _keywords(library: Library, tenant: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Up to ten out of one chunk: windows of two to four ideographs, English words."""
    found: list[str] = []
    while len(found) < 3:
        text = library.texts[int(rng.choice(library.rows_of(tenant)))]
        for run in _RUNS.findall(text)[:6]:
            length = int(rng.choice([2, 2, 3, 4]))
            start = int(rng.integers(0, len(run) - length + 1))
            found.append(run[start : start + length])
        words = [word.lower() for word in _ENGLISH.findall(text) if len(word) > 2]
        telling = [word for word in words if word not in ENGLISH_STOP_WORDS]
        found += (
            rng.choice(telling, min(len(telling), 4), replace=False).tolist() if telling else []
        )
    return tuple(dict.fromkeys(found))[:10]
