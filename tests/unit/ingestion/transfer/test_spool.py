"""The lines of an import while they wait to be stored."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sextant.domain.errors import DependencyError
from sextant.ingestion.transfer.lines import EntityLine, RelationLine
from sextant.ingestion.transfer.spool import Numbered, spool


def entity(own_id: str, name: str) -> EntityLine:
    return EntityLine(id=own_id, name=name)


def test_a_line_that_takes_anothers_place_is_told_and_counts_once() -> None:
    with spool() as lines:
        first = lines.add([Numbered(1, entity("e1", "WHO")), Numbered(2, entity("e2", "UN"))])
        again = lines.add([Numbered(3, entity("e1", "World Health Organization"))])

        kept = [one.line.name for group in lines.entities() for one in group]

    assert first == []
    assert [(problem.line, problem.kept) for problem in again] == [(3, True)]
    assert lines.size == 2
    assert kept == ["UN", "World Health Organization"]


def test_relations_come_back_as_they_were_said() -> None:
    line = RelationLine(
        source="a", target="b", relation_type="R", description="“x”", weight=0.1, chunk_ids=["c"]
    )
    with spool() as lines:
        lines.add([Numbered(7, line)])

        (back,) = lines.relations()

    assert back == Numbered(7, line)


def test_a_folder_without_room_is_told_with_the_way_out() -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    named = [Numbered(n, entity(f"e{n}", f"Name {n} " + "x" * 500)) for n in range(8_000)]
    try:
        with pytest.raises(DependencyError, match="cannot be kept") as raised, spool() as lines:  # noqa: PT012
            resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
            lines.add(named)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "TMPDIR" in (raised.value.next_step or "")


def test_the_file_has_no_name_so_that_whoever_is_killed_leaves_none() -> None:
    before = set(_open_files())
    with spool() as lines:
        lines.add([Numbered(n, entity(f"e{n}", f"Name {n} " + "x" * 500)) for n in range(8_000)])
        kept = set(_open_files()) - before
    assert [one for one in kept if one.endswith("(deleted)")]
    assert not [one for one in kept if Path(one).exists()]


def _open_files() -> Iterator[str]:
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            yield str(link.readlink())
