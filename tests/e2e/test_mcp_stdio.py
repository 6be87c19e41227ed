"""`sextant mcp`: the tools over standard input and output, as a chat host starts them."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters

from sextant.facade import Sextant
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.mcp.clients import ERAS, told

pytestmark = pytest.mark.e2e

USER = "desk"
TEXT = "# Ownership\n\nEach value in Rust has exactly one owner.\n\n# Moves\n\nA move ends it.\n"


@pytest_asyncio.fixture(scope="module")
async def filled() -> AsyncIterator[Path]:
    """Yield a data folder in which the user has one document."""
    with short_folder() as folder:
        file = folder / "rust.md"
        file.write_text(TEXT, encoding="utf-8")
        settings = settings_over(folder).model_copy(update={"user_id": USER})
        async with Sextant.open(settings) as rag:
            await rag.ingest([file])
        yield folder


def command(folder: Path, *options: str) -> StdioServerParameters:
    """Return what a host's configuration says."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "sextant", "mcp", *options],
        env={"SEXTANT_DATA_DIR": str(folder), "SEXTANT_USER_ID": USER, "HOME": str(folder)},
        cwd=Path(__file__).parents[2],
    )


@pytest.mark.parametrize("era", ERAS)
async def test_a_host_searches_reads_and_asks(filled: Path, era: str) -> None:
    async with Client(command(filled), mode=era, read_timeout_seconds=60) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        page = told(await client.call_tool("kb.search", {"query": "Who owns a value?"}))
        best = page["results"][0]
        seen = told(await client.call_tool("kb.preview", {"chunkId": best["chunkId"]}))
        answer = told(await client.call_tool("kb.ask", {"query": "How many owners has a value?"}))
    assert names == ["kb.search", "kb.related", "kb.preview", "kb.ask"]
    assert "exactly one owner" in best["text"]
    assert seen["passage"]["text"] == best["text"]
    assert "exactly one owner" in answer["answer"]
    assert answer["citations"][0]["quote"] in TEXT


async def test_a_host_that_takes_no_dots_gets_other_names(filled: Path) -> None:
    async with Client(command(filled, "--names", "compat"), read_timeout_seconds=60) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        missing = await client.call_tool("kb_preview", {"chunkId": "none"})
    assert names == ["kb_search", "kb_related", "kb_preview", "kb_ask"]
    assert missing.is_error


async def test_a_host_that_keeps_its_end_open_can_end_it(filled: Path) -> None:
    started = command(filled)
    process = await asyncio.create_subprocess_exec(
        started.command, *started.args, stdin=PIPE, stdout=PIPE, env=started.env, cwd=started.cwd
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert b'"id":1' in await process.stdout.readline()
    process.terminate()
    assert await process.wait() == -signal.SIGTERM
