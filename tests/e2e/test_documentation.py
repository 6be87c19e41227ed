"""What README and docs tell to type works as it stands: commands, curl lines, Python."""

from __future__ import annotations

import asyncio
import builtins
import json
import re
import shlex
import shutil
import subprocess
import symtable
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.served import served
from tests.e2e.studio import developing
from tests.pictures import picture

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
README = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
# Typed as they stand they install, ask a person, serve for ever, or measure for hours.
_NOT_HERE = re.compile(r"^make |\bsextant (?:serve|chat)\b|\bID\b|export SEXTANT_DATA_DIR")
# On other pages: what names a machine of the reader's, or runs until it is stopped.
_ELSEWHERE = re.compile(
    r"HOST|/opt/|/backups/|=…|\bsextant (?:serve|chat|worker|mcp|graph rebuild)\b"
)
_RUN_ID = re.compile(r"\b[0-9a-f]{32}\b")
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
made = eval(compile(sys.argv[1], "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), {})
if inspect.iscoroutine(made):
    asyncio.run(made)
"""
# What a block takes as given, and how a caller comes by it.
_GIVEN = {
    "rag": "from sextant import Sextant\nasync with Sextant.open() as rag:",
    "store": "from tests.e2e.vector_store import opened\nasync with opened() as store:",
}
# What a page writes for a server of the reader's, and the fixture that has one.
_ADDRESSES = {
    "http://127.0.0.1:8000": "server",
    "http://localhost:8000": "server",
    "http://127.0.0.1:2024": "studio",
}
# What the pages ask without naming a file.
_ASKED_OF = {
    "default": "rust-ownership.md",
    "rust": "rust-ownership.md",
    "pumps": "heron-3-manual.pdf",
    "handbooks": "employee-handbook.docx",
    "contracts": "软件开发合同.docx",
    "hr": "employee-handbook.docx",
}
_CURL = """curl() { command curl --silent --show-error --fail-with-body --max-time 60 "$@"; }\n"""


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        if found[1] in languages:
            yield found[2]


def commands(page: Path) -> list[str]:
    """Return the lines of a page's shell blocks that run here, without their remarks."""
    shown = [line for block in blocks(page, "sh") for line in block.splitlines()]
    lines = [re.sub(r"\s+#.*", "", line) for line in shown]
    return [
        line
        for line in lines
        if ("sextant" in line or line.startswith("curl ")) and not _NOT_HERE.search(line)
    ]


def python_blocks() -> list[Any]:
    """Return every block of Python in any page, by the page's name and its place there."""
    return [
        pytest.param(block, id=f"{page.name}-{place}")
        for page in PAGES
        for place, block in enumerate(blocks(page, "python"), start=1)
    ]


def typed_elsewhere(page: Path) -> list[str]:
    """Return the commands of a page but the front page that run here, continued lines joined."""
    shown = "".join(blocks(page, "sh")).replace("\\\n", " ")
    lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in shown.splitlines()]
    return [
        line for line in lines if re.match(r"curl |sextant ", line) and not _ELSEWHERE.search(line)
    ]


def curls(page: Path) -> list[str]:
    """Return the curl lines of a page's tables, those that delete last."""
    told = re.findall(r"`(curl [^`]*)`", page.read_text())
    return sorted(told, key=lambda line: "-X DELETE" in line)


def ingest_what_is_asked(sextant: Sextant) -> None:
    for graph, name in _ASKED_OF.items():
        sextant("ingest", SAMPLES / "documents" / name, "--graph", graph, "--json").json()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, sextant: Sextant) -> Path:
    """Return a folder with the files that the pages name, and the knowledge bases that they ask."""
    folder = tmp_path_factory.mktemp("desk")
    documents = SAMPLES / "documents"
    handbook = documents / "employee-handbook.docx"
    shutil.copy(documents / "heron-3-manual.pdf", folder / "handbook.pdf")
    shutil.copy(handbook, folder / "员工手册.docx")
    for place in ("handbooks", "手册"):
        (folder / place).mkdir()
        shutil.copy(handbook, folder / place)
    (folder / "rust.jsonl").write_text("\n".join(map(json.dumps, RUST)))
    (folder / "xray.jpg").write_bytes(picture(kind="JPEG"))
    (folder / "chart.png").write_bytes(picture())
    (folder / "sales.csv").write_text("product,sold\nA,900\nB,1200\n")
    sextant("ingest", documents, "--graph", "demo", "--json").json()
    ingest_what_is_asked(sextant)
    sextant("import", folder / "rust.jsonl", "--graph", "docs", "--json").json()
    return folder


@pytest.fixture(scope="module")
def server(desk: Path, environment: dict[str, str]) -> Iterator[str]:
    """Yield the address of `sextant serve` over the desk's knowledge bases."""
    with served(environment) as address:
        yield address


