"""The format of a file: by content where it is clear, by name where content leaves it open."""

from __future__ import annotations

import io
import zipfile

import pytest

from sextant.domain.errors import FileBroken, FileEncrypted, FileTypeUnknown
from sextant.ingestion.parsing.detect import FileType, detect
from tests.ole_writer import write_ole


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as container:
        for name in names:
            container.writestr(name, "<x/>")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "filename", "expected"),
    [
        (b"plain words", "a.txt", FileType.TXT),
        (b"# Title", "a.md", FileType.MARKDOWN),
        (b"a,b\n1,2", "a.csv", FileType.CSV),
        (b'{"a": 1}', "a.json", FileType.JSON),
        (b"<p>x</p>", "a.htm", FileType.HTML),
        (b"From: a@b\n\nHi", "a.eml", FileType.EML),
        (b"From: a@b\nReceived: by c\n\nHi", "saved.msg", FileType.EML),
        (b"%PDF1.5 without the dash", "a.pdf", FileType.PDF),
        (
            b"From a@b Fri May  1 09:00:00 2026\nFrom: a@b\nMessage-ID: <1@b>\n\nHi",
            "may.txt",
            FileType.EML,
        ),
        (b"From May on\nFrom: the board\nReceived: today\n\nHi", "may.txt", FileType.TXT),
        (b"plain words", "README", FileType.TXT),
        (b"plain words", "a.rst", FileType.TXT),
        (b"%PDF-1.7\n", "a.pdf", FileType.PDF),
        (archive("word/document.xml"), "a.docx", FileType.DOCX),
        (archive("/word/document2.xml"), "a.docx", FileType.DOCX),
        (archive("document.xml"), "a.docx", FileType.DOCX),
        (archive("xl\\workbook.xml"), "a.xlsx", FileType.XLSX),
        (archive("ppt/presentation.xml"), "a.pptx", FileType.PPTX),
        (archive("xl/workbook.xml"), "a.xlsx", FileType.XLSX),
        (archive("xl/workbook.bin"), "a.xlsb", FileType.XLS),
        (archive("workbook.xml", "sheet1.xml"), "a.xlsx", FileType.XLSX),
        (archive("other/workbook.xml"), "a.xlsx", FileType.XLSX),
        (archive("word/renamed.xml"), "a.docx", FileType.DOCX),
    ],
)
def test_a_file_is_what_its_content_and_its_name_agree_on(
    content: bytes, filename: str, expected: FileType
) -> None:
    assert detect(content, filename) is expected


@pytest.mark.parametrize(
    ("content", "filename", "expected"),
    [
        (b"%PDF-1.4\n", "notes.txt", FileType.PDF),
        (archive("xl/workbook.xml"), "a.docx", FileType.XLSX),
        (b"<!DOCTYPE html><html>", "report.pdf", FileType.HTML),
        (b"\n<!-- saved -->\n<HTML lang=zh>", "page.txt", FileType.HTML),
        (b"# Rules\n\n## Rooms\n\nFree.\n\n### Keys\n", "rules.txt", FileType.MARKDOWN),
        ("## 需求\n\n文本\n\n## 场景\n".encode("gb18030"), "规范.txt", FileType.MARKDOWN),
        (b"# port of the server\nport = 1\n# its name\nname = a\n", "a.txt", FileType.TXT),
        (b"See ## 3 and\n##4, or # 5.\n## once\n", "a.txt", FileType.TXT),
        (b"a,b\n## c,d\n## e,f\n", "a.csv", FileType.CSV),
    ],
)
def test_clear_content_wins_over_a_wrong_extension(
    content: bytes, filename: str, expected: FileType
) -> None:
    assert detect(content, filename) is expected


@pytest.mark.parametrize(
    ("content", "filename", "named", "found"),
    [
        (b"plain words", "report.pdf", ".pdf", "plain text"),
        (b"plain words", "report.docx", ".docx", "plain text"),
        (b"\x1f\x8b\x08\x00" + bytes(40), "scan.pdf", ".pdf", "binary data"),
        (bytes(range(256)) * 4, "a.txt", ".txt", "binary"),
        (archive("mimetype"), "book.epub", ".epub", "zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "old.doc", ".doc", "before 2007"),
        (b"MZ\x90\x00" + bytes(range(200)) * 4, "setup.txt", ".txt", "binary data"),
    ],
)
def test_what_is_not_read_is_refused_naming_both(
    content: bytes, filename: str, named: str, found: str
) -> None:
    with pytest.raises(FileTypeUnknown) as caught:
        detect(content, filename)

    assert named in caught.value.message
    assert found in caught.value.message


def test_a_text_may_begin_with_the_letters_of_another_format() -> None:
    assert detect(b"MZ is short for Mark Zbikowski.", "a.txt") is FileType.TXT
    assert detect(b"BMX wheels are 20 inches wide.", "a.txt") is FileType.TXT
    assert detect(b"GIF87a was the first version.", "a.md") is FileType.MARKDOWN
    assert detect(b"RIFF and chorus", "song.txt") is FileType.TXT


def test_a_truncated_office_file_is_broken_not_unknown() -> None:
    with pytest.raises(FileBroken):
        detect(archive("word/document.xml")[:60], "a.docx")


def test_an_office_file_with_a_password_is_told_from_an_old_one() -> None:
    content = write_ole({"EncryptedPackage": b"x", "EncryptionInfo": b"x"})

    with pytest.raises(FileEncrypted):
        detect(content, "secret.docx")


def test_a_text_that_speaks_of_a_pdf_is_none() -> None:
    assert detect(b'```py\nhead = b"%PDF-1.4"\n```\n', "notes.md") is FileType.MARKDOWN
    assert detect(b"junk\n%PDF-1.4\n\xff\xfe\nstartxref\n9\n%%EOF\n", "notes") is FileType.PDF
    assert detect(b"\r\n%PDF-1.7\n\xff", "notes.txt") is FileType.PDF
