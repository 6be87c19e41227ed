"""What a passage says: what can be quoted from it, the names above it, the heads of its tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.wording import WORD
from sextant.text.characters import ideographs, normalise
from sextant.text.sentences import is_ended, sentence_spans

Span = tuple[int, int, int]
"""The place of a passage among others, and where in it something begins and ends."""

FENCE = "```"  # begins and ends code, and says nothing
_CLAUSE_END = re.compile(r"[;；]\s*")
# A list item's number, in either language.
NUMBERED = r"\d{1,3}(?:[)、．]|\.(?!\d))\s*|[(（]?[一二三四五六七八九十]{1,3}[)）、]\s*"
# Marks of a list item, heading, quotation or table at the ends of a line are no part of what it says.
# The 4 of "4.2 adds …" is none.
_LINE_MARK = re.compile(rf"(?:[#>*•·|-]+\s+|{NUMBERED})+")
# "3. Membership. Numbers are up to 118.": few words, none of which denies or counts, and more behind them.
_ITEM_TITLE = re.compile(
    rf"^[ \t]*{_LINE_MARK.pattern}(?P<title>(?:[^\W\d]+(?:[ \t&/'’-]+[^\W\d]+){{0,3}})[.。])[ \t]*(?=[^\s|])[^\n]*",
    re.MULTILINE,
)
# The key of a record ("answer: Within 8 hours."); a sentence behind it says enough without.
_KEY = re.compile(r"[a-z][A-Za-z0-9_]*:[ \t]+(?=\S)")
_MOST_IDEOGRAPHS = 8
_DENIES = re.compile(r"\b(?:no|not|never|don['’]t)\b|[不勿禁无無没沒]", re.IGNORECASE)
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
        if text.startswith(FENCE, start):
            continue
        mark = _LINE_MARK.match(text, start, end)
        begin = mark.end() if mark else start
        key = _KEY.match(text, begin, end)
        if key and is_ended(text[begin:end]):
            begin = key.end()
        if end - begin > _LONG and not text.startswith("|", start):  # a row says it as a whole
            for stop in _CLAUSE_END.finditer(text, begin, end):
                if WORD.search(text, begin, stop.start()):
                    yield begin, stop.start() + 1
                begin = stop.end()
        last = begin + len(text[begin:end].rstrip(_AROUND_BARS))
        if WORD.search(text, begin, last):
            yield begin, last


@dataclass(frozen=True, slots=True)
class ItemTitle:
    """What stands at `start` to `end` over all that follows up to `until`: the first words of a list's item, or a table's head."""

    text: str
    start: int
    end: int
    until: int

    def has(self, place: int) -> bool:
        """Return whether what begins at `place` is the title."""
        return self.start <= place < self.end

    def stands_over(self, place: int) -> bool:
        """Return whether what begins at `place` is said under it."""
        return self.end <= place < self.until


def item_titles(text: str) -> list[ItemTitle]:
    """Return the titles of items in `text`, in their order: "Membership." of "3. Membership. Numbers are up to 118."."""
    return [
        ItemTitle(match["title"], match.start("title"), match.end("title"), match.end())
        for match in _ITEM_TITLE.finditer(text)
        if not _DENIES.search(match["title"]) and ideographs(match["title"]) <= _MOST_IDEOGRAPHS
    ]


def unruled_tables(text: str) -> list[ItemTitle]:
    """Return the heads of tables without rules in `text`; they stand over the lines of numbers below."""
    return [
        ItemTitle(match["head"], match.start(), match.end("head"), match.end())
        for match in _UNRULED.finditer(text)
    ]


def told_by_documents(passages: Sequence[RetrievedItem]) -> list[str]:
    """For each passage, all that was found of its document: headings, context and text, normalised."""
    documents = defaultdict[str, str](str)
    for passage in passages:
        documents[document_of(passage)] += told_by(passage)
    return [documents[document_of(passage)] for passage in passages]


def document_of(passage: RetrievedItem) -> str:
    """Return the id of the passage's document; of a passage without one its own."""
    return passage.document_id or passage.id


def told_by(passage: RetrievedItem) -> str:
    """Return what a passage says with its headings and context, normalised."""
    context = passage.metadata.get("context") or ""
    return normalise(f"{names_above(passage)} {context} {passage.text}\n")


def heading_over(passage: RetrievedItem) -> str:
    """Return the heading of the section that the passage stands in; "" without one."""
    path: Sequence[str] = passage.metadata.get("section_path") or ("",)
    return path[-1]


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