@pytest.fixture(scope="module")
def studio(desk: Path, environment: dict[str, str]) -> Iterator[str]:
    """Yield the address of `langgraph dev` over the same."""
    with developing(environment) as address:
        yield address


def run(command: list[str], told: str, folder: Path, environment: dict[str, str]) -> str:
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
    return done.stdout


def run_shell(line: str, folder: Path, environment: dict[str, str]) -> None:
    run(["bash", "-c", _CURL + line], line, folder, environment)


def test_the_commands_of_the_front_page_run(
    desk: Path, environment: dict[str, str], server: str
) -> None:
    lines = [commands(page) for page in README]
    assert len(lines[0]) == len(lines[1]) >= 10
    for line in dict.fromkeys([*lines[0], *lines[1]]):  # some are the same in both languages
        typed = line.replace(".venv/bin/python", shlex.quote(sys.executable)).replace("~/", "")
        run_shell(typed.replace("http://127.0.0.1:8000", server), desk, environment)


def test_no_block_of_python_is_overlooked() -> None:
    fences = [re.findall(r"^\s*[`~]{3,}\s*py", page.read_text(), re.MULTILINE) for page in PAGES]
    assert len(python_blocks()) == sum(map(len, fences)) >= 12


@pytest.mark.parametrize("block", python_blocks())
async def test_the_python_of_every_page_runs(
    block: str, desk: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    here = with_given(block).replace("sxt_…", "any")
    for address, fixture in _ADDRESSES.items():
        if address in block:
            here = here.replace(address, request.getfixturevalue(fixture))
    looks = "img_path" in block
    asks = looks or "ChatOpenAI(" in block
    async with ScriptedOpenAI(described) as model:
        given = environment | {"PYTHONPATH": str(ROOT)}
        if asks:
            given |= {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "any"}
        if looks:
            given |= {"SEXTANT_VISION_MODEL": "eyes"}
        printed = await asyncio.to_thread(
            run, [sys.executable, "-c", _AWAITING, here], block, desk, given
        )
    assert bool(model.chat_requests) == asks
    assert "'type': 'error'" not in printed  # how a run of LangGraph's server fails


def described(request: ApiRequest) -> str:
    """Return what a vision model says of a picture."""
    return "A red field." if request.images else "no"


def with_given(block: str) -> str:
    """Return a block inside of what opens the names that it uses and does not make."""
    for name in taken_as_given(block):
        assert name in _GIVEN, f"{name} comes from nowhere:\n{block}"
        block = f"{_GIVEN[name]}\n{textwrap.indent(block, '    ')}"
    return block


def taken_as_given(block: str) -> list[str]:
    return [
        name.get_name()
        for name in symtable.symtable(block, "block", "exec").get_symbols()
        if not (name.is_assigned() or name.is_imported() or hasattr(builtins, name.get_name()))
    ]


def test_every_curl_line_is_answered(desk: Path, environment: dict[str, str], server: str) -> None:
    lines = curls(ROOT / "docs" / "http.md")
    assert len(lines) > 20
    with httpx.Client(base_url=server, timeout=120) as client:
        client.post("/api/query", json={**LEAVE, "threadId": "leave"}).raise_for_status()
        stopping = {**LEAVE, "threadId": "leave-2", "interrupts": True, "approveSources": True}
        assert client.post("/api/query", json=stopping).status_code == 202
        known = {"S": server, "J": "content-type: application/json"}
        for line in lines:
            known |= _ids(line, known, client)
            run_shell(line, desk, environment | known)


def test_the_commands_of_the_other_pages_run(
    desk: Path, environment: dict[str, str], server: str, sextant: Sextant
) -> None:
    ingest_what_is_asked(sextant)  # the lines of a page's tables may have deleted some
    lines = [line for page in PAGES if page not in README for line in typed_elsewhere(page)]
    assert len(lines) > 10
    with httpx.Client(base_url=server, timeout=120) as client:
        known = {"S": server, "J": "content-type: application/json"}
        for line in lines:
            here = re.sub(r"^sextant ", f"{shlex.quote(sys.executable)} -m sextant ", line)
            here = here.replace("http://localhost:8000", server).replace("localhost:8000", server)
            here = _RUN_ID.sub("$R", here).replace(
                "'Last-Event-ID: $R-19'", '"Last-Event-ID: $R-19"'
            )
            known |= _ids(here, known, client)
            run_shell(here, desk, environment | known)


def _ids(line: str, known: dict[str, str], client: httpx.Client) -> dict[str, str]:
    """Return the ids that `line` needs and nobody has told yet: of a document, an entity, an answer."""
    needed = {name for name in "DER" if f"${name}" in line} - set(known)
    return {name: _ASKED[name](client) for name in needed}


def _document(client: httpx.Client) -> str:
    """Return one that has pages to be shown."""
    known = client.get("/documents", params={"graphId": "demo"}).json()["documents"]
    return next(str(one["documentId"]) for one in known if one["filename"].endswith(".pdf"))


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
