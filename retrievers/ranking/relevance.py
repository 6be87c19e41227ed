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

# Coverage at which words and meaning count the same, and how trust grows with it. Across nine
# evaluation sets recall@5 is flat between 0.1 and 0.2; with an exponent of a half drcd, whose
# questions repeat their passages, loses half a point, and with 1 twowiki loses one.
_EQUAL_TRUST_COVERAGE = 0.13
_TRUST_EXPONENT = 0.75
# A passage contends that holds so much of what the question says and is so near to it. Up to so many, words
# tell apart; of more they say what all say, and each further one takes from their weight, down to the
# least, which settles what meaning leaves even. On rgb, news of which ten often hold half of a question,
# `mix` lost to the vectors alone without it (33.7 to 36.5, 60 questions won and 21 lost; vectors 37.0). With
# 0.25 to 0.33, 2 to 3 and 0.3 to 0.5 rgb has 35.9 to 36.9; no other set loses more than two net.
_CONTENDING_COVERAGE, _CONTENDING_NEARNESS = 0.3, 0.25
_TOLD_APART_BY_WORDS = 2
_LEAST_TRUST = 0.4
# Where the passages know little of what a question says, what they share with it is mostly chance: "school" in the one
# Chinese passage that quotes an English title is as rare there, and counts as much, as a name. Words of which less than
# this share is known weigh at most its square, and `_LEAST_TRUST` as before: names and years are told apart by them.
# English questions about Chinese passages: MRR 78.9 to 80.3, recall@5 92.1 to 92.6, 28 questions won and one lost; of
# 5,900 questions of 14 other sets one moves. With 0.35 one of 27 questions of diakg_zh is lost, which are made of words
# that 58 passages about one disease do not have; with 0.25, or the share itself, a few less are won.
_FAMILIAR = 0.3
# What holds the code that a question asks about (E47, BM-40) gains as much as what is nearest in meaning: a name of
# one thing is evidence in any language, where the question's other words are in none of the passages.
_CODE_WORTH = 1.0
_FEWEST_NEAREST, _MOST_NEAREST = 10, 300


@dataclass(frozen=True, slots=True)
class Nearness:
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


def lexical_trust(match: LexicalMatch) -> float:
    """Return weight of the words against a weight of 1 for the meaning; it grows with the coverage.

    A passage that holds most of what the question says is hardly there by chance, while a question
    in another language than the passages shares few words with them and is left to the vectors.
    """
    trust: float = (match.coverage / _EQUAL_TRUST_COVERAGE) ** _TRUST_EXPONENT
    return min(trust, max(_LEAST_TRUST, (match.known / _FAMILIAR) ** 2))


def trust_among(match: LexicalMatch, near: Nearness) -> float:
    """Return `lexical_trust` where several passages contend: words that all of them hold do not tell which one answers.

    It falls with the square of their number, from two on.
    """
    trust = lexical_trust(match)
    close = near.rows[near.values >= _CONTENDING_NEARNESS]
    held = match.scores[close] >= np.float32(_CONTENDING_COVERAGE * match.whole)
    contending = np.count_nonzero(held)
    if contending <= _TOLD_APART_BY_WORDS:
        return trust
    return max(trust * (_TOLD_APART_BY_WORDS / contending) ** 2, min(trust, _LEAST_TRUST))


def unfamiliarity(match: LexicalMatch) -> float:
    """Return how little the words say: 1 when no passage holds any, 0 from where they count as much as meaning."""
    return max(0.0, 1 - match.coverage / _EQUAL_TRUST_COVERAGE)


def nearest_wanted(passages: int) -> int:
    """Return how many nearest passages a vector search must return for `nearness`: a tenth, 10 to 300."""
    return min(passages, max(_FEWEST_NEAREST, min(passages // 10, _MOST_NEAREST)))


def nearness(rows: Places, cosines: Floats) -> Nearness:
    """Return relevance by meaning, from the nearest passages that a vector search returned.

    Args:
        rows: the passages found, rising; the farthest of them gets 0, as all others.
        cosines: their similarity to the question.
    """
    return Nearness(rows, scale_scores(cosines, float(cosines.min(initial=np.inf))))


def blend(match: LexicalMatch, near: Nearness | None) -> Floats:
    """Return relevance of every passage, 0..1, from its words and, when vectors are there, its meaning."""
    if near is None:
        return scale_scores(match.scores)
    trust = trust_among(match, near) / match.best if match.best else 0.0
    # The best by both is near, or the best by words: so only what is near is looked through for it.
    by_both = match.scores[near.rows] * np.float32(trust) + near.values
    best = max(match.best * trust, float(by_both.max(initial=0.0))) or 1.0
    fit: Floats = match.scores * np.float32(trust / best)
    fit[near.rows] += near.values / np.float32(best)
    for rows in match.coded:
        fit[rows] += np.float32(_CODE_WORTH / len(match.coded) / best)
    return scale_scores(fit) if match.coded else fit


def with_parts(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """Return relevance for a question that joins two things, either of which counts as much as the question.

    recall@5 of lihua's 32 questions over several passages, most of which ask for the order of two events:
    77.0 by the whole question, 81.0 so (4 won, 1 lost), 77.9 and 80.3 with half and twice the weight of
    the parts, 77.4 with their words alone.

    Args:
        whole: relevance of every passage to the whole question, 0..1.
        parts: the same to each part.
    """
    return scale_scores(whole + np.maximum.reduce(parts))
