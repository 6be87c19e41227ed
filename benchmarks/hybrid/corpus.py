"""Made-up chunks of many uneven tenants, and questions to them; the same for the same seed.

Words follow Zipf's law, half of a text's are those of its topic; half of a text is Chinese. Each
tenant has neighbouring topics. Tenants' sizes follow Zipf's law, too: a few large, many small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

TENANTS = 100
TOPICS = 400
TOPIC_WORDS = 80
VOCABULARY = 20_000
WIDTH = 384
LARGE, MIDDLE = 0.04, 0.007  # shares of all chunks from which a tenant counts as large or middling
KEYWORDS = 8

Vectors = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Corpus:
    """Chunks in order of their tenants: texts, vectors, and the first chunk of each tenant."""

    texts: list[str]
    vectors: Vectors
    starts: Ints

    def of(self, tenant: int) -> range:
        """The chunks of a tenant."""
        return range(int(self.starts[tenant]), int(self.starts[tenant + 1]))


@dataclass(frozen=True)
class Query:
    """A question to a tenant: keywords cut out of one of its chunks, a vector on or off its topics."""

    tenant: int
    size: str
    on_topic: bool
    keywords: list[str]
    vector: Vectors


@dataclass(frozen=True)
class _Language:
    chinese: list[str]
    english: list[str]
    share: npt.NDArray[np.float64]
    topics: Ints


def make_corpus(chunks: int, seed: int) -> Corpus:
    """About 550 bytes a chunk; one in twenty is six times as long."""
    rng = np.random.default_rng(seed)
    language = _language(rng)
    sizes = 1 / np.arange(1, TENANTS + 1) ** 1.1
    sizes = np.maximum((sizes / sizes.sum() * chunks).astype(int), 5)
    sizes[0] += max(0, chunks - int(sizes.sum()))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    topic = np.concatenate([
        rng.integers(0, TOPICS) + rng.integers(0, 3 + size // 500, size) for size in sizes
    ]) % TOPICS  # fmt: skip
    centres = rng.normal(size=(TOPICS, WIDTH))
    raw = centres[topic] + 0.9 * rng.normal(size=(len(topic), WIDTH))
    texts = [_text(rng, language, int(own)) for own in topic]
    return Corpus(texts, _unit(raw), starts)


def make_queries(corpus: Corpus, count: int, seed: int) -> list[Query]:
    """Equally many for large, middling and small tenants, half of them on a topic of the tenant."""
    rng = np.random.default_rng(seed)
    sizes = np.diff(corpus.starts) / len(corpus.texts)
    bucket = np.where(sizes >= LARGE, 0, np.where(sizes >= MIDDLE, 1, 2))
    queries = []
    for number in range(count):
        kind = number % 3
        tenants = np.flatnonzero(bucket == kind)
        tenant, on_topic = int(rng.choice(tenants)), number // 3 % 2 == 0
        own = corpus.of(tenant)
        text = corpus.texts[int(rng.integers(own.start, own.stop))]
        near = corpus.vectors[
            int(rng.integers(own.start, own.stop))
            if on_topic
            else int(rng.integers(len(corpus.texts)))
        ]
        vector = _unit(near + 0.03 * rng.normal(size=WIDTH))
        queries.append(Query(tenant, "LMS"[kind], on_topic, _keywords(rng, text), vector))
    return queries


def _language(rng: np.random.Generator) -> _Language:
    # Characters are uneven as well: the commonest is one in a hundred, 250 make half of a text.
    common = 1 / np.arange(20, 3020)
    letters = (rng.choice(3000, VOCABULARY * 3, p=common / common.sum()) + 0x4E00).tolist()
    chinese = [
        "".join(map(chr, letters[3 * number : 3 * number + 2 + number % 2]))
        for number in range(VOCABULARY)
    ]
    onsets, codas = list("bcdfghklmnprst") + ["tr", "st", "ch", "pl"], ["", "", "n", "r", "s", "l"]
    syllables = ["".join(parts) for parts in zip(
        rng.choice(onsets, 400), rng.choice(list("aeiou"), 400), rng.choice(codas, 400), strict=True
    )]  # fmt: skip
    english = ["".join(rng.choice(syllables, size)) for size in rng.integers(1, 4, VOCABULARY)]
    share = 1 / np.arange(3, VOCABULARY + 3)
    topics = rng.integers(0, VOCABULARY, (TOPICS, TOPIC_WORDS))
    return _Language(chinese, english, share / share.sum(), topics)


def _text(rng: np.random.Generator, language: _Language, topic: int) -> str:
    size = int(rng.integers(50, 110)) * (6 if rng.random() < 0.05 else 1)
    general = rng.choice(VOCABULARY, size, p=language.share)
    own = language.topics[topic][rng.integers(0, TOPIC_WORDS, size)]
    picks = np.where(rng.random(size) < 0.5, general, own).tolist()
    half = size // 2
    chinese = "".join(
        language.chinese[pick] + ("，" if at % 9 == 8 else "")
        for at, pick in enumerate(picks[:half])
    )
    return chinese + "。 " + " ".join(language.english[pick] for pick in picks[half:])


def _keywords(rng: np.random.Generator, text: str) -> list[str]:
    """Five pieces of two to four characters of its Chinese, three of its English words."""
    chinese, _, english = text.partition("。 ")
    runs = [run for run in chinese.split("，") if len(run) >= 4]
    found = []
    for run in rng.choice(runs, 5) if runs else []:
        size = int(rng.choice([2, 2, 3, 4]))
        at = int(rng.integers(0, len(run) - size + 1))
        found.append(str(run[at : at + size]))
    words = [word for word in english.split() if len(word) > 2]
    found += [str(word) for word in rng.choice(words, 3)] if words else []
    return list(dict.fromkeys(found))[:KEYWORDS]


def _unit(vectors: npt.NDArray[np.floating]) -> Vectors:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / length, np.float32)
