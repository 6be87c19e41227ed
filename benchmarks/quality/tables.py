"""Measure computed answers over tables: TAT-QA's questions for arithmetic and counts.

    python -m benchmarks.quality.tables FOLDER [--errors build]

FOLDER has `tatqa/dev.json.gz`: financial tables, each with the paragraphs beside it. Each table is given with its
paragraphs as the caption; there is no chat model. Columns, over the questions for arithmetic or a count:

- taken on: share of questions for which a number is presented as computed.
- exact: share of these with the known number, sign included, to two digits in the scale of the known answer, as
  TAT-QA's metric rounds. A number without a scale is in that of the table.
- wrong: share of these with another number.
- exact of all: share of all questions with the known number.

The tables are split into two halves by their ids: rules are written with the errors of `build` in view; those of
`held out` were seen only when the grammar was rebuilt.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.quality.sets import parser_of_sets
from sextant.ingestion.parsing.tables import header_rows
from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.cells.values import ValueKind, read_value
from sextant.tables.results.findings import compute_findings
from sextant.tables.results.written import ComputedFinding

_FILE = Path("tatqa") / "dev.json.gz"
_TYPES = ("arithmetic", "count")
_HALVES = ("build", "held out")
_SCALES = {"percent": -2, "": 0}
_DIGITS = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """A question about a table, and its known answer."""

    half: str
    question: str
    table: DataTable
    caption: str
    answer: Decimal
    scale: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a question; `number` is None if no number was computed."""

    question: TableQuestion
    number: Decimal | None
    text: str = ""

    @property
    def is_taken_on(self) -> bool:
        """Return whether something was presented as computed."""
        return bool(self.text)

    @property
    def is_exact(self) -> bool:
        """Return whether it is the known number."""
        return self.number is not None and _round(self.number) == _round(self.question.answer)


def main(folder: Path, errors: str) -> None:
    """Measure both halves and print their lines; with `errors`, the wrong answers of one half."""
    outcomes = [_outcome(question) for question in read_table_questions(folder / _FILE)]
    print("| half | questions | taken on | exact | wrong | exact of all |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in _HALVES:
        print(line(name, [one for one in outcomes if one.question.half == name]))
    print(line("both", outcomes))
    for one in outcomes:
        if errors == one.question.half and one.is_taken_on and not one.is_exact:
            known = f"{one.question.answer} {one.question.scale}".strip()
            print(f"\n{one.question.question}\n  known: {known}\n  told:  {one.text}")


def read_table_questions(path: Path) -> Iterator[TableQuestion]:
    """Read the questions for arithmetic and counts, in TAT-QA's own format."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = json.load(lines)
    for document in documents:
        rows = document["table"]["table"]
        table = make_table(rows, header_rows(rows))
        caption = "\n".join(one["text"] for one in document["paragraphs"])
        half = _half_of(document["table"]["uid"])
        for question in document["questions"]:
            if question["answer_type"] in _TYPES:
                yield TableQuestion(
                    half,
                    question["question"],
                    table,
                    caption,
                    _known_answer(question),
                    question["scale"],
                )


def _half_of(uid: str) -> str:
    return _HALVES[hashlib.sha256(uid.encode()).digest()[0] % len(_HALVES)]


def _known_answer(question: dict[str, Any]) -> Decimal:
    return Decimal(str(question["answer"]).replace(",", ""))


def _outcome(question: TableQuestion) -> Outcome:
    computed = compute_findings(question.question, question.table, "en", question.caption)
    if not computed.answers:
        return Outcome(question, None)
    text = "; ".join(finding.text for finding in computed.answers[:3])
    return Outcome(question, read_number(computed.answers[0], question.scale), text)


def read_number(finding: ComputedFinding, scale: str) -> Decimal | None:
    """Return the number of a finding in the scale of the known answer; None if it has none."""
    value = read_value(finding.value)
    if value.kind is not ValueKind.NUMBER:
        return None
    if "%" not in value.unit:
        return value.number  # in the scale of the table, as the known answer
    return value.number.scaleb(_SCALES["percent"] - _SCALES.get(scale, 0))


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return the row of one half."""
    taken = [one for one in outcomes if one.is_taken_on]
    cells = [
        f"{len(outcomes)}",
        f"{_share([one.is_taken_on for one in outcomes])} ({len(taken)})",
        _share([one.is_exact for one in taken]),
        f"{_share([not one.is_exact for one in taken])} ({sum(not one.is_exact for one in taken)})",
        _share([one.is_exact for one in outcomes]),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _round(number: Decimal) -> Decimal:
    return number.quantize(_DIGITS, ROUND_HALF_UP)


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * fmean(hits):.1f} %" if hits else "–"


if __name__ == "__main__":
    parser = parser_of_sets(__doc__)
    parser.add_argument("--errors", default="", choices=_HALVES, help="what this half got wrong")
    given = parser.parse_args()
    main(given.folder, given.errors)
