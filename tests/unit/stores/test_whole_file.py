"""A file that appears when it is whole, and only then."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.stores.postgresql.backup import write_atomically


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    out.write_text("old")
    with write_atomically(out) as part:
        part.write_text("new")
        assert out.read_text() == "old"
    assert out.read_text() == "new"
    assert list(tmp_path.iterdir()) == [out]


def test_of_two_that_write_one_file_each_writes_its_own_and_the_later_stays(tmp_path: Path) -> None:
    out = tmp_path / "notes.jsonl"
    with write_atomically(out) as later:
        later.write_text("the later, ")
        with write_atomically(out) as sooner:
            sooner.write_text("the sooner")
        assert out.read_text() == "the sooner"
        with later.open("a") as file:
            file.write("whole")
    assert out.read_text() == "the later, whole"
    assert list(tmp_path.iterdir()) == [out]


def test_a_target_that_is_a_folder_or_lies_in_none_cannot_be_written(tmp_path: Path) -> None:
    for out in (tmp_path, tmp_path / "missing" / "notes.jsonl"):
        with (
            pytest.raises(OptionInvalid, match="cannot be written") as told,
            write_atomically(out) as part,
        ):
            part.write_text("new")
        assert told.value.field == "out"
        assert str(out) in str(told.value)
    assert list(tmp_path.parent.glob("*.part")) == []


def test_a_pipe_and_what_a_process_has_open_are_not_replaced(tmp_path: Path) -> None:
    """As root, a file took the place of /dev/stdout."""
    pipe, standard = tmp_path / "pipe", tmp_path / "stdout"
    os.mkfifo(pipe)
    standard.symlink_to("/proc/self/fd/1")

    for out in (pipe, standard):
        with pytest.raises(OptionInvalid, match="it is not a file"), write_atomically(out):
            pass

    assert pipe.is_fifo()
    assert standard.is_symlink()


def test_a_full_disk_is_told_as_such_and_leaves_nothing(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OptionInvalid, match="cannot be written: No space left"):
        half_written(tmp_path / "notes.jsonl", full)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
        FileNotFoundError(errno.ENOENT, "not there", "pg_dump"),
    ],
)
def test_what_fails_elsewhere_meanwhile_is_told_as_it_is(tmp_path: Path, failure: OSError) -> None:
    with pytest.raises(type(failure)) as told:
        half_written(tmp_path / "notes.jsonl", failure)
    assert told.value is failure
    assert list(tmp_path.iterdir()) == []


def half_written(out: Path, failure: OSError) -> None:
    """Write half of a file, then fail."""
    with write_atomically(out) as part:
        part.write_text("half")
        raise failure
