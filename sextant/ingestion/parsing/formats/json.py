"""JSON and JSON Lines to sections, lines and tables that can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sextant.domain.errors import FileBroken, FileUnsafe
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.records import (
    Columns,
    is_prose,
    record_blocks,
    table_blocks,
    title_key,
)
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.text.characters import clean_text

Json = Any  # objects, lists, strings, booleans and null; numbers are read as strings

# The kinds of lines of an import, and what each needs (docs/import.md).
_LINES = {
    "document": {"id"},
    "chunk": {"id", "text"},
    "entity": {"name"},
    "relation": {"source", "target", "relationType"},
    "decision": {"source", "target"},
}

# What settings have that JSON has not: comments, and a comma behind the last member. Strings are passed over, and what is
# not closed: looked for again at each of its signs, the end would take the square of the text.
_STRING = r'"(?:[^"\\]|\\.)*"?'
_COMMENT = re.compile(rf"({_STRING}|/\*(?:(?!\*/).)*+\Z)|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)

_MAX_DEPTH = 6  # levels of headings, as HTML has them
_MAX_LINE = 200  # characters of a list in one line
_MAX_CELL = 80  # longer members are no cells


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read one JSON value, or one per line.

    Objects become sections (their keys the headings), a list of flat objects a table, and plain
    members lines `key: value`. Numbers stay as they are written. A damaged line among others is left out, with a
    warning. JSON with comments is text.
    """
    decoded = decode(content)
    omissions = Omissions()
    value = _load(decoded.text, omissions)
    title = value.get("title") or value.get("name") if isinstance(value, dict) else ""
    blocks = json_blocks(value, limits)
    first = value[0] if isinstance(value, list) and value else value
    kind = first.get("type") if isinstance(first, dict) else None
    # Lines of an import that are taken as text lose their graph.
    is_import = isinstance(kind, str) and kind in _LINES and _LINES[kind] <= first.keys()
    imported = (CodedWarning(WarningCode.LINES_NOT_IMPORTED),) if is_import else ()
    title = clean_text(title) if isinstance(title, str) else ""
    return finish_blocks(blocks, omissions, title, decoded=decoded, warnings=imported)


def json_blocks(value: Json, limits: Limits) -> list[Block]:
    """Return blocks of objects, lists and texts, from whatever format they come."""
    return list(_JsonReader(limits).blocks(value))


def _load(text: str, omissions: Omissions) -> Json:
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        reason = str(error)
    with suppress(json.JSONDecodeError):
        return list(_load_all(text))
    with suppress(json.JSONDecodeError):
        plain = _COMMENT.sub(lambda found: found[1] or " ", text)
        _loads(_LAST_COMMA.sub(lambda found: found[1] or "", plain))
        return f"```\n{text.strip()}\n```"  # whole, as comments often say most
    # One value per line: a second one stands behind the first, or the first line is damaged itself.
    values, damaged = list[Json](), dict[int, str]()
    for number, line in enumerate(text.split("\n"), 1):
        try:
            if line.strip():
                values.append(_loads(line))
        except json.JSONDecodeError as error:
            damaged[number] = error.msg
    if len(values) < 2 or len(damaged) > len(values):
        first = next((f"line {at}: {why}" for at, why in damaged.items()), reason)
        raise FileBroken(
            f"The file is not valid JSON ({first if values else reason}).",
            next_step="Correct it and try again.",
        )
    for number in damaged:
        omissions.add_part("damaged line", number)
    return values


def _load_all(text: str) -> Iterator[Json]:
    """Yield values that stand one behind the other, on however many lines each."""
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    text = text.strip()
    end = 0
    while end < len(text):
        try:
            value, end = decoder.raw_decode(text, end)
        except RecursionError as error:
            raise _too_deep() from error
        yield value
        while text[end : end + 1].isspace():
            end += 1


def _loads(text: str) -> Json:
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except RecursionError as error:
        raise _too_deep() from error


def _too_deep() -> FileUnsafe:
    return FileUnsafe("The JSON nests too deep.", next_step="Flatten it and retry.")


class _JsonReader:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def blocks(self, value: Json, depth: int = 1) -> Iterator[Block]:
        if depth > _MAX_DEPTH:
            yield Paragraph(json.dumps(value, ensure_ascii=False))
        elif isinstance(value, dict):
            yield from self._object(value, depth)
        elif isinstance(value, list):
            if rows := self._rows(value):
                yield from table_blocks(rows, depth)
            elif all(map(_is_line, value)):
                yield Paragraph("\n".join(f"- {_line(one)}" for one in value))
            else:
                for number, one in enumerate(value, 1):
                    yield from self._item(one, number, depth)
        else:
            yield Paragraph(_plain(value))

    def _item(self, value: Json, number: int, depth: int) -> Iterator[Block]:
        """Yield one of a list's values below a heading of what it is called by, or its number."""
        members = value if isinstance(value, dict) else {}
        names = [key for key, one in members.items() if isinstance(one, str) and one.strip()]
        title = title_key(names)
        yield HeadingBlock(members[title] if title else f"#{number}", depth)
        if members and depth < _MAX_DEPTH:
            yield from self._object(members, depth + 1, title)
        else:
            yield from self.blocks(value, depth + 1)

    def _object(self, value: dict[str, Json], depth: int, title: str = "") -> Iterator[Block]:
        """Yield an object's members; `title`: the key of what stands in the heading above it."""
        members = {key: _line(member) for key, member in value.items() if _is_text(member)}
        question = "" if title else title_key([*members])
        if question and is_prose(members[question]):
            yield HeadingBlock(members[question], depth)
            title, depth = question, depth + 1
        if any(map(is_prose, members.values())):
            yield from record_blocks(members, title, depth)
        elif members:
            yield Paragraph("\n".join(f"{key}: {text}" for key, text in members.items()))
        for key, member in value.items():
            if key not in members:
                yield HeadingBlock(key, depth)
                yield from self.blocks(member, depth + 1)

    def _rows(self, values: list[Json]) -> list[list[str]]:
        """Return a table of objects that share their keys and hold only prose and short members, else nothing."""
        if len(values) < 2 or not all(isinstance(value, dict) and value for value in values):
            return []
        keys = list(dict.fromkeys(key for value in values for key in value))
        filled = sum(map(len, values))
        is_flat = all(_is_text(member) for value in values for member in value.values())
        if not is_flat or filled * 2 < len(keys) * len(values):
            return []
        CellBudget(self._limits).spend(len(keys) * len(values))
        rows = [keys, *([_line(value.get(key, "")) for key in keys] for value in values)]
        columns = Columns.of(rows)
        cells = {at for at in range(len(keys)) if at != columns.title} - columns.prose
        is_short = all(
            len(row[at]) <= _MAX_CELL and "\n" not in row[at] for row in rows for at in cells
        )
        return rows if is_short else []


def _is_text(value: Json) -> bool:
    """Return whether a value is read as a line or as the lines that a text has."""
    return isinstance(value, str) or _is_line(value)


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
