"""Which files a folder gives, and which it is said to leave out."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from sextant.domain.errors import FileRejected
from sextant.ingestion.files import find_files, find_unsupported, find_vanished, read_file


def test_a_folder_gives_what_is_read_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "A.PDF",
        "photo.heic",
        "README",
        ".hidden.md",
        "~$b.docx",
        "sub/c.txt",
        "sub/d.mp4",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("x")
    named = [file.relative_to(tmp_path).as_posix() for file in find_files([tmp_path])]
    assert named == ["A.PDF", "b.md", "sub/c.txt"]
    others = [
        file.relative_to(tmp_path).as_posix() for file in find_unsupported([tmp_path, tmp_path])
    ]
    assert others == ["README", "photo.heic", "sub/d.mp4"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    shared, outside = tmp_path / "shared", tmp_path / "outside"
    for folder in (shared / "sub", outside):
        folder.mkdir(parents=True)
    (outside / "salaries.md").write_text("secret")
    (shared / "a.md").write_text("text")
    (shared / "sub" / "again.md").symlink_to(shared / "a.md")
    (shared / "sub" / "out.md").symlink_to(outside / "salaries.md")
    (shared / "sub" / "hops.md").symlink_to(shared / "sub" / "out.md")
    (shared / "folder").symlink_to(outside)
    assert find_files(shared) == [shared / "a.md", shared / "sub" / "again.md"]
    assert find_unsupported(shared) == [
        shared / "folder",
        shared / "sub" / "hops.md",
        shared / "sub" / "out.md",
    ]
    link = tmp_path / "link"
    link.symlink_to(shared)
    assert find_files(link) == [link / "a.md", link / "sub" / "again.md"]
    assert find_files(shared / "sub" / "out.md") == [
        shared / "sub" / "out.md"
    ]  # who names it means it


def test_a_named_file_and_a_link_to_nothing_are_never_left_out(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "again").symlink_to(tmp_path)
    photo = tmp_path / "sub" / "photo.heic"
    assert find_files([tmp_path, photo]) == [tmp_path / "gone.md", photo]
    assert find_unsupported([tmp_path, photo]) == []


def test_a_folder_that_may_not_be_looked_into_is_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_one, shut = tmp_path / "a.md", tmp_path / "shut"
    open_one.write_text("text")
    shut.mkdir()
    look = os.scandir

    def looking(path: str | Path) -> Any:
        if Path(path) == shut:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path)

    monkeypatch.setattr(os, "scandir", looking)
    assert find_files([tmp_path]) == [open_one, shut]
    assert find_unsupported([tmp_path]) == []
    with pytest.raises(FileRejected, match="shut cannot be read"):
        read_file(shut, 1000)


def test_one_path_alone_is_that_path_and_not_its_letters(tmp_path: Path) -> None:
    file = tmp_path / "handbook.md"
    assert find_files(file) == find_files(str(file)) == [file]


def test_what_lay_in_a_folder_and_is_gone_has_vanished(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("a")
    (tmp_path / "in" / "b.bin").write_text("no format that is read, and there")
    (tmp_path / "in" / "mail.eml").write_text("with an attachment")
    names = ("a.md", "b.bin", "mail.eml/attached.pdf", "c.md", "d/e.md")
    inside = [(tmp_path / "in" / name).as_posix() for name in names]
    outside = [(tmp_path / "out.md").as_posix(), "uploaded.md", "fact:7"]

    assert find_vanished([tmp_path / "in"], [*inside, *outside]) == inside[3:]
    assert find_vanished(tmp_path / "in" / "a.md", inside) == []


def test_in_an_empty_folder_nothing_has_vanished(tmp_path: Path) -> None:
    assert find_vanished(tmp_path, [(tmp_path / "a.md").as_posix()]) == []


def test_what_one_might_wait_for_without_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    for name in ("pipe.txt", "zero.txt"):
        with pytest.raises(FileRejected, match="a pipe, a socket or a device"):
            read_file(tmp_path / name, 1000)
