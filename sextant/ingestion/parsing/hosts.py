"""Start parser hosts when needed, and keep them while they work.

Also here: parse a file in a process of its own, so that a hostile one costs a process and not the
server.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePath
from uuid import UUID

import orjson

from sextant.domain.documents import ParsedDocument
from sextant.domain.errors import FileEmpty, FileUnsafe, error_of
from sextant.domain.settings import Settings
from sextant.ingestion.parsing.child import ConversionNeeded
from sextant.ingestion.parsing.draft import DocumentDraft, finish, from_wire
from sextant.ingestion.parsing.host import READY, HostRequest
from sextant.ingestion.parsing.images import Captions
from sextant.ingestion.parsing.libreoffice import convert
from sextant.ingestion.parsing.limits import Limits, check_size
from sextant.ingestion.parsing.recognised import Recognised

# Of CPU and on the clock, for one page.
_DRAW_SECONDS, _DRAW_PATIENCE = 10, 30
_ROOT = Path(__file__).parents[3]
# No variable of ours reaches the parsers: they have no use for keys or database addresses.
_ENVIRONMENT = {
    "PYTHONPATH": str(_ROOT),
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    # A host works on one thing at a time, and threads do not outlive a fork.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
}


class HostEnded(Exception):
    """A parser host ended instead of answering; `status` is its exit status (`sextant.ingestion.parsing.host`)."""

    def __init__(self, status: int) -> None:
        super().__init__(f"The parser ended with status {status}.")
        self.status = status

    @property
    def killed(self) -> bool:
        """Return whether somebody killed the host; it ends by itself, or for want of time, where its file did it."""
        return self.status < 0 and self.status != -signal.SIGXCPU


class ParserHosts:
    """Hosts for one file each at a time; as many as files were parsed at once, gone with the object.

    Not bound to an event loop, so nobody has to close it; what is done after `close` starts new ones.
    """

    def __init__(self) -> None:
        self._idle: list[_Host] = []
        weakref.finalize(self, _end_all, self._idle)

    def close(self) -> None:
        """End the hosts that are idle."""
        _end_all(self._idle)

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        """Return the answer of a forked process to a request (`sextant.ingestion.parsing.child`).

        A host that has not answered, because its file was hostile or this call was cancelled, is
        killed with all its descendants. One that was killed by somebody else, perhaps before it had
        the file, says nothing about the file: that goes to another host, once.

        Raises:
            HostEnded: the file brought the process down.
        """
        try:
            return await self._ask_once(content, request)
        except HostEnded as error:
            if not error.killed:
                raise
        return await self._ask_once(content, request)

    async def _ask_once(self, content: bytes, request: HostRequest) -> bytes:
        host = await self._ready()
        try:
            answer = await host.ask(content, request)
        except EOFError:
            raise HostEnded(await asyncio.to_thread(host.wait)) from None
        finally:
            if host.busy:
                await asyncio.to_thread(host.end)
        self._idle.append(host)
        return answer

    async def _ready(self) -> _Host:
        """Return an idle host, unless it has ended meanwhile; else a new one."""
        while self._idle:
            host = self._idle.pop()
            if await host.is_ready():
                return host
        starting = asyncio.ensure_future(asyncio.to_thread(_Host))
        try:
            host = await asyncio.shield(starting)
        except asyncio.CancelledError:
            (await starting).end()
            raise
        if not await host.is_ready():
            raise HostEnded(await asyncio.to_thread(host.wait))
        return host


class _Host:
    """One process and the socket to it. `busy`: it has a request that it has not answered."""

    def __init__(self) -> None:
        self.busy = False
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-m", "sextant.ingestion.parsing.host"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd="/",
                start_new_session=True,
            )
        self._channel.settimeout(0)

    async def is_ready(self) -> bool:
        """Wait until it can take a request; False if it has ended instead, perhaps after it was ready."""
        ready = False
        try:
            await self._receive(len(READY))
            ready = self._process.poll() is None
        except EOFError:
            pass
        finally:
            if not ready:
                self.end()
        return ready

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        """Send a file and receive the answer; EOFError when the host ends."""
        self.busy = True
        head = replace(request, size=len(content)).head()
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):  # it has ended, which receiving shows
            await loop.sock_sendall(self._channel, len(head).to_bytes(4) + head)
            await loop.sock_sendall(self._channel, content)
        answer = await self._receive(int.from_bytes(await self._receive(8)))
        self.busy = False
        return answer

    async def _receive(self, size: int) -> bytes:
        data = bytearray(size)
        view, done = memoryview(data), 0
        loop = asyncio.get_running_loop()
        while done < size:
            try:
                got = await loop.sock_recv_into(self._channel, view[done:])
            except ConnectionError:
                got = 0
            if not got:
                raise EOFError
            done += got
        return bytes(data)

    def wait(self) -> int:
        """Return the exit status of a host that is about to end."""
        status: int = self._process.wait()
        return status

    def end(self) -> None:
        """Kill it and whatever it has forked."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _end_all(hosts: list[_Host]) -> None:
    while hosts:
        hosts.pop().end()


