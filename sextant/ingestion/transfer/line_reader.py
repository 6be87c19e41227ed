"""Read the lines of an import from a file or an iterable into a spool, and report invalid ones."""

from __future__ import annotations

import asyncio
import difflib
import gzip
import json
import sys
import zlib
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from sextant.domain.configuration import describe_error
from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import field_at
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.transfer.lines import (
    DESCRIBED,
    LONG_PASSAGE,
    NAMED,
    ChunkLine,
    DecisionLine,
    DocumentLine,
    ImportLine,
    Line,
    LineInvalid,
    LineProblem,
    RelationLine,
    SectionLine,
)
from sextant.ingestion.transfer.spool import Numbered, Spool, read_in_thread
from sextant.text.characters import estimate_tokens, normalise_name

# Lines, and bytes of them, that are validated in one call of a thread.
_BATCH = 500
_BATCH_BYTES = 8_000_000

Raw = bytes | Mapping[str, Any]
Rows = AsyncIterable[Mapping[str, Any]] | AsyncIterable[bytes] | Iterable[Mapping[str, Any]]
Source = str | Path | Rows


async def read_into(spool: Spool, source: Source) -> AsyncIterator[list[LineProblem]]:
    """Store the valid lines of `source`; yield the problems of each batch.

    Raises:
        OptionInvalid: the file cannot be read.
    """
    async for batch in _batches(source):
        yield await asyncio.to_thread(_store, spool, batch)


def _store(spool: Spool, batch: list[tuple[int, Raw]]) -> list[LineProblem]:
    lines, problems = [], list[LineProblem]()
    for number, raw in batch:
        try:
            line, remarks = read_line(raw, number)
        except LineInvalid as error:
            problems.append(LineProblem(number, error.coded))
            continue
        lines.append(Numbered(number, line))
        problems += remarks
    return problems + spool.add(lines)


async def _batches(source: Source) -> AsyncIterator[list[tuple[int, Raw]]]:
    if not isinstance(source, str | Path):
        async for batch in _gather_lines(source):
            yield batch
        return
    path = Path(source)
    try:
        lines = _read(path)
        async for batch in read_in_thread(lines, _BATCH, lambda one: len(one[1]), _BATCH_BYTES):
            yield batch
    except (OSError, EOFError, zlib.error) as error:
        raise OptionInvalid(
            f"{path} cannot be read: {error}.", next_step="Check the file.", field="path"
        ) from error


def _read(path: Path) -> Iterator[tuple[int, Raw]]:
    """Yield the lines of a file or a pipe with their numbers."""
    with path.open("rb") as raw:
        is_gzip = raw.peek(2).startswith(b"\x1f\x8b")  # RFC 1952
        with gzip.GzipFile(fileobj=raw) if is_gzip else raw as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())


async def _each(rows: Rows) -> AsyncIterator[Raw]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
    else:
        for row in rows:
            yield row


