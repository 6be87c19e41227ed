"""Sentences that say the opposite of what is asked: what is stored outside tells not what is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sextant.models.offline.features import Sentence
from sextant.models.offline.passages import is_row
from sextant.models.offline.wording import Paraphrases, strip_borrowed_part
from sextant.text.characters import simplify
from sextant.text.statements import clauses, find_denied, negates

# Whether something is so is answered by either; which things are so is not.
_ASKS_WHICH = re.compile(
    r"\b(?:which|what|who|whom|whose|where|when|why|how)\b|[哪谁何几]|什么|多少|怎", re.I
)
_ASKS_WHO = re.compile(r"\b(?:which|who|whom)\b|[哪谁]|什么(?:人|样)", re.I)
_EITHER = re.compile(r"(\w)[不没]\1|是否|能否|可否")
_AUXILIARY = re.compile(
    r"\b(?:is|are|was|were|may|can|could|must|should|shall|will|do|does|did|ha[sd]|have)\b|可以?|能够?|允许|必须|应当?",
    re.I,
)
# Such a sentence denies in other words, or in part.
_IN_PART = re.compile(
    r"\b(?:only|except\w*|unless|until|before|fail\w*|lack\w*|refus\w*|avoid\w*|exclud\w*|exempt\w*|instead|rather)\b"
    r"|[除仅只才拒缺免]|以前|之前|以外|避免",
    re.I,
)
# Of what is asked, the least that a clause has to say to speak of it.
_LEAST_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class _PolarStatement:
    """What a sentence says of the asked predicate: that it is so, that it is not, both, or nothing.

    Attributes:
        of_subject: how many terms of the question's subject it has.
        is_whole: whether it has all that is asked about the subject.
    """

    affirms: bool
    denies: bool
    of_subject: int
    is_whole: bool


def find_opposites(question: str, sentences: Sequence[Sentence]) -> set[int]:
    """Return the places of sentences that say the opposite of what is asked, where another says what is.

    The other one has all that is asked about, stands in the same passage, or speaks as much of the subject. Nothing is opposite to a
    question that either answer settles ("Is it …?").
    """
    text = simplify(strip_borrowed_part(question))
    if _EITHER.search(text) or not _ASKS_WHICH.search(text):
        return set()
    is_denied = negates(text)
    asked = _split_question(text, is_denied)
    paraphrases = Paraphrases(question)
    subject, predicate = (paraphrases.read_terms(part) for part in asked)
    if not predicate:
        return set()
    least = _LEAST_SHARED if is_denied else 1.0
    said = [_read(one, paraphrases, subject - predicate, predicate, least) for one in sentences]
    right = {at for at, one in enumerate(said) if (one.denies if is_denied else one.affirms)}
    wrong = {at for at, one in enumerate(said) if (one.affirms if is_denied else one.denies)}

    def is_outdone(at: int) -> bool:
        return any(
            said[other].is_whole
            or sentences[at].source == sentences[other].source
            or said[other].of_subject >= max(1, said[at].of_subject)
            for other in right
        )

    return {at for at in wrong - right if _is_plain(sentences[at].text) and is_outdone(at)}


def _is_plain(text: str) -> bool:
    return not is_row(text) and _IN_PART.search(simplify(text)) is None


def _split_question(text: str, is_denied: bool) -> tuple[str, str]:
    """Return what a question asks of and what it asks about that; ("", "") where it cannot be told."""
    if is_denied:
        ahead, denied = find_denied(text)
        return ahead, _ASKS_WHICH.split(denied)[0].strip() or denied
    found = _AUXILIARY.search(text)
    return (
        (text[: found.start()], text[found.end() :])
        if found and _ASKS_WHO.search(text)
        else ("", "")
    )


def _read(
    sentence: Sentence,
    paraphrases: Paraphrases,
    subject: frozenset[str],
    predicate: frozenset[str],
    least: float,
) -> _PolarStatement:
    about = [
        part
        for part in clauses(simplify(sentence.text))
        if len(paraphrases.read_terms(part) & predicate) >= least * len(predicate)
    ]
    denials = sum(map(negates, about))
    return _PolarStatement(
        denials < len(about),
        denials > 0,
        len(sentence.terms & subject),
        predicate <= sentence.terms,
    )
