"""Measure answers without a chat model: are their quotations in the passages that answer?

    python -m benchmarks.quality.answers FOLDER mix drcd hotpotqa …

FOLDER has one folder per question set (`benchmarks.quality.sets`). Each question is searched once in the mode, ten
passages, and answered by quotation (`sextant.nodes.answers.quotations`). Columns, over the questions that the corpus answers:

- answered: share of the questions that are answered.
- first in gold: share of the answers whose first quotation is in a gold passage; in brackets, of those with a gold
  passage among the ten.
- known answer in first | in any: share of the answers that quote the known answer literally, in the first or in any
  quotation.
- quotations: mean number in an answer.
- further astray: share of the quotations after the first that are in no gold passage and hold no known answer.
- declined, gold removed | unanswerable: share of the questions declined without the gold passages, and of those that
  the corpus does not answer.

The questions of NoMIRACL (`public.jsonl.gz`) come with their passages, so nothing is searched. A line for each language
has the share answered of the answerable questions, the share declined of the others, and the mean of both; chance is
50 %.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.quality.sets import (
    JUDGED,
    JudgedQuestion,
    holds_answer,
    names_of_sets,
    open_sets,
    parser_of_sets,
    read_judged,
    sample,
)
from sextant.domain.answers import Answer, Done
from sextant.domain.configuration import load_settings
from sextant.domain.errors import QuestionInvalid
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.evals.dataset import EvalQuestion
from sextant.models.embedding import build_embedder
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.nodes.answers.quotations import AnswerEvent, quote_sentences
from sextant.nodes.context import Dependencies
from sextant.text.characters import language_of

_MOST_QUESTIONS = 100


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """The result of one question.

    Attributes:
        question: the question.
        found: whether a gold passage was among the ten.
        in_gold: for each quotation, whether it is in a gold passage; empty if the answer declines.
        holds: for each quotation, whether it holds a known answer.
        declined_without: whether it declines without the gold passages; None if none were found.
    """

    question: EvalQuestion
    found: bool
    in_gold: tuple[bool, ...]
    holds: tuple[bool, ...]
    declined_without: bool | None


async def main(folder: Path, mode: str, names: Sequence[str]) -> None:
    """Measure each set and print its line."""
    judged = [name for name in names if (folder / name / JUDGED).exists()]
    for name in judged:
        await _measure_judged(read_judged(folder / name / JUDGED))
    if not (searched := [name for name in names if name not in judged]):
        return
    print("| set | questions | answered | first in gold | known answer in first | in any "
          "| quotations | further astray | declined, gold removed | unanswerable |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    async for name, opened in open_sets(folder, searched):
        outcomes = [
            await outcome_of(question, opened.scope, opened.dependencies, mode)
            for question in sample(opened.questions, _MOST_QUESTIONS)
        ]
        print(line(name, outcomes), flush=True)


async def _measure_judged(questions: Sequence[JudgedQuestion]) -> None:
    answerer = ExtractiveAnswerer(build_embedder(load_settings()))
    outcomes = dict[str, list[tuple[bool, bool]]]()
    for one in questions:
        found = await answerer.extract(one.query, one.passages, language=one.language)
        verdicts = outcomes.setdefault(one.language, [])
        verdicts.append((one.is_answerable, bool(found.quotations)))
    print("| language | questions | answered, answerable | declined, not answerable | balanced |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for language, verdicts in sorted(outcomes.items()):
        print(judged_line(language, verdicts))


def judged_line(language: str, outcomes: Sequence[tuple[bool, bool]]) -> str:
    """Return a row of the table over the outcomes of a language: (is answerable, was answered)."""
    answered = fmean(answered for answerable, answered in outcomes if answerable)
    declined = fmean(not answered for answerable, answered in outcomes if not answerable)
    cells = (answered, declined, (answered + declined) / 2)
    return f"| {language} | {len(outcomes)} | {' | '.join(f'{100 * one:.1f} %' for one in cells)} |"


async def outcome_of(
    question: EvalQuestion, scope: Scope, dependencies: Dependencies, mode: str
) -> AnswerOutcome:
    """Search once, answer, and answer again without the gold passages."""
    items = await search_passages(question, scope, dependencies, mode)
    others = [item for item in items if _id(item) not in question.gold_ids]
    answer = await _answer_question(dependencies.answerer, question, items)
    without = None
    if len(others) < len(items):
        without = (await _answer_question(dependencies.answerer, question, others)).declined
    passages = {item.id: _id(item) for item in items}
    cited = {source.marker: passages[source.chunk_id] for source in answer.sources}
    quotes = () if answer.declined else answer.citations
    return AnswerOutcome(
        question=question,
        found=without is not None,
        in_gold=tuple(cited[quote.marker] in question.gold_ids for quote in quotes),
        holds=tuple(holds_answer(quote.quote, question.answers) for quote in quotes),
        declined_without=without,
    )


async def search_passages(
    question: EvalQuestion, scope: Scope, dependencies: Dependencies, mode: str
) -> list[RetrievedItem]:
    """Return the ten passages that a mode finds."""
    try:
        found = await dependencies.retriever.search(scope, question.query, mode=mode, top_k=10)
    except QuestionInvalid:  # a set may hold an empty line; it finds nothing
        return []
    return [item for item in found.results if item.kind is ItemKind.CHUNK]


def _id(item: RetrievedItem) -> str:
    return item.external_id or item.id


async def _answer_question(
    answerer: ExtractiveAnswerer, question: EvalQuestion, items: Sequence[RetrievedItem]
) -> Answer:
    events: AsyncGenerator[AnswerEvent] = quote_sentences(
        answerer, question.query, items, language_of(question.query)
    )
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Done):
                return event.answer
    raise AssertionError("an answer ends with Done")


def line(name: str, outcomes: Sequence[AnswerOutcome]) -> str:
    """Return the row of a set."""
    answerable = [one for one in outcomes if one.question.gold_ids]
    answers = [one for one in answerable if one.in_gold]
    known = [one for one in answers if one.question.answers]
    firsts = share([one.in_gold[0] for one in answers])
    cells = [
        f"{len(outcomes)}",
        share([bool(one.in_gold) for one in answerable]),
        f"{firsts} ({share([one.in_gold[0] for one in answers if one.found])})",
        share([one.holds[0] for one in known]),
        share([any(one.holds) for one in known]),
        f"{fmean(len(one.in_gold) for one in answers):.1f}" if answers else "–",
        share(astray(answers)),
        share([one.declined_without for one in answerable if one.declined_without is not None]),
        share([not one.in_gold for one in outcomes if not one.question.gold_ids]),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def astray(outcomes: Sequence[AnswerOutcome]) -> list[bool]:
    """Return for each quotation after the first whether it is in no gold passage and holds no known answer."""
    return [
        not (gold or holds)
        for one in outcomes
        for gold, holds in list(zip(one.in_gold, one.holds, strict=True))[1:]
    ]


def share(hits: Sequence[bool]) -> str:
    """Return the share in percent; a dash without values."""
    return f"{100 * fmean(hits):.0f} %" if hits else "–"


if __name__ == "__main__":
    parser = parser_of_sets(__doc__)
    parser.add_argument("mode", help="of the search")
    given = names_of_sets(parser)
    asyncio.run(main(given.folder, given.mode, given.names))
