"""Measure how well the support of a statement by a passage is recognized.

    python -m benchmarks.support FOLDER xquad cmrc2018 …

The known answer to a question is what an answer says. It is assessed over the gold passages among nine others, over
these others alone, and, for a wrong answer, as the known answer of another question over the gold passages.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.sets import CORPUS, QUERIES, names_of_sets, parser_of_sets, sample
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.evals.dataset import CorpusPassage, read_passages, read_questions
from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.evidence_index import Support
from sextant.text.sentences import end_sentence

_OTHERS = 9


@dataclass(frozen=True, slots=True)
class SupportOutcome:
    """How one statement fared: over its gold passages, over others, and a wrong one over the gold passages."""

    gold: Support
    others: Support
    wrong: Support


def main(folder: Path, names: Sequence[str]) -> None:
    """Measure each set and print a line of it."""
    print(
        "| set | statements | supported by gold | not contradicted | supported by others | wrong one supported |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        print(_line(name, _outcomes(folder / name)))


def _outcomes(folder: Path) -> list[SupportOutcome]:
    passages = {p.id: _item(p) for p in read_passages(folder / CORPUS)}
    questions = [q for q in read_questions(folder / QUERIES) if q.gold_ids and q.answers]
    chosen = sample(questions, 200)
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    outcomes = list[SupportOutcome]()
    for question, other in zip(chosen, [*chosen[1:], *chosen[:1]], strict=True):
        drawn = sorted(set(chance.sample(list(passages), _OTHERS)) - set(question.gold_ids))
        gold = AnswerEvidence(
            [passages[id_] for id_ in [*question.gold_ids, *drawn]], question.query
        )
        rest = AnswerEvidence([passages[id_] for id_ in drawn], question.query)
        right, wrong = (end_sentence(one.answers[0]) for one in (question, other))
        outcomes.append(
            SupportOutcome(
                gold.assess(right).support, rest.assess(right).support, gold.assess(wrong).support
            )
        )
    return outcomes


def _item(passage: CorpusPassage) -> RetrievedItem:
    metadata = {"title": passage.title}
    return RetrievedItem(ItemKind.CHUNK, passage.id, passage.text, 1.0, metadata=metadata)


def _line(name: str, outcomes: Sequence[SupportOutcome]) -> str:
    shares = [
        _share([one.gold is Support.SUPPORTED for one in outcomes]),
        _share([one.gold is not Support.CONTRADICTED for one in outcomes]),
        _share([one.others is Support.SUPPORTED for one in outcomes]),
        _share([one.wrong is Support.SUPPORTED for one in outcomes]),
    ]
    return f"| {name} | {len(outcomes)} | {' | '.join(shares)} |"


def _share(verdicts: Sequence[bool]) -> str:
    return f"{100 * sum(verdicts) / len(verdicts):.1f} %"


if __name__ == "__main__":
    given = names_of_sets(parser_of_sets(__doc__))
    main(given.folder, given.names)
