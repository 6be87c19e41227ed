"""What passages say, cut into the smallest parts that speak of one thing: clauses, and cells of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.attached import is_table
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, headings
from sextant.text.characters import IDEOGRAPHS, plain_of
from sextant.text.identifiers import spelling_of
from sextant.text.other_words import name_synonyms
from sextant.text.segmenter import cut_tagged_words, words_of
from sextant.text.sentences import sentence_spans
from sextant.text.stopwords import (
    CHINESE_STOP_WORDS,
    ENGLISH_STOP_WORDS,
    without_question_words,
)
from sextant.text.values import (
    ORDINAL,
    WEEKDAY,
    TextValue,
    normalise_values,
    rates_in,
    unit_of_heading,
)

CODE = re.compile(r"(?<![a-z0-9])(?=[a-z.-]*\d)[a-z]+(?:[-.]?[a-z0-9]+)*(?![a-z0-9])")
# KITE-L, SRV-GOLD: names without a digit.
_CAPITAL_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2,}(?:-[A-Z0-9]+)+(?![A-Za-z0-9])")
# D区, B座: a letter tells places of one kind apart.
_LETTERED = re.compile(rf"(?<![a-z0-9])[a-z](?![的是为和与或在有])[{IDEOGRAPHS}]")
_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}]+(?:['’][a-z]+)?")
_HAN_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_ACCENTS = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüçñőű", "aaaaaaeeeeiiiiooooouuuucnou")
# What speaks of the answer or its sources, not of the world.
_FILLER_EN_WORDS = """
answer according passage document text source state mention provide describe follow include list note
information question based context overall respectively specifically currently able also need must required
per least most go went gone take taken come came down
"""
_FILLER_EN = frozenset(_FILLER_EN_WORDS.split())
_FILLER_ZH_WORDS = """
根据 依据 按照 文档 文件 资料 段落 内容 原文 提到 规定 说明 指出 如下 以下 包括 包含 分别 具体 总共
一共 共有 即为 也就是 即 答案 问题 需要 必须 应当 可以 能够 通常 一般 目前 情况 进行 属于 主要 分为
每个 所有 各个 不 没 无 未 去 来 做 用 上 下 中 内 外 不可以 不可 不能 不行 不会 不得 不是 没有
不要 时 者 约 达 含 共 每 各 均 再 已 由 至 起 后 前 最 多 少 大 小 高 低 长 其 某 该 所
已经 为了 之后 之前 以后 以前 期间 其中 得 按 型 一次 次 一下 须 需 应 宜 配有 设有 日
"""
_FILLER_ZH = frozenset(_FILLER_ZH_WORDS.split())
# The segmenter joins what points back with the next word.
_POINTING = re.compile("^[它他她其该這这那此每各](?=.)")
_CLAUSE = re.compile(
    r"[，;；：]|,(?!\d)|:(?!\d)|\s(?=(?:and|but|while|whereas|or) )|(?<=[\u4e00-\u9fff])(?:而|且|但)(?=[\u4e00-\u9fff])"
)
_MARKED = re.compile(
    r"[，;；：]|,(?!\d)|:(?!\d)|\s(?=(?:but|while|whereas) )|(?<=[\u4e00-\u9fff])(?:而|但)(?=[\u4e00-\u9fff])"
)
_LISTED = re.compile("、")
# 二级: behind a number that is a name.
_GRADES = {"级", "档", "审", "期"}
_STATEMENT = re.compile(r"[；;]|,\s(?=(?:and|but|while|whereas) )")
_ROW = re.compile(r"\s*\|")
_RULE_ROW = re.compile(r"[\s|:-]+")
_ENDED = re.compile(r"[。！？.!?…:：;；][\"'”’」』）)\]]*\Z")
_OPENS = re.compile(r"\s*(?:[-*+•·#|>]|\d{1,2}[.)、：]|[A-Z]\d\s|\d\d:\d\d\s)")
_LEADS_IN = re.compile(r"[:：]\W*\Z")
_WRAPPED_CHARS = 40
_SHORT_CELL = 40


def without_accents(plain: str) -> str:
    """Return a text in which é is e, at the same places."""
    return plain.translate(_ACCENTS)


@lru_cache(maxsize=1024)
def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text without its numbers: stems, codes, pairs of ideographs; each once, in order."""
    plain = without_accents(plain_of(text))
    capitals = [code.lower() for code in _CAPITAL_CODE.findall(text)]
    codes = [*capitals, *CODE.findall(plain), *_LETTERED.findall(plain)]
    found = normalise_values(text)
    counted = [(one.start, one.end) for one in found if one.value.unit != WEEKDAY]
    plain = CODE.sub(" ", _without(plain, [*counted, *_english_rates(text, plain)]))
    for code in capitals:
        plain = plain.replace(code, " ")
    words = [_stem(word) for word in _WORD.findall(plain) if word not in ENGLISH_STOP_WORDS]
    runs = _HAN_RUN.findall(without_question_words(plain))
    cut = [_POINTING.sub("", word) for run in runs for word in words_of(run)]
    chinese = [word for word in cut if word and _is_content_word(word)]
    words = [word for word in words if len(word) > 1 and word not in _FILLER_EN]
    return tuple(dict.fromkeys([*codes, *words, *chinese]))


