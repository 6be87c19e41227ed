"""Link a question to a table: which of its words name columns, and which name values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise, product

from sextant.tables.cells.table import Column, DataTable, find_tick
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.columns import find_by_kind, find_other_currencies, find_related
from sextant.tables.query.tokens import (
    COLUMN,
    MAX_NAME_CHARS,
    NUMBER,
    VALUE,
    WORD,
    WORDS,
    Question,
    QuestionToken,
    collect_kinds,
    find_all,
)
from sextant.text.analysis import marks_in
from sextant.text.characters import IDEOGRAPHS, find_whole, has_cjk, plain_of, simplify
from sextant.text.segmenter import words_of
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from sextant.text.word_forms import other_names, synonym_patterns, translate_words

_UNIT = re.compile(r"[(（\[【].{0,200}?[)）\]】]")
_PARTS = re.compile(rf"[a-z][a-z0-9]{{2,}}|[{IDEOGRAPHS}]+")
_WHETHER = re.compile(r"^(?:是否(?:已经?)?|is |has |was )|\?$")  # is it: of a column of yes and no
_MIN_DENIED_CHARS = 4  # of a name that "un" denies: unpaid
_MIN_CHARS = 3  # shorter Latin values (`A`, `B2`) must be written as in the table
_NOT_YET = ("未", "没", "没有", "还没", "还没有", "还未", "尚未")
_ORDERS = frozenset(
    ["max", "min", "sum", "mean", "share", "apart", ">", "<", ">=", "<=", "negative", "positive"]
)
_EXTREMES = {"max", "min"}  # "Min stock" is no stock
_OPEN = frozenset(
    {WORD, *["filler", "suffix", "with", "cost", "more", "how_much", "exist", "greater", "less"]}
)
_Values = dict[tuple[str, int], set[str]]
"""(Value in plain spelling, column) → its spellings in the table."""


def plain_name(name: str) -> str:
    """Return a column's name in plain spelling, without its unit."""
    return " ".join(_UNIT.sub("", plain_of(name)).replace("_", " ").split())[:MAX_NAME_CHARS]


def names_column(question: str, name: str) -> bool:
    """Return whether a question names a column, by a part of its name or a synonym."""
    text, column = plain_of(question), plain_of(name)
    return (
        find_whole(text, plain_name(name)) is not None
        or bool(_common(column, text))
        or any(pattern.search(column) for pattern in synonym_patterns(question).values())
        or find_by_kind(text, [Column(0, name, ValueKind.NUMBER, ())]) != []
    )


