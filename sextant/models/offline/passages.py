"""Read a passage: what can be quoted of it, the names above it, and its tables; word rows and fields for a reader."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.wording import WORD, strip_targets
from sextant.tables.cells.stored import cells_of
from sextant.text.characters import IDEOGRAPHS, has_cjk, language_of, normalise
from sextant.text.sentences import is_ended, sentence_spans

Span = tuple[int, int, int]
"""The index of a passage among others, and where in it something begins and ends."""

FENCE = "```"  # begins and ends code, and says nothing
_CLAUSE_END = re.compile(r"[;；]\s*")
# A list item's number, in either language.
NUMBERED = r"\d{1,3}(?:[)、．]|\.(?![\da-z]))\s*|[(（]?[一二三四五六七八九十]{1,3}[)）、]\s*"
# The marks of a list item, heading, quotation or table that a line begins with.
# The 4 of "4.2 adds …" and of "4.x" is none.
_LINE_MARK = re.compile(rf"(?:[#>*•·|-]+\s+|{NUMBERED})+")
# "回答：…" and "Answer: …" need not say that they answer.
_ANSWER = re.compile(r"(?:A(?:nswer)?|回?答[案复覆]?|解答)\d{0,3}[:：]\s*")
# The key of a record ("answer: Within 8 hours", "price_eur: 52").
_KEY = re.compile(r"(?P<key>[a-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*):[ \t]+(?=\S)")
# The end of a field on a line of several: "title: Prices; owner: Ann".
_FIELD_END = re.compile(rf";[ \t]+(?={_KEY.pattern.replace('?P<key>', '?:')})")
_PARTS_OF_KEY = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_WORDS_OF_VALUE = re.compile(rf"[{IDEOGRAPHS}]|[^\W\d_]+")
# A value of this many words, or twice as many ideographs, says enough without its key.
_STATEMENT_WORDS = 3
_TABLE_HEAD = re.compile(r"^\|.*(?=\n\|[ :|-]+$)", re.MULTILINE)
# "(#1596)" refers to something, and says nothing.
_REFERENCE = re.compile(r"[(（\[][\W\d_]*[)）\]]")
# Bars and white space at the end of a row.
_AROUND_BARS = "| \t\r\n\u3000"
_MOST_LINES = 6  # of code that is offered as one
# A sentence longer than this is offered clause by clause, so that quotes stay short.
_LONG = 160


def quotable_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of what can be quoted of `text`: sentences with a word, rows, clauses of long sentences.

    Lines of code are grouped by `_cut_code`.
    """
    in_code, lines = False, list[tuple[int, int]]()
    for start, end in [*sentence_spans(text), (len(text), len(text))]:
        is_fence = text.startswith(FENCE, start)
        if lines and (is_fence or start == end or text.count("\n", lines[-1][1], start) > 1):
            yield from _cut_code(text, lines)
            lines.clear()
        if is_fence:
            in_code = not in_code
        elif in_code:
            lines.append((start, end))
        else:
            yield from _read_sentence(text, start, end)