def _english_rates(text: str, plain: str) -> list[tuple[int, int]]:
    """Return where "a year" and the like stand; 每年 is a word of its own, as 每次 is."""
    return [(start, end) for start, end in rates_in(text) if plain[start:end].isascii()]


def is_filler(word: str) -> bool:
    """Return whether a Chinese word speaks of the answer or its sources, or tells little by itself: 型, 每."""
    return word in _FILLER_ZH


def _is_content_word(word: str) -> bool:
    return word not in CHINESE_STOP_WORDS and word not in _FILLER_ZH


def _without(plain: str, spans: Iterable[tuple[int, int]]) -> str:
    signs = list(plain)
    for start, end in spans:
        signs[start:end] = " " * (end - start)
    return "".join(signs)


def _stem(word: str) -> str:
    return stem(american(word.partition("'")[0].partition("’")[0]))


_CAPITALISED = re.compile(r"(?<=\s)[A-ZÀ-Ž][A-Za-zÀ-ž-]+")
_OPENS_A_SENTENCE = re.compile(r"(?:\A|[.!?:：]\s)\W*\Z")
_OF_NAMES = ("nr", "ns", "nt", "nz")


@lru_cache(maxsize=1024)
def names_in(text: str) -> frozenset[str]:
    """Return the terms of a text that name a person, a place, an organisation."""
    english = [
        found[0]
        for found in _CAPITALISED.finditer(text)
        if not _OPENS_A_SENTENCE.search(text, 0, found.start())
    ]
    chinese = [
        word
        for run in _HAN_RUN.findall(plain_of(text))
        for word, tag in cut_tagged_words(run)
        if tag.startswith(_OF_NAMES)
    ]
    return frozenset(term for name in (*english, *chinese) for term in terms_of(name))


def wording_of(text: str) -> list[str]:
    """Return the words of a text in their order, Chinese ones as they are segmented."""
    runs = _WORD_OR_NUMBER.findall(without_accents(plain_of(text)))
    return [word for run in runs for word in ([run] if run.isascii() else words_of(run))]


def is_code(term: str) -> bool:
    """Return whether a term names one thing: E42, BM-40, KITE-L."""
    return "-" in term or any(map(str.isdigit, term)) or _LETTERED.fullmatch(term) is not None


_WORD_OR_NUMBER = re.compile(rf"[^\W_{IDEOGRAPHS}]+|[{IDEOGRAPHS}]+")


