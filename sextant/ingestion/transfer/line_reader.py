"""Read the lines of an import, from a file or as they come, into a spool; say why one is refused."""

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
    Remark,
    SectionLine,
)
from sextant.ingestion.transfer.spool import Numbered, Spool, next_of
from sextant.text.characters import estimate_tokens, normalise_name

# Lines that are read, checked and kept in one go, off the loop.
_BATCH = 500
# And bytes of them, so that long lines do not add up in memory.
_BATCH_BYTES = 8_000_000

Raw = bytes | Mapping[str, Any]
Rows = AsyncIterable[Mapping[str, Any]] | AsyncIterable[bytes] | Iterable[Mapping[str, Any]]
Source = str | Path | Rows


async def read_into(spool: Spool, source: Source) -> AsyncIterator[list[LineProblem]]:
    """Keep every usable line of `source`; yields the problems of each batch of lines.

    Raises:
        OptionInvalid: the file cannot be read.
    """
    async for batch in _batches(source):
        yield await asyncio.to_thread(_keep, spool, batch)


def _keep(spool: Spool, batch: list[tuple[int, Raw]]) -> list[LineProblem]:
    lines, problems = [], list[LineProblem]()
    for number, raw in batch:
        try:
            line, remarks = read_line(raw)
        except LineInvalid as error:
            problems.append(LineProblem(number, str(error)))
            continue
        lines.append(Numbered(number, line))
        problems += [LineProblem(number, *remark) for remark in remarks]
    return problems + spool.add(lines)


async def _batches(source: Source) -> AsyncIterator[list[tuple[int, Raw]]]:
    if not isinstance(source, str | Path):
        async for batch in _gather_lines(source):
            yield batch
        return
    path = Path(source)
    try:
        lines = _read(path)
        while batch := await next_of(lines, _BATCH, lambda one: len(one[1]), _BATCH_BYTES):
            yield batch
    except (OSError, EOFError, zlib.error) as error:
        raise OptionInvalid(
            f"{path} cannot be read: {error}.", next_step="Check the file.", field="path"
        ) from error


def _read(path: Path) -> Iterator[tuple[int, Raw]]:
    """Yield the lines of a file or a pipe, with their numbers; it is closed with this generator."""
    with path.open("rb") as raw:
        packed = raw.peek(2).startswith(b"\x1f\x8b")  # RFC 1952
        with gzip.GzipFile(fileobj=raw) if packed else raw as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())


async def _each(rows: Rows) -> AsyncIterator[Raw]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
    else:
        for one in rows:
            yield one


async def _gather_lines(source: Rows) -> AsyncIterator[list[tuple[int, Raw]]]:
    batch, size, number = list[tuple[int, Raw]](), 0, 0
    async for row in _each(source):
        number += 1
        if isinstance(row, bytes):
            if not row.strip():
                continue
            size += len(row)
        batch.append((number, row))
        if len(batch) == _BATCH or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# Of these lists, what cannot be used is left out by itself: the rest of the line says as much without it.
_LISTS = ("entities", "triples", "aliases")

# difflib's likeness of a key to the one that was meant, at least; `parent` is 0.6 like `page`.
_MISSPELT = 0.7

_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


def read_line(raw: bytes | Mapping[str, Any]) -> tuple[Line, list[Remark]]:
    """Return one line, and remarks on what was passed over in it.

    A triple whose ends are one entity is left out, and so are triples, entities and aliases that cannot be
    used; a key that is not known is too, with the known key that it resembles.

    Raises:
        LineInvalid: the line says nothing that can be used; why.
    """
    line, lost = _check_line(_object(raw))
    if isinstance(line, RelationLine | DecisionLine) and line.source == line.target:
        raise LineInvalid(f"The {line.type} joins {line.source!r:.80} to itself.")
    remarks = [*_unknown_keys(line)]
    if isinstance(line, DocumentLine):
        check_sections(line.sections, len(line.text) if line.text else None)
        for index, section in enumerate(line.sections):
            remarks += (f"sections[{index}]: {remark}" for remark in _unknown_keys(section))
        remarks += _overlaps(line.sections)
    if isinstance(line, ChunkLine):
        line, loops = _without_loops(line)
        remarks += [*loops, *_too_long(line.text)]
    return line, [*lost, *map(Remark, remarks)]


def _check_line(values: Mapping[str, Any]) -> tuple[Line, list[Remark]]:
    """Return the line without those items of its lists that cannot be used, and what is wrong with each."""
    try:
        return _LINES.validate_python(values), []
    except ValidationError as error:
        faults = error.errors(include_url=False)
    lost = dict[tuple[str, int], Remark]()
    for fault in faults:
        match fault["loc"]:
            case _, str(key), int(place), *_ if key in _LISTS:
                lost.setdefault((key, place), Remark(_reason(fault), kept=False))
            case _:
                raise LineInvalid(_reason(fault))
    left = {
        key: [one for index, one in enumerate(values[key]) if (key, index) not in lost]
        for key, _ in lost
    }
    return _LINES.validate_python({**values, **left}), list(lost.values())