def _cut_code(text: str, lines: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield lines of code that stand together; of more than `_MOST_LINES` each by itself."""
    whole = (lines[0][0], lines[-1][1])
    for start, end in [whole] if len(lines) <= _MOST_LINES else lines:
        if WORD.search(text, start, end):
            yield start, end


def _read_sentence(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence or row without its marks, its clauses if it is long, or the fields of a record's line."""
    mark = _LINE_MARK.match(text, start, end)
    begin = mark.end() if mark else start
    if label := _ANSWER.match(text, begin, end):
        begin = label.end()
    if not mark and _KEY.match(text, begin, end):
        yield from _read_fields(text, begin, end)
        return
    if end - begin > _LONG and not text.startswith("|", start):  # a row says it as a whole
        for stop in _CLAUSE_END.finditer(text, begin, end):
            if WORD.search(text, begin, stop.start()):
                yield begin, stop.start() + 1
            begin = stop.end()
    last = begin + len(text[begin:end].rstrip(_AROUND_BARS))
    said = strip_targets(text[begin:last])
    if WORD.search(said) and not _REFERENCE.fullmatch(said):
        yield begin, last


def _read_fields(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the fields of a record's line, each without its key where the value says enough."""
    gaps = list(_FIELD_END.finditer(text, start, end))
    begins = [start, *(gap.end() for gap in gaps)]
    for begin, stop in zip(begins, [*(gap.start() for gap in gaps), end], strict=True):
        key, value = _read_field(text[begin:stop])
        first = begin if key else stop - len(value)
        yield first, first + len(text[first:stop].rstrip())


def _read_field(line: str) -> tuple[str, str]:
    """Return a record's line as its key in plain words, "price eur" of "price_eur: 52", and its value.

    The key is "" for any other line, and where the value says enough by itself.
    """
    found = _KEY.match(line)
    value = line[found.end() :] if found else line
    words = _WORDS_OF_VALUE.findall(value)
    least = _STATEMENT_WORDS * (2 if has_cjk(value) else 1)
    if found is None or is_ended(line) or len(words) >= least:
        return "", value
    return " ".join(_PARTS_OF_KEY.findall(found["key"])).lower(), value


def find_key(line: str) -> str:
    """Return the key of a record's line in plain words; "" of any other line, and where the value says enough by itself."""
    return _read_field(line)[0]


def describe_fields(line: str) -> str:
    """Return a record's line as a reader expects it: "Price eur: 52", or the value alone where it says enough."""
    fields = map(_read_field, _FIELD_END.split(line) if _KEY.match(line) else [line])
    return "; ".join(f"{key.capitalize()}: {value}" if key else value for key, value in fields)


def read_document_texts(passages: Sequence[RetrievedItem]) -> list[str]:
    """For each passage, all that was found of its document: headings, context and text, normalised."""
    documents = defaultdict[str, str](str)
    for passage in passages:
        documents[document_of(passage)] += read_full_text(passage)
    return [documents[document_of(passage)] for passage in passages]


def document_of(passage: RetrievedItem) -> str:
    """Return the id of the passage's document; of a passage without one its own."""
    return passage.document_id or passage.id


def read_full_text(passage: RetrievedItem) -> str:
    """Return what a passage says with its headings and context, normalised."""
    context = passage.metadata.get("context") or ""
    return normalise(f"{names_above(passage)} {context} {passage.text}\n")


def titles_above(passage: RetrievedItem) -> str:
    """Return the titles of the passage itself and of the sections it stands in."""
    path = passage.metadata.get("section_path") or ()
    titles = [passage.metadata.get("title"), *path]
    return " ".join(f"{strip_targets(part)} " for part in titles if part)


def section_of(passage: RetrievedItem) -> str:
    """Return the title of the section that the passage stands in; "" for none."""
    path: Sequence[str] = passage.metadata.get("section_path") or ("",)
    return strip_targets(path[-1])


def names_above(passage: RetrievedItem) -> str:
    """Return the names of the passage's document and of the sections it stands in."""
    return f"{names_of_document(passage)} {titles_above(passage)}"


def names_of_document(passage: RetrievedItem) -> str:
    """Return the names of the passage's document in one text: its title, and its file's without the extension."""
    file = str(passage.metadata.get("filename") or "").rpartition(".")[0]
    return f"{passage.metadata.get('document_title') or ''} {file}"


def is_row(text: str) -> bool:
    """Return whether a text is a row of a table, by the bars between its cells."""
    return "|" in text and not text.startswith(FENCE)


def table_heads(passage: RetrievedItem) -> list[str]:
    """Return the head rows of tables in the passage, or of the table whose later rows it holds."""
    return heads_in(f"{passage.metadata.get('context') or ''}\n{passage.text}")


def heads_in(text: str) -> list[str]:
    """Return the head rows of the tables that begin in `text`."""
    return _TABLE_HEAD.findall(text)


_HEAD_RULE = re.compile(r"^\|[ :|-]+$")

# Between the name and its cell, and between two cells.
_SIGNS = {"en": (": ", "; "), "zh": ("：", "；")}


def describe_row(sentence: str, item: RetrievedItem, start: int) -> str:
    """Return `sentence`, which begins at `start` of the passage; a table's row with its columns named, code between fences.

    A row without a head above it, or with another number of cells, stays as it is, but for one of two cells, which are a
    name and its value. A record's line
    goes without its raw key ("answer: …"), or with that in plain words.
    """
    above = f"{item.metadata.get('context') or ''}\n{item.text[:start]}"
    if sentence.startswith(FENCE):
        return sentence
    if above.count(f"\n{FENCE}") % 2:
        return f"{FENCE}\n{sentence}\n{FENCE}"
    before, _, lead = above.rpartition("\n")
    if lead.strip() == "|":
        cells = cells_of(item.text[start - len(lead) :].partition("\n")[0])
        return _describe_cells(cells, _find_head(before)) or sentence
    # A name that a list explains is no key: "- limit: number of results".
    is_marked = _LINE_MARK.fullmatch(lead.lstrip())
    return sentence if is_marked else "\n".join(map(describe_fields, sentence.split("\n")))


def _describe_cells(cells: Sequence[str], names: Sequence[str]) -> str:
    """Return the cells of a row with the names of their columns, two without such as name and value; "" for others."""
    colon, gap = _SIGNS[language_of(" ".join(names or cells))]
    if len(names) == len(cells) > 1:
        titles = [_read_field(f"{name}: 1")[0].capitalize() or name for name in names]
        pairs = zip(titles, cells, strict=True)
        return gap.join(f"{name}{colon}{cell}" if name else cell for name, cell in pairs if cell)
    filled = list(filter(None, cells))
    return colon.join(filled) if len(filled) == 2 else ""


def _find_head(above: str) -> list[str]:
    """Return the names of the columns of the table that a text ends in; none where it ends in none."""
    rows = takewhile(lambda line: line.startswith("|"), reversed(above.split("\n")))
    return next((cells_of(head) for rule, head in pairwise(rows) if _HEAD_RULE.match(rule)), [])
