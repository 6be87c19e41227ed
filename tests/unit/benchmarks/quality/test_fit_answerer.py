"""Weights are fitted to what examples show, and written so that they can be read again."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.quality.fit_answerer import (
    BAR,
    EMPHASIS,
    START,
    FittingExample,
    fit,
    make_examples,
)
from sextant.evals.dataset import EvalQuestion
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.features import (
    ANSWER_FEATURES,
    OF_SIMILARITY,
    SENTENCE_FEATURES,
    AnswerWeights,
)
from tests.unit.models.offline.passages import item

NAMES = ("Ann", "Bert", "Cleo", "Dora", "Emil", "Fritz", "Greta", "Hans")


async def collect() -> list[FittingExample]:
    """Return examples of questions whose first passage answers and whose others share some words."""
    answerer = ExtractiveAnswerer(weights=AnswerWeights.parse(START))
    found = list[FittingExample]()
    for name in NAMES:
        question = EvalQuestion(
            name, f"Where does {name} repair the belt?", (f"{name} repairs"[:8],), ("hall",)
        )
        texts = (f"{name} repairs the belt in the hall.", "The belt is black.", "A hall has doors.")
        items = [item(text) for text in texts]
        found += await make_examples(answerer, "belts", question, items, ())
    return found


async def test_a_question_is_an_example_with_and_without_its_gold_passage() -> None:
    whole = [one for one in await collect() if one.set == "belts"]
    assert [one.answers for one in whole] == [True, False] * len(NAMES)
    assert whole[0].wanted.tolist() == [True, False, False]
    assert not whole[1].in_gold.any()


async def test_the_fit_ranks_and_tells_answers_from_the_rest() -> None:
    examples = await collect()
    weights = AnswerWeights.parse(fit(examples))
    assert weights.sentence[SENTENCE_FEATURES.index("overlap")] > 0
    for one in examples:
        scores = weights.score(one.ranking.features)
        told = one.ranking.evidence.measure_answer(
            one.ranking.sentences, one.ranking.features, scores
        )
        assert (weights.estimate(told) > 0.5) is one.answers
        if one.answers:
            assert one.in_gold[int(np.argmax(scores))]


async def test_what_is_fitted_can_be_written_and_read_again() -> None:
    fitted = fit(await collect())
    again = AnswerWeights.parse(json.loads(json.dumps(fitted)))
    assert again.answer.any()
    assert again.bar == BAR


def test_what_is_emphasised_has_a_weight_above_nothing() -> None:
    assert all(weight > 0 for weight in EMPHASIS.values())
    assert set(START["sentence"]) <= set(SENTENCE_FEATURES)
    assert set(OF_SIMILARITY) < set(ANSWER_FEATURES)
