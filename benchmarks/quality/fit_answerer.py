"""Fit the weights of the answerer without a chat model, and evaluate them on questions that they were not fitted on.

    python -m benchmarks.quality.fit_answerer FOLDER mix drcd xquad … [--write sextant/models/offline/weights.json]

FOLDER has one folder per question set, and `nomiracl`. Each question is searched once in the mode,
ten passages. It is answered twice: from the ten, and without the gold passages, where declining is right. NoMIRACL's
questions come with their passages.

- Sentences are ranked by a conditional logistic regression (McFadden 1974): the chosen sentence is one of a gold passage,
  with a known answer where the passages hold one.
- Whether the best sentence answers is a logistic regression over all questions; sets and outcomes have equal weight,
  except for those in `EMPHASIS`.

For each set it prints answered, first quotation in gold, and declined without gold, with bootstrap intervals: once with
weights fitted on the other four fifths of all questions, once with weights fitted on the other sets.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.answers import search_passages
from benchmarks.quality.sets import (
    JUDGED,
    QUERIES,
    holds_answer,
    names_of_sets,
    open_sets,
    parser_of_sets,
    read_judged,
    sample,
)
from sextant.domain.configuration import load_settings
from sextant.domain.retrieval import RetrievedItem
from sextant.evals.dataset import EvalQuestion, estimate
from sextant.models.embedding import build_embedder
from sextant.models.offline.extractive import ExtractiveAnswerer, Ranking
from sextant.models.offline.features import (
    ANSWER_FEATURES,
    OF_SIMILARITY,
    SENTENCE_FEATURES,
    AnswerWeights,
    Numbers,
)
from sextant.text.characters import language_of
from sextant.text.sentences import sentence_spans

NOMIRACL, ACROSS, FEW, CUT = "nomiracl", "across languages", "few passages", "cut"
BAR = 0.37
# Weights of sets, or of a set's questions that are answered (True) or not; all others weigh 1.
EMPHASIS: Mapping[object, float] = {
    f"{NOMIRACL} en": 5.0,
    f"{NOMIRACL} zh": 2.0,
    ("hotpotqa", True): 4.5,
    ("prqa_zh", True): 2.0,
    ("drcd", True): 1.5,
    ("lihua", True): 1.5,
    FEW: 0.2,
    CUT: 0.25,
}
# The weights that choose candidate sentences before the fit, and parameters that are not fitted.
START: Mapping[str, Any] = {
    "sentence": {
        "overlap": 1.0,
        "heading_overlap": 0.5,
        "passage_overlap": 0.5,
        "neighbour_overlap": 0.2,
        "passage_rank": -0.1,
        "is_question": -1.0,
        "says_nothing_new": -1.0,
    },
    "answer": {},
    "intercept": 0.0,
    "answer_by_words": {},
    "intercept_by_words": 0.0,
    "bar": BAR,
    "same_passage": 1.5,
    "other_passage": 0.7,
    "cosines": {
        "intfloat/multilingual-e5-small": {
            "zh-zh": (0.88, 0.03),
            "en-en": (0.82, 0.03),
            "zh-en": (0.79, 0.03),
            "en-zh": (0.762, 0.03),
        }
    },
}
_MOST_QUESTIONS = 250
_FOLDS = 5
_FEW = (1, 3)
_RANKING_PENALTY, _ANSWER_PENALTY = 1e-2, 3e-3


@dataclass(frozen=True, slots=True)
class FittingExample:
    """One question with some passages.

    Attributes:
        set: the question set, of NoMIRACL with the language.
        question: the question's id.
        ranking: the sentences, scored with `START`.
        answers: whether the passages answer; None: the gold passage was not found.
        is_asked: whether the corpus answers the question.
        in_gold: which sentences are in a gold passage, shape (sentences,).
        wanted: which of them hold a known answer, or all in gold if none does, shape (sentences,).
    """

    set: str
    question: str
    ranking: Ranking
    answers: bool | None
    is_asked: bool
    in_gold: np.ndarray[Any, np.dtype[np.bool_]]
    wanted: np.ndarray[Any, np.dtype[np.bool_]]


async def collect(folder: Path, mode: str, names: Sequence[str]) -> list[FittingExample]:
    """Search and rank every question of the sets, and NoMIRACL's."""
    answerer = ExtractiveAnswerer(build_embedder(load_settings()), AnswerWeights.parse(START))
    found = list[FittingExample]()
    for one in read_judged(folder / NOMIRACL / JUDGED):
        if ranking := await answerer.rank(one.query, one.passages, language=one.language):
            name, none = f"{NOMIRACL} {one.language}", np.zeros(len(ranking.sentences), dtype=bool)
            answers = one.is_answerable
            found.append(FittingExample(name, one.id, ranking, answers, answers, none, none))
    async for name, opened in open_sets(folder, names):
        parallel = _read_parallel(folder / name / QUERIES)
        for question in sample(opened.questions, _MOST_QUESTIONS):
            items = await search_passages(question, opened.scope, opened.dependencies, mode)
            found += await make_examples(
                answerer, name, question, items, parallel.get(question.id, ())
            )
    return found


