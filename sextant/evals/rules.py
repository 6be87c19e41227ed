"""How well the rules do that stand in for a chat model: small talk, grading, refining.

    python -m sextant.evals.rules FOLDER xquad cmrc2018 …

FOLDER has one folder for each question set (`sextant.evals.sets`). Columns:

- small talk: questions that `analyze` would answer without searching (each one is a mistake here).
- sufficient | found: share called sufficient after the first search, of those with all gold in its
  first five; weak | not found: share called weak, of those without any.
- all gold @10: all gold passages among the ten, after the first search and after the loop.
- rounds: refining rounds per question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from sextant.domain.retrieval import Mode
from sextant.evals.loop_grader import LoopOutcome, run_loop
from sextant.evals.metrics import all_found
from sextant.evals.sets import names_of_sets, open_sets, parser_of_sets, sample
from sextant.nodes.analyze import is_small_talk

_FIRST, _ALL = 5, 10
_MOST_QUESTIONS = 300


async def main(folder: Path, names: Sequence[str]) -> None:
    """Measure each set and print a line of it."""
    print("| set | questions | small talk | sufficient given found | weak given not found "
          "| all gold @10: first search | after the loop | rounds |")  # fmt: skip
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    async for name, opened in open_sets(folder, names):
        questions = opened.questions
        outcomes = [
            await run_loop(question, opened, Mode.NAIVE, _ALL)
            for question in sample(questions, _MOST_QUESTIONS)
        ]
        chatty = sum(is_small_talk(question.query) for question in questions)
        print(_line(name, len(questions), chatty, outcomes), flush=True)


def _line(name: str, questions: int, chatty: int, outcomes: Sequence[LoopOutcome]) -> str:
    answerable = [outcome for outcome in outcomes if outcome.question.gold_ids]
    found = [o for o in answerable if all_found(o.first, o.question.gold_ids, _FIRST)]
    missed = [o for o in outcomes if not set(o.first[:_FIRST]) & set(o.question.gold_ids)]
    cells = [
        _share([o.sufficient for o in found]),
        _share([not o.sufficient for o in missed]),
        _share([bool(all_found(o.first, o.question.gold_ids, _ALL)) for o in answerable]),
        _share([bool(all_found(o.last, o.question.gold_ids, _ALL)) for o in answerable]),
        f"{fmean(o.rounds for o in outcomes):.2f}",
    ]
    return f"| {name} | {len(outcomes)} of {questions} | {chatty} | {' | '.join(cells)} |"


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * fmean(hits):.1f} % of {len(hits)}" if hits else "–"


if __name__ == "__main__":
    given = names_of_sets(parser_of_sets(__doc__))
    asyncio.run(main(given.folder, given.names))
