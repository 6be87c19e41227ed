"""How well each passage fits the question by itself: words and meaning, each trusted as it deserves.

Every lane's scores are brought to 0..1 with the best passage at 1, so that the shape of a lane's
ranking survives (ranks would lose it), and mixed with a weight that says how far to trust the lane
for this question. Equal-weight rank fusion of a strong and a weak lane loses to the strong one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sextant.retrievers.index.words.lexical import LexicalMatch
from sextant.retrievers.numeric.highest import scale_scores
from sextant.retrievers.numeric.sparse import Floats, Places, true_at
from sextant.retrievers.ranking.parameters import MixParameters

# A passage contends for the answer only if it has so much of the semantic score of the nearest one.
_MIN_CONTENDER_SCORE = 0.25
# Up to so many contenders words tell apart.
_FEW_CONTENDERS = 2
_FEWEST_NEAREST, _MOST_NEAREST = 10, 300


@dataclass(frozen=True, slots=True)
class SemanticScores:
    """Relevance by meaning, 0..1: `values` of the passages at `rows`, rising, and 0 of all others."""

    rows: Places
    values: Floats

    def at(self, wanted: Places) -> Floats:
        """Return the values of some passages, given by rising rows; 0 for those that were not found."""
        spots = wanted.searchsorted(self.rows)
        there = true_at(wanted.take(spots, mode="clip") == self.rows)
        found = np.zeros(len(wanted), np.float32)
        found[spots[there]] = self.values[there]
        return found


def lexical_weight(
    match: LexicalMatch, semantic: SemanticScores, parameters: MixParameters
) -> float:
    """Return the weight of the words against a weight of 1 for the meaning.

    It grows with the share of the question's information that the best passage holds: one that holds most
    of it is hardly there by chance, while a question in another language shares few words with the passages
    and is left to the vectors. It falls with the square of the number of passages that contend.
    """
    weight = match.coverage / parameters.lexical_coverage
    close = semantic.rows[semantic.values >= _MIN_CONTENDER_SCORE]
    is_contending = match.scores[close] >= np.float32(parameters.contention * match.whole)
    contenders = max(int(np.count_nonzero(is_contending)), _FEW_CONTENDERS)
    return max(
        weight * (_FEW_CONTENDERS / contenders) ** 2, min(weight, parameters.min_lexical_weight)
    )


def out_of_vocabulary(match: LexicalMatch, parameters: MixParameters) -> float:
    """Return how little the words say: 1 when no passage holds any, 0 from where they count as much as meaning."""
    return max(0.0, 1 - match.coverage / parameters.lexical_coverage)


def count_nearest(passages: int) -> int:
    """Return how many nearest passages a vector search must return for `semantic_scores`: a tenth, 10 to 300."""
    return min(passages, max(_FEWEST_NEAREST, min(passages // 10, _MOST_NEAREST)))


def semantic_scores(rows: Places, cosines: Floats) -> SemanticScores:
    """Return relevance by meaning, from the nearest passages that a vector search returned.

    Args:
        rows: the passages found, rising; the farthest of them gets 0, as all others.
        cosines: their similarity to the question.
    """
    return SemanticScores(rows, scale_scores(cosines, float(cosines.min(initial=np.inf))))


def blend(
    match: LexicalMatch, semantic: SemanticScores | None, parameters: MixParameters
) -> Floats:
    """Return relevance of every passage, 0..1, from its words and, when vectors are there, its meaning.

    What holds the code that a question asks about (E47, BM-40) gains as much as what is nearest in meaning: a
    name of one thing is evidence in any language.
    """
    if semantic is None:
        return scale_scores(match.scores)
    weight = lexical_weight(match, semantic, parameters) / match.best if match.best else 0.0
    # The best by both is near, or the best by words: so only what is near is looked through for it.
    by_both = match.scores[semantic.rows] * np.float32(weight) + semantic.values
    best = max(match.best * weight, float(by_both.max(initial=0.0))) or 1.0
    relevance: Floats = match.scores * np.float32(weight / best)
    relevance[semantic.rows] += semantic.values / np.float32(best)
    for rows in match.coded:
        relevance[rows] += np.float32(1 / len(match.coded) / best)
    return scale_scores(relevance) if match.coded else relevance


def with_parts(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """Return relevance for a question that joins two things, either of which counts as much as the question.

    Args:
        whole: relevance of every passage to the whole question, 0..1.
        parts: the same to each part.
    """
    return scale_scores(whole + np.maximum.reduce(parts))
