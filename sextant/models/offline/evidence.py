"""Whether the best sentence is evidence enough to be shown as an answer."""

from __future__ import annotations

import re

from sextant.models.offline.candidate import Candidate
from sextant.models.offline.meanings import Compared
from sextant.models.offline.other_language import without_identifiers
from sextant.models.offline.wording import content_words
from sextant.text.characters import has_cjk, language_of

# The best sentence convinces when its score by words, plus eight times what its cosine has over the usual one,
# less half the share of the question's words that its document's passages lack, reaches 0.66; without a known
# scale of cosines that part counts 0.15. Languages share no words: across them the cosine decides. Half the words
# of a short question missing means that it asks of something else ("who is X's uncle?" where only X's wife is
# named; a full name, or that of a row, is one word here). What this lets through and keeps out: docs/evaluation.md.
_EVIDENCE = 0.66
_SIMILARITY_WEIGHT = 8.0
_UNKNOWN_SIMILARITY = 0.15
_MISSING_WEIGHT = 0.5
# Who asks of parental leave is not told of leave: hotpotqa, lihua and xquad decline 1 to 2 % more of what they lack,
# lihua two answers. 0.35 costs more than it gains.
_TORN_WEIGHT = 0.2
_SHORT, _HALF = 3, 0.5
_LETTER = re.compile(r"[^\W\d_]")


def convinces(best: Compared, question: str, usual: float | None) -> bool:
    """Return whether the best sentence answers the question.

    Args:
        best: the sentence.
        question: what was asked.
        usual: the usual cosine of their languages; None where the model's scale is not known.
    """
    candidate = best.candidate
    near = _UNKNOWN_SIMILARITY
    if usual is not None and best.similarity is not None:
        near = _SIMILARITY_WEIGHT * (best.similarity - usual)
    # Without its code nothing is left of "what does E47 mean?" or "what is new in 3.2?" that could be near to anything.
    if not any(map(_LETTER.search, content_words(without_identifiers(question)))):
        near = max(near, _UNKNOWN_SIMILARITY)
    if in_language_of(question, candidate) and _is_astray(candidate):
        return False
    if language_of(question) != language_of(candidate.meaning):
        return best.similarity is not None and near >= 0 and not candidate.unowned
    evidence = (
        candidate.score + near - _MISSING_WEIGHT * candidate.missing - _TORN_WEIGHT * candidate.torn
    )
    return evidence >= _EVIDENCE


def _is_astray(candidate: Candidate) -> bool:
    """Return whether a short question asks of something else: who asks for the speed of light is not told of belts."""
    if not candidate.things:  # "How tall is he?"
        return True
    beside_it = candidate.unowned or gives_no_reason(candidate)
    return candidate.things <= _SHORT and (candidate.missing >= _HALF or beside_it)


def gives_no_reason(candidate: Candidate) -> bool:
    """Return whether a short question why is not answered by it; longer ones may be, by what says so in other words."""
    return candidate.unreasoned and candidate.things <= _SHORT


def in_language_of(question: str, candidate: Candidate) -> bool:
    """Return whether words can compare the two: a row of a table may be in both languages."""
    if language_of(question) == language_of(candidate.meaning):
        return True
    return has_cjk(question) and has_cjk(candidate.text)
