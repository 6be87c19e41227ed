"""Translate chunk filters into conditions and parameters of SQL queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString
from uuid import UUID

from sextant.domain.questions import ChunkFilters
from sextant.stores.postgresql.queries import load_queries

_SQL = load_queries("filters")

# The numbering that may precede the words of a title.
_NUMBER = (
    r"(?:(?:第\s*[0-9一二三四五六七八九十百零〇]+\s*[章节節篇部分条條]|[0-9]+(?:[.．][0-9]+)*[.．、)）]?"
    r"|(?:chapter|section|part)\s+[0-9ivxlc]+[:.]?)\s*)?"
)


def filter_condition(name: str) -> LiteralString:
    """Return a query of `filters.sql`; its parameters include those of `filter_values`."""
    return _SQL[name].replace("%(matching)s", _SQL["matching"])


def custom_plans() -> LiteralString:
    """Return the statement that makes a transaction plan for its values; takes a `timeout` in ms."""
    return _SQL["options"]


def filter_values(filters: ChunkFilters) -> dict[str, Any]:
    """Return the parameters of the filters; None for a filter that is not set."""
    return {
        "document_ids": [found for found in map(_id, filters.document_ids) if found is not None],
        "sources": list(filters.document_ids) or None,
        "section_id": list(filters.section_id) or None,
        "created_after": filters.created_after,
        "created_before": filters.created_before,
        "topic_labels": _lower(filters.topic_labels),
        "tags": _lower(filters.tags),
        "entity_types": _lower(filters.entity_types),
        "section_patterns": [title_pattern(title) for title in filters.parent_section_path] or None,
        "document_patterns": document_patterns(filters.parent_section_path) or None,
    }


def filter_ids(filters: ChunkFilters) -> dict[str, Any]:
    """Return the documents and sections that the filters name; `ids[i]` is `names[i]` read as an id, or None."""
    return {
        "names": list(filters.document_ids),
        "ids": [_id(name) for name in filters.document_ids],
        "sections": list(filters.section_id),
    }


def title_pattern(title: str) -> str:
    """Return a regular expression for titles that begin with `title`, valid in Python and PostgreSQL.

    Numbers and Latin words match whole: `3` and `3.1` do not find `3.10`.
    """
    return f"^{_NUMBER}{_whole(title)}"


def document_patterns(titles: Sequence[str]) -> list[str]:
    """Return patterns for a path that starts at the document, one for each title.

    The first may occur anywhere in the document's title: in `["合同", "第3章"]` the word 合同 (contract)
    is seldom the beginning of a contract's title.
    """
    if not titles:
        return []
    first, *others = titles
    beginning = "(?<![A-Za-z])" if first[0].isascii() and first[0].isalpha() else ""
    return [f"{beginning}{_whole(first)}", *map(title_pattern, others)]


def _whole(title: str) -> str:
    words = re.sub(r"(\W)", r"\\\1", title)
    if title[-1].isascii() and title[-1].isdigit():
        ending = r"(?![.．]?[0-9])"
    else:
        ending = "(?![A-Za-z])" if title[-1].isascii() and title[-1].isalpha() else ""
    return f"{words}{ending}"


def _id(name: str) -> UUID | None:
    with suppress(ValueError):
        return UUID(name)
    return None


def _lower(words: tuple[str, ...]) -> list[str] | None:
    return [word.lower() for word in words] or None
