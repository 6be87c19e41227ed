"""What is told of a chat model's answers: words shared, citations right, what was declined, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.quality.model_answers import (
    COLUMNS,
    AnswerScore,
    AnswerScoreLog,
    answer_tokens,
    overlap,
    report_row,
    score_answer,
)
from sextant.domain.answers import Answer, Citation, Source, Trust, Usage
from sextant.evals.dataset import EvalQuestion

QUESTION = EvalQuestion("q", "Who built it?", gold_ids=("a", "b"), answers=("Mira Vos", "Vos"))


def source(marker: int, passage: str) -> Source:
    return Source(marker, "d", "f", f"chunk-{passage}", "", (), None, "", 1.0, external_id=passage)


def citation(sentence: str, marker: int, support: float = 1.0) -> Citation:
    return Citation(marker, sentence, "f", "quote", 0, 5, support)


def written(text: str, *citations: Citation) -> Answer:
    return Answer(
        text,
        mode="mix",
        citations=citations,
        sources=(source(1, "a"), source(2, "elsewhere")),
        trust=Trust.SUPPORTED,
        usage=Usage(2, 900, 40),
        prompt="generate.en@1",
    )


def score(answer: Answer, question: EvalQuestion = QUESTION) -> AnswerScore:
    return score_answer(question, answer, answerable=bool(question.gold_ids), seconds=1.5)


def test_chinese_is_compared_by_characters_and_english_by_words_without_articles() -> None:
    assert answer_tokens("The 2 rivers，长江 and A-1") == ["2", "rivers", "长", "江", "and", "1"]


@pytest.mark.parametrize(
    ("said", "known", "shared"),
    [
        ("Mira Vos", "the Mira Vos", 1.0),
        ("It was built by Mira Vos", "Mira Vos", 0.5),
        ("四川和云南", "四川、云南", 8 / 9),
        ("nobody", "Mira Vos", 0.0),
        ("", "Mira Vos", 0.0),
    ],
)
def test_overlap_is_the_mean_of_precision_and_recall(said: str, known: str, shared: float) -> None:
    assert overlap(said, known) == pytest.approx(shared)


def test_markers_are_no_words_of_an_answer_and_the_nearest_known_answer_counts() -> None:
    one = score(written("Mira Vos [1][2]."))
    assert (one.held, one.f1, one.exact) == (True, 1.0, True)


def test_a_cited_sentence_is_right_if_one_of_its_citations_is_supported_and_right() -> None:
    one = score(
        written(
            "…",
            citation("Both cite.", 2),
            citation("Both cite.", 1),
            citation("Elsewhere.", 2),
            citation("Hardly supported.", 1, support=0.1),
        )
    )
    assert one.cited == [True, False, False]
    assert one.gold_cited == [True, False]


def test_what_declines_is_not_compared_and_its_nearest_passage_is_no_citation() -> None:
    one = score(replace(written("The documents do not say.", citation("…", 1)), declined=True))
    assert one.declined
    assert (one.held, one.f1, one.exact, one.cited, one.gold_cited) == (None, None, None, [], [])


@pytest.mark.parametrize(
    ("changes", "by_model"), [({}, True), ({"trust": Trust.QUOTED}, False), ({"prompt": ""}, False)]
)
def test_quotations_in_the_models_place_are_told_apart(
    changes: dict[str, object], by_model: bool
) -> None:
    answer = replace(written("Mira Vos"), **changes)  # type: ignore[arg-type]
    assert score(answer).by_model is by_model


def test_a_row_has_a_figure_for_each_column_and_declined_by_whether_it_should_be() -> None:
    unanswerable = EvalQuestion("n", "Who sank it?", gold_ids=())
    declined = replace(written("The documents do not say."), declined=True)
    scores = [
        score(written("Mira Vos [1].", citation("Mira Vos.", 1))),
        score(declined, unanswerable),
        score(written("Somebody.", citation("Somebody.", 1)), unanswerable),
    ]
    row = dict(zip(COLUMNS, report_row("set", "small", scores), strict=True))
    assert (row["questions"], row["model"], row["answer held"]) == (3, "small", [100, 100, 100])
    assert row["citations right"] == [100, 100, 100]
    assert row["right passages cited"] == [50, 0, 100]
    assert row["declined, answerable"] == [0, 0, 0]
    assert row["declined, unanswerable"] == [50, 0, 100]
    assert (row["tokens in"], row["tokens out"]) == (900, 40)
    assert (row["calls"], row["seconds"]) == ("2.0", "1.5")


def test_a_set_where_nothing_is_known_has_dashes() -> None:
    declined = replace(written("The documents do not say."), declined=True)
    row = report_row("set", "small", [score(declined, EvalQuestion("n", "Who?", gold_ids=()))])
    assert row[4:10] == ["–"] * 6


def test_a_run_goes_on_behind_a_line_that_was_cut_off_and_another_run_begins_anew(
    tmp_path: Path,
) -> None:
    file = tmp_path / "data" / "set.jsonl"
    first, second = score(written("Mira Vos")), replace(score(written("Vos")), id="q2")
    AnswerScoreLog(file, "one").add(first)
    with file.open("ab") as lines:
        lines.write(b'\n{"run": "one", "sc')
    AnswerScoreLog(file, "one").add(second)
    assert AnswerScoreLog(file, "one").read() == {"q": first, "q2": second}
    assert AnswerScoreLog(file, "another").read() == {}
