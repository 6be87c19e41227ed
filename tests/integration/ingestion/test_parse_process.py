"""Files that mean harm, or are merely broken, against the limited parser process."""

from __future__ import annotations

import asyncio
import io
import os
import random
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import docx
import openpyxl
import pptx
import psutil
import pytest

from sextant.domain.documents import ParsedDocument
from sextant.domain.errors import (
    FileBroken,
    FileEmpty,
    FileEncrypted,
    FileRejected,
    FileTooLarge,
    FileTypeUnknown,
    FileUnsafe,
)
from sextant.domain.settings import LimitSettings, Settings
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.hosts import ParserHosts, parse_file
from sextant.ingestion.parsing.limits import Limits
from tests.document_writer import book, open_document, outlook
from tests.ole_writer import write_ole
from tests.pdf_writer import PdfText, write_pdf

ROOT = Path(__file__).parents[3]
DOCUMENT = UUID(int=7)
SLOW_HTML = b"<div>" * 100_000  # the tree builder is quadratic in depth


async def parsed(
    name: str,
    content: bytes | None = None,
    *,
    hosts: ParserHosts | None = None,
    **limits: int,
) -> ParsedDocument:
    """Return a file, by default the good one of its name, as a parser process reads it within limits."""
    settings = Settings(_env_file=None, limits=LimitSettings(**limits))
    given = GOOD[name] if content is None else content
    return await parse_file(given, name, document_id=DOCUMENT, settings=settings, hosts=hosts)


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.add_heading("第一章 总则", 1)
    document.add_paragraph("甲方应当在收到发票后付款。")
    document.add_table(rows=2, cols=2).cell(0, 0).text = "a"
    return saved(document)


def deck() -> bytes:
    presentation = pptx.Presentation()
    presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = "Title"
    return saved(presentation)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["name", "price"])
    book.active.append(["motor", 4860])
    return saved(book)


GOOD = {
    "a.txt": "第一章 总则\n\n本合同自签字之日起生效。".encode("gb18030"),
    "a.md": b"# Title\n\nText.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    "a.html": b"<html><body><h1>Title</h1><p>Text.</p><table><tr><td>1<td>2</table></body></html>",
    "a.csv": b"name,price\nmotor,4860\n",
    "a.json": b'{"name": "motor", "prices": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}',
    "a.eml": b"From: a@b.example\nSubject: =?utf-8?B?5Lqk5LuY?=\nMIME-Version: 1.0\n"
    b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain; charset=utf-8\n"
    b"Content-Transfer-Encoding: base64\n\nVGV4dC4=\n--x--\n",
    "a.docx": word(),
    "a.pptx": deck(),
    "a.xlsx": workbook(),
    "a.odt": open_document(
        "text", "<text:h text:outline-level='1'>Title</text:h><text:p>Text.</text:p>"
    ),
    "a.ods": open_document(
        "spreadsheet",
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table>",
    ),
    "a.odp": open_document(
        "presentation",
        "<draw:page><draw:frame><draw:text-box><text:p>Text.</text:p></draw:text-box></draw:frame></draw:page>",
    ),
    "a.rtf": rb"{\rtf1\ansi{\stylesheet{\s1 heading 1;}}\pard\s1 Title\par\pard Text \'e9.\par}",
    "a.epub": book(a="<html><body><h1>Title</h1><p>Text.</p></body></html>"),
    "a.mhtml": b"From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>Text.</p>",
    "a.msg": write_ole(outlook({"0037": "Title", "1000": "Text."})),
    "a.ipynb": b'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["# Title"]}]}',
    "a.xml": b"<?xml version='1.0'?><book><title>Title</title><para>Text.</para></book>",
    "a.pdf": write_pdf([[PdfText(70, 780, "1 Safety", 18), PdfText(70, 740, "Press the button.")]]),
}


