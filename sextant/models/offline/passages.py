"""Read a passage: what can be quoted of it, the names above it, and its tables; word rows and fields for a reader."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.wording import WORD, strip_targets
from sextant.tables.cells.stored import cells_of
from sextant.text.characters import IDEOGRAPHS, language_of, normalise
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
# "回答：…" and "Answer: …" need not say that they answer; "A: …" does so below "Q: …" only, else it is one of several.
_ANSWER = re.compile(r"(?:(?P<letter>A)|Answer|回?答[案复覆]?|解答)\d{0,3}[:：]\s*")
_ASKED = re.compile(r"^\W*(?:Q(?:uestion)?|问题?|問題?)\d{0,3}[:：]", re.MULTILINE)
# The key of a record ("answer: Within 8 hours", "price_eur: 52").
_KEY = re.compile(r"(?P<key>[a-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)*):[ \t]+(?=\S)")
# The end of a field on a line of several: "title: Prices; owner: Ann".
_FIELD_END = re.compile(rf";[ \t]+(?={_KEY.pattern.replace('?P<key>', '?:')})")
_PARTS_OF_KEY = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_WORDS_OF_VALUE = re.compile(rf"[{IDEOGRAPHS}]|[^\W\d_]+")
# A value of this many words, or twice as many ideographs, says enough without its key.
_STATEMENT_WORDS = 3
# "Tags: E42, MC-200" lists what a text is about, and says nothing of it.
_LABELS = re.compile(
    r"(?:tags?|labels?|keywords?|标签|標籤|关键[词字]|關鍵[詞字])[:：]", re.IGNORECASE
)
_TABLE_HEAD = re.compile(r"^\|.*(?=\n\|[ :|-]+$)", re.MULTILINE)
# "(#1596)" refers to something, and says nothing.
_REFERENCE = re.compile(r"[(（\[][\W\d_]*[)）\]]")
# Bars and white space at the end of a row.
_AROUND_BARS = "| \t\r\n\u3000"
_LABEL_LINE = re.compile(r"(?m:^)(?![ \t]*(?:[-*+•·#>|]|```))[^\n:：]{1,40}[:：]")
_LABEL_AND_VALUE = re.compile(
    rf"{_LABEL_LINE.pattern}\n{{1,2}}(?![ \t]*(?:[-*+•·#>|]\s|{NUMBERED}|```))[^\n]{{1,60}}(?<![:：])"
)
_MOST_LINES = 6  # of code that is offered as one
# A sentence longer than this is offered clause by clause, so that quotes stay short.
_LONG = 160


def quotable_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of what can be quoted of `text`: sentences with a word, rows, clauses of long sentences.

    Lines of code are grouped by `_cut_code`.
    """
    in_code, lines = False, list[tuple[int, int]]()
    for start, end in [*_join_labels(text), (len(text), len(text))]:
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


def _join_labels(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences, a label that is a line together with the value on the next one: "Due date:", "4 April"."""
    label: tuple[int, int] | None = None
    for span in sentence_spans(text):
        if label and _LABEL_AND_VALUE.fullmatch(text, label[0], span[1]):
            yield label[0], span[1]
            label = None
            continue
        if label:
            yield label
        label = span if _LABEL_LINE.fullmatch(text, *span) else None
        if not label:
            yield span
    if label:
        yield label


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
    label = _ANSWER.match(text, begin, end)
    if label and (not label["letter"] or _ASKED.search(text, max(0, begin - 5000), begin)):
        begin = label.end()
    if _LABELS.match(text, begin, end):
        return
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
    ends = [found.start() for found in _FIELD_END.finditer(text, start, end)]
    begins = [found.end() for found in _FIELD_END.finditer(text, start, end)]
    for begin, stop in zip([start, *begins], [*ends, end], strict=True):
        value = _strip_key(text[begin:stop])
        yield stop - len(value), stop - len(value) + len(value.rstrip())


def _strip_key(line: str) -> str:
    """Return a line of a record without its key, where what stands behind it says enough."""
    found = _KEY.match(line)
    if found is None:
        return line
    value = line[found.end() :]
    words = _WORDS_OF_VALUE.findall(value)
    least = (
        2 * _STATEMENT_WORDS if any(_IDEOGRAPH.match(word) for word in words) else _STATEMENT_WORDS
    )
    return value if is_ended(line) or len(words) >= least else line


def find_key(line: str) -> str:
    """Return the key of a record's line in plain words, "price eur" of "price_eur: 52".

    "" of any other line, and where the value says enough by itself.
    """
    found = _KEY.match(_strip_key(line))
    return " ".join(_PARTS_OF_KEY.findall(found["key"])).lower() if found else ""


def describe_fields(line: str) -> str:
    """Return a record's line as a reader expects it: "Price eur: 52", or the value alone where it says enough."""
    return "; ".join(map(_describe_field, _FIELD_END.split(line))) if _KEY.match(line) else line


def describe_key(name: str) -> str:
    """Return a raw key in plain words, "Price eur" for `price_eur`; any other name as it is."""
    return find_key(f"{name}: 1").capitalize() or name


def _describe_field(line: str) -> str:
    key = find_key(line)
    return f"{key.capitalize()}: {line.partition(': ')[2].lstrip()}" if key else _strip_key(line)


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
    """Return the names of the passage's document in one text: its title, and its file's."""
    return f"{passage.metadata.get('document_title') or ''} {file_of(passage)}"


def file_of(passage: RetrievedItem) -> str:
    """Return the name of the document's file, without the extension."""
    return str(passage.metadata.get("filename") or "").rpartition(".")[0]


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
    if sentence.startswith(FENCE):
        return sentence
    if f"\n{item.text[:start]}".count(f"\n{FENCE}") % 2:
        return f"{FENCE}\n{sentence}\n{FENCE}"
    head = _head(f"{item.metadata.get('context') or ''}\n{item.text[:start]}")
    names = cells_of(head) if head else []
    cells = cells_of(sentence + _empty_cells(item.text, start, sentence)) if head else []
    if len(names) < 2 or len(names) != len(cells):
        line_start = item.text.rfind("\n", 0, start) + 1
        is_first_cell = item.text[line_start:start].strip() == "|"
        pair = [cell for cell in cells_of(sentence) if cell] if is_first_cell else []
        if len(pair) == 2:  # a name and its value
            return _SIGNS[language_of(sentence)][0].join(pair)
        if _LINE_MARK.fullmatch(item.text[line_start:start].lstrip()):
            return sentence  # a name that a list explains is no key: "- limit: number of results"
        return "\n".join(map(describe_fields, sentence.split("\n")))
    colon, gap = _SIGNS[language_of(" ".join(names))]
    pairs = zip(map(describe_key, names), cells, strict=True)
    return gap.join(f"{name}{colon}{cell}" if name else cell for name, cell in pairs if cell)


def _empty_cells(text: str, start: int, sentence: str) -> str:
    """Return the rest of a row's line where it has but empty cells, with which a quotation does not end."""
    rest = text[start + len(sentence) :].partition("\n")[0]
    return "" if rest.strip(" |") else rest


def _head(above: str) -> str:
    """Return the head of the table that `above` ends in; empty when it ends in none."""
    *lines, mark = above.split("\n")
    if mark.strip() != "|":  # what a row begins with
        return ""
    rows = list[str]()
    for line in reversed(lines):
        if not line.startswith("|"):
            break
        if rows and _HEAD_RULE.match(rows[-1]):
            return line
        rows.append(line)
    return ""
