"""What is left of a question once all that was understood is taken out of it: it may keep rows out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from domain.language.segmenting import words_of
from domain.language.simplified import plain_of
from domain.language.stems import stem
from domain.language.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from domain.tables.computing import sums_up
from domain.tables.table import DataTable
from domain.text import IDEOGRAPHS

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(rf"[{IDEOGRAPHS}]+|[^\W\d_{IDEOGRAPHS}]{{3,}}")
_HOW = re.compile(r"\bhow\s+[a-z]+")  # how high
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
# A word in so many rows is of all of them ("Part-001", "Part-002") and keeps none out.
_OF_ALL = 0.9


def restricts(rest: str, table: DataTable, about: str) -> bool:
    """Whether a part of a question that was not understood speaks of some of the rows only.

    "The average salary of engineers", where a department is called Engineering, or the sales of March: what
    is computed over all rows then answers another question.

    Args:
        rest: what is left, normalised.
        table: the table that it is about.
        about: the names of its document and sections, which tell of all its rows.
    """
    of_all = plain_of(f"{about} {' '.join(table.names)}")
    if not set(_NUMBER.findall(rest)) <= set(_NUMBER.findall(of_all)):
        return True
    words = {word for word in _words(_HOW.sub(" ", rest)) if word not in of_all}
    if not words:
        return False
    rows = [plain_of(" ".join(cells)) for cells in table.rows if not sums_up(cells)]
    held = (sum(word in row for row in rows) for word in words)
    return any(0 < rows_held < len(rows) * _OF_ALL for rows_held in held)


def names_someone(question: str, rest: str, table: DataTable) -> bool:
    """Whether a capitalised word of the question, not understood as a value, stands in a cell: Max, Count Basie."""
    names = {name for name in _CAPITALISED.findall(question) if name.lower() in rest}
    return any(re.search(rf"\b{name}\b", " ".join(cells)) for name in names for cells in table.rows)


def _words(rest: str) -> Iterator[str]:
    for run in _WORD.findall(rest):
        if run.isascii():
            if run not in ENGLISH_STOP_WORDS:
                yield stem(run)
        else:
            yield from (
                word for word in words_of(run) if len(word) > 1 and word not in CHINESE_STOP_WORDS
            )
