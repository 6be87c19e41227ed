import os
from pathlib import Path

import pytest

from sextant.nodes.multimodal.parts import read_inside


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an image, beside a secret, and ways out of it."""
    inside = tmp_path / "images"
    (inside / "deep").mkdir(parents=True)
    (inside / "a.png").write_bytes(b"image")
    (inside / "deep" / "b.png").write_bytes(b"deep image")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (inside / "link.png").symlink_to(tmp_path / "secret.png")
    (inside / "same.png").symlink_to(inside / "a.png")
    (inside / "up").symlink_to(tmp_path)
    return inside


@pytest.mark.parametrize(("path", "content"), [("a.png", b"image"), ("deep/b.png", b"deep image")])
def test_a_file_inside_is_read_by_its_name_and_by_its_whole_path(
    folder: Path, path: str, content: bytes
) -> None:
    assert read_inside(folder, path, 100) == content
    assert read_inside(folder, str(folder / path), 100) == content


def test_no_more_is_read_than_one_byte_beyond_the_limit(folder: Path) -> None:
    assert read_inside(folder, "deep/b.png", 3) == b"deep"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.png",
        "deep/../../secret.png",
        "./a.png/../../secret.png",
        "link.png",
        "same.png",
        "up/secret.png",
        "/etc/passwd",
        "missing.png",
        "deep",
        "",
        ".",
        "a.png\0.png",
        "..",
        "~/a.png",
    ],
)
def test_nothing_outside_is_read_nor_over_a_link(folder: Path, path: str) -> None:
    with pytest.raises(OSError, match=r"."):
        read_inside(folder, path, 100)


@pytest.mark.parametrize("path", ["../secret.png", "link.png"])
def test_a_whole_path_leads_no_further(folder: Path, path: str) -> None:
    with pytest.raises(OSError, match=r"."):
        read_inside(folder, f"{folder}/{path}", 100)


def test_a_pipe_is_no_file_and_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(OSError, match=r"."):
        read_inside(folder, "pipe.png", 100)


def test_no_descriptor_stays_open(folder: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    for path in ("a.png", "deep/b.png", "link.png", "missing.png", "deep", "up/secret.png"):
        try:
            read_inside(folder, path, 100)
        except OSError:
            continue
    assert set(Path("/proc/self/fd").iterdir()) == before
