"""The words that some embedding models want before a question or a passage."""

from __future__ import annotations

import re
from typing import NamedTuple


class Prefixes(NamedTuple):
    """What to write before each kind of text."""

    query: str = ""
    passage: str = ""


_TASK = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

# By name, as each model's card says; the first match counts.
_KNOWN: tuple[tuple[re.Pattern[str], Prefixes], ...] = (
    (re.compile(r"e5-.*instruct|qwen3-embedding"), Prefixes(query=_TASK)),
    (re.compile(r"(^|[/_-])e5([/_.-]|$)"), Prefixes("query: ", "passage: ")),
    (re.compile(r"nomic-embed"), Prefixes("search_query: ", "search_document: ")),
    (
        re.compile(r"bge-(small|base|large)-en"),
        Prefixes(query="Represent this sentence for searching relevant passages: "),
    ),
    (
        re.compile(r"bge-(small|base|large)-zh"),
        Prefixes(query="为这个句子生成表示以用于检索相关文章："),
    ),
)


def prefixes_of(model: str) -> Prefixes:
    """Return the prefixes that the model of this name or path was trained with; empty where none is known."""
    name = model.casefold()
    return next((prefixes for pattern, prefixes in _KNOWN if pattern.search(name)), Prefixes())
