"""Rank chunks by seven signals of 0..1 each: vector, keywords, headings, age, topics, modality, neighbours.

`hybrid = Σ weight · signal ÷ Σ weight`; with BM25 `(1 − share) · hybrid + share · BM25`; then
`final = 0.6 · hybrid + 0.4 · rerank` if a reranker has scored. Weights and shares are settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np
import numpy.typing as npt

from sextant.domain.documents import Modality
from sextant.domain.retrieval import LEAST_SCORE
from sextant.retrievers.arrays import min_max
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.ranking.fusion import Share
from sextant.retrievers.ranking.result_ranker import age_in_days, time_decay
from sextant.stores.chunks.stored import ChunkMetadata
from sextant.text.analysis import is_pair, terms
from sextant.text.characters import simplify

# A section's own title says most about its text; the title of each level above counts this much less.
_PARENT_FACTOR = 0.7

_MODALITY_WORDS = {
    Modality.TABLE: re.compile(
        r"表格|列表|清单|一览|[这下上附]表|表\s*\d|\btables?\b", re.IGNORECASE
    ),
    Modality.IMAGE: re.compile(
        r"图片|图像|照片|截图|示意图|流程图|[这下上附]图|图\s*\d|\b(?:images?|figures?|pictures?|photos?|diagrams?)\b",
        re.IGNORECASE,
    ),
}


LaneScores = Mapping[str, float]
"""Chunk id → score of one lane, best first."""
Numbers = npt.NDArray[np.float64]
BM25_SIGNAL = "bm25"


@dataclass(frozen=True, slots=True)
class ChunkQuestion:
    """A question as the signals need it.

    `now` is the moment from which ages count, `half_life` the days after which recency is one half.
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

    def terms_in(self, text: str) -> frozenset[str]:
        """Return the question's terms that are terms of `text`.

        `text` is cut into terms only if a substring search leaves that open: a pair of ideographs is a term
        wherever it stands, and a stemmed word is a substring of the word in ASCII.
        """
        plain = simplify(text) if self._pairs else text
        pairs = frozenset(pair for pair in self._pairs if pair in plain)
        if not self._words:
            return pairs
        lower = text.lower()
        if text.isascii() and not any(word in lower for word in self._words):
            return pairs
        return pairs | self._words.intersection(terms(text))


def _score_signals(
    question: ChunkQuestion,
    chunks: Sequence[ChunkMetadata],
    lanes: Mapping[str, LaneScores],
    weights: MetadataWeights,
) -> tuple[Numbers, Numbers]:
    """Return the raw value and the share (0..1) of each signal, in the order of `MetadataWeights`."""
    raw_vector, vector = _vector_signal(chunks, lanes.get(VECTOR, {}))
    by_words = lanes.get(KEYWORD, {})
    raw_keyword = np.array([by_words.get(chunk.id, 0.0) for chunk in chunks])
    keyword = raw_keyword / (raw_keyword.max(initial=0.0) or 1.0)
    ages = [age_in_days(chunk.created_at, question.now) for chunk in chunks]
    recency = [time_decay(age, question.half_life) for age in ages]
    paths = [tuple(chunk.titles) for chunk in chunks]
    of_path = {path: hierarchy_share(question, path) for path in set(paths)}
    hierarchy = [of_path[path] for path in paths]
    topic = [topic_share(question, chunk) for chunk in chunks]
    # 1 for all, if the question asks for no modality.
    wanted = {kind for kind, words in _MODALITY_WORDS.items() if words.search(question.text)}
    modality = [float(not wanted or chunk.modality in wanted) for chunk in chunks]
    found = weights.vector * vector + weights.keyword * keyword
    neighbour = _neighbour_signal(chunks, found / (weights.vector + weights.keyword or 1.0))
    return (
        np.array([raw_vector, raw_keyword, hierarchy, ages, topic, modality, neighbour]),
        np.array([vector, keyword, hierarchy, recency, topic, modality, neighbour]),
    )


def _vector_signal(chunks: Sequence[ChunkMetadata], scores: LaneScores) -> tuple[Numbers, Numbers]:
    """Return cosines, and their shares: 0 for the farthest chunk of the lane and for all that it did not find."""
    raw = np.array([scores.get(chunk.id, 0.0) for chunk in chunks])
    is_found = np.array([chunk.id in scores for chunk in chunks], dtype=bool)
    share = np.zeros(len(chunks))
    share[is_found] = min_max(raw[is_found])
    return raw, share


def hierarchy_share(question: ChunkQuestion, titles: Sequence[str]) -> float:
    """Return how well the titles above a chunk match the question, 0..1.

    The best share of a title's terms that the question has, times 0.7 for each level above the section's own
    title. The document's title is the topmost.
    """
    shares = (
        _title_overlap(question, title) * _PARENT_FACTOR**level
        for level, title in enumerate(reversed(titles))
    )
    return max(shares, default=0.0)


def _title_overlap(question: ChunkQuestion, title: str) -> float:
    found = question.terms_in(title)
    return len(found) / len(set(terms(title))) if found else 0.0


def topic_share(question: ChunkQuestion, chunk: ChunkMetadata) -> float:
    """Return the share of the question's terms that the chunk's topics, keywords and entities have, 0..1."""
    if not question.terms:
        return 0.0
    return len(question.terms_in(chunk.labels)) / len(question.terms)


