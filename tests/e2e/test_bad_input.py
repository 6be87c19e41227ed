"""Every bad input gets a code, a sentence, the next step and an exit status; nothing stored is lost."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import SAMPLES, Sextant

GOOD = SAMPLES / "documents" / "rust-ownership.md"


def encrypted_pdf() -> bytes:
    """Return a PDF whose trailer asks for a password that nobody knows."""
    head = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
    key = b"<" + b"ab" * 32 + b">"
    encrypt = (
        b"3 0 obj<</Filter/Standard/V 2/R 3/Length 128/P -4/O " + key + b"/U " + key + b">>endobj\n"
    )
    places = [head.index(b"1 0 obj"), head.index(b"2 0 obj"), len(head)]
    table = b"xref\n0 4\n0000000000 65535 f \n" + b"".join(
        b"%010d 00000 n \n" % at for at in places
    )
    trailer = b"trailer<</Size 4/Root 1 0 R/Encrypt 3 0 R/ID[<00><00>]>>\nstartxref\n%d\n%%%%EOF\n"
    return head + encrypt + table + trailer % len(head + encrypt)


def docx(document: bytes) -> bytes:
    """Return a DOCX container around one part."""
    container = io.BytesIO()
    with zipfile.ZipFile(container, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", document)
    return container.getvalue()


BAD_FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "nothing.txt": ("file_empty", lambda: b""),
    "blank.md": ("file_empty", lambda: b" \n\t\n"),
    "program.bin": ("file_type_unknown", lambda: bytes(range(256)) * 8),
    "picture.pdf": ("file_type_unknown", lambda: b"\x89PNG\r\n\x1a\n" + bytes(64)),
    "locked.pdf": ("file_encrypted", encrypted_pdf),
    "torn.docx": ("file_broken", lambda: docx(b"<w:document><w:body>")),
    "cut.docx": ("file_broken", lambda: docx(b"x" * 5000)[:200]),
    "bomb.docx": ("file_unsafe", lambda: docx(b" " * 300_000_000)),
}


@pytest.fixture(scope="module")
def refused(sextant: Sextant, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what is told of each bad file, all thrown at a knowledge base that has one good document."""
    folder = tmp_path_factory.mktemp("bad")
    for name, (_, content) in BAD_FILES.items():
        (folder / name).write_bytes(content())
    sextant("ingest", GOOD, "--graph", "robust", "--json").json()
    ran = sextant("ingest", *(folder / name for name in BAD_FILES), "--graph", "robust", "--json")
    assert ran.status == 2
    return {file["filename"]: file["error"] for file in ran.report()["files"]}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_refused_with_a_code_a_sentence_and_the_next_step(
    name: str, refused: dict[str, Any]
) -> None:
    assert refused[name]["code"] == BAD_FILES[name][0]
    assert refused[name]["message"].endswith(".")
    assert refused[name]["next_step"]


def test_bad_files_leave_nothing_searchable_and_lose_nothing(
    sextant: Sextant, refused: dict[str, Any]
) -> None:
    found = sextant("search", "ownership", "--graph", "robust", "--limit", "50", "--json").json()
    assert {item["metadata"]["filename"] for item in found["results"]} == {GOOD.name}
    [graph] = [
        graph for graph in sextant("graphs", "--json").json() if graph["graph_id"] == "robust"
    ]
    assert graph["chunks"] == len(found["results"])


def test_a_good_file_beside_a_bad_one_is_taken(sextant: Sextant, tmp_path: Path) -> None:
    empty = tmp_path / "nothing.txt"
    empty.touch()
    ran = sextant("ingest", empty, GOOD, tmp_path / "missing.txt", "--graph", tmp_path.name)
    assert ran.status == 2
    assert "1 ingested" in ran.out
    assert "2 failed" in ran.out
    assert "nothing.txt is empty" in ran.err
    assert "missing.txt cannot be read" in ran.err.replace("\n", "")


def test_a_changed_file_that_is_broken_leaves_its_old_version_searchable(
    sextant: Sextant, tmp_path: Path
) -> None:
    file = tmp_path / "plan.docx"
    file.write_bytes((SAMPLES / "documents" / "employee-handbook.docx").read_bytes())
    sextant("ingest", file, "--graph", tmp_path.name, "--json").json()
    before = sextant("search", "annual leave", "--graph", tmp_path.name, "--json").json()["results"]
    file.write_bytes(docx(b"<torn"))
    assert sextant("ingest", file, "--graph", tmp_path.name, "--json").status == 2
    after = sextant("search", "annual leave", "--graph", tmp_path.name, "--json").json()["results"]
    assert before
    assert [item["id"] for item in after] == [item["id"] for item in before]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ask", "  "], "question_invalid"),
        (["ask", "x" * 2001], "question_invalid"),
        (["search", "x" * 2001], "question_invalid"),
        (["ask", "anything", "--graph", "never-made"], "graph_not_found"),
        (["search", "anything", "--graph", "never-made"], "graph_not_found"),
        (["ask", "anything", "--mode", "telepathy"], "mode_not_available"),
        (["search", "anything", "--mode", "telepathy"], "mode_not_available"),
        (["search", "anything", "--limit", "0"], "option_invalid"),
        (["search", "anything", "--filter", "tags"], "option_invalid"),
        (["entities", "search", "anything", "--filter", "tags"], "option_invalid"),
        (["entities", "search", "anything", "--filter", "tags=table"], "option_invalid"),
        (["entities", "search", "anything", "--filter", "createdAfter=soon"], "option_invalid"),
    ],
)
def test_a_bad_question_is_refused_with_the_next_step(
    arguments: list[str], code: str, sextant: Sextant
) -> None:
    ran = sextant(*arguments, "--json")
    assert ran.status == 2
    assert ran.error()["code"] == code
    assert ran.error()["message"]
    assert ran.error()["next_step"]
    assert ran.out == ""


@pytest.mark.parametrize(
    "arguments", [["ask", "anything"], ["ingest", str(GOOD)], ["graphs"], ["documents", "list"]]
)
def test_a_database_that_is_gone_is_a_dependency_that_is_down(
    arguments: list[str], sextant: Sextant
) -> None:
    ran = sextant(*arguments, "--json", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert ran.status == 3
    assert ran.error()["code"] == "database_unavailable"
    assert "sextant doctor" in ran.error()["next_step"]


def test_the_doctor_names_what_is_down_and_exits_with_it(sextant: Sextant) -> None:
    assert sextant("doctor").status == 0
    ran = sextant("doctor", DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert ran.status == 3
    assert "✗ database" in ran.out
    assert "✓ embedding model" in ran.out