def _read_parallel(path: Path) -> dict[str, Sequence[str]]:
    """Return by question the passages in the other language that answer it, if the set names them."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return {row["id"]: row["parallel_gold_ids"] for row in rows if row.get("parallel_gold_ids")}


async def make_examples(
    answerer: ExtractiveAnswerer,
    name: str,
    question: EvalQuestion,
    items: Sequence[RetrievedItem],
    parallel: Sequence[str],
) -> list[FittingExample]:
    """Return the examples of one question.

    They use all passages; all but the gold ones; all without the sentences that hold a known answer, which speak of what
    is asked and do not tell it; only the first and only the first three, as in a small knowledge base; and those in the
    other language, if `parallel` ones answer.
    """
    gold = question.gold_ids
    is_gold = [_id(item) in gold for item in items]
    found = await _rank_one(answerer, name, question, items, gold, is_asked=bool(gold))
    if any(is_gold):
        others = [item for item in items if _id(item) not in gold]
        found += await _rank_one(answerer, name, question, others, gold)
        cut = [_cut_answers(item, question.answers) for item in items]
        if cut != list(items):
            found += await _rank_one(answerer, f"{name} {CUT}", question, cut, ())
        for few in _FEW if zlib.crc32(question.id.encode()) % 3 == 0 else ():
            found += await _rank_one(answerer, f"{name} {FEW}", question, items[:few], gold)
    language = language_of(question.query)
    other_language = [item for item in items if language_of(item.text) != language]
    if any(_id(item) in parallel for item in other_language):
        others = [item for item in other_language if _id(item) not in parallel]
        name = f"{name} {ACROSS}"
        found += await _rank_one(answerer, name, question, other_language, parallel, is_asked=True)
        found += await _rank_one(answerer, name, question, others, parallel)
    return found


async def _rank_one(
    answerer: ExtractiveAnswerer,
    name: str,
    question: EvalQuestion,
    items: Sequence[RetrievedItem],
    gold: Sequence[str],
    *,
    is_asked: bool = False,
) -> list[FittingExample]:
    """Return one example, or none if nothing can be quoted."""
    ranking = await answerer.rank(question.query, items, language=language_of(question.query))
    if ranking is None:
        return []
    is_gold = [_id(item) in gold for item in items]
    in_gold = np.asarray([is_gold[one.source] for one in ranking.sentences])
    holds = np.asarray([holds_answer(one.text, question.answers) for one in ranking.sentences])
    wanted = in_gold & holds if (in_gold & holds).any() else in_gold
    answers = None if is_asked and not any(is_gold) else any(is_gold)
    return [FittingExample(name, question.id, ranking, answers, is_asked, in_gold, wanted)]


def _cut_answers(item: RetrievedItem, answers: Sequence[str]) -> RetrievedItem:
    """Return a passage without the sentences that hold a known answer."""
    text, end, kept = item.text, 0, ""
    for start, stop in sentence_spans(text):
        if holds_answer(text[start:stop], answers):
            kept += text[end:start]
            end = stop
    return replace(item, text=kept + text[end:])


def _id(item: RetrievedItem) -> str:
    return item.external_id or item.id


def fit(examples: Sequence[FittingExample]) -> dict[str, Any]:
    """Return the weights fitted on some examples, as `AnswerWeights.parse` reads them."""
    sentence = _fit_ranking(
        [
            one
            for one in examples
            if one.wanted.any() and not one.wanted.all() and not one.set.endswith((FEW, CUT))
        ]
    )
    scored = [one for one in examples if one.answers is not None]
    measures = np.asarray([list(_measure(one, sentence).values()) for one in scored])
    right = np.asarray([float(bool(one.answers)) for one in scored])
    share = _weigh([(one.set, bool(one.answers)) for one in scored])
    by_words = np.asarray([name not in OF_SIMILARITY for name in ANSWER_FEATURES])
    answer, intercept = _fit_logistic(measures, right, share)
    blind, blind_intercept = _fit_logistic(measures * by_words, right, share)
    return {
        **START,
        "sentence": _name_weights(SENTENCE_FEATURES, sentence),
        "answer": _name_weights(ANSWER_FEATURES, answer),
        "intercept": round(intercept, 4),
        "answer_by_words": _name_weights(ANSWER_FEATURES, blind * by_words),
        "intercept_by_words": round(blind_intercept, 4),
    }


def _name_weights(names: Sequence[str], weights: Numbers) -> dict[str, float]:
    return dict(zip(names, weights.round(4).tolist(), strict=True))


def _measure(one: FittingExample, sentence: Numbers) -> dict[str, float]:
    """Return the features of the best sentence as an answer, by some weights of sentences."""
    ranking, scores = one.ranking, one.ranking.features @ sentence
    return ranking.evidence.measure_answer(ranking.sentences, ranking.features, scores)


def _weigh(groups: Sequence[tuple[str, bool]]) -> Numbers:
    """Return the weight of each example: sets and outcomes weigh the same, except for `EMPHASIS`."""
    count = Counter(groups)

    def emphasise(name: str, answers: bool) -> float:
        if name.endswith((FEW, CUT)):
            return EMPHASIS[FEW if name.endswith(FEW) else CUT]
        return EMPHASIS.get((name, answers), EMPHASIS.get(name, 1.0))

    return np.asarray([emphasise(*one) / count[one] for one in groups])


def _fit_ranking(examples: Sequence[FittingExample], steps: int = 400) -> Numbers:
    """Return the weights that maximise the likelihood of the wanted sentences, by Adam (Kingma 2015).

    The likelihood of a question is the sum over its wanted sentences; sets weigh the same.
    """
    features = np.concatenate([one.ranking.features for one in examples])
    spread = features.std(axis=0) + 1e-9
    scaled = (features - features.mean(axis=0)) / spread
    wanted = np.concatenate([one.wanted for one in examples])
    sizes = [len(one.wanted) for one in examples]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    of = np.repeat(np.arange(len(examples)), sizes)
    count = Counter(one.set for one in examples)
    share = np.asarray([1 / count[one.set] for one in examples])
    share /= share.sum()
    weights, mean, square = (np.zeros(features.shape[1]) for _ in range(3))
    for step in range(1, steps + 1):
        scores = scaled @ weights
        likely = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
        chosen = likely / np.add.reduceat(likely, starts)[of]
        right = likely * wanted / np.add.reduceat(likely * wanted, starts)[of]
        slope = scaled.T @ ((chosen - right) * share[of]) + _RANKING_PENALTY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.999 * square + 0.001 * slope**2
        weights = weights - 0.05 * (mean / (1 - 0.9**step)) / (
            np.sqrt(square / (1 - 0.999**step)) + 1e-8
        )
    fitted: Numbers = weights / spread
    return fitted


def _fit_logistic(values: Numbers, right: Numbers, share: Numbers) -> tuple[Numbers, float]:
    """Return weights and intercept of a penalised logistic regression, by Newton's method."""
    share = share / share.sum()
    centre = share @ values
    spread = np.sqrt(share @ (values - centre) ** 2) + 1e-9
    design = np.c_[(values - centre) / spread, np.ones(len(values))]
    penalty = _ANSWER_PENALTY * np.diag([*np.ones(values.shape[1]), 0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ ((likely - right) * share) + penalty @ weights
        curve = (design.T * (share * likely * (1 - likely))) @ design + penalty
        weights = weights - np.linalg.solve(curve, slope)
    fitted: Numbers = weights[:-1] / spread
    return fitted, float(weights[-1] - fitted @ centre)


def judge(examples: Sequence[FittingExample], fold_of: Callable[[FittingExample], object]) -> None:
    """Print the results on questions that the weights were not fitted on.

    Args:
        examples: all examples.
        fold_of: returns the fold of an example; its weights are fitted on all other folds.
    """
    outcomes = dict[str, dict[str, list[float]]]()
    for part in sorted({str(fold_of(one)) for one in examples}):
        others = [one for one in examples if str(fold_of(one)) != part]
        weights = AnswerWeights.parse(fit(others))
        for one in examples:
            if str(fold_of(one)) == part and not one.set.endswith((FEW, CUT)):
                _judge_one(one, weights, outcomes.setdefault(one.set, {}))
    for name, measures in sorted(outcomes.items()):
        cells = []
        for measure in ("answered", "first in gold", "declined"):
            found = estimate(measures.get(measure, []))
            cells.append(f"{100 * found.mean:.1f} ({100 * found.low:.0f}–{100 * found.high:.0f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _judge_one(
    one: FittingExample, weights: AnswerWeights, measures: dict[str, list[float]]
) -> None:
    answered = weights.estimate(_measure(one, weights.sentence)) >= weights.bar
    if one.is_asked:
        measures.setdefault("answered", []).append(answered)
        if answered and not one.set.startswith(NOMIRACL):
            right = one.in_gold[int(weights.score(one.ranking.features).argmax())]
            measures.setdefault("first in gold", []).append(float(right))
    else:
        measures.setdefault("declined", []).append(not answered)


def report(examples: Sequence[FittingExample], path: Path | None) -> None:
    """Print the results on other questions and on other sets; write the weights fitted on all examples."""
    print("| set | answered | first in gold | declined |\n| --- | ---: | ---: | ---: |")
    judge(examples, lambda one: zlib.crc32(one.question.encode()) % _FOLDS)
    print("\nEach set by weights of the others:")
    judge(examples, lambda one: one.set.split(" ")[0])
    if path:
        path.write_text(json.dumps(fit(examples), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = parser_of_sets(__doc__)
    parser.add_argument("mode", help="of the search")
    parser.add_argument("--write", type=Path, help="where the weights of all questions go")
    given = names_of_sets(parser)
    report(asyncio.run(collect(given.folder, given.mode, given.names)), given.write)