class Linker:
    """Links the names of one table in one question.

    Attributes:
        hidden: columns in another currency than the question's.
        written: column → spellings of the values that are named.
        ticked: columns of yes and no whose name is used as a value.
        is_unsure: a value may be of several columns.
    """

    def __init__(self, question: str, table: DataTable, parsed: Question) -> None:
        self._question, self._table, self._parsed = question, table, parsed
        self.hidden = find_other_currencies(table.columns, parsed.text)
        self._columns = [one for one in table.columns if one.index not in self.hidden]
        self.written = defaultdict[int, set[str]](set)
        self.ticked = set[int]()
        self.is_unsure = False

    def link(self) -> None:
        """Link whole names, the longest first; then names by their words, by a part, and by related words."""
        names = [(plain_name(one.name), one.index) for one in self._columns]
        called = list(names)
        for whole, at in names:  # other names do not count where they ask for a computation
            others = (one for one in other_names(whole) if _ORDERS.isdisjoint(_meanings_of(one)))
            called += [(name, at) for name in others]
        self._link_whole(called, self._values(called))
        self._link_scattered(names)
        if not self._named() or self._lacks_number():
            self._link_part(names if not self._named() else self._numeric_names())

        parsed, named = self._parsed, set(self._named())
        kinds = collect_kinds(parsed.text)
        columns = [one for one in self._columns if self._may_shorten(one.name)]
        found = [((sign.start, sign.end), at) for sign, at in self._grouping_signs()]
        kind = ValueKind.TEXT if "who" in kinds else ValueKind.NUMBER
        taken = [one for one in parsed.tokens() if one.kind not in _OPEN]
        found += find_related(Question(parsed.text, names=taken).free, columns, named, kind)
        for (start, end), index in found:
            if all(one.end <= start or end <= one.start for one in parsed.names):
                parsed.link(COLUMN, start, end, index)

    def _named(self) -> list[int]:
        return [one.column for one in self._parsed.names if one.kind == COLUMN]

    def _values(self, called: Sequence[tuple[str, int]]) -> _Values:
        """Return the values of columns of words, with translations and negated states."""
        values, table = _Values(), self._table
        for column in table.columns:
            is_read = column.kind is ValueKind.TEXT and not column.stands_for_blanks
            for row in table.records if is_read else ():
                value = row[column.index].strip()
                values.setdefault((plain_of(value), column.index), set()).add(value)
        for word, meant in translate_words(self._question).items():
            for key in product(meant, range(table.width)):
                if key in values:
                    values.setdefault((word, key[1]), set()).update(values[key])
        denied = {} if self._asks_whether() else self._add_ticks(values, called)
        return {**denied, **values}

    def _asks_whether(self) -> bool:
        """Return whether the question asks if something is so: "has Otto paid?", 付款了吗."""
        return any(
            (one.start == 0 and one.kind in {"whether", "with"})
            or (one.kind == "whether" and not one.text.isascii())
            for one in self._parsed.tokens()
        )

    def _add_ticks(self, values: _Values, called: Sequence[tuple[str, int]]) -> _Values:
        """Make the name of a column of yes and no a value of it: "which fields are required?".

        Return the names that deny it: "unpaid".
        """
        denied, columns = _Values(), defaultdict[int, dict[str, set[str]]](dict)
        for (plain, at), written in values.items():
            columns[at][plain] = written
        for whole, at in called:
            name, spellings = _WHETHER.sub("", whole), columns[at]
            if tick := find_tick(spellings):
                values[name, at] = tick
                # Not "IT", of which "unit" is no denial.
                negations = (
                    _NOT_YET if has_cjk(name) else ("un",) * (len(name) >= _MIN_DENIED_CHARS)
                )
                others = set[str]().union(*spellings.values()) - tick
                denied |= {(f"{word}{name}", at): others for word in negations}
                self.ticked |= {at} if "" in spellings else set()
        return denied

    def _link_whole(self, called: Sequence[tuple[str, int]], values: _Values) -> None:
        parsed, table = self._parsed, self._table
        offered = [(*one, True) for one in called if one[0] and one not in values]
        offered += [(*one, False) for one in sorted(values)]
        free = parsed.free
        for text, index, is_column in sorted(offered, key=lambda one: -len(one[0])):
            if is_column:
                if span := find_whole(free, text):
                    parsed.link(COLUMN, *span, index)
                    free = parsed.free
                continue
            if text[:1] not in free:  # a cheap test for large tables
                continue
            written = values[text, index]
            name = table.names[index]
            spellings = {text, *written, *([name] if plain_name(name) == text else ())}
            span = _find_value(free, self._question, spellings) or _find_ideograph(
                free, self._question, text, name
            )
            if span:
                # "Graz", from where or to where?
                self.is_unsure |= sum((text, at) in values for at in range(table.width)) > 1
                self.written[index].update(written)
                parsed.link(VALUE, *span, index)
                free = parsed.free

    def _numeric_names(self) -> list[tuple[str, int]]:
        numeric = (one for one in self._columns if one.kind is ValueKind.NUMBER)
        return [(plain_of(one.name)[:MAX_NAME_CHARS], one.index) for one in numeric]

    def _lacks_number(self) -> bool:
        """Return whether a question compares numbers but names no column of them: "which models cost over 300 EUR?"."""
        kinds = {one.kind for one in self._parsed.tokens()}
        is_about = bool(kinds & _ORDERS) or {"greater", "than", NUMBER} <= kinds
        columns = self._table.columns
        return is_about and all(columns[at].kind is not ValueKind.NUMBER for at in self._named())

    def _link_scattered(self, names: Sequence[tuple[str, int]]) -> None:
        """Link the one column whose words are all in the question, in any order.

        "Which region had the highest revenue in the second half?" names "Second half Revenue".
        """
        free = self._parsed.free
        spans = {at: [find_whole(free, word) for word in name.split()] for name, at in names}
        whole = {at: found for at, found in spans.items() if len(found) > 1 and all(found)}
        most = max(map(len, whole.values()), default=0)
        chosen = [at for at, found in whole.items() if len(found) == most]
        if len(chosen) == 1:
            for span in dict.fromkeys(filter(None, whole[chosen[0]])):
                self._parsed.link(COLUMN, *span, chosen[0])

    def _link_part(self, names: Sequence[tuple[str, int]]) -> None:
        """Link the one column that shares the longest part with the question: 季度销量 for 销量, `unit price` for `price`."""
        free = self._parsed.free
        parts = [
            (len(part), part, index)
            for name, index in names
            if self._may_shorten(name) and (part := _common(name, free))
        ]
        shared = sorted(parts, reverse=True)
        if shared and (len(shared) == 1 or shared[0][0] > shared[1][0]):
            start = free.find(shared[0][1])
            span = find_whole(free, shared[0][1]) or (start, start + shared[0][0])
            self._parsed.link(COLUMN, *span, shared[0][2])

    def _may_shorten(self, name: str) -> bool:
        """Return whether the question may leave out words of a name: "stock" is not "Min stock", but "First half"."""
        kinds = {one.kind for one in Question(plain_of(name)).tokens() if one.sense != "time"}
        return kinds & _EXTREMES <= collect_kinds(self._parsed.text)

    def _grouping_signs(self) -> Iterator[tuple[QuestionToken, int]]:
        """Yield an ideograph behind "each" with the only column of words whose name has it: 每类 for 类别."""
        for each, sign in pairwise(self._parsed.tokens()):
            if each.kind == "each" and len(sign.text) == 1 and has_cjk(sign.text):
                words = (one for one in self._columns if one.kind is ValueKind.TEXT)
                meant = [one.index for one in words if sign.text in simplify(one.name)]
                yield from ((sign, at) for at in meant if len(meant) == 1)


