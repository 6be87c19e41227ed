"""Fills a query from a question by grammar, or leaves it alone where anything is not sure.

Every word must be accounted for: as a name in the table, as part of the query, or as one of few words that keep no
row out. One word more ("median", "growth", pears) and the question is not taken on.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from sextant.tables.cells.computing import Condition, Operation
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.bands import rows_of_band
from sextant.tables.query.bounding import (
    take_bounds,
    take_comparisons,
    take_dates,
    take_denials,
    take_none,
)
from sextant.tables.query.chinese import CHINESE
from sextant.tables.query.comparisons import COMPARING, bounds_in
from sextant.tables.query.dates import ANY_YEAR, dates_in
from sextant.tables.query.english import ENGLISH
from sextant.tables.query.families import (
    OF_PERSONS,
    asks_of_other_kind,
    is_amount,
    is_code,
    is_implied,
    is_score,
    is_surely_amount,
    is_time,
    without_implied,
)
from sextant.tables.query.grammar import Grammar
from sextant.tables.query.linking import Reading, link_names, names_column, plain_name
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.query.statements import Statement, is_for_statement, parse_statement
from sextant.tables.query.units import unit_of
from sextant.text.characters import IDEOGRAPHS, has_cjk
from sextant.text.number_words import (
    CARDINALS,
    CHINESE_DIGITS,
    ORDINALS,
    chinese_number,
    in_digits,
)
from sextant.text.other_words import synonym_patterns
from sextant.text.simplified import plain_of
from sextant.text.stems import stem

_EXTREMES = (Operation.MAX, Operation.MIN)
_PAIR = 2
_LONGEST_CAPTION = 200  # a longer one is a text, whose words are not those of the table
_OF_ALL = 0.9  # a word in so many rows is of all of them ("Store 1", "Store 2")
_WORD = re.compile(rf"[a-z]+(?:[’'-][a-z]+)*|\d+(?:[.,]\d+)*|%|[{IDEOGRAPHS}]+")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
_AMOUNT = re.compile(r"[^\w\s]?\s?\d")
_MARK = re.compile(r"(?<!^)\b(?!I\b)[A-Z][A-Z\d]{0,3}\b")
_OR = re.compile(r"或|\bor\b")
_CLAUSE = re.compile(r"[,;、]|\band\b")
_RATES = {"day": "daily", "year": "annual", "annum": "annual|year"}
_RATE = re.compile(
    r"\b(?:per|each|every)\s+(second|minute|hour|day|night|week|month|quarter|year|annum)\b"
)
_CUT = re.compile(
    r"(?<=[?;？；])\s*(?=\S)|[,，]\s*(?=\S)|(?<=\s)and\s+(?:also\s+)?(?=(?:who|what|when|where|how|which)\b)",
    re.IGNORECASE,
)
_JOINING = re.compile(r"^(?:and|also|then)\b\s*|^(?:以及|并且|另外|同时|还有)", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:who|what|when|where|how|which)\b|什么|多少|哪|谁|[几何]|怎", re.IGNORECASE
)
# Of what the clause before has led to.
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|their|them|that|those|these|he|she|his|her|one|ones|share|percent(?:age)?)\b|[它他她]|其"
    r"|[当该][月年天日]|[这那该][个些位家款]|^占",
    re.IGNORECASE,
)
OF_PERIOD = re.compile(
    r"(?:q[1-4]|h[12]|(?:19|20)\d\d年?|第?[一二三四]季度|\d{1,2}月|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)"
    r"(?:uary|ruary|ch|il|ust|ember|tember|ober)?)$",
    re.IGNORECASE,
)
"""A column that is called by its time does not tell what its numbers are."""


def grammar_of(question: str) -> Grammar:
    """Return the grammar of a question's language."""
    return CHINESE if has_cjk(question) else ENGLISH


def lists_rows(question: str) -> bool:
    """Return whether a question asks for all rows that are so."""
    return grammar_of(question).lists.search(plain_of(question)) is not None


def may_compute(question: str) -> bool:
    """Return whether a question may ask for something computed, of whatever table: cheap, and often wrong."""
    text, grammar = plain_of(question), grammar_of(question)
    forms = (*grammar.operations.values(), COMPARING, grammar.lists, grammar.apart, grammar.share)
    asks_all = re.search(
        r"(?:do (?:we|you) have|are there)\b|[有是在]哪|涉及哪|包括哪|分[为成][哪几]", text
    )
    return (
        any(form.search(text) for form in forms)
        or asks_all is not None
        or bool(bounds_in(text) or dates_in(text, ANY_YEAR))
    )


