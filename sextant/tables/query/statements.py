"""Parse questions about statements: tables whose rows are items and whose columns are years, or the reverse.

"The change in sales from 2018 to 2019", 销售额2019年比2018年增长了多少, "the average of sales for 2017 to 2019", "the
ratio of cost to sales in 2019". A cell is found if the names of its row and column together have exactly the words
of the question.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sextant.tables.cells.arithmetic import Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import CellValue, ValueKind, read_value
from sextant.tables.query.query import TableQuery
from sextant.tables.query.tokens import WORD, Question, QuestionToken, find_all
from sextant.text.characters import IDEOGRAPHS, has_cjk, plain_of
from sextant.text.segmenter import words_of
from sextant.text.word_forms import Lexicon, stem

_YEAR = re.compile(
    r"(?<![\d.,$/])(?:fy|f)?\s?(?:(?P<long>(?:19|20)\d\d)|(?<=f|y)(?P<short>\d\d))(?!\d|[.,]\d)",
    re.IGNORECASE,
)
_PIECE = re.compile(rf"[a-z]+(?:['’&.-][a-z]+)*|\d+(?:[.,]\d+)*%?|[{IDEOGRAPHS}]+")
_UNIT = re.compile(
    r"\(?\b(?:rmb|us|hk|a)?[$€£¥]?\s?(?:in |u\.s\. )?(?:millions?|thousands?|billions?|dollars?)\b[^()]*\)?|[$€£¥]\s?[mk]\b|(?:\b(?:rmb|us|hk|a)[$€£¥]?|[$€£¥])?\s?[’']?000s?\b|\b(?:us|hk|a)\$|\brmb\b"
    r"|[(（](?:单位[:：])?[百千万亿]*元?[)）]"
)
_DAY = re.compile(r"(?<![\d.,$])\d{1,2}(?!\d|[.,]\d|%)")
_WORDS = Lexicon(__package__, "statements.txt")
_SAYS_NOTHING = _WORDS.phrases("time") | _WORDS.phrases("filler")
# Patterns of what a question computes of items and years, matched in this order.
_FORMS = (
    ("percent of? change|signed", Operation.GROWTH),
    ("growth", Operation.GROWTH),
    ("change|signed by_percent", Operation.GROWTH),
    ("ratio", Operation.RATIO),
    ("as? percent of", Operation.PART),
    ("proportion", Operation.PART),
    ("signed how_much?", Operation.CHANGE),
    ("change how_much?", Operation.CHANGE),
    ("mean", Operation.MEAN),
    ("sum", Operation.SUM),
)
_OF_YEAR = "YEAR"
# Words between the name of a part and the name of its whole.
_JOINTS = frozenset(["is", "was", "are", "were", "did", "in", "over", "to"])
_MAX_ROWS = 1_000  # no statement is longer


@dataclass(frozen=True, slots=True)
class _StatementLabel:
    """The name of a row or column: its words, and its years."""

    words: frozenset[str]
    years: frozenset[int]


class FinancialStatement:
    """A table whose cells are found by an item and a year.

    Args:
        table: the table; its first rows may continue the names of columns.
    """

    def __init__(self, table: DataTable) -> None:
        self._table = table

    @cached_property
    def rows(self) -> dict[int, _StatementLabel]:
        """Return the name of each row with numbers."""
        rows = range(self.leading, len(self._table.rows))
        return {
            at: _label(self._table.rows[at][0])
            for at in rows
            if any(read_value(cell).kind is ValueKind.NUMBER for cell in self._table.rows[at][1:])
        }

    @cached_property
    def columns(self) -> dict[int, _StatementLabel]:
        """Return the name of each column but the first, with the rows of names below it."""
        return {at: _label(self.title(at)) for at in range(1, self._table.width)}

    @cached_property
    def years(self) -> frozenset[int]:
        """Return all years in names of rows and columns."""
        labels = [*self.columns.values(), *self.rows.values()]
        return frozenset(year for one in labels for year in one.years)

    @cached_property
    def leading(self) -> int:
        """Return the number of first rows that continue the names: they have no numbers except years."""
        count = 0
        unnamed = sum(not name.strip() for name in self._table.names) * 2 > self._table.width
        for cells in self._table.rows if self._table.width > 1 else ():
            if cells[0].strip() and not unnamed:
                break
            values = [cell for cell in cells[1:] if cell.strip()]
            if any(
                not _YEAR.fullmatch(cell.strip()) and read_value(cell).kind is ValueKind.NUMBER
                for cell in values
            ):
                break
            if not values and cells[0].strip() and self._has_years(count):
                break
            count += 1
        return count if count < len(self._table.rows) else 0

    def _has_years(self, rows: int) -> bool:
        heads = [self._table.names, *self._table.rows[:rows]]
        return any(_YEAR.search(cell) for head in heads for cell in head[1:])

    def title(self, column: int) -> str:
        """Return the name of a column, with the rows of names below the first."""
        heads = [self._table.names, *self._table.rows[: self.leading]]
        return " ".join(dict.fromkeys(filter(None, (_spread(head)[column] for head in heads))))

    def find(self, words: Collection[str], year: int | None) -> list[tuple[int, int]]:
        """Return the cells whose row and column have exactly these words, of a year if it is given."""
        wanted = frozenset(words)
        found = list[tuple[int, int]]()
        for row, of_row in self.rows.items():
            if (
                not (of_row.words or of_row.years)
                or not of_row.words <= wanted
                or (of_row.years and year not in of_row.years)
            ):
                continue
            for column, of_column in self.columns.items():
                years = of_row.years | of_column.years
                if year is not None and years != {year}:
                    continue
                if year is None and not years:
                    continue
                if of_column.words <= wanted <= of_row.words | of_column.words:
                    found.append((row, column))
        return found

    def find_one(self, words: Collection[str], year: int) -> tuple[int, int] | None:
        """Return the only cell of a year; None if there is none, several, or no number in it."""
        found = [
            cell for cell in self.find(words, year) if self.value(cell).kind is ValueKind.NUMBER
        ]
        return found[0] if len(found) == 1 else None

    def find_all(self, words: Collection[str]) -> list[tuple[int, int] | None]:
        """Return the cells of one item in all years, each year once; [] if that is not sure."""
        found = self.find(words, None)
        is_line = any(len({cell[axis] for cell in found}) == 1 for axis in (0, 1))
        years = [self.rows[row].years | self.columns[column].years for row, column in found]
        return list(found) if is_line and len(set(years)) == len(years) else []

    def column_of(self, cell: tuple[int, int]) -> str:
        """Return the name of the column of a cell that was found; only its year, if that says all."""
        row, column = cell
        if self.columns[column].words:
            return self.title(column)
        return str(min(self.rows[row].years | self.columns[column].years))

    def value(self, cell: tuple[int, int]) -> CellValue:
        """Return the value of a cell."""
        return read_value(self._table.rows[cell[0]][cell[1]])

    def rises(self, cells: Sequence[tuple[int, int] | None]) -> bool:
        """Return whether the number of the last cell is at least that of the first."""
        numbers = [self.value(cell).number for cell in cells if cell]
        return numbers[:1] <= numbers[-1:]


def _label(text: str) -> _StatementLabel:
    plain = plain_of(text)
    years = frozenset(map(_year_of, _YEAR.finditer(plain)))
    return _StatementLabel(frozenset(_words(plain)), years)


def _year_of(match: re.Match[str]) -> int:
    return int(match["long"] or f"20{match['short']}")


def _words(text: str) -> Iterator[str]:
    """Yield the words that identify an item, without years, units and fillers."""
    bare = _DAY.sub(" ", _YEAR.sub(" ", _UNIT.sub(" ", text)))
    for piece in _PIECE.findall(bare):
        for word in words_of(piece) if has_cjk(piece) else [piece]:
            if word not in _SAYS_NOTHING:
                yield stem(word)


def _spread(cells: Sequence[str]) -> list[str]:
    """Return a row of names, those of two or more groups over all their columns: Asia, "", Europe, ""."""
    names = [cell.strip() for cell in cells]
    named = sum(map(bool, names[1:]))
    if named > 1 and names[1] and 2 * named <= len(names[1:]):
        for at in range(2, len(names)):
            names[at] = names[at] or names[at - 1]
    return names


def is_for_statement(question: str, table: DataTable) -> bool:
    """Return whether a question asks for a change, a share or a number of years, and the columns are years."""
    tokens = _cut(plain_of(question))
    form = _find_form(tokens)
    relates = form is not None and form[0] not in (Operation.MEAN, Operation.SUM)
    counts = any(find_all(tokens, "how_many years", {"of", "time", "filler", WORD}))
    if not (relates or counts):
        return False
    return any(one.years for one in FinancialStatement(table).columns.values())


def parse_statement(question: str, table: DataTable) -> TableQuery | None:
    """Return the query of a question about items and years; None if a cell is not sure."""
    text, statement = plain_of(question), FinancialStatement(table)
    tokens = _cut(text)
    form = _find_form(tokens)
    if form is None or len(table.rows) > _MAX_ROWS or not statement.years:
        return None
    operation, taken = form
    years, is_range = _find_years(tokens)
    ahead, behind = text[: taken[0].start], text[taken[-1].end :]
    if operation in (Operation.RATIO, Operation.PART):
        return _of_two(statement, operation, (ahead, behind), years)
    words = set(_words(f"{ahead} {behind}"))
    if years is None:
        cells = statement.find_all(words) if operation is Operation.MEAN else []
        return _query(operation, cells)
    if operation in (Operation.CHANGE, Operation.GROWTH):
        cells = [statement.find_one(words, year) for year in years]
        # A difference, increase or decrease has no sign of its own.
        is_signed = operation is Operation.GROWTH or taken[0].kind == "signed"
        sure = len(years) == 2 and (is_signed or statement.rises(cells))
        return _query(operation, cells) if sure else None
    meant = range(years[0], years[-1] + 1) if is_range and years else years
    return _query(operation, [statement.find_one(words, year) for year in meant])


def _cut(text: str) -> list[QuestionToken]:
    """Return the tokens of a question: years, and words by what they ask for."""
    found = [
        QuestionToken(_OF_YEAR, one.start(), one.end(), one[0], str(_year_of(one)))
        for one in _YEAR.finditer(text)
    ]
    found += [
        QuestionToken(kind, start, end, text[start:end])
        for (start, end), [(kind, _), *_] in _WORDS.find(text)
        if all(end <= one.start or one.end <= start for one in found)
    ]
    rest = Question(text, names=found).free
    found += [QuestionToken(WORD, at.start(), at.end(), at[0]) for at in _PIECE.finditer(rest)]
    return sorted(found, key=lambda one: one.start)


def _find_form(tokens: Sequence[QuestionToken]) -> tuple[Operation, list[QuestionToken]] | None:
    for pattern, operation in _FORMS:
        for positions in find_all(tokens, pattern, skipped=()):
            behind = {one.text for one in tokens[positions[-1] + 1 :]}
            if (
                operation is not Operation.PART
                or tokens[positions[0]].kind == "as"
                or behind & _JOINTS
            ):
                return operation, [tokens[at] for at in positions]
    return None


def _query(operation: Operation, cells: Sequence[tuple[int, int] | None]) -> TableQuery | None:
    found = tuple(cell for cell in cells if cell is not None)
    whole = len(found) == len(cells) >= 2
    return TableQuery(aggregate=operation, operands=found) if whole else None


def _of_two(
    statement: FinancialStatement,
    operation: Operation,
    around: tuple[str, str],
    years: Sequence[int] | None,
) -> TableQuery | None:
    """Return the ratio of two items of one year: "of A to B", "of A is B", "A as a percentage of B"."""
    if years is None or len(years) != 1:
        return None
    pairs = [around]
    sides = [one for one in around if set(_words(one))]
    if len(sides) == 1:
        joints = re.finditer(r"\b(?:to|over|in)\b|[和与]", sides[0])
        pairs = [(sides[0][: at.start()], sides[0][at.end() :]) for at in joints]
        if operation is Operation.PART:  # "what percentage of B is A"
            joints = re.finditer(r"\b(?:is|was|are|were|did)\b", sides[0])
            pairs += [(sides[0][at.end() :], sides[0][: at.start()]) for at in joints]
    found = [
        cells
        for pair in pairs
        if all(cells := [statement.find_one(set(_words(one)), years[0]) for one in pair])
    ]
    return _query(operation, found[0]) if len(found) == 1 else None


def _find_years(tokens: Sequence[QuestionToken]) -> tuple[list[int] | None, bool]:
    """Return the years in a question, rising, and whether it means all between; None if there are none.

    [] if the order of the years contradicts their prepositions: "from 2019 to 2018".
    """
    stated = [
        one
        for one in tokens
        if (one.kind not in {"time", "filler"} and not one.text.isdigit()) or one.kind == _OF_YEAR
    ]
    positions = {
        one.sense: at for at, one in reversed(list(enumerate(stated))) if one.kind == _OF_YEAR
    }
    years = sorted(map(int, positions))
    if len(years) != 2:
        return years or None, False
    first, second = sorted(positions.values())
    ahead = stated[first - 1].kind if first else ""
    between = [one.kind for one in stated[first + 1 : second]]
    is_back = between[-1:] in (["from"], ["against"])  # in 2019 from 2018
    starts_late = stated[first].sense > stated[second].sense
    if is_back != starts_late and (is_back or ahead == "from"):
        return [], False
    return years, (between == ["to"] or ahead == "between") and not is_back