Describe = Callable[[DocumentDraft], Awaitable[Captions]]
"""Says what the images of a parsed file show."""
Recognise = Callable[[DocumentDraft], Awaitable[Recognised]]
"""Reads what of a parsed file only OCR can read."""


async def parse_file(
    content: bytes,
    filename: str,
    *,
    document_id: UUID,
    settings: Settings,
    hosts: ParserHosts | None = None,
    describe: Describe | None = None,
    recognise: Recognise | None = None,
) -> ParsedDocument:
    """Parse one file into text, sections and chunks.

    A forked process does the work under limits of memory, CPU and wall time; it is killed with all its
    descendants when it passes them.

    Args:
        content: the whole file.
        filename: its name, for the format where content leaves it open, and for the title.
        document_id: from which the ids of sections and chunks follow.
        settings: `limits` and `ingestion.chunk_tokens` apply.
        hosts: what forks the process; by default one that is started for this file.
        describe: says what images show; None: nobody does. A file with images is parsed twice, since
            their captions become part of its text.
        recognise: reads scanned pages and the words in images; None: there is no OCR. They become part of
            the text in the same way.

    Raises:
        FileRejected: one of its kinds, with what to do about it.
    """
    limits = Limits.of(settings, describes=describe is not None, reads=recognise is not None)
    check_size(content, filename, limits)
    hosts = hosts or ParserHosts()
    readable = content
    try:
        made = await _draft(readable, filename, limits, hosts)
    except ConversionNeeded as needed:
        readable = await convert(content, filename, needed.target, limits)
        filename = str(PurePath(filename).with_suffix(f".{needed.target}"))
        made = await _draft(readable, filename, limits, hosts)
    if made.images or made.unread_pages:
        read = await recognise(made) if recognise is not None else Recognised()
        shown = await describe(made) if describe is not None and made.images else Captions({})
        if read.pages or shown.texts:
            known = replace(limits, captions=shown.texts, recognised=read.pages)
            made = await _draft(readable, filename, known, hosts)
        warnings = (*read.warnings, *shown.warnings)
        made = replace(made, warnings=(*made.warnings, *warnings))
        if not made.cuts:
            raise FileEmpty(
                "No text was found in the file.", next_step=" ".join(map(str, warnings))
            )
    return await asyncio.to_thread(
        lambda: finish(made, document_id, hashlib.sha256(content).hexdigest())
    )


async def draw_page(
    content: bytes, filename: str, page: int, *, settings: Settings, hosts: ParserHosts
) -> bytes:
    """Return the picture of a page (`sextant.ingestion.parsing.page_pictures`), under limits of its own.

    Raises:
        PageNotFound: the file has no such page, or none at all.
        FileRejected: the page cannot be drawn.
    """
    limits = Limits.of(settings)
    limits = replace(limits, cpu_seconds=min(limits.cpu_seconds, _DRAW_SECONDS))
    try:
        async with asyncio.timeout(min(limits.wall_seconds, _DRAW_PATIENCE)):
            answer = await hosts.ask(content, HostRequest(filename, limits, page, draws=True))
    except (TimeoutError, HostEnded) as error:
        raise FileUnsafe(
            f"Page {page} takes more time or memory to draw than a page may.",
            next_step="Read the document's text, or open the file itself.",
        ) from error
    return body_of(answer)


async def _draft(
    content: bytes, filename: str, limits: Limits, hosts: ParserHosts
) -> DocumentDraft:
    try:
        async with asyncio.timeout(limits.wall_seconds):
            answer = await hosts.ask(content, HostRequest(filename, limits))
    except TimeoutError as error:
        raise _over_limit(
            f"Parsing took longer than {limits.wall_seconds:g} s.", "WALL_SECONDS"
        ) from error
    except HostEnded as error:
        if error.status in {128 + signal.SIGXCPU, 128 + signal.SIGKILL, -signal.SIGXCPU}:
            seconds = f"{limits.cpu_seconds} s of CPU"
            raise _over_limit(f"Parsing took more than {seconds}.", "CPU_SECONDS") from error
        message = "The parser ran out of memory or crashed on this file."
        raise _over_limit(message, "MEMORY_BYTES") from error
    return await asyncio.to_thread(lambda: from_wire(body_of(answer)))


def _over_limit(message: str, setting: str) -> FileUnsafe:
    return FileUnsafe(
        message,
        next_step=f"Split the file, or raise SEXTANT_LIMITS__PARSE_{setting} if you trust it.",
    )


def body_of(answer: bytes) -> bytes:
    """Return what a host's answer holds.

    Raises:
        SextantError: what it says went wrong.
    """
    head, _, body = answer.partition(b"\n")
    status = orjson.loads(head)
    if "convert_to" in status:
        raise ConversionNeeded(status["convert_to"])
    if "code" in status:
        raise error_of(
            status["code"],
            status["message"],
            next_step=status["next_step"],
            field=status.get("field"),
        )
    return body
