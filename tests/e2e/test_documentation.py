"""What README and docs tell to type works as it stands: commands, curl lines, Python."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.served import served

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
README = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
# Typed as they stand they install, ask a person, serve for ever, or measure for hours.
_NOT_HERE = re.compile(r"\b(?:make|serve|chat|ID|export SEXTANT_DATA_DIR)\b")
RUST = [
    {"type": "document", "id": "d1", "title": "Rust", "text": "所有权系统保证内存安全。"},
    {"type": "chunk", "id": "c1", "documentId": "d1", "text": "所有权系统保证内存安全。"},
    {"type": "entity", "id": "e1", "name": "所有权系统", "entityType": "concept"},
]
LEAVE = {"query": "How many days of leave?", "graphId": "hr"}
# A document that is ready has nothing to retry or to cancel, and 409 says so.
_CONFLICTS = re.compile(r"/(?:retry|cancel)$")
# Runs a block that awaits outside of any function, as `python -m asyncio` does.
_AWAITING = """
import ast, asyncio, inspect, sys
made = eval(compile(sys.argv[1], "README", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {})
if inspect.iscoroutine(made):
    asyncio.run(made)
"""
_CURL = """curl() { command curl --silent --show-error --fail-with-body --max-time 60 "$@"; }\n"""


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        if found[1] in languages:
            yield found[2]


def commands(page: Path) -> list[str]:
    """The lines of a page's shell blocks that run here, without their remarks."""
    shown = [line for block in blocks(page, "sh") for line in block.splitlines()]
    lines = [re.sub(r"\s+#.*", "", line) for line in shown]
    return [line for line in lines if "sextant" in line and not _NOT_HERE.search(line)]


def curls(page: Path) -> list[str]:
    """The curl lines of a page's tables, those that delete last."""
    told = re.findall(r"`(curl [^`]*)`", page.read_text())
    return sorted(told, key=lambda line: "-X DELETE" in line)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sextant: Sextant) -> Path:
    """A folder with the files that the pages name, and the knowledge bases that they ask."""
    folder = tmp_path_factory.mktemp("desk")
    documents = SAMPLES / "documents"
    handbook = documents / "employee-handbook.docx"
    shutil.copy(documents / "heron-3-manual.pdf", folder / "handbook.pdf")
    shutil.copy(handbook, folder / "员工手册.docx")
    for place in ("handbooks", "手册"):
        (folder / place).mkdir()
        shutil.copy(handbook, folder / place)
    (folder / "rust.jsonl").write_text("\n".join(map(json.dumps, RUST)))
    sextant("ingest", documents, "--graph", "demo", "--json").json()
    sextant("ingest", documents / "软件开发合同.docx", "--graph", "contracts", "--json").json()
    sextant("ingest", handbook, "--graph", "hr", "--json").json()
    return folder


def run(command: list[str], told: str, folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    refused = _CONFLICTS.search(told) and '"status":409' in done.stdout
    assert done.returncode == 0 or refused, f"{told}\n{done.stdout}\n{done.stderr}"


def run_shell(line: str, folder: Path, environment: dict[str, str]) -> None:
    run(["bash", "-c", _CURL + line], line, folder, environment)


def test_the_commands_of_the_front_page_run(desk: Path, environment: dict[str, str]) -> None:
    lines = [commands(page) for page in README]
    assert len(lines[0]) == len(lines[1]) > 10
    for line in dict.fromkeys([*lines[0], *lines[1]]):  # most are the same in both languages
        typed = line.replace(".venv/bin/python", shlex.quote(sys.executable)).replace("~/", "")
        run_shell(typed, desk, environment)


@pytest.mark.parametrize("page", README, ids=lambda page: page.name)
def test_the_python_of_the_front_page_runs(
    page: Path, desk: Path, environment: dict[str, str]
) -> None:
    shown = list(blocks(page, "python"))
    assert len(shown) >= 3
    for block in shown:
        given = environment | {"PYTHONPATH": str(ROOT)}
        run([sys.executable, "-c", _AWAITING, opened(block)], block, desk, given)


def opened(block: str) -> str:
    """A block that goes on with an open `rag`, as it stands inside."""
    if "rag" not in block or "Sextant.open" in block:
        return block
    inside = textwrap.indent(block, "    ")
    return f"from sextant import Sextant\nasync with Sextant.open() as rag:\n{inside}"


def test_every_curl_line_is_answered(desk: Path, environment: dict[str, str]) -> None:
    lines = curls(ROOT / "docs" / "http.md")
    assert len(lines) > 20
    with served(environment) as address, httpx.Client(base_url=address, timeout=120) as client:
        client.post("/api/query", json={**LEAVE, "threadId": "leave"}).raise_for_status()
        known = {"S": address, "J": "content-type: application/json"}
        for line in lines:
            known |= _ids(line, known, client)
            run_shell(line, desk, environment | known)


def _ids(line: str, known: dict[str, str], client: httpx.Client) -> dict[str, str]:
    """The ids that `line` needs and nobody has told yet: of a document, an entity, an answer."""
    needed = {name for name in "DER" if f"${name}" in line} - set(known)
    return {name: _ASKED[name](client) for name in needed}


def _document(client: httpx.Client) -> str:
    return str(
        client.get("/documents", params={"graphId": "hr"}).json()["documents"][0]["documentId"]
    )


def _entity(client: httpx.Client) -> str:
    asked = {"query": "所有权系统", "graphId": "rust"}
    found = client.post("/api/knowledge/entities/search", json=asked).json()
    return str(found["results"][0]["entity"]["id"])


def _run(client: httpx.Client) -> str:
    return (
        client.post("/api/query", json={**LEAVE, "stream": True})
        .headers["content-location"]
        .split("/")[3]
    )


_ASKED = {"D": _document, "E": _entity, "R": _run}
