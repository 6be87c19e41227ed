"""Parse a file in a process of its own, so that a hostile one costs a process and not the server."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import orjson

from domain.documents import ParsedDocument
from domain.errors import FileUnsafe, error_of
from domain.settings import Settings
from ingestion.child import request_line
from ingestion.draft import finish, from_wire
from ingestion.guards import check_size
from ingestion.limits import Limits

_ROOT = Path(__file__).parents[1]
# No variable of ours reaches the child: it has no use for keys or database addresses.
_ENVIRONMENT = {
    "PYTHONPATH": str(_ROOT),
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
}


async def parse_file(
    content: bytes, filename: str, *, document_id: UUID, settings: Settings
) -> ParsedDocument:
    """Parse one file into text, sections and chunks.

    The work is done by a fresh process (start-up measured in docs/performance.md) under limits of
    memory, CPU and wall time; it is killed with all its descendants when it passes them.

    Args:
        content: the whole file.
        filename: its name, for the format where content leaves it open, and for the title.
        document_id: from which the ids of sections and chunks follow.
        settings: `limits` and `ingestion.chunk_tokens` apply.

    Raises:
        FileRejected: one of its kinds, with what to do about it.
    """
    limits = Limits.of(settings)
    check_size(content, filename, limits)
    answer = await _run_child(content, filename, limits)
    return await asyncio.to_thread(_read_answer, answer, document_id, content)


async def _run_child(content: bytes, filename: str, limits: Limits) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-s", "-m", "ingestion.child",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_ENVIRONMENT,
        cwd="/",
        start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(limits.wall_seconds):
            answer, _ = await process.communicate(request_line(filename, limits) + content)
    except TimeoutError as error:
        raise _over_limit(
            f"Parsing took longer than {limits.wall_seconds:g} s.", "WALL_SECONDS"
        ) from error
    finally:
        await _kill_group(process)
    if process.returncode:
        raise _crash(process.returncode, limits)
    return answer


async def _kill_group(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _crash(returncode: int, limits: Limits) -> FileUnsafe:
    if -returncode in {signal.SIGXCPU, signal.SIGKILL}:
        return _over_limit(f"Parsing took more than {limits.cpu_seconds} s of CPU.", "CPU_SECONDS")
    return _over_limit("The parser ran out of memory or crashed on this file.", "MEMORY_BYTES")


def _over_limit(message: str, setting: str) -> FileUnsafe:
    return FileUnsafe(
        message,
        next_step=f"Split the file, or raise SEXTANT_LIMITS__PARSE_{setting} if you trust it.",
    )


def _read_answer(answer: bytes, document_id: UUID, content: bytes) -> ParsedDocument:
    head, _, body = answer.partition(b"\n")
    status = orjson.loads(head)
    if "code" in status:
        raise error_of(status["code"], status["message"], next_step=status["next_step"])
    return finish(from_wire(body), document_id, hashlib.sha256(content).hexdigest())
