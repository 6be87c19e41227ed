"""Question sets, and measures of a ranked list against the passages that answer a question.

Definitions: recall, MRR and nDCG as in Manning, Raghavan and Schütze, "Introduction to Information
Retrieval", chapter 8; nDCG with gain 2^grade - 1 (Burges et al. 2005). Intervals are bootstrapped.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sextant.domain.errors import OptionInvalid
from sextant.text.characters import clean_text


@dataclass(frozen=True, slots=True)
class CorpusPassage:
    """One retrieval unit of a corpus."""

    id: str
    title: str
    text: str

    @property
    def unit(self) -> str:
        """Return the text that is embedded and searched: title, newline, text; only the text if there is no title."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question; no `gold_ids` means that the corpus holds no answer.

    `grades` gives the relevance of passages, 1 for each gold id unless the set grades finer.
    """

    id: str
    query: str
    gold_ids: tuple[str, ...]
    answers: tuple[str, ...] = ()
    type: str = ""
    grades: Mapping[str, int] = field(default_factory=dict[str, int])


class TripleEntity(NamedTuple):
    """An end of a triple; `kind` is empty if the set does not give it."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact that a passage states."""

    passage_id: str
    subject: TripleEntity
    relation: str
    object: TripleEntity


def read_set(corpus: Path, queries: Path) -> tuple[list[CorpusPassage], list[EvalQuestion]]:
    """Return a corpus and its questions.

    Raises:
        OptionInvalid: a file cannot be read, or holds nothing.
    """
    passages, questions = read_passages(corpus), read_questions(queries)
    if not passages or not questions:
        empty = queries if passages else corpus
        raise OptionInvalid(f"{empty} is empty.", next_step="Name a file with rows.")
    return passages, questions


def read_triples(path: Path) -> list[Triple]:
    """Read `chunk_id, subject, relation, object`, and the types of both ends if given.

    Raises:
        OptionInvalid: the file is missing, or a line is not such an object; names the line.
    """
    return [
        Triple(
            row["chunk_id"],
            TripleEntity(row["subject"], row.get("subject_type") or ""),
            row["relation"],
            TripleEntity(row["object"], row.get("object_type") or ""),
        )
        for row in read_rows(path, "triples", ("chunk_id", "subject", "relation", "object"))
        if row["subject"].strip() and row["object"].strip() and row["relation"].strip()
    ]


def read_passages(path: Path) -> list[CorpusPassage]:
    """Read `id, title, text` from JSON lines, plain or gzip-compressed.

    Lines without title and text are left out.

    Raises:
        OptionInvalid: the file is missing, or a line is not such an object; names the line.
    """
    passages = (
        CorpusPassage(row["id"], clean_text(row.get("title") or ""), clean_text(row["text"]))
        for row in read_rows(path, "corpus", ("id", "text"))
    )
    return [passage for passage in passages if passage.unit.strip()]


def read_questions(path: Path) -> list[EvalQuestion]:
    """Read `id, query, gold_ids, answers, type, graded` from JSON lines, plain or gzip-compressed.

    `answers` may contain lists of spellings, as in rgb; every spelling counts as an answer.

    Raises:
        OptionInvalid: the file is missing, or a line is not such an object; names the line.
    """
    return [
        EvalQuestion(
            id=row["id"],
            query=clean_text(row["query"]),
            gold_ids=tuple(row["gold_ids"]),
            answers=tuple(_spellings(row.get("answers") or ())),
            type=row.get("type") or "",
            grades=row.get("graded") or dict.fromkeys(row["gold_ids"], 1),
        )
        for row in read_rows(path, "queries", ("id", "query", "gold_ids"))
    ]


def _spellings(answers: Iterable[str | list[str]]) -> Iterator[str]:
    for one in answers:
        yield from [one] if isinstance(one, str) else one


def read_rows(path: Path, option: str, required: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON lines, plain or gzip-compressed, which have the `required` keys.

    Raises:
        OptionInvalid: a line is no such object, or the file cannot be read; the field is `option`.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _row(line, required, f"{path}, line {number}", option)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise OptionInvalid(
            f"{path} cannot be read: {error}.", next_step="Check the file.", field=option
        ) from error


def _row(line: str, required: tuple[str, ...], where: str, option: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
        missing = [key for key in required if key not in row]
    except (ValueError, TypeError) as error:
        missing, row = [str(error)], {}
    if missing or not isinstance(row, dict):
        raise OptionInvalid(
            f"{where}: not a JSON object with {', '.join(required)} ({', '.join(missing)}).",
            next_step="Fix the line, or leave it out.",
            field=option,
        )
    return row


@dataclass(frozen=True, slots=True)
class MetricEstimate:
    """A mean with its bootstrap interval and the number of queries behind it."""

    mean: float
    low: float
    high: float
    count: int


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the relevant ids among the first `k`; `gold` must not be empty."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def all_found(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1.0 when every relevant id is among the first `k`, else 0.0."""
    return float(set(gold) <= set(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 ÷ rank of the first relevant id among the first `k`; 0.0 when there is none."""
    ranks = (rank for rank, item in enumerate(ranked[:k], start=1) if item in gold)
    return 1 / next(ranks, math.inf)


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the discounted gain of the first `k` divided by that of the best order; ids without a grade gain 0."""
    ideal = _gain(sorted(grades.values(), reverse=True)[:k])
    return _gain([grades.get(item, 0) for item in ranked[:k]]) / ideal if ideal else 0.0


def _gain(grades: Sequence[int]) -> float:
    return math.fsum(
        (2**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1)
    )


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a score of `positive` exceeds one of `negative`, ties count half (Mann-Whitney U)."""
    if not positive or not negative:
        return math.nan
    below = np.asarray(negative)[None, :]
    above = np.asarray(positive)[:, None]
    return float(np.mean((above > below) + 0.5 * (above == below)))


def estimate(values: Sequence[float], *, resamples: int = 2000) -> MetricEstimate:
    """Return the mean of `values` with a 95 % percentile bootstrap interval (Efron 1979), seeded.

    The same values in the same order give the same interval. No values give NaN throughout.
    """
    if not values:
        return MetricEstimate(math.nan, math.nan, math.nan, 0)
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(20250101)
    means = [rng.choice(sample, sample.size).mean() for _ in range(resamples)]
    low, high = np.quantile(means, [0.025, 0.975])
    return MetricEstimate(float(sample.mean()), float(low), float(high), sample.size)
