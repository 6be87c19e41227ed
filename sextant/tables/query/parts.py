"""The parts of a question over a table: its tokens, named columns and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sextant.tables.cells.arithmetic import Condition, Operation
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.columns import find_by_kind, is_code, read_kinds
from sextant.tables.query.conditions import CONDITION, Conditions
from sextant.tables.query.linker import Linker, names_column
from sextant.tables.query.tokens import (
    COLUMN,
    HARMLESS,
    NAME_WORDS,
    VALUE,
    WORD,
    QuestionToken,
    find_all,
    match_at,
)
from sextant.text.characters import plain_of
from sextant.text.word_forms import stem

_OPERATIONS = {
    "mean": Operation.MEAN,
    "sum": Operation.SUM,
    "max": Operation.MAX,
    "min": Operation.MIN,
    "count": Operation.COUNT,
}
EXTREMES = (Operation.MAX, Operation.MIN)
# Kinds of several tokens together, matched in this order.
_JOINED_KINDS = {
    "how_much|count COLUMN? greater|less": "apart",
    "greater|less COLUMN? how_much|count": "apart",
    "of_share sum? COLUMN? how_much": "share",
}


class QuestionParts:
    """The tokens of a question, its named columns and its conditions.

    Attributes:
        tokens: all tokens.
        left: tokens that are not accounted for yet.
        used: the columns that the query is over.
        title: stems of the words in the table's caption.
    """

    def __init__(
        self, table: DataTable, linker: Linker, conditions: Conditions, text: str, about: str
    ) -> None:
        self._table, self._columns, self._text = table, table.columns, text
        self.where = tuple(conditions.found)
        self.title = {stem(word) for word in NAME_WORDS.findall(plain_of(about))}
        self._positions = conditions.named
        self.named = [at for _, at in conditions.named]
        both = ({one.column, one.other} for one in self.where)
        self.bound = {at for one in both for at in one if at is not None}
        codes = [
            one.index for one in self._columns if one.kind is ValueKind.NUMBER and is_code(one)
        ]
        self.words = [
            one.index for one in self._columns if one.kind is ValueKind.TEXT or one.index in codes
        ]
        self._numbers = [
            one.index
            for one in self._columns
            if one.kind is ValueKind.NUMBER and one.index not in {*codes, *linker.hidden}
        ]
        self._is_list = conditions.is_list
        self.tokens = conditions.tokens
        grouping = find_all(self.tokens, "each|by COLUMN")
        self._group = next((self.tokens[one[-1]].column for one in grouping), None)
        for pattern, kind in _JOINED_KINDS.items():  # names within them stay
            for start in range(len(self.tokens)):
                if positions := match_at(self.tokens, start, pattern, {"filler"}):
                    taken = [at for at in positions if self.tokens[at].kind != COLUMN]
                    self.tokens[taken[0]] = replace(self.tokens[taken[0]], kind=kind)
                    self.tokens = [one for at, one in enumerate(self.tokens) if at not in taken[1:]]
        self.left = [one for one in self.tokens if one.kind not in {COLUMN, VALUE, CONDITION}]
        self.used = frozenset[int]()

    # Tokens.

    def _has(self, *kinds: str, senses: str = "") -> bool:
        wanted = senses.split()
        return any(one.kind in kinds and (not wanted or one.sense in wanted) for one in self.tokens)

    def _use(self, *kinds: str) -> None:
        """Mark all tokens of some kinds as accounted for."""
        self.left = [one for one in self.left if one.kind not in kinds]

    def _operations(self) -> list[Operation]:
        """Return the operations whose tokens are not accounted for yet."""
        kinds = {one.kind for one in self.left}
        return [operation for kind, operation in _OPERATIONS.items() if kind in kinds]

    def _word_of(self, operation: Operation) -> QuestionToken | None:
        return next((one for one in self.tokens if _OPERATIONS.get(one.kind) is operation), None)

    def _asks_whether(self) -> bool:
        """Return whether the question asks if one row has more than another."""
        compares = self._has("greater", "less")
        is_first = self.tokens[:1] and self.tokens[0].kind == "whether"
        in_chinese = any(one.kind == "whether" and not one.text.isascii() for one in self.tokens)
        return compares and ((bool(is_first) and self._has("than")) or in_chinese)

    def _is_of_periods(self) -> bool:
        """Return whether the question asks for a value per day or month, which no column has."""
        units = [self.tokens[one[-1]] for one in find_all(self.tokens, "each unit|suffix")]
        return any(one.kind == "unit" or one.text in {"天", "日"} for one in units)

    def _asks_meaning(self) -> bool:
        """Return whether "mean" is a verb: "what does salary mean?"."""
        texts = {one.text for one in self.tokens}
        return bool(texts & {"do", "does", "did"}) and self.tokens[-1].text == "mean"

    # Columns.

    @property
    def subject(self) -> int | None:
        """Return the column that names a row: one that the question names, else the first column of words."""
        # Rows that exclude a value are named by the same column.
        denied = {one.column for one in self.where if one.denied} & set(self.words[:1])
        free = [at for at in self.words if at not in self.bound or at in denied]
        chosen = [at for at in self.named if at in free]
        naming = [at for at in free if not _counts_rows(self._columns[at])]
        return next(iter(chosen or naming or free or self.words), None)

    def _free_numbers(self) -> list[int]:
        """Return the named columns of numbers without a condition."""
        named = dict.fromkeys(self.named)
        return [at for at in named if at in self._numbers and at not in self.bound]

    def _named_of(self, kind: ValueKind) -> list[int]:
        return [at for at in dict.fromkeys(self.named) if self._columns[at].kind is kind]

    def _repeats(self, column: int | None) -> bool:
        return column is not None and self._columns[column].repeats

    def names_row(self, condition: Condition) -> bool:
        """Return whether a condition is a value in a column that identifies rows."""
        return not condition.bounds and not self._repeats(condition.column)

    def _is_of_one(self, condition: Condition) -> bool:
        """Return whether a condition selects one row."""
        return self.names_row(condition) and len(condition.words) == 1 and not condition.denied

    def _implied(self) -> list[int]:
        return find_by_kind(self._text, [self._columns[at] for at in self._numbers])

    def _of_kind(self, operation: Operation) -> list[int]:
        """Return the columns of the kind that the word for an operation says: of prices for "cheapest"."""
        word = self._word_of(operation)
        numbers = [self._columns[at] for at in self._numbers]
        return find_by_kind(word.text, numbers) if word else []

    def _meant(self) -> list[int]:
        """Return the columns of numbers that are named, else implied by their kind.

        The only one is meant if the question names nothing of the table: "What is the total?".
        """
        says_kind = any(one.sense not in {"", "most"} for one in self.tokens)
        is_bare = len(self._numbers) == 1 and not (self.named or self.where or says_kind)
        return self._free_numbers() or self._implied() or (self._numbers if is_bare else [])

    def _target(self, operation: Operation) -> int | None:
        """Return the column that an operation is over."""
        if operation in EXTREMES and self._has("max", "min", senses="time age"):
            if dates := self._named_of(ValueKind.DATE):
                return self._nearest(dates, operation)
            by_age = self._has("max", "min", senses="age")
            aged = self._implied() if by_age else []
            dated = [one for one in self._columns if one.kind is ValueKind.DATE]
            partly = [one for one in dated if names_column(self._text, one.name)]
            # Of people, the oldest need not be the first that was hired.
            are_people = self._has("who") or any(
                "person" in read_kinds(self._columns[at]) for at in self.words[:1]
            )
            is_bare = not (self._free_numbers() or are_people)
            is_meant = by_age and len(dated) == 1 and is_bare
            dated = partly or (dated if is_meant else [])
            return next(iter([*aged, *(one.index for one in dated)]), None)
        # "The stock of the cheapest part" is of the lowest price.
        if operation in EXTREMES and len(kind := self._of_kind(operation)) == 1:
            return kind[0]
        if free := self._free_numbers():
            return self._nearest(free, operation)
        meant = self._meant()
        return meant[0] if len(meant) == 1 else None

    def _nearest(self, columns: Sequence[int], operation: Operation) -> int:
        """Return the column named right after the word for an operation, in Chinese before it."""
        word = self._word_of(operation)
        if word is None or len(columns) == 1:
            return columns[0]
        before = [at for start, at in self._positions if start < word.start and at in columns]
        behind = [at for start, at in self._positions if start >= word.end and at in columns]
        if behind and (word.text.isascii() or not before):
            return behind[0]
        return before[-1]

    def _pairs(self) -> list[Condition]:
        """Return the conditions that name two values of one column."""
        return [one for one in self.where if len(one.words) == 2 and not one.denied]

    def _counted_columns(self) -> set[int]:
        """Return the columns next to "how many"."""
        found = set[int]()
        for positions in find_all(self.tokens, "count COLUMN", {*HARMLESS, WORD}):
            if positions[-1] - positions[0] <= 3:
                found.add(self.tokens[positions[-1]].column)
        for positions in find_all(self.tokens, "COLUMN sum? count", {"exist", "filler", "with"}):
            if positions[-1] - positions[0] <= 4:
                found.add(self.tokens[positions[0]].column)
        return found

    def _other_columns(self, column: int, subject: int | None) -> tuple[int, ...]:
        """Return the other columns that are asked for: "and what is their no-show rate?"."""
        known = {column, subject, self._group, *self.bound}
        return tuple(at for at in dict.fromkeys([*self.named, *self._persons()]) if at not in known)

    def _persons(self) -> list[int]:
        """Return the only column of persons, if the question asks who."""
        persons = [at for at in self.words if "person" in read_kinds(self._columns[at])]
        return persons if self._has("who") and len(persons) == 1 else []

    def _counts_entries(self) -> bool:
        """Return whether "how many orders" asks of a table that is titled "orders" and has a number for each row."""
        position = next(at for at, one in enumerate(self.tokens) if one.kind == "count")
        behind = self.tokens[position + 1] if position + 1 < len(self.tokens) else None
        is_title = behind is not None and behind.kind == WORD and stem(behind.text) in self.title
        return is_title and any(map(is_code, self._columns))


def opposite_of(operation: Operation) -> Operation:
    """Return MIN for MAX, and the reverse."""
    return Operation.MIN if operation is Operation.MAX else Operation.MAX


def read_count(number: QuestionToken) -> int:
    """Return the count that a token says; 0 if it is no count."""
    if number.kind == "nth":
        return int(number.sense)
    amount = number.amount
    is_count = amount is not None and amount.unit in {"", "count"}
    return int(amount.number) if amount is not None and is_count else 0


def holds_amounts(column: Column) -> bool:
    """Return whether most cells of a column begin with a number, like "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(text.lstrip("$€£¥~≈+-− ")[:1].isdigit() for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)


def _counts_rows(column: Column) -> bool:
    """Return whether a column has the numbers 1, 2, 3, … and no others: 序号 names no row, an order number does."""
    numbers = [value.number for value in column.values if value.kind is ValueKind.NUMBER]
    return bool(numbers) and numbers == list(range(1, len(numbers) + 1))
