"""What is known of a chunk beside text and vector, as seven signals of 0..1 each (seed 004).

The seed names weights α to ζ, six letters for seven signals; the seventh, that of the neighbours, is η here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from sextant.domain.documents import Modality
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.index.words.terms import is_pair, terms
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.numeric.normalising import min_max
from sextant.retrievers.ranking.decay import age_in_days, time_decay
from sextant.stores.chunks.metadata import ChunkMetadata
from sextant.text.simplified import simplify

# A section's own title says most of what is in it; each level up says less.
_UPWARD = 0.7

_WANTED = {
    Modality.TABLE: re.compile(
        r"表格|列表|清单|一览|[这下上附]表|表\s*\d|\btables?\b", re.IGNORECASE
    ),
    Modality.IMAGE: re.compile(
        r"图片|图像|照片|截图|示意图|流程图|[这下上附]图|图\s*\d|\b(?:images?|figures?|pictures?|photos?|diagrams?)\b",
        re.IGNORECASE,
    ),
}


# Of one lane: the chunks that it found with its scores, best first.
Found = Mapping[str, float]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class QuestionSignals:
    """What the signals need of a question.

    `now` is the moment from which ages count, `half_life` the days after which half of recency is left.
    """

    text: str
    now: datetime
    half_life: float
    terms: frozenset[str] = field(init=False)
    _pairs: tuple[str, ...] = field(init=False)
    _words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Cut the text into terms once."""
        found = frozenset(terms(self.text))
        adjacent = frozenset(term for term in found if is_pair(term))
        object.__setattr__(self, "terms", found)
        object.__setattr__(self, "_pairs", tuple(adjacent))
        object.__setattr__(self, "_words", found - adjacent)

    def among(self, text: str) -> frozenset[str]:
        """Return the question's terms that are terms of `text`, which is cut only where that is in doubt.

        A pair of ideographs is a term wherever it stands. What a word is stemmed and folded to stands
        in it, too, as long as all is ASCII.
        """
        plain = simplify(text) if self._pairs else text
        held = frozenset(pair for pair in self._pairs if pair in plain)
        if not self._words:
            return held
        lower = text.lower()
        if text.isascii() and not any(word in lower for word in self._words):
            return held
        return held | self._words.intersection(terms(text))


def signals_of(
    question: QuestionSignals,
    chunks: Sequence[ChunkMetadata],
    lanes: Mapping[str, Found],
    weights: MetadataWeights,
) -> tuple[Numbers, Numbers]:
    """Return raw values and shares of each signal, in the order of `MetadataWeights`."""
    cosines, near = _by_vector(chunks, lanes.get(VECTOR, {}))
    counted, words = _by_keyword(chunks, lanes.get(KEYWORD, {}))
    ages, fresh = _by_age(question, chunks)
    hierarchy = _by_titles(question, chunks)
    topic = [topic_share(question, chunk) for chunk in chunks]
    modality = _by_modality(question.text, chunks)
    beside = _by_neighbours(chunks, _lane_scores(near, words, weights))
    return (
        np.array([cosines, counted, hierarchy, ages, topic, modality, beside]),
        np.array([near, words, hierarchy, fresh, topic, modality, beside]),
    )


def _by_vector(chunks: Sequence[ChunkMetadata], found: Found) -> tuple[Numbers, Numbers]:
    """Return cosines, the farthest that the lane found at 0; what it did not find has 0, too."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    there = np.array([chunk.id in found for chunk in chunks], dtype=bool)
    share = np.zeros(len(chunks))
    share[there] = min_max(raw[there])
    return raw, share


def _by_keyword(chunks: Sequence[ChunkMetadata], found: Found) -> tuple[Numbers, Numbers]:
    """Return the lane's score as a share of the best: about how many of the keywords found are in it."""
    raw = np.array([found.get(chunk.id, 0.0) for chunk in chunks])
    return raw, raw / (raw.max(initial=0.0) or 1.0)


def _by_age(
    question: QuestionSignals, chunks: Sequence[ChunkMetadata]
) -> tuple[list[float], list[float]]:
    """Return age in days, and what is left of a whole that halves every half-life."""
    ages = [age_in_days(chunk.created_at, question.now) for chunk in chunks]
    return ages, [time_decay(age, question.half_life) for age in ages]


def _by_titles(question: QuestionSignals, chunks: Sequence[ChunkMetadata]) -> list[float]:
    """Return chunks of a section have their titles in common."""
    known: dict[tuple[str, ...], float] = {}
    shares = []
    for chunk in chunks:
        titles = tuple(chunk.titles)
        if titles not in known:
            known[titles] = hierarchy_share(question, titles)
        shares.append(known[titles])
    return shares


def hierarchy_share(question: QuestionSignals, titles: Sequence[str]) -> float:
    """Return how far a title above a chunk is what the question asks for, 0..1.

    Of each title the share of its terms that the question has, times 0.7 for each level up from the
    section's own; the best of them. The document's title is the topmost.
    """
    return max(
        (
            _title_overlap(question, title) * _UPWARD**level
            for level, title in enumerate(reversed(titles))
        ),
        default=0.0,
    )


def _title_overlap(question: QuestionSignals, title: str) -> float:
    held = question.among(title)
    return len(held) / len(set(terms(title))) if held else 0.0


def topic_share(question: QuestionSignals, chunk: ChunkMetadata) -> float:
    """Return the share of the question's terms that the chunk's topics, keywords and entities have, 0..1."""
    if not question.terms:
        return 0.0
    return len(question.among(chunk.labels)) / len(question.terms)


def _by_modality(question: str, chunks: Sequence[ChunkMetadata]) -> list[float]:
    """Return 1 for a chunk of the kind that the question asks for, else 0; 1 for all where it asks for none."""
    wanted = {kind for kind, words in _WANTED.items() if words.search(question)}
    return [float(not wanted or chunk.modality in wanted) for chunk in chunks]


def _lane_scores(near: Numbers, words: Numbers, weights: MetadataWeights) -> Numbers:
    whole = weights.vector + weights.keyword or 1.0
    found: Numbers = (weights.vector * near + weights.keyword * words) / whole
    return found


def _by_neighbours(chunks: Sequence[ChunkMetadata], found: Numbers) -> list[float]:
    """Return how well vector and keywords found the better one of the two chunks beside each chunk."""
    worth = {chunk.id: score for chunk, score in zip(chunks, found.tolist(), strict=True)}
    return [max((worth.get(own, 0.0) for own in chunk.neighbours), default=0.0) for chunk in chunks]
