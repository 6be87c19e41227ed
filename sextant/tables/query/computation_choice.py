"""Chooses the query that the parts of a question make up, or none where several are possible."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace

from sextant.tables.cells.arithmetic import Condition, Operation
from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.column_links import plain_name
from sextant.tables.query.families import (
    OF_PERSONS,
    is_amount,
    is_code,
    is_run,
    is_run_in_each,
    is_score,
    is_surely_amount,
    is_time,
    may_be_code,
)
from sextant.tables.query.parts import EITHER, QuestionParts
from sextant.tables.query.query import Order, TableQuery
from sextant.text.characters import plain_of
from sextant.text.number_words import ORDINALS, chinese_number

_EXTREMES = (Operation.MAX, Operation.MIN)
_AMOUNT = re.compile(r"[^\w\s]?\s?\d")
_CLAUSE = re.compile(r"[,;、]|\band\b")
_BY_PERIOD = re.compile(
    r"\b(?:per|each|every)\s+(?:second|minute|hour|day|night|week|month|quarter|year|annum)\b"
)
# A column that is called by its time does not tell what its numbers are.
_OF_PERIOD = re.compile(
    r"(?:q[1-4]|h[12]|(?:19|20)\d\d年?|第?[一二三四]季度|\d{1,2}月|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|ust|ember|tember|ober)?)$",
    re.IGNORECASE,
)


class QueryChooser(QuestionParts):
    """Chooses a query; see `choose`."""

    def choose(self) -> TableQuery | None:
        """Return the query, None if there is none or several are possible."""
        if self.has(self.grammar.share):
            return self._share()
        if self.has(self.grammar.apart) or self.has(self.grammar.whether):
            return self._difference()
        for form in self.grammar.ranks:
            if match := form.search(self.text):
                return self._rank_rows(match)
        return self._query_without_order()

    # Two numbers.

    def _share(self) -> TableQuery | None:
        """Return what the rows of a condition have of all that a column adds up to, or what part of the rows they are."""
        self.use(self.grammar.share, self.grammar.operations[Operation.SUM])
        if self.operations() or len({one.column for one in self.where}) != 1:
            return None
        numbers = self.free_numbers()
        rows = self.named and self.named[0] in self.words  # "what share of routes"
        if rows or not numbers:
            if rows or not all(map(self.names_row, self.where)):
                return TableQuery((), Operation.SHARE, self.where, subject=self.subject)
            numbers = self.only_number()
        if len(numbers) != 1 or not is_amount(self.columns[numbers[0]]):
            return None
        return TableQuery((numbers[0],), Operation.SHARE, self.where, subject=self.where[0].column)

    def _difference(self) -> TableQuery | None:
        """Return how far two rows, both named by values of one column, are apart; or two columns of one row."""
        grammar = self.grammar
        self.use(grammar.whether, grammar.apart, grammar.beside)
        pairs, named = self._pairs(), self.free_numbers()
        if self.operations() or self.group is not None:
            return None
        if len(pairs) == 1:
            meant = named or self.implied(self.numbers) or self.only_number()
            if len(meant) != 1:
                return None
            self.used = frozenset(meant)
            return TableQuery(
                (meant[0],), Operation.DIFFERENCE, self.where, subject=pairs[0].column
            )
        if len(self.where) != 1 or not self.is_of_one(self.where[0]) or len(named) != 2:
            return None
        return TableQuery(
            tuple(named), Operation.DIFFERENCE, self.where, subject=self.where[0].column
        )

    def _pairs(self) -> list[Condition]:
        """Return the conditions by which two things are named, values of one column."""
        return [one for one in self.where if len(one.words) == 2 and not one.denied]

    def _rivals(self, over: Operation | None) -> TableQuery | None:
        """Return which of two that are named has more: "which sold more, A or B?", A和B哪个贵."""
        grammar, pairs = self.grammar, self._pairs()
        greater, smaller = self.has(grammar.greater), self.has(grammar.smaller)
        asks = self.has(grammar.which) or self.has(grammar.who)
        if not asks or len(pairs) != 1 or greater == smaller:
            return None
        end, pair = Operation.MAX if greater else Operation.MIN, pairs[0].column
        column = self.target(end)
        if column is None or over is Operation.COUNT:
            return None
        self.used = frozenset({column})
        self.use(grammar.greater, grammar.smaller, EITHER)
        order = Order(column, self._end(end, column) is not Operation.MIN)
        if not self.repeats(pair):
            return None if over else TableQuery((), None, self.where, None, order, 1, subject=pair)
        if over is None and not is_amount(self.columns[column]):
            return None
        together = over or Operation.SUM
        return TableQuery((column,), together, self.where, pair, order, 1, subject=pair)

    # Rows in order.

    def _end(self, operation: Operation, column: int) -> Operation | None:
        """Return which end of a column is meant: the fastest has the smallest time; None where it does not tell."""
        grammar, one = self.grammar, self.columns[column]
        if self.has(grammar.best):
            return operation if is_score(one) else None
        dated = one.kind is ValueKind.DATE and self.has(grammar.old)
        turned = dated or (self.has(grammar.quick) and is_time(one))
        return _turn_operation(operation) if turned else operation

    def _rank_rows(self, match: re.Match[str]) -> TableQuery | None:
        """Return rows in the order of a column; where rows are taken together, nothing is sure."""
        groups = match.groupdict()
        word = groups.get("n") or groups.get("nth") or ""
        count = _number_of(word)
        start = match.end("behind") if groups.get("behind") else match.start()
        self.rest = self.rest[:start] + " " * (match.end() - start) + self.rest[match.end() :]
        ends = [one for one in self.operations() if one in _EXTREMES]
        if groups.get("top"):
            ends = ends or [Operation.MAX]
        if sign := groups.get("sign"):
            ends = [Operation.MAX if sign in "高大多长重晚远贵快" else Operation.MIN]
        self.use_operations(*_EXTREMES)
        column, subject = self.target(Operation.MAX), self.subject
        if self.operations() or len(ends) != 1 or column is None:
            return None
        self.used = frozenset({column})
        end = self._end(ends[0], column)
        if (
            self.group not in (None, column)
            or (subject in self.named and self.repeats(subject))
            or end is None
        ):
            return None
        self.use(self.grammar.group)
        order = Order(column, end is Operation.MAX)
        nth = groups.get("nth") is not None
        return TableQuery(
            (), None, self.where, None, order, 1 if nth else count, count - 1 if nth else 0, subject
        )

    def _query_without_order(self) -> TableQuery | None:
        operations = self.operations()
        ends = [one for one in operations if one in _EXTREMES]
        over = [one for one in operations if one not in ends]
        if not ends and (across := self._across()):
            return across
        self.use_operations(*over)
        if Operation.MEAN in over:  # 平均多少次
            over = [one for one in over if one is not Operation.COUNT]
        if Operation.COUNT in over:  # 一共有多少家
            over = [one for one in over if one is not Operation.SUM]
        if not ends and (rivals := self._rivals(next(iter(over), None))):
            return rivals
        if len(ends) > 1 or len(over) > 1:
            return None
        if over == [Operation.COUNT]:
            return None if ends else self._count()
        if not operations:
            return self._distinct() or self._how_much() or self._look_up()
        self.use_operations(*ends)
        return self._compute(next(iter(over), None), next(iter(ends), None))

    def _compute(self, over: Operation | None, end: Operation | None) -> TableQuery | None:
        column = self.target(over or end or Operation.MAX)
        if column is None:
            return None
        self.used = frozenset({column})
        if end is None:
            guessed = column not in self.named
            unsure = guessed and (self.is_list or not is_amount(self.columns[column]))
            is_sum = over in (None, Operation.SUM)
            return None if is_sum and unsure else self._over_rows(over or Operation.SUM, column)
        if any(map(self.is_of_one, self.where)):  # "is B the best?"
            return None
        meant = end if over else self._end(end, column)
        return None if meant is None else self._outermost(over, meant, column)

    def _outermost(self, over: Operation | None, end: Operation, column: int) -> TableQuery | None:
        """Return the rows, or with several rows of a name the groups, that have the most or least of a column."""
        one, subject, where = self.columns[column], self.subject, self.where
        dates = [at for at in self.named_of(ValueKind.DATE) if at not in self.bound]
        if column not in dates:
            if self._counts_rows(column):
                return None
            subject = next(iter(dates), subject)  # "which year"
        if subject is not None and self._is_exception(subject, end):
            subject = next(iter(self.words), subject)
        order = Order(column, end is Operation.MAX)
        if not over and self._is_of_each(column):
            self.use(self.grammar.group)
            return TableQuery((column,), end, where, self.group, subject=self.group)
        adds_up = is_amount(one) and (
            self.has(self.grammar.taken_together)
            or (is_surely_amount(one) and not self.has(self.grammar.of_one_row))
        )
        if subject in self.named and self.repeats(subject) and (over or adds_up):
            # "Which region sells most": a region's rows are taken together.
            together = over or Operation.SUM
            return TableQuery((column,), together, where, subject, order, 1, subject=subject)
        also = self._besides(column, subject)
        return None if over else TableQuery(also, None, where, None, order, 1, subject=subject)

    def _over_rows(self, over: Operation, column: int) -> TableQuery | None:
        """Return a sum or mean, also of each group; none by periods of time, which no column tells."""
        if self.has(_BY_PERIOD):
            return None
        subject = self.subject
        has_group = self.has(self.grammar.group)
        self.use(self.grammar.group)
        group = self.group if self.group is not None else subject if has_group else None
        if has_group and over is Operation.MEAN and not self.repeats(group):
            group = None  # a mean of one row is none
        return TableQuery(
            (column,), over, self.where, group, subject=group if group is not None else subject
        )

    def _counts_rows(self, column: int) -> bool:
        """Return whether "the most employees" asks for the number of rows, and not for the most of a column."""
        if not self.has(self.grammar.taken_together):
            return False
        others = len(self.named_words()) > 1
        persons = re.search(
            r"(?:人|员工?|学生?|队员)数?量?最|\b(?:most|fewest|least)\s+(?:\w+s|people|staff)\b",
            self.text,
        )
        return column in self.bound or (
            column not in self.named and (others or persons is not None)
        )

    def _is_exception(self, column: int, end: Operation) -> bool:
        """Return whether a column is first named in a clause behind the one that asks for the most or least."""
        word = self.grammar.operations[end].search(self.text)
        behind = _CLAUSE.search(self.text, word.end()) if word else None
        first = min((position for position, at in self.positions if at == column), default=-1)
        return behind is not None and first >= behind.end()

    def _besides(self, column: int, subject: int | None) -> tuple[int, ...]:
        """Return what else is asked of the rows found: "and what is their no-show rate?"."""
        persons = [at for at in self.words if OF_PERSONS.search(plain_of(self.columns[at].name))]
        owners = persons if self.has(self.grammar.who) and len(persons) == 1 else []
        known = {column, subject, self.group, *self.bound}
        return tuple(at for at in dict.fromkeys([*self.named, *owners]) if at not in known)

    def _is_of_each(self, column: int) -> bool:
        """Return whether the most of each group is asked for, and not which group has it."""
        if self.group in (None, column) or self.columns[column].kind is not ValueKind.NUMBER:
            return False
        return not self.has(self.grammar.which) or not {column, self.group}.issuperset(self.named)

    # Counts and sums.

    def _across(self) -> TableQuery | None:
        """Return the sum of the columns that a question names, or of all that are alike, in the one row that it names."""
        sums = self.grammar.operations[Operation.SUM].search(self.text)
        periods, subjects = (
            self.grammar.periods.search(self.text),
            self.grammar.subjects.search(self.text),
        )
        if (
            len(self.where) != 1
            or not self.is_of_one(self.where[0])
            or not (sums or periods or subjects)
        ):
            return None
        columns = self.free_numbers()
        if not columns:
            of_periods = [at for at in self.numbers if _OF_PERIOD.match(self.columns[at].name)]
            if periods or of_periods == self.numbers:
                columns = of_periods
            elif subjects:
                many = subjects.groupdict()["many"]
                is_all = many is None or _number_of(many) == len(self.numbers)
                columns = self.numbers if is_all else []
        if len(columns) < 2:
            return None
        self.use(self.grammar.periods, self.grammar.subjects)
        self.use_operations(Operation.SUM)
        return TableQuery(
            tuple(columns), Operation.ACROSS, self.where, subject=self.where[0].column
        )

    def _count(self) -> TableQuery | None:
        """Return how many rows there are, or what a column of amounts adds up to: "how many units"."""
        grammar = self.grammar
        match = grammar.operations[Operation.COUNT].search(self.text)
        columns_near = {
            at
            for position, at in self.positions
            if match
            and (
                re.fullmatch(
                    r"(?:\s*[a-z]+){0,2}\s*|不同的?|种不同的?", self.text[match.end() : position]
                )
                or re.fullmatch(
                    r"\0+\s*(?:一共|总共|共|总计)?(?:包含|包括|[有是])?\s*",
                    self.text[position : match.start()],
                )
            )
        }
        self.use(re.compile(r"\bdifferent\b|不同的?"))
        codes = [at for at in columns_near if self._numbers_rows(at)]
        counts_rows = codes or any(map(self._numbers_groups, columns_near))
        if counts_rows and not self.has(grammar.group):
            return TableQuery(tuple(codes[:1]), Operation.COUNT, self.where, subject=self.subject)
        counts_names = any(not _holds_amounts(self.columns[at]) for at in columns_near) or codes
        over = [
            at for at in self.named if _holds_amounts(self.columns[at]) and at not in self.bound
        ]
        if not counts_names and over:
            if may_be_code(self.columns[over[0]]):
                return self._look_up()
            return self._sum_column(over[0], is_explicit=over[0] in columns_near) or self._look_up()
        if self.has(grammar.group):
            return self._count_groups()
        distinct = self.subject if self.subject in columns_near else None
        telling = distinct is not None or any(not self.names_row(one) for one in self.where)
        if not (self.has(grammar.rows) or telling):
            return None
        select = () if distinct is None else (distinct,)
        return TableQuery(select, Operation.COUNT, self.where, subject=self.subject)

    def _numbers_rows(self, column: int) -> bool:
        """Return whether the numbers of a column name the rows, as those of flats do behind a column of buildings."""
        one = self.columns[column]
        is_first = (
            is_run(one) and not is_surely_amount(one) and all(map(self.repeats, range(column)))
        )
        return is_first or is_code(one)

    def _numbers_groups(self, column: int) -> bool:
        """Return whether a column numbers the rows of each group, which the columns before it or the next one tell."""
        one = self.columns[column]
        above, behind = range(column), range(column + 1, self.table.width)[:1]
        return not is_surely_amount(one) and any(
            columns
            and all(map(self.repeats, columns))
            and is_run_in_each(one, self._groups(columns))
            for columns in (above, behind)
        )

    def _groups(self, columns: Sequence[int]) -> Sequence[Hashable]:
        """Return what the cells of some columns say in each row."""
        rows = range(len(self.table.rows))
        return [tuple(plain_of(self.columns[at].shown[row].text) for at in columns) for row in rows]

    def _count_groups(self) -> TableQuery | None:
        """Return rows, or what another column names, for each value of a column: "how many parts per supplier"."""
        words = self.named_words()
        others = [at for at in words if at != self.group]
        if self.group not in words or len(others) > 1 or not self.repeats(self.group):
            return None
        self.use(self.grammar.group)
        return TableQuery(
            tuple(others), Operation.COUNT, self.where, self.group, subject=self.group
        )

    def _how_much(self) -> TableQuery | None:
        """Return the sum of a column of which a question asks how much it is: "how much was spent?"."""
        amounts = self.free_numbers()
        if len(amounts) != 1 or not self.has(self.grammar.how_much):
            return None
        return self._sum_column(amounts[0], is_explicit=True)

    def _sum_column(self, column: int, *, is_explicit: bool) -> TableQuery | None:
        """Return what a column of amounts adds up to over several rows; over all only where nothing else is said."""
        one = self.columns[column]
        amounts = is_amount(one) if is_explicit else is_surely_amount(one)
        several = any(not c.bounds and not self.names_row(c) for c in self.where)
        if self.has(self.grammar.group) or not amounts or (self.where and not several):
            return None
        self.use(re.compile(r"\bhow much\b"))
        return TableQuery((column,), Operation.SUM, self.where, subject=self.subject)

    # Cells.

    def _distinct(self) -> TableQuery | None:
        """Return all values of a column of words, where a question asks for them and for nothing else."""
        if self.where or not self.named or not self.grammar.distinct.fullmatch(self.text.strip()):
            return None
        column = self.columns[self.named[-1]]
        self.use(re.compile(r"\b(?:different|list|show|exist)\b|[分含]|不同"))
        if column.kind is not ValueKind.TEXT:
            return None
        return TableQuery((column.index,), Operation.DISTINCT, subject=column.index)

    def _look_up(self) -> TableQuery | None:
        """Return single values of the rows that are named; or, with a bound alone or "which ones", which rows these are."""
        if not self.where:
            return None
        self.use(re.compile(r"\bhow much\b"))
        subject = self.subject
        columns_asked = [at for at in self.named if at not in self.bound]
        kinds = ((self.grammar.who, ValueKind.TEXT), (self.grammar.when, ValueKind.DATE))
        kind = next((kind for form, kind in kinds if self.has(form)), None)
        if columns_asked and kind:
            columns_asked = [at for at in columns_asked if self.columns[at].kind is kind]
            if not columns_asked:  # "who approved the budget?"
                return None
        if not columns_asked and subject is not None:
            bounded = any(one.bounds for one in self.where)
            columns_asked = [subject] * (bounded or self.is_list)
        if not columns_asked and kind is None:
            columns_asked = [at for at in self.only_number() if at not in self.bound]
        if not columns_asked:
            return None
        denied = tuple(
            replace(one, of=columns_asked[0]) if one.denied else one for one in self.where
        )
        if any(one.denied for one in denied) and not self.is_list:
            return None
        alike = {plain_name(self.columns[at].name) for at in self.bound}
        also = [
            at
            for at in dict.fromkeys(columns_asked[1:])
            if at not in (columns_asked[0], subject)
            and plain_name(self.columns[at].name) not in alike
        ]
        self.used = frozenset(columns_asked)
        return TableQuery((columns_asked[0], *also), None, denied, subject=subject)


def _turn_operation(operation: Operation) -> Operation:
    return Operation.MIN if operation is Operation.MAX else Operation.MAX


def _number_of(word: str) -> int:
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    return int(word) if word.isdigit() else int(chinese_number(word))


def _holds_amounts(column: Column) -> bool:
    """Return whether most of a column's cells begin with a number, be it "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(_AMOUNT.match(text) is not None for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)
