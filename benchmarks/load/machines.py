"""The measured processes: `sextant serve` and PostgreSQL, with their CPU time and memory."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from sextant.testing.openai_server import ScriptedOpenAI

_RUNNING = re.compile(r"running on http://[\d.]+:(\d+)")
_MB = 1_000_000


@dataclass(frozen=True)
class Processes:
    """A process and those it has started."""

    root: psutil.Process

    @property
    def all(self) -> list[psutil.Process]:
        """Return those that live."""
        return [self.root, *self.root.children(recursive=True)]

    def cpu(self) -> float:
        """Return seconds of CPU that they have taken."""
        times = [one.cpu_times() for one in self.all]
        return float(sum(one.user + one.system for one in times))

    def resident(self) -> float:
        """Return MB of the largest."""
        return float(max(one.memory_info().rss for one in self.all) / _MB)


@dataclass(frozen=True)
class Serving:
    """A server that listens, and its database."""

    port: int
    server: Processes
    database: Processes

    def cpu(self) -> tuple[float, float]:
        """Return seconds of CPU of both."""
        return self.server.cpu(), self.database.cpu()


def environment(folder: Path, endpoint: ScriptedOpenAI) -> dict[str, str]:
    """Return settings of a server whose chat model is elsewhere, and whose quotas nobody reaches."""
    return {
        "SEXTANT_DATA_DIR": str(folder),
        "SEXTANT_CHAT_MODEL": "scripted",
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "any",
        "SEXTANT_WORKER__IN_SERVER": "false",
        "SEXTANT_QUOTA__REQUESTS_PER_SECOND": "10000",
        "SEXTANT_QUOTA__BURST": "10000",
        "SEXTANT_RUNS__PER_USER": "100",
        "SEXTANT_LOG_LEVEL": "WARNING",
    }


@asynccontextmanager
async def serving(
    folder: Path, variables: Mapping[str, str], *given: str
) -> AsyncIterator[Serving]:
    """Provide `sextant serve` over the data folder, in a process of its own, its log thrown away."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sextant", "serve", "--port", "0", *given,
        env=os.environ | dict(variables), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stderr is not None
    said = b""
    while not (found := _RUNNING.search(line := (await process.stderr.readline()).decode())):
        said += line.encode()
        if process.returncode is not None or not line:
            raise RuntimeError(said.decode())
    reading = asyncio.create_task(_read_on(process.stderr))
    try:
        await _listens(int(found[1]))
        pid = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
        yield Serving(
            int(found[1]), Processes(psutil.Process(process.pid)), Processes(psutil.Process(pid))
        )
    finally:
        process.terminate()
        await process.wait()
        reading.cancel()


async def _listens(port: int) -> None:
    """Wait for the first of several processes to be ready."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


async def _read_on(log: asyncio.StreamReader) -> None:
    while await log.read(65_536):
        pass
