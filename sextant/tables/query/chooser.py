"""Choose the query of a question from its tokens, after its conditions have been combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sextant.tables.cells.arithmetic import Operation
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.columns import (
    counts_things,
    find_unit,
    is_amount,
    is_code,
    is_surely_amount,
    read_kinds,
)
from sextant.tables.query.linker import plain_name
from sextant.tables.query.parts import (
    EXTREMES,
    QuestionParts,
    holds_amounts,
    opposite_of,
    read_count,
)
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.query.tokens import COLUMN, HARMLESS, NUMBER, QuestionToken, find_all, match_at

_RANKS = (
    "before_behind NUMBER",
    "max|min NUMBER",
    "NUMBER max|min",
    "which|what|list NUMBER",
    "nth max|min|greater|less",
)


class QueryChooser(QuestionParts):
    """Chooses the query of a question; see `choose`."""

    def choose(self) -> TableQuery | None:
        """Return the query; None if there is none, or several are possible."""
        if self._is_of_periods() or self._asks_meaning():
            return None
        if self._has("share"):
            return self._share()
        if self._has("apart") or self._asks_whether():
            return self._difference()
        for pattern in _RANKS:
            skipped = {"measure", "filler", "suffix"} if pattern.startswith("max") else {"filler"}
            for positions in find_all(self.tokens, pattern, skipped):
                return self._rank_rows([self.tokens[at] for at in positions])
        return self._choose_without_rank()

    # Two numbers.

    def _share(self) -> TableQuery | None:
        """Return the share of the rows of a condition in the sum of a column, or in the number of rows."""
        self._use("share", "of_share", "sum")
        if self._operations() or len({one.column for one in self.where}) != 1:
            return None
        numbers = self._free_numbers()
        rows = self.named and self.named[0] in self.words  # "what share of routes"
        if rows or not numbers:
            return TableQuery((), Operation.SHARE, self.where, subject=self.subject)
        if len(numbers) != 1 or not is_amount(self._columns[numbers[0]]):
            return None
        return TableQuery((numbers[0],), Operation.SHARE, self.where, subject=self.where[0].column)

    def _difference(self) -> TableQuery | None:
        """Return the difference between two rows, both named by values of one column, or two columns of one row."""
        self._use("whether", "apart", "than", "between", "greater", "less", "or", "more")
        pairs, named = self._pairs(), self._free_numbers()
        if self._operations() or self._group is not None:
            return None
        if len(pairs) == 1:
            meant = self._meant()
            self.used = frozenset(meant)
            pair = pairs[0].column
            found = TableQuery(tuple(meant), Operation.DIFFERENCE, self.where, subject=pair)
            return found if len(meant) == 1 else None
        if len(self.where) != 1 or not self._is_of_one(self.where[0]) or len(named) != 2:
            return None
        one = self.where[0].column
        return TableQuery(tuple(named), Operation.DIFFERENCE, self.where, subject=one)

    def _rivals(self, over: Operation | None) -> TableQuery | None:
        """Return which of two named rows has more: "which sold more, A or B?", A和B哪个贵."""
        pairs = self._pairs()
        greater, smaller = self._has("greater"), self._has("less")
        if not self._has("which", "who") or len(pairs) != 1 or greater == smaller:
            return None
        pair = pairs[0].column
        column = self._target(Operation.MAX)
        if column is None or over is Operation.COUNT:
            return None
        self.used = frozenset({column})
        self._use("greater", "less", "or", "more")
        order = Order(column, greater)
        if not self._repeats(pair):
            return None if over else TableQuery((), None, self.where, None, order, 1, subject=pair)
        if over is None and not is_amount(self._columns[column]):
            return None
        together = over or Operation.SUM
        return TableQuery((column,), together, self.where, pair, order, 1, subject=pair)

    # Rows in order.

    def _end(self, operation: Operation, column: int) -> Operation | None:
        """Return whether the largest or smallest value is meant: the fastest has the smallest time; None if unsure."""
        one = self._columns[column]
        if self._has("max", "min", senses="best"):
            return operation if "score" in read_kinds(one) else None
        dated = one.kind is ValueKind.DATE and self._has("max", "min", senses="age")
        timed = "time" in read_kinds(one) and self._has("max", "min", senses="quick")
        ranked = "rank" in read_kinds(one)  # the highest rank is 1
        return opposite_of(operation) if dated or timed or ranked else operation

    def _rank_rows(self, taken: Sequence[QuestionToken]) -> TableQuery | None:
        """Return the first rows in the order of a column; None if rows would have to be grouped."""
        number = next(one for one in taken if one.kind in {NUMBER, "nth"})
        nth, count = number.kind == "nth", read_count(number)
        self.left = [one for one in self.left if one is not number]
        if any(one.text == "top" for one in taken):
            self.left = [one for one in self.left if one.text != "top"]
        self._use("before_behind")
        ends = [one for one in self._operations() if one in EXTREMES]
        if nth and taken[-1].kind in {"greater", "less"}:
            ends = [Operation.MAX if taken[-1].kind == "greater" else Operation.MIN]
            self._use("greater", "less")
        elif any(one.kind == "before_behind" or one.text == "top" for one in taken):
            ends = ends or [Operation.MAX]
        self._use("max", "min")
        column, subject = self._target(Operation.MAX), self.subject
        if self._operations() or len(ends) != 1 or column is None or not count:
            return None
        self.used = frozenset({column})
        end = self._end(ends[0], column)
        taken_together = subject in self.named and self._repeats(subject)
        if self._group not in (None, column) or taken_together or end is None:
            return None
        self._use("each")
        order = Order(column, end is Operation.MAX)
        limit, offset = (1, count - 1) if nth else (count, 0)
        return TableQuery((), None, self.where, None, order, limit, offset, subject)

    def _choose_without_rank(self) -> TableQuery | None:
        operations = self._operations()
        ends = [one for one in operations if one in EXTREMES]
        over = [one for one in operations if one not in ends]
        self._use("mean", "sum", "count")
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
            return self._distinct() or self._look_up()
        self._use("max", "min")
        return self._compute(next(iter(over), None), next(iter(ends), None))

    def _compute(self, over: Operation | None, end: Operation | None) -> TableQuery | None:
        column = self._target(over or end or Operation.MAX)
        if column is None:
            return None
        self.used = frozenset({column})
        if end is None:
            guessed = column not in self.named
            unsure = guessed and (self._is_list or not is_amount(self._columns[column]))
            if len(self._free_numbers()) > 1:  # "the average of sales and costs"
                return None
            is_sum = over in (None, Operation.SUM)
            return None if is_sum and unsure else self._over_rows(over or Operation.SUM, column)
        if any(map(self._is_of_one, self.where)):  # "is B the best?"
            return None
        if self._is_named_later(column, end) and column not in self._of_kind(end):
            return None  # "which is the largest, and what does it cost?"
        meant = end if over else self._end(end, column)
        return None if meant is None else self._outermost(over, meant, column)

    def _outermost(self, over: Operation | None, end: Operation, column: int) -> TableQuery | None:
        """Return the rows with the largest or smallest value; or the groups, if several rows have one name."""
        one, subject, where = self._columns[column], self.subject, self.where
        dates = [at for at in self._named_of(ValueKind.DATE) if at not in self.bound]
        if column not in dates:
            subject = next(iter(dates), subject)  # "which year"
        if subject is not None and self._is_named_later(subject, end):
            subject = next(iter(self.words), subject)
        order = Order(column, end is Operation.MAX)
        if not over and self._is_of_each(column):
            self._use("each")
            return TableQuery((column,), end, where, self._group, subject=self._group)
        of_several = self._has("max", "min", senses="most")
        of_one = any(
            one.sense not in {"", "most"} for one in self.tokens if one.kind in {"max", "min"}
        )
        adds_up = is_amount(one) and (of_several or (is_surely_amount(one) and not of_one))
        is_asked = subject in self.named or self._has("who")
        if is_asked and self._repeats(subject) and (over or adds_up):
            # "Which region sells most": a region's rows are taken together.
            together = over or Operation.SUM
            return TableQuery((column,), together, where, subject, order, 1, subject=subject)
        also = self._other_columns(column, subject)
        return None if over else TableQuery(also, None, where, None, order, 1, subject=subject)

    def _over_rows(self, over: Operation, column: int) -> TableQuery | None:
        """Return a sum or mean, of all rows or of each group."""
        subject = self.subject
        has_group = self._has("each") or self._group is not None
        self._use("each")
        group = self._group if self._group is not None else subject if has_group else None
        if has_group and over is Operation.MEAN and not self._repeats(group):
            group = None  # there is no mean of one row
        subject = group if group is not None else subject
        return TableQuery((column,), over, self.where, group, subject=subject)

    def _is_named_later(self, column: int, end: Operation) -> bool:
        """Return whether a column is first named in a clause after the one that asks for the most or least."""
        word = self._word_of(end)
        cuts = (one.end for one in self.tokens if one.kind in {"comma", "and"})
        cut = next((at for at in cuts if word and at > word.end), None)
        first = min((start for start, at in self._positions if at == column), default=-1)
        return cut is not None and first >= cut

    def _is_of_each(self, column: int) -> bool:
        """Return whether the largest value of each group is asked for, and not the group with the largest."""
        if self._group in (None, column) or self._columns[column].kind is not ValueKind.NUMBER:
            return False
        return not self._has("which") or not {column, self._group}.issuperset(self.named)

    # Counts and sums.

    def _count(self) -> TableQuery | None:
        """Return the number of rows, or the sum of a column of amounts: "how many units"."""
        near, columns = self._counted_columns(), self._columns
        has_group = self._has("each") or self._group is not None
        codes = [at for at in near if is_code(columns[at])]
        if codes and not has_group:
            return TableQuery(tuple(codes[:1]), Operation.COUNT, self.where, subject=self.subject)
        of_names = any(not holds_amounts(columns[at]) for at in near) or codes
        over = [at for at in self.named if holds_amounts(columns[at]) and at not in self.bound]
        if over and not of_names:
            counted = columns[over[0]]
            if not counts_things(counted) and not find_unit(counted):
                return self._look_up() if all(map(self.names_row, self.where)) else None
            return self._sum_column(over[0], is_explicit=over[0] in near) or self._look_up()
        if has_group:
            return self._count_groups()
        distinct = self.subject if self.subject in near else None
        # The rows that a name selects are not worth counting: "how many finalists had season 3".
        several = any(not self.names_row(one) for one in self.where)
        telling = several if self.where else distinct is not None
        if not (self._has("rows") or telling or self._counts_entries()):
            return None
        select = () if distinct is None else (distinct,)
        return TableQuery(select, Operation.COUNT, self.where, subject=self.subject)

    def _count_groups(self) -> TableQuery | None:
        """Return the number of rows, or of values of another column, in each group: "how many parts per supplier"."""
        words = [at for at in dict.fromkeys(self.named) if at in self.words]
        others = tuple(at for at in words if at != self._group)
        if self._group not in words or len(others) > 1 or not self._repeats(self._group):
            return None
        self._use("each")
        return TableQuery(others, Operation.COUNT, self.where, self._group, subject=self._group)

    def _sum_column(self, column: int, *, is_explicit: bool) -> TableQuery | None:
        """Return the sum of a column of amounts over several rows."""
        one = self._columns[column]
        amounts = is_amount(one) if is_explicit else is_surely_amount(one)
        several = any(not c.bounds and not self.names_row(c) for c in self.where)
        if self._has("each") or not amounts or (self.where and not several):
            return None
        return TableQuery((column,), Operation.SUM, self.where, subject=self.subject)

    # Cells.

    def _distinct(self) -> TableQuery | None:
        """Return all values of a column of words, if the question asks for nothing else."""
        asks = self._has("list") or (self._has("exist") and self._has("which", "what", "how_much"))
        asks |= match_at(self.tokens, 0, "what whether") == [0, 1] and self.tokens[1].text == "are"
        only = all(one.kind in {COLUMN, *HARMLESS, "count"} for one in self.tokens)
        # "List the fees of all boats" is of two columns.
        is_of_several = len(set(self.named)) > 1 and self.tokens[0].kind == "list"
        if self.where or not self.named or is_of_several or not asks or not only:
            return None
        column = self._columns[self.named[-1]]
        if column.kind is not ValueKind.TEXT:
            return None
        return TableQuery((column.index,), Operation.DISTINCT, subject=column.index)

    def _has_figures(self, at: int) -> bool:
        """Return whether a column has numbers, perhaps in words: "about 30"; no dates, no yes and no."""
        one = self._columns[at]
        return one.kind is not ValueKind.DATE and any(
            sign.isdigit() for value in one.values for sign in value.text
        )

    def _look_up(self) -> TableQuery | None:
        """Return values of the named rows; or the rows themselves, if the question has only a bound or asks "which"."""
        if not self.where:
            return None
        subject = self.subject
        wanted = [at for at in self.named if at not in self.bound] or self._persons()
        if any(one.kind in {"how_much", "count"} and one.text.isascii() for one in self.tokens):
            wanted = [at for at in wanted if self._has_figures(at)]
        kinds = {"who": ValueKind.TEXT, "when": ValueKind.DATE}
        kind = next((kind for word, kind in kinds.items() if self._has(word)), None)
        if wanted and kind:
            wanted = [at for at in wanted if self._columns[at].kind is kind]
            if not wanted:  # "who approved the budget?"
                return None
        if not wanted and subject is not None:
            bounded = any(one.bounds for one in self.where)
            wanted = [subject] * (bounded or self._is_list)
        if not wanted:
            return None
        where = tuple(replace(one, of=wanted[0]) if one.denied else one for one in self.where)
        if any(one.denied for one in where) and not self._is_list:
            return None
        self.used = frozenset(wanted)
        alike = {plain_name(self._columns[at].name) for at in self.bound}
        also = [
            at
            for at in dict.fromkeys(wanted[1:])
            if at not in (wanted[0], subject) and plain_name(self._columns[at].name) not in alike
        ]
        return TableQuery((wanted[0], *also), None, where, subject=subject)
