"""BM25 over a scope's passages, in memory."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import islice

import numpy as np
import numpy.typing as npt

from sextant.retrievers.arrays import BM25, Floats, Rows, idf, starts_of
from sextant.text.analysis import codes_in, question_terms, terms
from sextant.text.word_forms import synonyms

_BM25 = BM25()
Terms = Sequence[str]
Cut = Callable[[str], Terms]
_Ints = npt.NDArray[np.int32]
_Counts = npt.NDArray[np.uint16]
# Weight of a synonym or translation of a word, relative to the word.
_SYNONYM_WEIGHT = 0.5
# A code in more than one of eight passages identifies none.
_MAX_CODE_SHARE = 8
_BETWEEN_PARTS = re.compile(r"[-.]")  # of a code: BM-40
_BYTES_PER_TERM = 200  # of the vocabulary: a string and its slot
_MAX_COUNT = np.iinfo(np.uint16).max  # of a term in a passage; BM25 is flat long before


@dataclass(frozen=True, slots=True)
class PostingList:
    """The passages that hold a term, its BM25 weight in each, and the greatest of these."""

    holders: _Ints
    weights: Floats
    max_weight: np.float32


@dataclass(frozen=True)
class LexicalMatch:
    """A question matched with every passage.

    Attributes:
        postings: of the question's terms that some passage holds.
        scores: BM25 of every passage, with a share for synonyms and translations.
        information: idf of those terms.
        unknown: summed idf of the question's terms that no passage holds.
        coded: for each code in the question (E47, BM-40), the passages that hold it, unless they are many.
    """

    postings: Sequence[PostingList]
    scores: Floats
    information: Floats
    unknown: float
    coded: Sequence[_Ints] = ()

    def weights(self, rows: Rows) -> Floats:
        """Return the weight of each term (row) in some passages (columns), each given once."""
        found = np.zeros((len(self.postings), len(rows)), np.float32)
        column_of = np.full(len(self.scores), -1)
        column_of[rows] = np.arange(len(rows))
        for weights, term in zip(found, self.postings, strict=True):
            columns = column_of[term.holders]
            weights[columns[columns >= 0]] = term.weights[columns >= 0]
        return found

    def residuals(self, known: Rows, rows: Rows) -> Floats:
        """Return the scores of `rows` for the rest of the question after one of them, a `known` index, is read.

        A term counts the less, the more the known passage holds it, relative to the passage that holds it most.
        Shape (known, rows).
        """
        max_weights = np.array([term.max_weight for term in self.postings], np.float32)
        weights = self.weights(rows)
        remaining: Floats = 1 - weights[:, known] / max_weights[:, None]
        scores: Floats = remaining.T @ weights
        return scores

    @cached_property
    def coverage(self) -> float:
        """Return the share of the question's information that the best passage holds, 0..1.

        It is near 0 if question and passages are in different languages.
        """
        return self.best / self.whole if self.whole else 0.0

    @cached_property
    def best(self) -> float:
        """Return the highest score; at least 0."""
        return float(self.scores.max(initial=0.0))

    @cached_property
    def whole(self) -> float:
        """Return the highest possible score: of a passage with all terms of the question, often repeated."""
        return (float(self.information.sum()) + self.unknown) * _BM25.max_tf


@dataclass(frozen=True, slots=True)
class Postings:
    """Term `i` is in the passages `holders[starts[i]:starts[i + 1]]`, `counts[…]` times."""

    starts: Rows
    holders: _Ints
    counts: _Counts

    def at(self, rows: Rows) -> tuple[_Ints, _Ints, _Counts]:
        """Return passage, term and count of every entry after row i has become `rows[i]`, or gone: -1."""
        term = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        row = rows[self.holders].astype(np.int32)
        there = row >= 0
        return row[there], term[there], self.counts[there]


@lru_cache(maxsize=1024)
def other_terms(question: str) -> Sequence[tuple[Terms, Sequence[Terms]]]:
    """Return the terms of each word with synonyms or translations in the question, and theirs."""
    found = ((terms(word), list(map(terms, others))) for word, others in synonyms(question).items())
    return [(word, cut) for word, others in found if word and (cut := list(filter(None, others)))]


class LexicalIndex:
    """An inverted index: the passages of every term, with BM25 weights.

    Args:
        vocabulary: term → its number in `postings`.
        postings: where each term occurs; every term occurs somewhere.
        lengths: number of terms of every passage.
        cut: returns the terms of a text, with repetitions.

    Attributes:
        vocabulary, postings, lengths: as given.
        passages: number of passages.
        most_information: the idf of a term that no passage holds.
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        postings: Postings,
        lengths: npt.NDArray[np.int32],
        cut: Cut = terms,
    ) -> None:
        self._cut = cut
        self.vocabulary = vocabulary
        self.passages = len(lengths)
        self.most_information = float(idf(0, self.passages))
        self.postings = postings
        self.lengths = lengths
        holding = np.diff(postings.starts)
        self._information = np.asarray(idf(holding, self.passages), np.float32)

    @cached_property
    def _weights(self) -> Floats:
        """Return the weight of every posting."""
        mean = float(self.lengths.mean(dtype=np.float32)) if self.passages else 1.0
        saturation = _BM25.saturation(self.lengths.astype(np.float32), max(mean, 1.0))
        return _BM25.weights(
            np.repeat(self._information, np.diff(self.postings.starts)),
            self.postings.counts.astype(np.float32),
            saturation[self.postings.holders],
        )

    @cached_property
    def _max_weights(self) -> Floats:
        """Return the greatest weight of every term."""
        greatest: Floats = np.maximum.reduceat(self._weights, self.postings.starts[:-1])
        return greatest

    def _span(self, term: int) -> slice:
        return slice(self.postings.starts[term], self.postings.starts[term + 1])

    @classmethod
    def build(cls, texts: Iterable[str], cut: Cut = terms) -> LexicalIndex:
        """Index passages; row i is the i-th text."""
        none = np.empty(0, np.int32)
        empty = Postings(np.zeros(1, np.intp), none, none.astype(np.uint16))
        return cls({}, empty, none, cut).updated(np.empty(0, np.intp), texts)

    def updated(self, rows: Rows, texts: Iterable[str]) -> LexicalIndex:
        """Return the index after passages were added, moved and deleted.

        Args:
            rows: new row of the passage at each row; -1: it was deleted.
            texts: new passages for the remaining rows, in order.
        """
        vocabulary: defaultdict[str, int] = defaultdict(None, self.vocabulary)
        vocabulary.default_factory = vocabulary.__len__
        lengths = array("i")
        counted = [
            _count_terms(map(self._cut, batch), vocabulary, lengths) for batch in _batches(texts)
        ]
        free, length = _assign_rows(rows, self.lengths, np.asarray(lengths, np.int32))
        fresh = [(free[row], term, count) for row, term, count in counted]
        parts = zip(self.postings.at(rows), *fresh, strict=True)
        row, term, count = (np.concatenate(part) for part in parts)
        used = np.bincount(term, minlength=len(vocabulary)) > 0
        number = np.cumsum(used) - 1
        known = {word: int(number[old]) for word, old in vocabulary.items() if used[old]}
        term = number[term].astype(np.int32)
        order = np.argsort(term, kind="stable")
        starts = starts_of(term, len(known))
        postings = Postings(starts, row[order], count[order])
        return LexicalIndex(known, postings, length, self._cut)

    def score(self, question: str, bm25: BM25) -> npt.NDArray[np.float64]:
        """Return BM25 of every passage for the distinct terms of a question, exactly and without synonyms."""
        scores = np.zeros(self.passages)
        lengths = self.lengths.astype(np.float64)
        saturation = bm25.saturation(lengths, float(lengths.sum()) / (self.passages or 1) or 1.0)
        for term in dict.fromkeys(self._cut(question)):
            if (number := self.vocabulary.get(term)) is not None:
                span = self._span(number)
                holders, counts = self.postings.holders[span], self.postings.counts[span]
                information = np.float64(idf(len(holders), self.passages))
                scores[holders] += bm25.weights(
                    information, counts.astype(np.float64), saturation[holders]
                )
        return scores

    @property
    def nbytes(self) -> int:
        """Return about how many bytes the index takes."""
        arrays = (self.postings.starts, self.postings.holders, self.postings.counts, self.lengths)
        return sum(array.nbytes for array in arrays) + _BYTES_PER_TERM * len(self.vocabulary)

    def match(self, question: str) -> LexicalMatch:
        """Match a question with every passage."""
        query_terms = list(dict.fromkeys(question_terms(question)))
        known = [self.vocabulary[term] for term in query_terms if term in self.vocabulary]
        # More codes identify no passage.
        codes = islice(dict.fromkeys(codes_in(question)), 16)
        postings = [self._postings(term) for term in known]
        scores = np.zeros(self.passages, np.float32)
        for term in postings:
            scores[term.holders] += term.weights
        for word, others in other_terms(question):
            # A share of the word's idf goes to passages that hold a synonym of it and not the word.
            share = np.zeros(self.passages, np.float32)
            weight = _SYNONYM_WEIGHT * sum(map(self.information_of_term, word))
            for other in others:
                share[self._holding_all(other)] = weight
            share[self._holding_all(word)] = 0
            scores += share
        return LexicalMatch(
            postings=postings,
            scores=scores,
            information=self._information[known],
            unknown=(len(query_terms) - len(known)) * self.most_information,
            coded=[rows for code in codes if len(rows := self._holding(code))],
        )

    def _holding_all(self, wanted: Terms) -> _Ints:
        """Return the passages that hold all of some terms."""
        known = [self.vocabulary.get(term) for term in wanted]
        rows = [self.postings.holders[self._span(term)] for term in known if term is not None]
        if len(rows) < len(known):
            return np.empty(0, np.int32)
        return reduce(self._both, sorted(rows, key=len))

    def _both(self, few: _Ints, many: _Ints) -> _Ints:
        has_both = np.zeros(self.passages, np.bool_)
        has_both[many] = True
        both: _Ints = few[has_both[few]]
        return both

    def _holding(self, code: str) -> _Ints:
        """Return the passages that hold all parts of a code; none if these are many."""
        parts = [terms(part) for part in _BETWEEN_PARTS.split(code)]
        all_hold = self._holding_all([word for part in parts for word in part or [""]])
        return all_hold if len(all_hold) * _MAX_CODE_SHARE <= self.passages else all_hold[:0]

    def _postings(self, term: int) -> PostingList:
        span = self._span(term)
        return PostingList(
            self.postings.holders[span], self._weights[span], self._max_weights[term]
        )

    def information_of(self, words: str) -> float:
        """Sum the idf of the terms of a few words; terms that no passage holds count nothing."""
        known = [self.vocabulary[term] for term in terms(words) if term in self.vocabulary]
        return float(self._information[known].sum())

    def information_of_term(self, term: str) -> float:
        """Return the idf of one term; the highest if no passage holds it."""
        column = self.vocabulary.get(term)
        return self.most_information if column is None else float(self._information[column])


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(texts)
    while batch := list(islice(rest, 1024)):
        yield batch


