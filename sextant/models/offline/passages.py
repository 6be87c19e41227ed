"""What a passage says: what can be quoted from it, the names above it, the heads of its tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.wording import WORD
from sextant.text.characters import IDEOGRAPHS, normalise
from sextant.text.sentences import is_ended, sentence_spans

Span = tuple[int, int, int]
"""The index of a passage among others, and where in it something begins and ends."""

FENCE = "```"  # begins and ends code, and says nothing
_CLAUSE_END = re.compile(r"[;；]\s*")
# A list item's number, in either language.
NUMBERED = r"\d{1,3}(?:[)、．]|\.(?!\d))\s*|[(（]?[一二三四五六七八九十]{1,3}[)）、]\s*"
# Marks of a list item, heading, quotation or table at the ends of a line are no part of what it says.
# The 4 of "4.2 adds …" is none.
_LINE_MARK = re.compile(rf"(?:[#>*•·|-]+\s+|{NUMBERED})+")
# The key of a record ("answer: Within 8 hours", "price_eur: 52").
_KEY = re.compile(r"(?P<key>[a-z][a-z0-9]*(?:[_-]?[A-Za-z0-9]+)*):[ \t]+(?=\S)")
# The end of a field on a line of several: "title: Prices; owner: Ann".
_FIELD_END = re.compile(rf";[ \t]+(?={_KEY.pattern.replace('?P<key>', '?:')})")
_PARTS_OF_KEY = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_WORDS_OF_VALUE = re.compile(rf"[{IDEOGRAPHS}]|[^\W\d_]+")
# So many words, or twice as many ideographs, say enough without the key.
_STATEMENT_WORDS = 3
# "Tags: E42, MC-200" lists what a text is about, and says nothing of it.
_LABELS = re.compile(
    r"(?:tags?|labels?|keywords?|标签|標籤|关键[词字]|關鍵[詞字])[:：]", re.IGNORECASE
)
_TABLE_HEAD = re.compile(r"^\|.*(?=\n\|[ :|-]+$)", re.MULTILINE)
# A table without rules: its head, which has no number and no stop, over lines that end in a number. A short title may
# stand over it.
_LINE_OF_NUMBERS = (
    r"\n(?=[^\n|]{1,120}(?:\n|\Z))(?=[^\n|]*?[^\W\d])[^\n|]*[ \t][\d.,]*\d%?[ \t]*(?=\n|\Z)"
)
_UNRULED = re.compile(
    r"^(?P<head>(?:[^\d\n|]{1,80}\n\n)?[^\d\n|]{1,120}(?<![.。:：!?！？]))"
    rf"(?P<lines>(?:{_LINE_OF_NUMBERS}){{2,}})",
    re.MULTILINE,
)
# The bars that end a row, with what white space stands before them, a line's end too.
_AROUND_BARS = "| \t\r\n\u3000"
# A sentence longer than this is offered clause by clause, so that quotes stay short.
_LONG = 160


def quotable_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield `(start, end)` of what can be quoted of `text`: sentences with a word, rows, clauses of long sentences."""
    for start, end in sentence_spans(text):
        mark = _LINE_MARK.match(text, start, end)
        begin = mark.end() if mark else start
        if text.startswith(FENCE, start) or _LABELS.match(text, begin, end):
            continue
        if _KEY.match(text, begin, end):
            yield from _read_fields(text, begin, end)
            continue
        if end - begin > _LONG and not text.startswith("|", start):  # a row says it as a whole
            for stop in _CLAUSE_END.finditer(text, begin, end):
                if WORD.search(text, begin, stop.start()):
                    yield begin, stop.start() + 1
                begin = stop.end()
        last = begin + len(text[begin:end].rstrip(_AROUND_BARS))
        if WORD.search(text, begin, last):
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
    """Return the key of a record's line in plain words, "price eur" of "price_eur: 52"; "" of any other line."""
    found = _KEY.match(line)
    return " ".join(_PARTS_OF_KEY.findall(found["key"])).lower() if found else ""


def describe_fields(line: str) -> str:
    """Return a record's line as a reader expects it: "Price eur: 52", or the value alone where it says enough."""
    return "; ".join(map(_describe_field, _FIELD_END.split(line))) if _KEY.match(line) else line


def describe_key(name: str) -> str:
    """Return a raw key in plain words, "Price eur" for `price_eur`; any other name as it is."""
    return find_key(f"{name}: 1").capitalize() or name


def _describe_field(line: str) -> str:
    stripped = _strip_key(line)
    key = find_key(stripped)
    return f"{key.capitalize()}: {stripped.partition(': ')[2].lstrip()}" if key else stripped


class UnruledTable(NamedTuple):
    """A table without rules: its head from `start` to `end` stands over the lines up to `until`."""

    start: int
    end: int
    until: int


def find_unruled_tables(text: str) -> list[UnruledTable]:
    """Return the tables without rules in `text`: a head without a number over lines that end in one."""
    return [
        UnruledTable(match.start(), match.end("head"), match.end())
        for match in _UNRULED.finditer(text)
    ]


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
    return " ".join(f"{part} " for part in (passage.metadata.get("title"), *path) if part)


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
    return "|" in text


def table_heads(passage: RetrievedItem) -> list[str]:
    """Return the head rows of tables in the passage, or of the table whose later rows it holds."""
    return heads_in(f"{passage.metadata.get('context') or ''}\n{passage.text}")


def heads_in(text: str) -> list[str]:
    """Return the head rows of the tables that begin in `text`."""
    return _TABLE_HEAD.findall(text)
