"""What is quoted besides the best sentence: those nearly as good that say something else."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.models.offline.asked_rows import only_another_field, only_beside, rows_instead
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.meanings import Compared
from sextant.models.offline.restated import restates
from sextant.models.offline.wording import asked_instead, content_words, identifiers, terms
from sextant.text.characters import normalise
from sextant.text.designators import marks_in
from sextant.text.other_words import name_synonyms

MOST_QUOTES = 3
# What is quoted besides the best, by its share of the best's score: from a passage that is quoted
# already; from another one; from another one that speaks of something in the question that nothing
# quoted so far does, as the second hop of a question. With 0.7 for all more answers have a quotation
# from a passage that has nothing to say to the question.
_SAME_PASSAGE, _OTHER_PASSAGE, _SOMETHING_NEW = 0.7, 0.9, 0.7
_SAME = 0.7


def distinct(compared: Sequence[Compared], question: str) -> list[Candidate]:
    """Return the best, then those nearly as good that say something else."""
    asked = frozenset(terms(question))
    words = [*content_words(question), *marks_in(normalise(question))]
    instead = asked_instead(question) & compared[0].candidate.terms
    beyond = instead or asked - frozenset(identifiers(question)) or asked
    ranked = [found.candidate for found in compared]
    if rows := rows_instead(ranked, words, name_synonyms(question)):
        return rows
    chosen = [compared[0].candidate]
    for found in compared[1:]:
        if only_beside(found.candidate, chosen, words) or not _speaks_of(beyond, found.candidate):
            continue
        if only_another_field(found.candidate, chosen, words):
            continue
        good = found.score >= _bar(found.candidate, chosen, asked) * compared[0].score
        if good and all(_says_other(found.candidate, other, asked) for other in chosen):
            chosen.append(found.candidate)
        if len(chosen) == MOST_QUOTES:
            break
    return [chosen[0], *_as_written(chosen[1:])]


def _as_written(chosen: Sequence[Candidate]) -> list[Candidate]:
    """With those of one passage in its order: the second row of a table does not come before the first."""
    places = list(dict.fromkeys(one.source for one in chosen))
    return sorted(chosen, key=lambda one: (places.index(one.source), one.start))


def _speaks_of(asked: frozenset[str], candidate: Candidate) -> bool:
    """Return whether it has a word of the question besides names, which all sentences of a document share."""
    return not asked or not asked.isdisjoint(candidate.terms.union(terms(candidate.meaning)))


def _bar(candidate: Candidate, chosen: Sequence[Candidate], asked: frozenset[str]) -> float:
    """Return the share of the best score that `candidate` needs to stand beside those chosen."""
    told = frozenset[str]().union(*(other.terms for other in chosen))
    if (candidate.terms & asked) - told:
        return _SOMETHING_NEW
    quoted = any(candidate.source == other.source for other in chosen)
    return _SAME_PASSAGE if quoted else _OTHER_PASSAGE


def _says_other(one: Candidate, other: Candidate, asked: frozenset[str]) -> bool:
    """Return whether it says something else than `other`: by its words, what is asked for, or its values."""
    alike = len(one.terms & other.terms) / (len(one.terms | other.terms) or 1)
    return alike < _SAME or bool(one.terms & asked - other.terms) or restates(one, other)