def _count_terms(
    texts: Iterable[Terms], vocabulary: Mapping[str, int], lengths: array[int]
) -> tuple[_Ints, _Ints, _Counts]:
    """Return row, term and frequency of every term of some texts, and append their lengths to `lengths`."""
    first, found = len(lengths), array("i")
    for text in texts:
        before = len(found)
        found.extend(map(vocabulary.__getitem__, text))
        lengths.append(len(found) - before)
    term = np.asarray(found, np.int64)
    row = np.repeat(np.arange(first, len(lengths)), np.asarray(lengths[first:]))
    key, count = np.unique(row << 32 | term, return_counts=True)
    count = np.minimum(count, _MAX_COUNT).astype(np.uint16)
    return (key >> 32).astype(np.int32), key.astype(np.int32), count


def _assign_rows(rows: Rows, old: _Ints, fresh: _Ints) -> tuple[_Ints, _Ints]:
    """Return the rows of new passages, and the lengths of all."""
    remaining = rows[rows >= 0]
    length = np.zeros(len(remaining) + len(fresh), np.int32)
    taken = np.zeros(len(length), np.bool_)
    taken[remaining] = True
    free = np.flatnonzero(~taken).astype(np.int32)
    length[remaining], length[free] = old[rows >= 0], fresh
    return free, length