def _neighbour_signal(chunks: Sequence[ChunkMetadata], scores: Numbers) -> list[float]:
    """Return for each chunk the better score by vector and keywords of the two chunks beside it."""
    by_id = {chunk.id: score for chunk, score in zip(chunks, scores.tolist(), strict=True)}
    return [
        max((by_id.get(neighbour, 0.0) for neighbour in chunk.neighbours), default=0.0)
        for chunk in chunks
    ]


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk by id, its final score, and the values of its signals."""

    id: str
    score: float
    signals: Mapping[str, Share]
    hybrid: float
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class MetadataRanking:
    """Ranked chunks, best first; as arrays, since few of them are shown.

    Attributes:
        ids: the chunks.
        scores: final scores, above 0.
        raw, shares: of each signal, shape (signals, chunks).
        weights: signal → its weight as it was given, and its factor in the hybrid score.
        hybrid: sum of factor · share.
        lanes: scores of the lanes.
        reranked: the reranker's shares; None without a reranker.
    """

    ids: tuple[str, ...]
    scores: Numbers
    raw: Numbers
    shares: Numbers
    weights: Mapping[str, tuple[float, float]]
    hybrid: Numbers
    lanes: Mapping[str, LaneScores]
    reranked: Numbers | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def chunks(self, begin: int, end: int) -> list[RankedChunk]:
        """Return the chunks at these positions with all their values."""
        ranks = {
            lane: {id_: rank for rank, id_ in enumerate(scores, start=1)}
            for lane, scores in self.lanes.items()
        }
        found = []
        for at in range(begin, min(end, len(self))):
            id_, raw, shares = self.ids[at], self.raw[:, at].tolist(), self.shares[:, at].tolist()
            signals = {
                name: Share(value, share, weight, factor * share, ranks.get(name, {}).get(id_))
                for value, share, (name, (weight, factor)) in zip(
                    raw, shares, self.weights.items(), strict=True
                )
            }
            rerank = None if self.reranked is None else float(self.reranked[at])
            hybrid = float(self.hybrid[at])
            found.append(RankedChunk(id_, float(self.scores[at]), signals, hybrid, rerank))
        return found


def rank_by_metadata(
    question: ChunkQuestion,
    chunks: Sequence[ChunkMetadata],
    lanes: Mapping[str, LaneScores],
    weights: MetadataWeights,
    bm25: tuple[Sequence[float], float] | None = None,
) -> MetadataRanking:
    """Rank chunks by the seven signals, and BM25 as an eighth; best first, ties by id.

    Args:
        question: the question.
        chunks: what the lanes found, each once.
        lanes: scores of each lane.
        weights: of the signals.
        bm25: BM25 score of each chunk, and its share of the hybrid score, 0..1.
    """
    raw, shares = _score_signals(question, chunks, lanes, weights)
    total, left = sum(asdict(weights).values()), 1.0 if bm25 is None else 1 - bm25[1]
    factors = {name: (weight, left * weight / total) for name, weight in asdict(weights).items()}
    if bm25 is not None:
        scores, share = np.asarray(bm25[0], np.float64), bm25[1]
        normalized = min_max(scores) if scores.any() else np.zeros(len(chunks))
        raw, shares = np.vstack([raw, scores]), np.vstack([shares, normalized])
        factors[BM25_SIGNAL] = (share, share)
    contributions = np.array([factor for _, factor in factors.values()])[:, None] * shares
    hybrid = np.array([math.fsum(column) for column in contributions.T.tolist()])
    ids = tuple(chunk.id for chunk in chunks)
    return _sort_ranking(MetadataRanking(ids, hybrid, raw, shares, factors, hybrid, lanes))


def with_rerank(ranking: MetadataRanking, scores: Sequence[float], share: float) -> MetadataRanking:
    """Return the order after a reranker has scored the first chunks: `(1 − share) · hybrid + share · rerank`.

    Its scores are mapped to 0..1 over the chunks that it read; the others get 0.

    Args:
        ranking: the order before.
        scores: of its first chunks.
        share: the reranker's, 0..1; "最终得分 = 0.6 * hybrid + 0.4 * rerank".
    """
    shares = np.zeros(len(ranking))
    shares[: len(scores)] = min_max(scores)
    final = (1 - share) * ranking.hybrid + share * shares
    return _sort_ranking(replace(ranking, scores=final, reranked=shares))


def _sort_ranking(ranking: MetadataRanking) -> MetadataRanking:
    """Return the ranking in the order of its scores, which are raised above 0."""
    ids, scores = ranking.ids, np.maximum(ranking.scores, LEAST_SCORE)
    key = scores.tolist()
    best_first = sorted(range(len(ids)), key=lambda index: (-key[index], ids[index]))
    order = np.array(best_first, dtype=np.intp)
    return replace(
        ranking,
        ids=tuple(ids[index] for index in best_first),
        scores=scores[order],
        raw=ranking.raw[:, order],
        shares=ranking.shares[:, order],
        hybrid=ranking.hybrid[order],
        reranked=None if ranking.reranked is None else ranking.reranked[order],
    )
