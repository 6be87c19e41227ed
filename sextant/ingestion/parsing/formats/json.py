"""JSON and JSON Lines to sections, lines and tables that can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sextant.domain.documents import Missing
from sextant.domain.errors import FileBroken, FileUnsafe
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.text.characters import clean_text

_TITLES = ("title", "name", "question", "标题", "名称", "问题", "heading", "label", "id")
Json = Any  # objects, lists, strings, booleans and null; numbers are read as strings

# The kinds of lines of an import, and what each needs (docs/import.md).
_LINES = {
    "document": {"id"},
    "chunk": {"id", "text"},
    "entity": {"name"},
    "relation": {"source", "target", "relationType"},
    "decision": {"source", "target"},
}

_MAX_DEPTH = 6  # levels of headings, as HTML has them
_MAX_LINE = 200  # characters of a list in one line
_MAX_CELL = 80  # longer members read better as a section of their own


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read one JSON value, or one per line.

    Objects become sections (their keys the headings), a list of flat objects a table, and plain
    members lines `key: value`. Numbers stay as they are written.
    """
    decoded = decode(content)
    value = _load(decoded.text)
    title = value.get("title") or value.get("name") if isinstance(value, dict) else ""
    blocks = list(_JsonReader(limits).blocks(value))
    imported = (Missing.LINES_NOT_IMPORTED.told(),) if _is_import(value) else ()
    return Blocks(
        blocks,
        clean_text(title) if isinstance(title, str) else "",
        warnings=(*decoded.warnings, *imported),
        metadata=decoded.metadata,
    )


def _is_import(value: Json) -> bool:
    """Return whether the first value is a line of an import: taken as text, its graph is lost."""
    first = value[0] if isinstance(value, list) and value else value
    kind = first.get("type") if isinstance(first, dict) else None
    return isinstance(kind, str) and kind in _LINES and _LINES[kind] <= first.keys()


def _load(text: str) -> Json:
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        # A second value behind the first: one value per line.
        if error.msg != "Extra data":
            raise _broken(str(error)) from error
    return list(_load_lines(text))


def _load_lines(text: str) -> Iterator[Json]:
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                yield _loads(line)
        except json.JSONDecodeError as error:
            raise _broken(f"line {number}: {error.msg}") from error


def _loads(text: str) -> Json:
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise FileUnsafe("The JSON nests too deep.", next_step="Flatten it and retry.") from error


def _broken(reason: str) -> FileBroken:
    return FileBroken(
        f"The file is not valid JSON ({reason}).", next_step="Correct it and try again."
    )


class _JsonReader:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def blocks(self, value: Json, depth: int = 1) -> Iterator[Block]:
        if depth > _MAX_DEPTH:
            yield Paragraph(json.dumps(value, ensure_ascii=False))
        elif isinstance(value, dict):
            yield from self._object(value, depth)
        elif isinstance(value, list):
            yield from self._list(value, depth)
        else:
            yield Paragraph(_plain(value))

    def _object(self, value: dict[str, Json], depth: int) -> Iterator[Block]:
        lines = [f"{key}: {_line(member)}" for key, member in value.items() if _is_line(member)]
        if lines:
            yield Paragraph("\n".join(lines))
        for key, member in value.items():
            if not _is_line(member):
                yield HeadingBlock(key, depth)
                yield from self.blocks(member, depth + 1)

    def _list(self, values: list[Json], depth: int) -> Iterator[Block]:
        if rows := self._rows(values):
            yield Table(rows)
        elif all(map(_is_line, values)):
            yield Paragraph("\n".join(f"- {_line(value)}" for value in values))
        else:
            for number, value in enumerate(values, 1):
                yield HeadingBlock(_title(value) or f"#{number}", depth)
                yield from self.blocks(value, depth + 1)

    def _rows(self, values: list[Json]) -> list[list[str]]:
        """Return a table of objects that share their keys and hold only short plain members, else nothing."""
        if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
            return []
        keys = list(dict.fromkeys(key for value in values for key in value))
        filled = sum(map(len, values))
        is_short = all(
            _is_line(member) and len(_line(member)) <= _MAX_CELL
            for value in values
            for member in value.values()
        )
        if not is_short or filled * 2 < len(keys) * len(values):
            return []
        CellBudget(self._limits).spend(len(keys) * len(values))
        return [keys, *([_line(value.get(key, "")) for key in keys] for value in values)]


def _is_line(value: Json) -> bool:
    """Return whether a value fits behind its key on one line."""
    if isinstance(value, list):
        return (
            all(not isinstance(item, (dict, list)) for item in value)
            and len(_line(value)) <= _MAX_LINE
        )
    return not isinstance(value, dict) and "\n" not in str(value)[:-1]


def _line(value: Json) -> str:
    return ", ".join(map(_plain, value)) if isinstance(value, list) else _plain(value)


def _plain(value: Json) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _title(value: Json) -> str:
    if not isinstance(value, dict):
        return ""
    found = (
        value[key] for key in _TITLES if isinstance(value.get(key), str) and value[key].strip()
    )
    return next(found, "")