def check_sections(sections: Sequence[SectionLine], length: int | None) -> None:
    """Check that sections end after their start and within a text of `length` (None: not known yet).

    Raises:
        LineInvalid: the first that does not, and the way out.
    """
    for index, section in enumerate(sections):
        if section.start > section.end:
            raise LineInvalid(
                f"sections[{index}].start: {section.start} lies behind its end, {section.end}. "
                "Give both as offsets into the document's text, the smaller one first."
            )
        if length is not None and section.end > length:
            raise LineInvalid(
                f"sections[{index}].end: {section.end} lies beyond the document's text, which has "
                f"{length} characters. Count characters, not bytes, and end at {length} at most."
            )


def _overlaps(sections: Sequence[SectionLine]) -> Iterator[str]:
    """Yield a remark on each section that begins inside the one before it on its level.

    No fault: passages that overlap, each with a title, are stored as such sections, and exported so.
    """
    before = dict[int, tuple[int, SectionLine]]()  # by level, inside what is above
    for index, section in enumerate(sections):
        before = {level: one for level, one in before.items() if level <= section.level}
        other, before_it = before.get(section.level, (0, None))
        before[section.level] = index, section
        if (
            before_it is not None
            and section.start < before_it.end
            and before_it.start < section.end
        ):
            yield (
                f"sections[{index}].start: {section.start} lies inside sections[{other}], which ends at "
                f"{before_it.end} and has the same level. Both are kept; if it is a part of that one, give "
                f"it level {section.level + 1}."
            )


def _object(raw: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(raw, Mapping):
        return raw
    if not isinstance(raw, bytes | bytearray | str):
        raise LineInvalid("Not a line: give a dict, or JSON as bytes or text.")
    try:
        found: object = json.loads(raw.rstrip(b"\r\n"))
    except json.JSONDecodeError as error:
        raise LineInvalid(f"Not JSON: {error.msg}, at character {error.pos + 1}.") from None
    except UnicodeDecodeError as error:
        raise LineInvalid(f"Not JSON: no text in UTF-8, at byte {error.start + 1}.") from None
    except RecursionError:
        raise LineInvalid(
            "Not JSON that can be read: lists or objects in each other too deep."
        ) from None
    except ValueError:  # the one that is left: Python's limit against slow conversions
        most = f"{sys.get_int_max_str_digits():,}"
        raise LineInvalid(
            f"Not JSON that can be read: a number of more than {most} digits."
        ) from None
    if not isinstance(found, dict):
        raise LineInvalid("Not a JSON object.")
    return found


def _reason(fault: Mapping[str, Any]) -> str:
    """Return a fault as a sentence, with the key it is in."""
    if fault["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return "type: must be document, chunk, entity, relation or decision."
    # The first place is the kind of line that was tried; an entity's is followed by what it was given as.
    field_name = field_at([step for step in fault["loc"][1:] if step not in (NAMED, DESCRIBED)])
    return f"{field_name}: {describe_error(fault)}." if field_name else f"{describe_error(fault)}."


def _unknown_keys(line: ImportLine) -> Iterator[str]:
    if not line.model_extra:
        return
    known = [field.alias or name for name, field in type(line).model_fields.items()]
    for key in line.model_extra:
        near = difflib.get_close_matches(key, known, n=1, cutoff=_MISSPELT)
        hint = f"Did you mean {near[0]!r}?" if near else f"Keys: {', '.join(known)}."
        yield f"The key {key!r:.80} is not known and was passed over. {hint}"


def _too_long(text: str) -> Iterator[str]:
    """Yield a remark on a passage whose vector cannot stand for all of it."""
    # Most have fewer characters than that, and so fewer tokens.
    if len(text) > LONG_PASSAGE and estimate_tokens(text) > LONG_PASSAGE:
        yield (
            f"text: {len(text):,} characters are much for one passage: by meaning it is found by about its "
            f"first {LONG_PASSAGE:,} tokens only. Cut it into several chunks."
        )


def _without_loops(line: ChunkLine) -> tuple[ChunkLine, list[str]]:
    loops = [
        triple for triple in line.triples if normalise_name(triple[0]) == normalise_name(triple[2])
    ]
    if not loops:
        return line, []
    triples = [triple for triple in line.triples if triple not in loops]
    remarks = [f"The triple {list(loop)!r:.120} joins an entity to itself." for loop in loops]
    return line.model_copy(update={"triples": triples}), remarks