def is_list(tokens: Sequence[QuestionToken]) -> bool:
    """Return whether a question asks for all rows that meet a condition: "list …", "which parts …", 哪些."""
    plural = (
        one.kind == "which"
        and other.kind in {WORD, COLUMN, "filler", "rows"}
        and other.text[-1:] == "s"
        and other.text[-2:-1] not in {"s", "i", "u"}
        for one, other in pairwise(tokens)
    )
    denied = any(find_all(tokens, "who whether? not"))
    return denied or any(one.kind == "list" for one in tokens) or any(plural)


def _common(name: str, text: str) -> str:
    """Return the longest part of a name that is in the text: a Latin word, or at least two ideographs."""
    found = ""
    for part in _PARTS.findall(name) if len(name) <= MAX_NAME_CHARS else ():
        if has_cjk(part):
            match = SequenceMatcher(None, part, text, autojunk=False).find_longest_match()
            shared = part[match.a : match.a + match.size][: len(name) - 1]
            shared = shared if len(shared) > 1 else ""
        else:
            shared = part if find_whole(text, part) else ""
        found = max(found, shared, key=len)
    return found


def _find_value(text: str, question: str, values: Collection[str]) -> tuple[int, int] | None:
    """Return the span of a value in the text, in one of its spellings."""
    return next((span for one in values if (span := _find_spelling(text, question, one))), None)


def _find_spelling(text: str, question: str, value: str) -> tuple[int, int] | None:
    """Return the span of one spelling of a value; a short value or a common word must be written as in the table."""
    if not any(map(str.isalnum, value)) or value.isdigit() or (len(value) == 1 and has_cjk(value)):
        return None
    if len(value) < _MIN_CHARS and value.isascii() and not find_whole(question, value):
        return None
    if value.lower() in ENGLISH_STOP_WORDS and value not in marks_in(question):
        return _find_capitals(text, question, value)
    found = find_whole(text, plain_of(value))
    # "how high", 多长
    asks_how = found and text[: found[0]].rstrip().endswith(("how", "多"))
    return None if asks_how else found


def _find_capitals(text: str, question: str, value: str) -> tuple[int, int] | None:
    """Return the span of a stop word that is a name by its capitals: IT, US, A; not in "NO stock"."""
    found = find_whole(question, value) if value.isupper() and value != "I" else None
    if not found or text[slice(*found)] != value.lower():
        return None
    return None if text[found[1] :].lstrip().startswith("\0") and value == "NO" else found


def _find_ideograph(text: str, question: str, value: str, name: str) -> tuple[int, int] | None:
    """Return the span of a value of one ideograph that is a word: 甲, 甲级, 女员工; not in 最高 or 大学生."""
    if len(value) != 1 or not has_cjk(value) or value in CHINESE_STOP_WORDS:
        return None
    at = 0
    for word in words_of(plain_of(question)):
        behind = word[1:]
        is_kind = behind in plain_of(name) or set(_meanings_of(behind)) & {"suffix", "filler"}
        if word.startswith(value) and text[at : at + 1] == value and (not behind or is_kind):
            return at, at + 1
        at += len(word)
    return None


def _meanings_of(text: str) -> set[str]:
    """Return the kinds of a text that is one entry of the lists."""
    found = list(WORDS.find(text))
    whole = len(found) == 1 and found[0][0] == (0, len(text))
    return {kind for kind, _ in found[0][1]} if whole else set()