def asks_computation(question: str) -> bool:
    """Return whether a question asks for an operation, an order or a bound."""
    text, grammar = plain_of(question), grammar_of(question)
    forms = (*grammar.operations.values(), grammar.apart, grammar.share, *grammar.ranks)
    return any(form.search(text) for form in forms) or bool(bounds_in(text))


def without_asking(question: str) -> str:
    """Return what a question speaks of, without its bounds and the words that ask for something computed."""
    text, grammar = plain_of(question), grammar_of(question)
    for start, end in sorted({span for span, *_ in bounds_in(text)}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    forms = (grammar.share, *grammar.operations.values(), grammar.group, grammar.rows, COMPARING)
    for form in (*grammar.ranks, *forms):
        text = form.sub(" ", text)
    return text


def clauses_of(question: str) -> list[str]:
    """Return the clauses of a question, each of which asks and stands alone; [] where one leans on another."""
    parts = [_JOINING.sub("", part.strip()) for part in _CUT.split(question)]
    parts = [part for part in parts if part]
    alone = all(_ASKS.search(part) for part in parts)
    leaning = any(_POINTS_BACK.search(part) for part in parts[1:])
    return parts if len(parts) > 1 and alone and not leaning else []


def parse_queries(question: str, table: DataTable, about: str = "") -> list[TableQuery]:
    """Return what a question asks of a table, [] where any part of it is not sure.

    "The highest and the lowest price" asks for two computations.
    """
    match = grammar_of(question).joined.search(question.lower())
    parts = [question]
    if match is not None and len(question.lower()) == len(question):
        one = re.compile(
            grammar_of(question).joined.pattern.partition("(?P<noun>")[0][len("(?P<first>") : -1]
        )
        forms = [match["first"], *(found[0] for found in one.finditer(match["more"]))]
        start, end = match.span()
        noun = question[match.start("noun") : match.end("noun")]
        parts = [f"{question[:start]}{form}{noun}{question[end:]}" for form in forms]
    found = [parse_query(part, table, about) for part in parts]
    return [one for one in found if one] if all(found) else []


def parse_query(question: str, table: DataTable, about: str = "") -> TableQuery | None:
    """Return the one query that a question is over a table; None if anything is not sure.

    Args:
        question: in Chinese or English.
        table: the table.
        about: its caption, or the names of its document and sections.
    """
    statement = parse_statement(question, table)
    if statement or is_for_statement(question, table):
        return statement
    grammar = grammar_of(question)
    reading = Reading(in_digits(plain_of(question)), grammar)
    words = take_denials(reading, link_names(reading, question, table))
    columns = table.columns
    where = (
        *words,
        *take_comparisons(reading, columns),
        *take_none(reading, columns),
        *take_dates(reading, columns),
        *take_bounds(reading, columns),
    )
    # A number in the range of a row is no bound on another column.
    if (
        reading.is_lost
        or Statement(table).leading
        or _refuses(grammar, question, reading.text)
        or rows_of_band(table, question)
    ):
        return None
    parser = _Parser(reading, table, where, is_list=lists_rows(question))
    found = parser.choose()
    if found is None or parser.leaves_unexplained(question, about):
        return None
    return replace(found, is_guessed=reading.is_guessed)


def _refuses(grammar: Grammar, question: str, masked: str) -> bool:
    return any(grammar.refused.search(text) for text in (plain_of(question), masked))


class _Parser:
    """Chooses the query that the parts of a question make up; `rest` is what is not accounted for yet."""

    def __init__(
        self, reading: Reading, table: DataTable, where: tuple[Condition, ...], *, is_list: bool
    ) -> None:
        self.reading, self.table, self.where = reading, table, where
        self.grammar = reading.grammar
        self.text = self.rest = reading.text
        self.columns = table.columns
        self.positions = sorted(reading.columns)
        self.named = [at for _, at in self.positions]
        both = ({one.column, one.other} for one in where)
        self.bound = {at for one in both for at in one if at is not None}
        self.words = [one.index for one in self.columns if one.kind is ValueKind.TEXT]
        self.numbers = [one.index for one in self.columns if one.kind is ValueKind.NUMBER]
        self.group = self._find_group()
        self.is_list = is_list
        self.used = frozenset[int]()

    def choose(self) -> TableQuery | None:
        """Return the query, None if there is none or several are possible."""
        if self._has(self.grammar.share):
            return self._share()
        if self._has(self.grammar.apart) or self._has(self.grammar.whether):
            return self._difference()
        for form in self.grammar.ranks:
            if match := form.search(self.text):
                return self._ranked(match)
        return self._unranked()

    # What is left.

    def leaves_unexplained(self, question: str, about: str) -> bool:
        """Return whether a word is left that may keep rows out or ask for something else."""
        several = len({(one.column, one.bounds) for one in self.where}) > 1
        if (several and _OR.search(self.rest)) or self._names_someone(question):
            return True
        used = {*self.named, *self.bound, *self.used}
        rest = without_implied(self.rest, [self.columns[at] for at in used])
        rest = _OR.sub(" ", rest) if len(self.where) <= 1 else rest
        words = _WORD.findall(self.grammar.filler.sub(" ", rest))
        caption = about if len(about) <= _LONGEST_CAPTION else ""
        # What another column of numbers is called is not what is computed here.
        names = [one.name for one in self.columns if one.index in {*used, *self.words}]
        above = plain_of(" ".join([caption, *names]))
        tells = plain_of(" ".join([caption, *(self.columns[at].name for at in self.words)]))
        known = {stem(word) for word in _WORD.findall(above)}
        known |= {
            stem(word) for word, form in synonym_patterns(question).items() if form.search(tells)
        }
        marks = {mark.lower() for mark in _MARK.findall(question) if not question.isupper()}
        return any(
            not unit_of(word) and (word in marks or not self._is_told(word, known, above))
            for word in words
        )

    def _is_told(self, word: str, known: Collection[str], above: str) -> bool:
        """Return whether the table's names, its caption or nearly all of its rows say a word."""
        if stem(word) in known:
            return True
        if has_cjk(word) and (len(word) == 1 or word in above):
            return word in above
        rows = [plain_of(" ".join(cells)) for cells in self.table.records]
        return sum(stem(word) in row for row in rows) >= max(len(rows), 1) * _OF_ALL

    def _names_someone(self, question: str) -> bool:
        """Return whether a capitalised word that was not understood stands in a cell: Max, Count Basie."""
        names = {name for name in _CAPITALISED.findall(question) if name.lower() in self.text}
        rows = [" ".join(row) for row in self.table.rows]
        return any(re.search(rf"\b{name}\b", row) for name in names for row in rows)

    def _has(self, form: re.Pattern[str]) -> bool:
        return form.search(self.text) is not None

    def _use(self, *forms: re.Pattern[str]) -> None:
        for form in forms:
            self.rest = form.sub(" ", self.rest)

    def _use_operations(self, *operations: Operation) -> None:
        self._use(*(self.grammar.operations[one] for one in operations))

    def _operations(self) -> list[Operation]:
        return [one for one, form in self.grammar.operations.items() if form.search(self.rest)]

    # Columns.

    @property
    def subject(self) -> int | None:
        """Return the column that names a row: one that the question names, else the first of words."""
        # All but one thing are called what that one is.
        denied = {one.column for one in self.where if one.denied} & set(self.words[:1])
        free = [at for at in self.words if at not in self.bound or at in denied]
        chosen = [at for at in self.named if at in free]
        return next(iter(chosen or free or self.words), None)

    def _named_of(self, kind: ValueKind) -> list[int]:
        return [at for at in dict.fromkeys(self.named) if self.columns[at].kind is kind]

    def _free_numbers(self) -> list[int]:
        return [at for at in self._named_of(ValueKind.NUMBER) if at not in self.bound]

    def _repeats(self, column: int | None) -> bool:
        return column is not None and self.columns[column].repeats

    def _names_row(self, condition: Condition) -> bool:
        """Return whether a condition is by name on a column that names each row."""
        return not condition.bounds and not self._repeats(condition.column)

    def _is_of_one(self, condition: Condition) -> bool:
        return self._names_row(condition) and len(condition.words) == 1 and not condition.denied

    def _find_group(self) -> int | None:
        """Return the column whose name stands right behind "each"."""
        ends = {match.end() for match in self.grammar.group.finditer(self.text)}
        return next((at for position, at in self.positions if position in ends), None)

    def _implied(self, columns: Iterable[int]) -> list[int]:
        return [at for at in columns if is_implied(self.text, self.columns[at])]

    def _only_number(self) -> list[int]:
        """Return the only column of numbers, where the question does not ask for another kind of them."""
        only = [self.columns[at] for at in self.numbers]
        return self.numbers if len(only) == 1 and not asks_of_other_kind(self.text, only) else []

    def _target(self, operation: Operation) -> int | None:
        """Return the column that an operation is over."""
        if operation in _EXTREMES and self._has(self.grammar.by_time):
            if dates := self._named_of(ValueKind.DATE):
                return self._nearest(dates, operation)
            aged = self._implied(self.numbers) if self._has(self.grammar.old) else []
            dated = (one for one in self.columns if one.kind is ValueKind.DATE)
            partly = (one.index for one in dated if names_column(self.text, one.name))
            return next(iter(aged), next(partly, None))
        free = self._free_numbers()
        if free:
            return self._nearest(free, operation)
        meant = self._implied(self.numbers) or self._only_number()
        return meant[0] if len(meant) == 1 else None

    def _nearest(self, columns: Sequence[int], operation: Operation) -> int:
        """Return the column named right behind the word for an operation, in Chinese before it."""
        word = self.grammar.operations[operation].search(self.text)
        if word is None or len(columns) == 1:
            return columns[0]
        before = [at for place, at in self.positions if place < word.start() and at in columns]
        behind = [at for place, at in self.positions if place >= word.end() and at in columns]
        if behind and (word[0].isascii() or not before):
            return behind[0]
        return before[-1]

    # Two numbers.

    def _share(self) -> TableQuery | None:
        """Return what the rows of a condition have of all that a column adds up to, or what part of the rows they are."""
        self._use(self.grammar.share, self.grammar.operations[Operation.SUM])
        if self._operations() or len({one.column for one in self.where}) != 1:
            return None
        numbers = self._free_numbers()
        rows = (
            self.named and self.columns[self.named[0]].kind is ValueKind.TEXT
        )  # "what share of routes"
        if rows or not numbers:
            if rows or not all(map(self._names_row, self.where)):
                return TableQuery((), Operation.SHARE, self.where, subject=self.subject)
            numbers = self._only_number()
        if len(numbers) != 1 or not is_amount(self.columns[numbers[0]]):
            return None
        return TableQuery((numbers[0],), Operation.SHARE, self.where, subject=self.where[0].column)

    def _difference(self) -> TableQuery | None:
        """Return how far two rows, both named by values of one column, are apart; or two columns of one row."""
        grammar = self.grammar
        self._use(grammar.whether, grammar.apart, grammar.beside)
        pairs, named = self._pairs(), self._free_numbers()
        if self._operations() or self.group is not None:
            return None
        if len(pairs) == 1:
            meant = named or self._implied(self.numbers) or self._only_number()
            if len(meant) != 1:
                return None
            self.used = frozenset(meant)
            return TableQuery(
                (meant[0],), Operation.DIFFERENCE, self.where, subject=pairs[0].column
            )
        if len(self.where) != 1 or not self._is_of_one(self.where[0]) or len(named) != _PAIR:
            return None
        return TableQuery(
            tuple(named), Operation.DIFFERENCE, self.where, subject=self.where[0].column
        )

    def _pairs(self) -> list[Condition]:
        """Return the conditions by which two things are named, values of one column."""
        return [one for one in self.where if len(one.words) == _PAIR and not one.denied]

    def _rivals(self, over: Operation | None) -> TableQuery | None:
        """Return which of two that are named has more: "which sold more, A or B?", A和B哪个贵."""
        grammar, pairs = self.grammar, self._pairs()
        greater, smaller = self._has(grammar.greater), self._has(grammar.smaller)
        asks = self._has(grammar.which) or self._has(grammar.who)
        if not asks or len(pairs) != 1 or greater == smaller:
            return None
        end, pair = Operation.MAX if greater else Operation.MIN, pairs[0].column
        column = self._target(end)
        if column is None or over is Operation.COUNT:
            return None
        self.used = frozenset({column})
        self._use(grammar.greater, grammar.smaller, _OR)
        order = Order(column, self._end(end, column) is not Operation.MIN)
        if not self._repeats(pair):
            return None if over else TableQuery((), None, self.where, None, order, 1, subject=pair)
        if over is None and not is_amount(self.columns[column]):
            return None
        together = over or Operation.SUM
        return TableQuery((column,), together, self.where, pair, order, 1, subject=pair)

    # Rows in order.

    def _end(self, operation: Operation, column: int) -> Operation | None:
        """Return which end of a column is meant: the fastest has the smallest time; None where it does not tell."""
        grammar, one = self.grammar, self.columns[column]
        if self._has(grammar.best):
            return operation if is_score(one) else None
        dated = one.kind is ValueKind.DATE and self._has(grammar.old)
        turned = dated or (self._has(grammar.quick) and is_time(one))
        return _turned(operation) if turned else operation

    def _ranked(self, match: re.Match[str]) -> TableQuery | None:
        """Return rows in the order of a column; where rows are taken together, nothing is sure."""
        said = match.groupdict()
        word = said.get("n") or said.get("nth") or ""
        count = _number_of(word)
        start = match.end("behind") if said.get("behind") else match.start()
        self.rest = self.rest[:start] + " " * (match.end() - start) + self.rest[match.end() :]
        ends = [one for one in self._operations() if one in _EXTREMES]
        if said.get("top"):
            ends = ends or [Operation.MAX]
        if sign := said.get("sign"):
            ends = [Operation.MAX if sign in "高大多长重晚远贵快" else Operation.MIN]
        self._use_operations(*_EXTREMES)
        column, subject = self._target(Operation.MAX), self.subject
        if self._operations() or len(ends) != 1 or column is None:
            return None
        self.used = frozenset({column})
        end = self._end(ends[0], column)
        if (
            self.group not in (None, column)
            or (subject in self.named and self._repeats(subject))
            or end is None
        ):
            return None
        self._use(self.grammar.group)
        order = Order(column, end is Operation.MAX)
        nth = said.get("nth") is not None
        return TableQuery(
            (), None, self.where, None, order, 1 if nth else count, count - 1 if nth else 0, subject
        )

    def _unranked(self) -> TableQuery | None:
        operations = self._operations()
        ends = [one for one in operations if one in _EXTREMES]
        over = [one for one in operations if one not in ends]
        if not ends and (across := self._across()):
            return across
        self._use_operations(*over)
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
        self._use_operations(*ends)
        return self._computed(next(iter(over), None), next(iter(ends), None))

    def _computed(self, over: Operation | None, end: Operation | None) -> TableQuery | None:
        column = self._target(over or end or Operation.MAX)
        if column is None:
            return None
        self.used = frozenset({column})
        if end is None:
            guessed = column not in self.named and not is_amount(self.columns[column])
            is_sum = over in (None, Operation.SUM)
            return None if is_sum and guessed else self._over_rows(over or Operation.SUM, column)
        if any(map(self._is_of_one, self.where)):  # "is B the best?"
            return None
        meant = end if over else self._end(end, column)
        return None if meant is None else self._outermost(over, meant, column)

    def _outermost(self, over: Operation | None, end: Operation, column: int) -> TableQuery | None:
        """Return the rows, or with several rows of a name the groups, that have the most or least of a column."""
        one, subject, where = self.columns[column], self.subject, self.where
        dates = [at for at in self._named_of(ValueKind.DATE) if at not in self.bound]
        if column not in dates:
            if self._counts_rows(column):
                return None
            subject = next(iter(dates), subject)  # "which year"
        if subject is not None and self._is_besides(subject, end):
            subject = next(iter(self.words), subject)
        order = Order(column, end is Operation.MAX)
        if not over and self._is_of_each(column):
            self._use(self.grammar.group)
            return TableQuery((column,), end, where, self.group, subject=self.group)
        adds_up = is_amount(one) and (
            self._has(self.grammar.taken_together)
            or (is_surely_amount(one) and not self._has(self.grammar.of_one_row))
        )
        if subject in self.named and self._repeats(subject) and (over or adds_up):
            # "Which region sells most": a region's rows are taken together.
            together = over or Operation.SUM
            return TableQuery((column,), together, where, subject, order, 1, subject=subject)
        also = self._besides(column, subject)
        return None if over else TableQuery(also, None, where, None, order, 1, subject=subject)

    def _over_rows(self, over: Operation, column: int) -> TableQuery | None:
        """Return a sum or mean, also of each group."""
        subject = self.subject
        has_group = self._has(self.grammar.group) and not self._is_rate(column)
        self._use(self.grammar.group)
        group = self.group if self.group is not None else subject if has_group else None
        if has_group and over is Operation.MEAN and not self._repeats(group):
            group = None  # a mean of one row is none
        if _RATE.search(self.text):
            if not self._is_rate(column):
                return None
            self._use(_RATE)
        return TableQuery(
            (column,), over, self.where, group, subject=group if group is not None else subject
        )

    def _is_rate(self, column: int) -> bool:
        """Return whether "per month" only says what "Monthly cost" is."""
        period = _RATE.search(self.text)
        if period is None:
            return False
        called = f"{period[1]}|{_RATES.get(period[1], period[1])}"
        return re.search(called, plain_of(self.columns[column].name)) is not None

    def _counts_rows(self, column: int) -> bool:
        """Return whether "the most employees" asks for the number of rows, and not for the most of a column."""
        if not self._has(self.grammar.taken_together):
            return False
        others = len(self._named_of(ValueKind.TEXT)) > 1
        persons = re.search(
            r"(?:人|员工?|学生?|队员)数?量?最|\b(?:most|fewest|least)\s+(?:\w+s|people|staff)\b",
            self.text,
        )
        return column in self.bound or (
            column not in self.named and (others or persons is not None)
        )

    def _is_besides(self, column: int, end: Operation) -> bool:
        """Return whether a column is first named in a clause behind the one that asks for the most or least."""
        word = self.grammar.operations[end].search(self.text)
        behind = _CLAUSE.search(self.text, word.end()) if word else None
        first = min((place for place, at in self.positions if at == column), default=-1)
        return behind is not None and first >= behind.end()

    def _besides(self, column: int, subject: int | None) -> tuple[int, ...]:
        """Return what else is asked of the rows found: "and what is their no-show rate?"."""
        persons = [at for at in self.words if OF_PERSONS.search(plain_of(self.columns[at].name))]
        whose = persons if self._has(self.grammar.who) and len(persons) == 1 else []
        told = {column, subject, self.group, *self.bound}
        return tuple(at for at in dict.fromkeys([*self.named, *whose]) if at not in told)

    def _is_of_each(self, column: int) -> bool:
        """Return whether the most of each group is asked for, and not which group has it."""
        if self.group in (None, column) or self.columns[column].kind is not ValueKind.NUMBER:
            return False
        return not self._has(self.grammar.which) or not {column, self.group}.issuperset(self.named)

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
            or not self._is_of_one(self.where[0])
            or not (sums or periods or subjects)
        ):
            return None
        columns = self._free_numbers()
        if not columns:
            of_periods = [at for at in self.numbers if OF_PERIOD.match(self.columns[at].name)]
            if periods or of_periods == self.numbers:
                columns = of_periods
            elif subjects:
                many = subjects.groupdict()["many"]
                count = (
                    int(many)
                    if (many or "").isdigit()
                    else int(chinese_number(many))
                    if many
                    else 0
                )
                columns = self.numbers if count in (0, len(self.numbers)) else []
        if len(columns) < _PAIR:
            return None
        self._use(self.grammar.periods, self.grammar.subjects)
        self._use_operations(Operation.SUM)
        return TableQuery(
            tuple(columns), Operation.ACROSS, self.where, subject=self.where[0].column
        )

    def _count(self) -> TableQuery | None:
        """Return how many rows there are, or what a column of amounts adds up to: "how many units"."""
        grammar = self.grammar
        asked = grammar.operations[Operation.COUNT].search(self.text)
        beside = {
            at
            for place, at in self.positions
            if asked
            and (
                re.fullmatch(
                    r"(?:\s*[a-z]+){0,2}\s*|不同的?|种不同的?", self.text[asked.end() : place]
                )
                or re.fullmatch(
                    r"\0+\s*(?:一共|总共|共|总计)?(?:包含|包括|[有是])?\s*",
                    self.text[place : asked.start()],
                )
            )
        }
        self._use(re.compile(r"\bdifferent\b|不同的?"))
        if codes := [at for at in beside if is_code(self.columns[at])]:
            return TableQuery((codes[0],), Operation.COUNT, self.where, subject=self.subject)
        counts_names = any(not _tells_amounts(self.columns[at]) for at in beside)
        over = [
            at for at in self.named if _tells_amounts(self.columns[at]) and at not in self.bound
        ]
        if not counts_names and over:
            return self._summed(over[0], is_asked=over[0] in beside) or self._look_up()
        if self._has(grammar.group):
            return self._count_groups()
        distinct = self.subject if self.subject in beside else None
        telling = distinct is not None or any(not self._names_row(one) for one in self.where)
        if not (self._has(grammar.rows) or telling):
            return None
        select = () if distinct is None else (distinct,)
        return TableQuery(select, Operation.COUNT, self.where, subject=self.subject)

    def _count_groups(self) -> TableQuery | None:
        """Return rows, or what another column names, for each value of a column: "how many parts per supplier"."""
        words = self._named_of(ValueKind.TEXT)
        others = [at for at in words if at != self.group]
        if self.group not in words or len(others) > 1 or not self._repeats(self.group):
            return None
        self._use(self.grammar.group)
        return TableQuery(
            tuple(others), Operation.COUNT, self.where, self.group, subject=self.group
        )

    def _how_much(self) -> TableQuery | None:
        """Return the sum of a column of which a question asks how much it is: "how much was spent?"."""
        amounts = self._free_numbers()
        if len(amounts) != 1 or not self._has(self.grammar.how_much):
            return None
        return self._summed(amounts[0], is_asked=True)

    def _summed(self, column: int, *, is_asked: bool) -> TableQuery | None:
        """Return what a column of amounts adds up to over several rows; over all only where nothing else is said."""
        one = self.columns[column]
        amounts = is_amount(one) if is_asked else is_surely_amount(one)
        several = any(not c.bounds and not self._names_row(c) for c in self.where)
        if self._has(self.grammar.group) or not amounts or (self.where and not several):
            return None
        self._use(re.compile(r"\bhow much\b"))
        return TableQuery((column,), Operation.SUM, self.where, subject=self.subject)

    # Cells.

    def _distinct(self) -> TableQuery | None:
        """Return all values of a column of words, where a question asks for them and for nothing else."""
        if self.where or not self.named or not self.grammar.distinct.fullmatch(self.text.strip()):
            return None
        column = self.columns[self.named[-1]]
        self._use(re.compile(r"\b(?:different|list|show|exist)\b|[分含]|不同"))
        if column.kind is not ValueKind.TEXT:
            return None
        return TableQuery((column.index,), Operation.DISTINCT, subject=column.index)

    def _look_up(self) -> TableQuery | None:
        """Return single values of the rows that are named; or, with a bound alone or "which ones", which rows these are."""
        if not self.where:
            return None
        self._use(re.compile(r"\bhow much\b"))
        subject = self.subject
        asked = [at for at in self.named if at not in self.bound]
        kinds = ((self.grammar.who, ValueKind.TEXT), (self.grammar.when, ValueKind.DATE))
        kind = next((kind for form, kind in kinds if self._has(form)), None)
        if asked and kind:
            asked = [at for at in asked if self.columns[at].kind is kind]
            if not asked:  # "who approved the budget?"
                return None
        if not asked and subject is not None:
            bounded = any(one.bounds for one in self.where)
            asked = [subject] * (bounded or self.is_list)
        if not asked and kind is None:
            asked = [at for at in self._only_number() if at not in self.bound]
        if not asked:
            return None
        denied = tuple(replace(one, of=asked[0]) if one.denied else one for one in self.where)
        if any(one.denied for one in denied) and not self.is_list:
            return None
        alike = {plain_name(self.columns[at].name) for at in self.bound}
        also = [
            at
            for at in dict.fromkeys(asked[1:])
            if at not in (asked[0], subject) and plain_name(self.columns[at].name) not in alike
        ]
        self.used = frozenset(asked)
        return TableQuery((asked[0], *also), None, denied, subject=subject)


def _first_of(condition: Condition) -> tuple[int, bool]:
    return condition.column, condition.bounds


def _turned(operation: Operation) -> Operation:
    return Operation.MIN if operation is Operation.MAX else Operation.MAX


def _number_of(word: str) -> int:
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    if word in CARDINALS:
        return CARDINALS.index(word)
    if word in CHINESE_DIGITS:
        return CHINESE_DIGITS.index(word)
    return 2 if word in "两兩" else int(word)


def _tells_amounts(column: Column) -> bool:
    """Return whether most of a column's cells begin with a number, be it "12, pro rata"."""
    filled = [text for value in column.values if (text := value.text.strip())]
    amounts = sum(_AMOUNT.match(text) is not None for text in filled)
    return column.kind is ValueKind.NUMBER or 2 * amounts > len(filled)
