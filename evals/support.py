"""How well shared words tell whether a passage carries a statement.

    python -m evals.support FOLDER xquad cmrc2018 …

Question and answer together stand for a statement in other words than the document's. Its support by
the gold passage is compared with the best support that any of thirty random other passages gives.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from domain.retrieval import ItemKind, RetrievedItem
from evals.arguments import names_of_sets, parser_of_sets
from evals.dataset import Passage, read_passages, read_questions
from evals.metrics import auroc
from evals.sets import CORPUS, QUERIES, sample
from nodes.citing.cited_text import GROUNDED_SUPPORT, MARKER_SUPPORT
from nodes.citing.support import QuotedPassage, claim_of

_OTHERS = 30
_MOST_QUESTIONS = 400


def main(folder: Path, names: Sequence[str]) -> None:
    """Measure each set and print a line of it."""
    print("| set | statements | AUROC | gold ≥ marker | other ≥ marker | gold ≥ grounded "
          "| other ≥ grounded | best of 30 others ≥ grounded |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        print(_line(name, *_supports(folder / name)))


def _supports(folder: Path) -> tuple[list[float], list[list[float]]]:
    """For each statement, the support by its gold passages and by each of the others."""
    passages = {p.id: _quoted(p) for p in read_passages(folder / CORPUS)}
    questions = [q for q in read_questions(folder / QUERIES) if q.gold_ids and q.answers]
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    gold, others = list[float](), list[list[float]]()
    for question in sample(questions, _MOST_QUESTIONS):
        statement = f"{question.query} {question.answers[0]}"
        drawn = set(chance.sample(list(passages), _OTHERS)) - set(question.gold_ids)
        gold.append(max(_support(passages[id_], statement) for id_ in question.gold_ids))
        others.append([_support(passages[id_], statement) for id_ in sorted(drawn)])
    return gold, others


def _quoted(passage: Passage) -> QuotedPassage:
    metadata = {"title": passage.title}
    item = RetrievedItem(ItemKind.CHUNK, passage.id, passage.text, 1.0, metadata=metadata)
    return QuotedPassage(item)


def _support(passage: QuotedPassage, statement: str) -> float:
    quote = passage.best_quote(claim_of(statement))
    return quote.support if quote else 0.0


def _line(name: str, gold: Sequence[float], others: Sequence[Sequence[float]]) -> str:
    each = [support for drawn in others for support in drawn]
    best = [max(drawn) for drawn in others]
    shares = [
        _share(values, least)
        for values, least in (
            (gold, MARKER_SUPPORT), (each, MARKER_SUPPORT), (gold, GROUNDED_SUPPORT),
            (each, GROUNDED_SUPPORT), (best, GROUNDED_SUPPORT),
        )
    ]  # fmt: skip
    return f"| {name} | {len(gold)} | {auroc(gold, best):.3f} | {' | '.join(shares)} |"


def _share(values: Sequence[float], least: float) -> str:
    return f"{100 * sum(value >= least for value in values) / len(values):.1f} %"


if __name__ == "__main__":
    given = names_of_sets(parser_of_sets(__doc__))
    main(given.folder, given.names)
