"""Containers that would exhaust their parser are stopped while they are counted."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest

from sextant.domain.errors import FileBroken, FileEmpty, FileEncrypted, FileTooLarge, FileUnsafe
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.formats.opc import Package
from sextant.ingestion.parsing.limits import Limits, check_container, check_size

LIMITS = Limits(zip_entries=5, zip_inflated_bytes=300_000, zip_part_bytes=100_000, zip_ratio=1000)


def container(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def check(parts: dict[str, bytes], limits: Limits = LIMITS) -> None:
    check_container(container(parts), FileType.DOCX, limits)


def test_exactly_at_every_limit_a_file_passes() -> None:
    check({"a.xml": b"x" * 100_000, "b.png": b"x" * 200_000, "c": b"", "d": b"", "e": b""})


@pytest.mark.parametrize(
    ("parts", "setting"),
    [
        ({f"{n}.xml": b"x" for n in range(6)}, "ZIP_ENTRIES"),
        ({"a.xml": b"x" * 100_001}, "ZIP_PART_BYTES"),
        ({"a.png": b"x" * 200_000, "b.png": b"x" * 100_001}, "ZIP_INFLATED_BYTES"),
    ],
)
def test_one_more_is_refused_naming_the_setting(parts: dict[str, bytes], setting: str) -> None:
    with pytest.raises(FileUnsafe) as caught:
        check(parts)

    assert setting in caught.value.next_step


def test_a_bomb_is_refused_by_its_ratio_before_it_is_inflated() -> None:
    bomb = {"a.png": b"\0" * 280_000}

    check(bomb)
    check({"blank.emf": b"\0" * 100_000}, replace(LIMITS, zip_ratio=200))
    with pytest.raises(FileUnsafe):
        check(bomb, replace(LIMITS, zip_ratio=200))


def test_an_entry_that_is_larger_than_it_declares_is_not_read() -> None:
    content = bytearray(container({"a.xml": b"x" * 100_001}))
    declared = (100_001).to_bytes(4, "little")
    place = content.rfind(declared)  # in the central directory, which readers go by
    content[place : place + 4] = (10).to_bytes(4, "little")

    check_container(bytes(content), FileType.DOCX, LIMITS)

    assert Package(bytes(content)).read("a.xml") is None


def test_an_archive_inside_is_refused_but_for_the_data_behind_charts() -> None:
    check({"ppt/embeddings/Microsoft_Excel_Sheet.xlsx": b"PK"})

    with pytest.raises(FileUnsafe, match="another archive"):
        check({"word/inner.zip": b"PK"})


_DECLARED = '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'


@pytest.mark.parametrize(
    "written",
    [
        f'<?xml version="1.0"?>{_DECLARED}'.encode(),
        f'<?xml version="1.0" encoding="utf-16"?>{_DECLARED}'.encode("utf-16"),
        f"\ufeff{_DECLARED}".encode("utf-16-be"),
        f"<?xml version='1.0'?><!--{' '.join(map(str, range(15_000)))}-->{_DECLARED}".encode(),
        b"<!DOCTYPE x SYSTEM 'http://evil.example/x.dtd'><x/>",
    ],
)
def test_xml_entities_are_refused_wherever_and_however_they_are_declared(written: bytes) -> None:
    with pytest.raises(FileUnsafe, match="entities"):
        check({"word/document.xml": written})


def test_xml_in_an_encoding_that_hides_what_it_declares_is_refused() -> None:
    hidden = b'<?xml version="1.0" encoding="UTF-7"?>+ADw-!DOCTYPE x+AD4-<x/>'
    with pytest.raises(FileUnsafe, match="encoding"):
        check({"word/document.xml": hidden})


def test_xml_that_only_speaks_of_entities_is_not_refused() -> None:
    check({"word/document.xml": b"<x>&lt;!DOCTYPE&gt; <!-- <!ENTITY --><![CDATA[<!DOCTYPE]]></x>"})


def test_flipped_bytes_cost_the_entry_that_they_are_in() -> None:
    content = bytearray(container({"a.png": bytes(range(256)) * 40, "b.xml": b"<b/>"}))
    content[60] ^= 0xFF

    check_container(bytes(content), FileType.DOCX, LIMITS)

    package = Package(bytes(content))
    assert package.read("a.png") is None
    assert package.read("b.xml") == b"<b/>"


def test_a_container_without_its_directory_is_broken() -> None:
    content = container({"word/document.xml": b"<x/>"})

    with pytest.raises(FileBroken):
        check_container(content[:-30], FileType.DOCX, LIMITS)


def test_an_entry_with_a_password_is_refused() -> None:
    content = bytearray(container({"word/document.xml": b"<x/>"}))
    directory = content.rfind(b"PK\x01\x02")
    content[directory + 8] |= 1

    with pytest.raises(FileEncrypted):
        check_container(bytes(content), FileType.DOCX, LIMITS)


@pytest.mark.parametrize("content", [b"", b" \n\t", b"\0\0\0"])
def test_nothing_but_blanks_is_empty(content: bytes) -> None:
    with pytest.raises(FileEmpty):
        check_size(content, "a.txt", LIMITS)


def test_the_size_limit_holds_to_the_byte() -> None:
    limits = replace(LIMITS, file_bytes=10)

    check_size(b"x" * 10, "a.txt", limits)
    with pytest.raises(FileTooLarge):
        check_size(b"x" * 11, "a.txt", limits)