async def _gather_lines(source: Rows) -> AsyncIterator[list[tuple[int, Raw]]]:
    batch, size, number = list[tuple[int, Raw]](), 0, 0
    async for row in _each(source):
        number += 1
        if isinstance(row, bytes) and not row.strip():
            continue
        length = len(row) if isinstance(row, bytes) else 0
        if batch and (len(batch) == _BATCH or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((number, row))
        size += length
    if batch:
        yield batch


# An invalid item of these lists is left out; the rest of the line is imported.
_LISTS = ("entities", "triples", "aliases")
_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def read_line(raw: bytes | Mapping[str, Any], number: int = 1) -> tuple[Line, list[LineProblem]]:
    """Validate a line; return it with the problems of parts that are left out.

    Left out are invalid triples, entities and aliases, triples that join an entity to itself, and unknown keys.

    Raises:
        LineInvalid: the line cannot be imported.
    """
    line, lost = _check_line(_object(raw), number)
    if isinstance(line, RelationLine | DecisionLine) and line.source == line.target:
        raise LineInvalid(
            WarningCode.LINE_JOINS_ITSELF, type=line.type, entity=f"{line.source!r:.80}"
        )
    remarks = [*_unknown_keys(line)]
    if isinstance(line, DocumentLine):
        check_sections(line.sections, len(line.text) if line.text else None)
        for index, section in enumerate(line.sections):
            remarks += _unknown_keys(section, f"sections[{index}]: ")
    if isinstance(line, ChunkLine):
        line, loops = _without_loops(line)
        remarks += loops
        # An embedding model reads only the beginning. Tokens are at most as many as characters, and slower to count.
        if len(line.text) > LONG_PASSAGE and estimate_tokens(line.text) > LONG_PASSAGE:
            params = {"length": f"{len(line.text):,}", "most": f"{LONG_PASSAGE:,}"}
            remarks.append(CodedWarning(WarningCode.LINE_PASSAGE_TOO_LONG, params))
    return line, [*lost, *(LineProblem(number, remark, kept=True) for remark in remarks)]


def _check_line(values: Mapping[str, Any], number: int) -> tuple[Line, list[LineProblem]]:
    """Return the line without invalid items of its lists, and the problems of these."""
    try:
        return _LINES.validate_python(values), []
    except ValidationError as error:
        faults = error.errors(include_url=False)
    lost = dict[tuple[str, int], LineProblem]()
    for fault in faults:
        match fault["loc"]:
            case _, str(key), int(index), *_ if key in _LISTS:
                lost.setdefault((key, index), LineProblem(number, _fault_of(fault)))
            case _:
                raise LineInvalid(WarningCode.LINE_FAULT, **_fault_of(fault).params)
    left = {
        key: [item for index, item in enumerate(values[key]) if (key, index) not in lost]
        for key, _ in lost
    }
    return _LINES.validate_python({**values, **left}), list(lost.values())


def check_sections(sections: Sequence[SectionLine], length: int | None) -> None:
    """Check that sections end after their start and within a text of `length` (None: unknown).

    Raises:
        LineInvalid: of the first one that does not.
    """
    for index, section in enumerate(sections):
        if section.start > section.end:
            raise LineInvalid(
                WarningCode.LINE_SECTION_ENDS_BEFORE,
                index=index,
                start=section.start,
                end=section.end,
            )
        if length is not None and section.end > length:
            raise LineInvalid(
                WarningCode.LINE_SECTION_BEYOND_TEXT, index=index, end=section.end, length=length
            )


def _object(raw: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    if not isinstance(raw, bytes | bytearray | str):
        raise LineInvalid(WarningCode.LINE_IS_NO_LINE)
    try:
        found: object = json.loads(raw.rstrip(b"\r\n"))
    except json.JSONDecodeError as error:
        raise LineInvalid(WarningCode.LINE_NOT_JSON, fault=error.msg, place=error.pos + 1) from None
    except UnicodeDecodeError as error:
        raise LineInvalid(WarningCode.LINE_NOT_UTF8, place=error.start + 1) from None
    except RecursionError:
        raise LineInvalid(WarningCode.LINE_TOO_DEEP) from None
    except ValueError:  # Python's limit of the digits of a number
        most = f"{sys.get_int_max_str_digits():,}"
        raise LineInvalid(WarningCode.LINE_NUMBER_TOO_LONG, most=most) from None
    if not isinstance(found, dict):
        raise LineInvalid(WarningCode.LINE_NO_OBJECT)
    return found


_TYPES = "document, chunk, entity, relation or decision"
_UNKNOWN_TYPE = {
    "en": f"must be {_TYPES}",
    "zh": f"应为 {_TYPES.replace(' or ', ', ').replace(', ', '、')} 之一",
}


def _fault_of(fault: Mapping[str, Any]) -> CodedWarning:
    """Return an error of pydantic as a warning that names the key."""
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return CodedWarning(WarningCode.LINE_FAULT, {"where": "type: ", "fault": _UNKNOWN_TYPE})
    # The path begins with the line's type, and an entity's tag follows its index.
    name = field_at([step for step in fault["loc"][1:] if step not in (NAMED, DESCRIBED)])
    reasons = {"en": describe_error(fault), "zh": describe_error(fault, "zh")}
    where = f"{name}: " if name else ""
    return CodedWarning(WarningCode.LINE_FAULT, {"where": where, "fault": reasons})


def _unknown_keys(line: ImportLine, where: str = "") -> Iterator[CodedWarning]:
    if not line.model_extra:
        return
    known = [field.alias or name for name, field in type(line).model_fields.items()]
    for key in line.model_extra:
        params = {"where": where, "key": f"{key!r:.80}"}
        # The similarity of `parent` and `page` is 0.6, which is too little.
        if near := difflib.get_close_matches(key, known, n=1, cutoff=0.7):
            yield CodedWarning(WarningCode.LINE_KEY_MISSPELT, params | {"meant": repr(near[0])})
        else:
            yield CodedWarning(WarningCode.LINE_KEY_UNKNOWN, params | {"keys": known})


def _without_loops(line: ChunkLine) -> tuple[ChunkLine, list[CodedWarning]]:
    loops = [
        triple for triple in line.triples if normalise_name(triple[0]) == normalise_name(triple[2])
    ]
    if not loops:
        return line, []
    triples = [triple for triple in line.triples if triple not in loops]
    remarks = [
        CodedWarning(WarningCode.LINE_TRIPLE_JOINS_ITSELF, {"triple": f"{list(loop)!r:.120}"})
        for loop in loops
    ]
    return line.model_copy(update={"triples": triples}), remarks
