"""Parse a file in a process of its own, so that a hostile one costs a process and not the server."""

from __future__ import annotations

import asyncio
import hashlib
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from uuid import UUID

import orjson

from sextant.domain.documents import ParsedDocument
from sextant.domain.errors import FileEmpty, FileUnsafe, error_of
from sextant.domain.settings import Settings
from sextant.ingestion.parsing.draft import DocumentDraft, finish, from_wire
from sextant.ingestion.parsing.guards import check_size
from sextant.ingestion.parsing.hosts import HostEnded, ParserHosts
from sextant.ingestion.parsing.images import Captions
from sextant.ingestion.parsing.limits import Limits

Describe = Callable[[DocumentDraft], Awaitable[Captions]]
"""Says what the images of a parsed file show."""


async def parse_file(
    content: bytes,
    filename: str,
    *,
    document_id: UUID,
    settings: Settings,
    hosts: ParserHosts | None = None,
    describe: Describe | None = None,
) -> ParsedDocument:
    """Parse one file into text, sections and chunks.

    The work is done by a forked process, for small texts one that has read others before (cost measured in
    docs/performance.md), under limits of memory, CPU and wall time; it is killed with all its descendants when
    it passes them.

    Args:
        content: the whole file.
        filename: its name, for the format where content leaves it open, and for the title.
        document_id: from which the ids of sections and chunks follow.
        settings: `limits` and `ingestion.chunk_tokens` apply.
        hosts: what forks the process; by default one that is started for this file.
        describe: says what images show; None: nobody does. A file with images is parsed twice, since
            their captions become part of its text.

    Raises:
        FileRejected: one of its kinds, with what to do about it.
    """
    limits = Limits.of(settings)
    if describe is None:
        limits = replace(limits, images=0)
    check_size(content, filename, limits)
    hosts = hosts or ParserHosts()
    made = await _draft(content, filename, limits, hosts)
    if describe is not None and made.images:
        captions = await describe(made)
        if captions.texts:
            told = replace(limits, captions=captions.texts)
            made = await _draft(content, filename, told, hosts)
        made = replace(made, warnings=(*made.warnings, *captions.warnings))
        if not made.cuts:
            raise FileEmpty("No text was found in the file.", next_step=" ".join(captions.warnings))
    return await asyncio.to_thread(_finish, made, document_id, content)


async def _draft(
    content: bytes, filename: str, limits: Limits, hosts: ParserHosts
) -> DocumentDraft:
    try:
        async with asyncio.timeout(limits.wall_seconds):
            answer = await hosts.parse(content, filename, limits)
    except TimeoutError as error:
        raise _over_limit(
            f"Parsing took longer than {limits.wall_seconds:g} s.", "WALL_SECONDS"
        ) from error
    except HostEnded as error:
        raise _crash(error.status, limits) from error
    return await asyncio.to_thread(_read_answer, answer)


def _crash(status: int, limits: Limits) -> FileUnsafe:
    if status - 128 in {signal.SIGXCPU, signal.SIGKILL}:
        return _over_limit(f"Parsing took more than {limits.cpu_seconds} s of CPU.", "CPU_SECONDS")
    return _over_limit("The parser ran out of memory or crashed on this file.", "MEMORY_BYTES")


def _over_limit(message: str, setting: str) -> FileUnsafe:
    return FileUnsafe(
        message,
        next_step=f"Split the file, or raise SEXTANT_LIMITS__PARSE_{setting} if you trust it.",
    )


def _finish(made: DocumentDraft, document_id: UUID, content: bytes) -> ParsedDocument:
    return finish(made, document_id, hashlib.sha256(content).hexdigest())


def _read_answer(answer: bytes) -> DocumentDraft:
    head, _, body = answer.partition(b"\n")
    status = orjson.loads(head)
    if "code" in status:
        raise error_of(status["code"], status["message"], next_step=status["next_step"])
    return from_wire(body)