def damaged(content: bytes, seed: int) -> bytes:
    """Cut off, overwritten, or with some bits turned over."""
    dice = random.Random(seed)  # noqa: S311 - damage that can be repeated
    if seed % 3 == 0:
        return content[: dice.randrange(1, len(content))]
    mangled = bytearray(content)
    if seed % 3 == 1:
        at = dice.randrange(len(content))
        mangled[at : at + 40] = dice.randbytes(40)
    for _ in range(len(content) // 200 + 1):
        mangled[dice.randrange(len(mangled))] ^= 1 << dice.randrange(8)
    return bytes(mangled)


@pytest.mark.parametrize("filename", GOOD)
async def test_each_format_is_read_in_the_process(filename: str) -> None:
    document = await parsed(filename)

    assert document.chunks
    assert all(document.text[c.start : c.end] == c.text for c in document.chunks)


@pytest.mark.parametrize("filename", [name for name in GOOD if name != "a.pdf"])
@pytest.mark.parametrize("seed", range(24))
def test_a_damaged_file_gives_a_document_or_a_typed_error(filename: str, seed: int) -> None:
    outcome: DocumentDraft | FileRejected
    try:
        outcome = parse(damaged(GOOD[filename], seed), filename, Limits())
    except FileRejected as error:
        outcome = error

    assert outcome.next_step if isinstance(outcome, FileRejected) else outcome.cuts


@pytest.mark.parametrize("seed", range(6))
async def test_a_damaged_pdf_costs_at_most_its_process(seed: int) -> None:
    content = damaged(GOOD["a.pdf"], seed)

    outcome: ParsedDocument | FileRejected
    try:
        outcome = await parsed("a.pdf", content)
    except FileRejected as error:
        outcome = error

    assert outcome.next_step if isinstance(outcome, FileRejected) else outcome.chunks


async def test_errors_cross_the_process_with_code_and_next_step() -> None:
    cases: list[tuple[bytes, str, type[FileRejected]]] = [
        (b"", "a.txt", FileEmpty),
        (b"x" * 101, "a.txt", FileTooLarge),
        (write_pdf([[PdfText(70, 700, "x")]], password="hush")[:100], "a.pdf", FileRejected),
        (b"{'a'", "a.json", FileBroken),
        (b"<html><body></body></html>", "a.html", FileEmpty),
    ]

    for content, filename, kind in cases:
        with pytest.raises(kind) as caught:
            await parsed(filename, content, file_bytes=100)
        assert caught.value.next_step


async def test_a_pdf_with_a_password_is_told_as_such() -> None:
    content = write_pdf([[PdfText(70, 700, "x")]], password="hush")

    with pytest.raises(FileEncrypted):
        await parsed("a.pdf", content)


async def test_two_thousand_and_one_pages_are_refused() -> None:
    content = write_pdf([[PdfText(70, 700, f"Page {number}.")] for number in range(2001)])

    with pytest.raises(FileUnsafe, match="2,001 pages"):
        await parsed("a.pdf", content)


async def test_a_word_file_that_inflates_without_end_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<w:p/>" * 4_000_000)

    assert len(buffer.getvalue()) < 70_000
    with pytest.raises(FileUnsafe):
        await parsed("a.docx", buffer.getvalue())


async def test_cpu_time_runs_out() -> None:
    with pytest.raises(FileUnsafe, match="1 s of CPU"):
        await parsed("a.html", SLOW_HTML, parse_cpu_seconds=1)


async def test_wall_time_runs_out() -> None:
    with pytest.raises(FileUnsafe, match="longer than 1 s"):
        await parsed("a.html", SLOW_HTML, parse_wall_seconds=1)


async def test_memory_runs_out() -> None:
    content = b"[" + b"[]," * 3_000_000 + b"0]"

    with pytest.raises(FileUnsafe, match="memory"):
        await parsed("a.json", content, parse_memory_bytes=100_000_000)


FAKE_OFFICE = """#!{python}
import os, pathlib, sys
folder, source = sys.argv[sys.argv.index("--outdir") + 1:]
profile = pathlib.Path(folder, "profile", "user", "registrymodifications.xcu").read_text()
assert "DisableMacrosExecution" in profile and "SECRET" not in os.environ and os.environ["HOME"] == folder
made = pathlib.Path({made!r}).read_bytes()
pathlib.Path(source).with_suffix(".docx").write_bytes(made)
"""
OLD_WORD = write_ole({"WordDocument": b"x"})


def install_office(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "soffice"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


async def test_a_doc_is_rewritten_by_libreoffice_within_a_profile_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tmp_path / "made.docx"
    made.write_bytes(word())
    monkeypatch.setenv("SECRET", "x")
    install_office(tmp_path, monkeypatch, FAKE_OFFICE.format(python=sys.executable, made=str(made)))

    document = await parsed("contract.doc", OLD_WORD)

    assert [section.title for section in document.sections][1:] == ["第一章 总则"]


async def test_without_libreoffice_a_doc_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(FileTypeUnknown) as caught:
        await parsed("contract.doc", OLD_WORD)

    assert "Save it as DOCX, or install LibreOffice" in caught.value.next_step


async def test_a_doc_that_libreoffice_cannot_read_or_takes_too_long_for_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_office(tmp_path, monkeypatch, "#!/bin/sh\nexit 1\n")
    with pytest.raises(FileBroken, match="password"):
        await parsed("contract.doc", OLD_WORD)

    install_office(tmp_path, monkeypatch, "#!/bin/sh\nsleep 60\n")
    with pytest.raises(FileUnsafe, match="longer than 1 s"):
        await parsed("contract.doc", OLD_WORD, parse_wall_seconds=1)


async def test_a_cancelled_parse_leaves_no_process_behind() -> None:
    running = asyncio.create_task(parsed("a.html", SLOW_HTML))
    while not (children := parser_processes()):  # noqa: ASYNC110 - a process tells no event
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert children
    assert not parser_processes()


async def test_files_one_after_the_other_share_one_host() -> None:
    hosts = ParserHosts()
    seen = set()
    for number in range(12):
        name = ["a.txt", "a.md", "a.docx", "a.pdf"][number % 4]
        await parsed(name, hosts=hosts)
        seen.update(parser_processes())

    assert len(seen) == 1


@pytest.mark.parametrize("seconds", [30, 300])
async def test_files_are_read_where_the_system_grants_little_time(
    monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """As after `ulimit -t`: a process may have less than one file may take, or more."""
    hosts = ParserHosts()
    start = subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda command, **more: start(["prlimit", f"--cpu={seconds}", *command], **more),
    )

    for name in ("a.md", "a.txt", "a.html"):
        assert (await parsed(name, hosts=hosts)).chunks


async def test_files_side_by_side_have_a_host_each() -> None:
    hosts = ParserHosts()
    documents = await asyncio.gather(*(parsed(name, hosts=hosts) for name in GOOD))

    assert all(one.chunks for one in documents)
    assert len(parser_processes()) == len(GOOD)


async def test_a_hostile_file_costs_its_host_and_no_other_file() -> None:
    hosts = ParserHosts()
    bomb = b"[" + b"[]," * 3_000_000 + b"0]"
    for _ in range(2):
        await parsed("a.md", hosts=hosts)
        with pytest.raises(FileUnsafe):
            await parsed("a.json", bomb, parse_memory_bytes=100_000_000, hosts=hosts)
        with pytest.raises(FileUnsafe, match="1 s of CPU"):
            await parsed("a.html", SLOW_HTML, parse_cpu_seconds=1, hosts=hosts)

    again = await parsed("a.md", hosts=hosts)
    assert again.chunks


async def test_a_host_that_was_killed_meanwhile_is_replaced() -> None:
    hosts = ParserHosts()
    await parsed("a.md", hosts=hosts)
    [killed] = parser_processes()
    os.kill(killed, signal.SIGKILL)

    document = await parsed("a.md", hosts=hosts)

    assert document.chunks
    assert parser_processes() != [killed]


async def test_hosts_end_with_the_object_that_has_them() -> None:
    hosts = ParserHosts()
    await parsed("a.md", hosts=hosts)
    assert parser_processes()

    del hosts

    assert not parser_processes()


async def test_a_host_does_not_grow_with_the_files_it_had_parsed() -> None:
    hosts = ParserHosts()
    sizes = []
    for _ in range(3):
        for _ in range(40):
            await parsed("a.html", hosts=hosts)
        [host] = parser_processes()
        sizes.append(psutil.Process(host).memory_info().rss)

    assert sizes[-1] - sizes[0] < 1_000_000
    assert len(psutil.Process(host).children()) <= 1  # the last one may be about to end


@pytest.fixture(autouse=True)
def others() -> Iterator[None]:
    """Yield hosts of tests before these, which end whenever their owners are collected, are none of ours."""
    _OTHERS.update(parser_processes())
    yield
    _OTHERS.clear()


_OTHERS: set[int] = set()


def parser_processes() -> list[int]:
    """Return ids of this process's children that fork the parser, without those of other tests."""
    ids = [child.pid for child in psutil.Process().children()]
    hosts = [number for number in ids if b"sextant.ingestion.parsing.host" in command_line(number)]
    return [number for number in hosts if number not in _OTHERS]


def command_line(number: int) -> bytes:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes()
    except OSError:
        return b""


def test_the_process_can_neither_write_files_nor_reach_the_network(tmp_path: Path) -> None:
    program = (
        "import socket, sys\n"
        "from sextant.ingestion.parsing.child import leave_network, restrict\n"
        "from sextant.ingestion.parsing.limits import Limits\n"
        "leave_network()\n"
        "restrict(Limits())\n"
        "try:\n  with open(sys.argv[1], 'w') as file: file.write('x')\n  print('wrote')\n"
        "except OSError: print('no file')\n"
        "try:\n  socket.create_connection(('127.0.0.1', int(sys.argv[2])), 2); print('connected')\n"
        "except OSError: print('no network')\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "x"), str(port)],
            capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)},
        )  # fmt: skip

    assert "no file" in done.stdout
    if not unprivileged_namespaces():
        pytest.skip("this system does not let a process leave the network")
    assert "no network" in done.stdout


def unprivileged_namespaces() -> bool:
    tried = subprocess.run(["unshare", "--user", "--net", "true"], capture_output=True, check=False)
    return tried.returncode == 0
