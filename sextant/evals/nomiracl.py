"""How well answers without a chat model tell whether given passages answer at all (NoMIRACL, arXiv:2312.11361).

    python -m sextant.evals.nomiracl FOLDER

FOLDER has `public.jsonl.gz`: questions in Chinese and English, each with about ten passages that a person has judged.
Nothing is searched and no database is needed. Balanced accuracy is the mean of the share answered of the answerable
questions and the share declined of the others; a coin has 50 %.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sextant.domain.configuration import load_settings
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.evals.sets import parser_of
from sextant.models.embedding.choice import build_embedder
from sextant.models.offline.extractive import ExtractiveAnswerer

PUBLIC = "public.jsonl.gz"


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with its passages, and whether one of them answers it."""

    id: str
    language: str
    query: str
    passages: tuple[RetrievedItem, ...]
    is_answerable: bool


def read_judged(path: Path) -> list[JudgedQuestion]:
    """Read the questions of a file of JSON lines, gzip-compressed."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [
            JudgedQuestion(
                row["id"],
                row["language"],
                row["query"],
                tuple(
                    _make_item(f"{row['id']}:{rank}", rank, one["title"], one["text"])
                    for rank, one in enumerate(row["passages"], start=1)
                ),
                row["answerable"],
            )
            for row in rows
        ]


def _make_item(name: str, rank: int, title: str, text: str) -> RetrievedItem:
    titles = {"title": title, "document_title": title}
    return RetrievedItem(ItemKind.CHUNK, name, text, 1 / rank, document_id=name, metadata=titles)


def write_row(language: str, outcomes: Sequence[tuple[bool, bool]]) -> str:
    """Return a row of the table over the outcomes of a language: (is answerable, was answered)."""
    answered = fmean(answered for answerable, answered in outcomes if answerable)
    declined = fmean(not answered for answerable, answered in outcomes if not answerable)
    cells = (answered, declined, (answered + declined) / 2)
    return f"| {language} | {len(outcomes)} | {' | '.join(f'{100 * one:.1f} %' for one in cells)} |"


async def main(folder: Path) -> None:
    """Ask every question and print a line for each language."""
    answerer = ExtractiveAnswerer(build_embedder(load_settings()))
    outcomes = dict[str, list[tuple[bool, bool]]]()
    for one in read_judged(folder / PUBLIC):
        found = await answerer.extract(one.query, one.passages, language=one.language)
        verdicts = outcomes.setdefault(one.language, [])
        verdicts.append((one.is_answerable, bool(found.quotations)))
    print("| language | questions | answered, answerable | declined, not answerable | balanced |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for language, verdicts in sorted(outcomes.items()):
        print(write_row(language, verdicts))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path, help=f"has {PUBLIC}")
    asyncio.run(main(parser.parse_args().folder))