def find_counts(text: str) -> list[tuple[TextValue, str]]:
    """Return numbers without a unit, each with the word that names what it counts: 2 and 成人 of 2名成人."""
    plain, found = plain_of(text), normalise_values(text)
    ends = [*(one.start for one in found[1:]), len(plain)]
    counted = [
        (one.value, terms_of(_CLAUSE.split(plain[one.end : end].lstrip())[0]))
        for one, end in zip(found, ends, strict=True)
        if one.value.dimension == ""
    ]
    things = [(value, [term for term in terms if len(term) > 1]) for value, terms in counted]
    return [(value, terms[0]) for value, terms in things if terms]


@lru_cache(maxsize=1024)
def phrases_of(text: str, *, numbered: bool = False) -> frozenset[str]:
    """Return what stands side by side in a text: two words, none of them a stop word.

    Words that tell little by themselves tell things apart where they stand ahead of others: 一般缺陷, severity 2.

    Args:
        text: a question or a statement.
        numbered: whether one of two may be a number.
    """
    plain = without_accents(plain_of(text))
    plain = (
        plain
        if numbered
        else _without(plain, [(one.start, one.end) for one in normalise_values(text)])
    )
    runs = _WORD_OR_NUMBER.findall(without_question_words(plain))
    words = [
        f"{one} {two}"
        for one, two in pairwise(runs)
        if one.isascii()
        and two.isascii()
        and f"{one} {two}" in plain
        and ENGLISH_STOP_WORDS.isdisjoint((one, two))
    ]
    chinese = [
        f"{one}{two}"
        for run in runs
        if not run.isascii()
        for one, two in pairwise(words_of(run))
        if not {one, two} & CHINESE_STOP_WORDS and min(len(one), len(two)) > 1
    ]
    return frozenset((*words, *chinese))


@lru_cache(maxsize=512)
def _spelt(code: str) -> re.Pattern[str]:
    return re.compile(spelling_of(code))


class Text:
    """A text in which terms are looked up."""

    __slots__ = ("_begun", "_words", "plain")

    def __init__(self, text: str) -> None:
        self.plain = without_accents(plain_of(text))
        self._words = {_stem(word) for word in _WORD.findall(self.plain)}
        self._begun = {begun for word in self._words for begun in _beginnings(word)}

    def has(self, term: str) -> float:
        """Return whether the term stands in it: 1; of a longer Chinese word less, by the share of its pairs."""
        if is_code(term):
            return float(_spelt(term).search(self.plain) is not None)
        if term[0].isascii() or term in self._words:
            known = term in self._words
            return 1.0 if known else _OF_KIN * (not self._begun.isdisjoint(_beginnings(term)))
        if term in self.plain:
            return 1.0
        if len(term) < _SHORTEST_IN_PART:
            return 0.0
        share = sum(one + two in self.plain for one, two in pairwise(term)) / (len(term) - 1)
        return share**2 if share >= 0.5 else 0.0


_SHORTEST_IN_PART = 3
# Words that differ in their last two letters at most: pregnant and pregnancy.
_OF_KIN, _LEAST_BEGUN = 0.9, 6


def _beginnings(word: str) -> list[str]:
    return [word[:end] for end in (len(word) - 2, len(word) - 1, len(word)) if end >= _LEAST_BEGUN]


# How much a term says for a part: in itself; ahead of it in its sentence, where the part has a subject of its own or
# none; in its headings; elsewhere in its sentence; in the next ones.
OWN, INHERITED, AHEAD, HEADING, BEHIND, NEAR = 1.0, 0.92, 0.65, 0.7, 0.45, 0.3
# Every row has the names of all columns, and a cell first that of its own.
COLUMNS = 0.75


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """A clause or a cell with what it is said under.

    Attributes:
        passage: the index of its passage.
        span: where its sentence or row stands in the passage's text.
        sentence: the text of that.
        layers: texts by how much a term in them says for this part, most first.
        values: what its numbers say.
        conditions: what else its row or sentence says in numbers, in which a question's numbers may lie.
        is_row: whether it is of a table.
        is_clause: whether it is one of several clauses of a sentence, which is a part, too.
        inherits: whether it has no subject of its own.
        label: the words that name the row and the column, of which a statement should have most.
        row: of a cell the first one of its row.
        column: of a cell the name of its column.
        clauses: of a sentence, between its marks.
        statements: of a sentence, each of one or several clauses.
    """

    passage: int
    span: tuple[int, int]
    sentence: str
    layers: tuple[tuple[float, Text], ...]
    values: tuple[TextValue, ...]
    conditions: tuple[TextValue, ...] = ()
    is_row: bool = False
    is_clause: bool = False
    inherits: bool = False
    label: tuple[str, ...] = ()
    row: str = ""
    column: str = ""
    clauses: tuple[Text, ...] = ()
    statements: tuple[Text, ...] = ()

    @property
    def rates(self) -> frozenset[str]:
        """Return the periods that it counts by: a year, 每月."""
        return frozenset(rates_in(self.layers[0][1].plain).values())

    def speaks_of(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in a clause or before it in its sentence."""
        return self.owns(mark) or any(
            mark in text.plain or text.has(mark) == 1.0
            for level, text in self.layers
            if level == AHEAD
        )

    def owns(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in the part itself, or in what it takes its subject from."""
        own = self.layers[: 2 if self.inherits else 1]
        return any(mark in text.plain or text.has(mark) == 1.0 for _, text in own)

    def is_named_by(self, mark: str) -> bool:
        """Return whether a row, not only its columns, has a term or a phrase."""
        return self.owns(mark) and mark not in self.layers[-1][1].plain

    def level(self, term: str) -> float:
        """Return how much a term says for this part: 0 where it stands nowhere near."""
        return max((level * text.has(term) for level, text in self.layers), default=0.0)

    def level_of(self, pattern: re.Pattern[str]) -> float:
        """Return the same for other words of the same meaning."""
        found = (level for level, text in self.layers if pattern.search(text.plain))
        return next(found, 0.0)


def parts_of(index: int, item: RetrievedItem) -> list[EvidencePart]:
    """Return the parts of a passage; none of a table that came with the question, whose cells are checked by value."""
    if is_table(item):
        return []
    return [*_computed_parts(index, item), *_rows(index, item), *_clauses(index, item)]


def _computed_parts(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield what was computed of the table that a passage is of; it rests on a line of that."""
    told: Sequence[ComputedSentence] = item.metadata.get(COMPUTED) or ()
    offset = int(item.metadata.get("start") or 0)
    for one in told:
        span = (one.start - offset, one.end - offset)
        values = tuple(found.value for found in normalise_values(one.text))
        layers = (
            (OWN, Text(f"{one.text}\n{item.text[slice(*span)]}")),
            (COLUMNS, Text(item.text.partition("\n")[0])),
            (HEADING, _heading_text(item)),
        )
        yield EvidencePart(index, span, one.text, layers, values, values)


def _heading_text(item: RetrievedItem) -> Text:
    return Text(headings(item))


def _clauses(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    above = _heading_text(item)
    spans = [span for span in _sentence_spans(item.text) if not _ROW.match(item.text[slice(*span)])]
    lead = ""
    for at, span in enumerate(spans):
        near = Text(
            " ".join(
                item.text[slice(*spans[place])]
                for place in (at - 1, at + 1)
                if 0 <= place < len(spans)
            )
        )
        sentence = item.text[slice(*span)]
        lead = _lead_of(lead, sentence)
        under = Text(lead if lead != sentence else "")
        yield from _of_sentence(index, span, sentence, (above, near, under))


def _lead_of(lead: str, sentence: str) -> str:
    """Return the lead-in of a list that a sentence is an item of, or is itself; "" for none."""
    if _LEADS_IN.search(sentence):
        return sentence
    return lead if _OPENS.match(sentence) else ""


def _of_sentence(
    index: int, span: tuple[int, int], sentence: str, around: tuple[Text, Text, Text]
) -> Iterator[EvidencePart]:
    """Yield the sentence, and each of its clauses that has a number; both below headings, near others, in a list."""
    above, near, lead = around
    whole = Text(sentence)
    clauses = [piece for clause in cut(_CLAUSE, sentence) for piece in _split_counts(clause)]
    found = [tuple(one.value for one in normalise_values(clause)) for clause in clauses]
    every = tuple(value for some in found for value in some)
    texts = tuple(map(Text, clauses))
    layers = ((OWN, whole), (HEADING, above), (NEAR, near), (INHERITED, lead))
    several = len(clauses) > 1
    statements = tuple(map(Text, cut(_STATEMENT, sentence)))
    yield EvidencePart(
        index,
        span,
        sentence,
        layers,
        () if several else every,
        clauses=tuple(map(Text, cut(_MARKED, sentence))),
        statements=statements,
    )
    if not several:
        return
    ahead = [Text(_ahead_of_value(clause)) for clause in clauses]
    has_subject = [bool(terms_of(text.plain)) for text in ahead]
    for place, values in enumerate(found):
        if not values:
            continue
        # A clause that begins with its number has the subject of the nearest one that has one.
        named = next((at for at in range(place - 1, -1, -1) if has_subject[at]), None)
        inherits = not has_subject[place] and named is not None
        of_clause = (
            (OWN, texts[place]),
            (INHERITED if inherits else 0.0, ahead[named or 0]),
            (AHEAD, Text(" ".join(text.plain for text in ahead[:place]))),
            (HEADING, above),
            (BEHIND, whole),
            (NEAR, near),
            (INHERITED, lead),
        )
        yield EvidencePart(
            index, span, sentence, of_clause, values, every, is_clause=True, inherits=inherits
        )


def cut(separator: re.Pattern[str], text: str) -> list[str]:
    """Return the pieces of a text, each up to and with its separator."""
    edges = [0, *(match.end() for match in separator.finditer(text)), len(text)]
    return [text[one:two] for one, two in pairwise(edges) if text[one:two].strip()]


def _split_counts(clause: str) -> list[str]:
    """Return a list whose every item has a number is that many clauses: 干粉灭火器36具、二氧化碳灭火器8具."""
    pieces = cut(_LISTED, clause)
    return pieces if all(map(_numbers_in, pieces)) else [clause]


def _numbers_in(text: str) -> list[TextValue]:
    return [one.value for one in normalise_values(text) if one.value.unit != WEEKDAY]


def _ahead_of_value(clause: str) -> str:
    """Return what a clause says before its first number, no label: the next one may leave out that much."""
    plain = plain_of(clause)
    found = [
        one.start
        for one in normalise_values(clause)
        if one.value.unit != ORDINAL and plain[one.end : one.end + 1] not in _GRADES
    ]
    return plain[: found[0]] if found else clause


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; lines of a text that was broken to a width are one."""
    joined = list[tuple[int, int]]()
    for start, end in sentence_spans(text):
        if joined and _is_wrapped(text, joined[-1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _is_wrapped(text: str, before: tuple[int, int], start: int) -> bool:
    line = text[before[0] : before[1]].rpartition("\n")[2]
    between = text[before[1] : start]
    return (
        between.strip(" ") == "\n"
        and len(line) >= _WRAPPED_CHARS
        and not _ENDED.search(line)
        and not _OPENS.match(text[start : start + 8])
        and not _ROW.match(line)
    )


def _rows(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    lines = list(_lines(item.text))
    rows = [(span, _cells(line)) for span, line in lines if _ROW.match(line)]
    if not rows:
        return
    rows = [
        (span, cells) for span, cells in rows if not all(map(_RULE_ROW.fullmatch, cells or [" "]))
    ]
    context = str(item.metadata.get("context") or "")
    head, body = _head(context, rows, item.text)
    caption = " ".join(
        line for _, line in _lines(f"{context}\n{item.text}") if not _ROW.match(line)
    )
    above, heads = Text(f"{headings(item)} {caption}"), Text(" ".join(head))
    units = [unit_of_heading(name) for name in head]
    columns = _Columns(head, units, heads, above)
    for span, cells in body:
        yield from _cells_of_row(index, span, item.text[slice(*span)], cells, columns)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of a table's columns, the units that these give, and what stands above the table."""

    names: Sequence[str]
    units: Sequence[str]
    all_names: Text
    above: Text


def _cells_of_row(
    index: int,
    span: tuple[int, int],
    line: str,
    cells: Sequence[str],
    columns: _Columns,
) -> Iterator[EvidencePart]:
    head, of_columns = columns.names, columns.units
    of_row = unit_of_heading(cells[0]) if not normalise_values(cells[0]) else ""
    units = [
        (of_columns[at] if at < len(of_columns) else "") or (of_row if at else "")
        for at in range(len(cells))
    ]
    values = [_values_in(cell, unit) for cell, unit in zip(cells, units, strict=True)]
    every = tuple(value for some in values for value in some)
    words = [cell for cell, some in zip(cells, values, strict=True) if not some or at_words(cell)]
    for at, cell in enumerate(cells):
        if not cell.strip():
            continue
        name = head[at] if at < len(head) else ""
        around = (
            (HEADING, columns.above),
            (BEHIND, Text(" ".join(cells))),
            (COLUMNS, columns.all_names),
        )
        label = terms_of(" ".join([*(word for word in words if len(word) < _SHORT_CELL), name]))
        conditions = (*every, *(one.value for one in normalise_values(name)))
        clauses = [clause for clause in cut(_CLAUSE, cell) if _numbers_in(clause)]
        several = clauses if len(clauses) > 1 else []
        whole = EvidencePart(
            index,
            span,
            line,
            ((OWN, Text(" ".join([*words, cell, name]))), *around),
            () if several else values[at],
            conditions,
            is_row=True,
            label=label,
            row=cells[0],
            column=name,
        )
        yield whole
        named = [*(word for word in words if word is not cell), name]
        for clause in several:
            layers = ((OWN, Text(" ".join([*named, clause]))), *around)
            said = _values_in(clause, units[at])
            yield replace(whole, layers=layers, values=said, is_clause=True)


def _values_in(cell: str, unit: str) -> tuple[TextValue, ...]:
    return tuple(_with_unit(one.value, unit) for one in normalise_values(cell))


def at_words(cell: str) -> bool:
    """Return whether a cell says something beside its numbers."""
    return len(terms_of(cell)) > 1


def _with_unit(value: TextValue, unit: str) -> TextValue:
    if value.unit or not unit:
        return value
    number = value.number / 100 if unit == "share" else value.number
    return TextValue(number, unit, value.bound, value.date)


def _lines(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield (start + len(line) - len(line.lstrip()), start + len(line.rstrip())), line
        start += len(line) + 1


def _cells(line: str) -> list[str]:
    return [
        cell.strip()
        for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    ]


def _head(
    context: str, rows: Sequence[tuple[tuple[int, int], list[str]]], text: str
) -> tuple[list[str], Sequence[tuple[tuple[int, int], list[str]]]]:
    """Return the names of the columns, and the rows below them."""
    above = [_cells(line) for _, line in _lines(context) if _ROW.match(line)]
    if above:
        return above[0], rows
    ruled = len(text.split("\n")) > 1 and re.search(r"^\s*\|?[\s:|-]*-{3}", text, re.MULTILINE)
    return (rows[0][1], rows[1:]) if ruled and len(rows) > 1 else ([], rows)


def other_words(text: str) -> list[tuple[frozenset[str], re.Pattern[str]]]:
    """Return sets of terms that may stand in other words, in either language, and where they do."""
    return [
        (frozenset(terms), pattern)
        for word, pattern in name_synonyms(text)
        if (terms := terms_of(word))
    ]


def all_parts(items: Sequence[RetrievedItem], withheld: Collection[int] = ()) -> list[EvidencePart]:
    """Return the parts of all passages that may be cited."""
    return [
        part
        for index, item in enumerate(items)
        if index not in withheld
        for part in parts_of(index, item)
    ]
