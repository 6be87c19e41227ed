"""The parser host: a process that has the parsers loaded and forks itself to read files.

Starting Python and importing the parsers takes 0.2 s of CPU, forking a loaded process a few
milliseconds. `sextant.ingestion.parsing.hosts` starts it with an empty environment and a socket for stdin and stdout.
It never looks at a file of anybody's: it says that it is ready, reads the head of a request, forks, and waits; the
forked process reads the file's bytes from the socket, answers, says that it is ready, and ends, with the head of
the next request if it has read that. When it ends badly, so does the host, in the same way: who knows what is left
of the request in the socket.

A fork costs more than reading a small text does, so one process reads several of these, one after the other.
Python alone reads them, within a fraction of the memory, and leaves nothing behind that the next could meet.

Request: four bytes of length, as many of a `HostRequest`, `size` bytes of file. With a `page` that page is drawn (`draws`), or OCR reads it, whose models are loaded once, before the fork;
without, the file is parsed.
Answer: eight bytes of length, as many of what `sextant.ingestion.parsing.child.answer` gives, or `draw`, or `recognise`.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from select import select
from typing import NoReturn

import msgspec

from sextant.domain.errors import FileRejected, SextantError
from sextant.ingestion.parsing import child
from sextant.ingestion.parsing.detect import CONVERTED, FileType, detect, type_of_name
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.limits import MOST_TOGETHER, SMALL_FILE, Limits

READY = b"R"
_FIRST = b"# First\n\nIt says this. And that.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
_LIGHT = (FileType.TXT, FileType.MARKDOWN, FileType.CSV, FileType.JSON)
_LINGER = 1.0  # seconds that a forked process waits for the next small text


@dataclass(frozen=True, slots=True)
class HostRequest:
    """A file to parse, or a page of it that is to be drawn (`draws`) or read by OCR."""

    filename: str
    limits: Limits
    page: int = 0
    draws: bool = False
    size: int = 0

    @classmethod
    def of(cls, head: bytes) -> HostRequest:
        """Return the opposite of `head`."""
        return msgspec.msgpack.decode(head, type=cls)

    def head(self) -> bytes:
        """Return what is sent before the file."""
        return msgspec.msgpack.encode(self)


def main() -> None:
    """Serve one request after the other until the other side closes the socket."""
    child.leave_network()
    gc.set_threshold(20_000)
    with suppress(ImportError):  # not on Windows
        import_module("resource")  # what the forked process limits itself with
    for light in _LIGHT:
        parser_for(light)
    child.answer(_FIRST, "first.md", Limits())  # what is made on first use is made here, once
    with socket.socket(fileno=0) as channel:
        channel.sendall(READY)
        head = _head(channel)
        while head:
            request = HostRequest.of(head)
            _load(request)
            head = _in_fork(lambda: _serve(channel, request)) or _head(channel)  # noqa: B023 - it ends before the next


def receive(channel: socket.socket, size: int) -> bytearray:
    """Exactly `size` bytes, or fewer when the other side has closed the socket."""
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size and (got := channel.recv_into(view[done:])):
        done += got
    return data[:done]


def _load(request: HostRequest) -> None:
    """Import the parser that the name asks for, what draws pages, or the models of OCR, to have it for this file and those to come.

    On macOS libraries for fonts and images may not be used on both sides of a fork.
    """
    if sys.platform != "linux":
        return
    if request.draws:
        import_module("sextant.ingestion.parsing.page_pictures")
        return
    if request.page:
        with suppress(SextantError):  # said when the page is to be read
            import_module("sextant.ingestion.parsing.ocr_engine").load()
        return
    file_type = type_of_name(request.filename)
    if file_type is not None and file_type not in CONVERTED:
        parser_for(file_type)


def _head(channel: socket.socket) -> bytes:
    """Return the next request without its file; nothing when the other side has closed the socket."""
    return bytes(receive(channel, int.from_bytes(receive(channel, 4))))


def _serve(channel: socket.socket, request: HostRequest) -> bytes:
    """Answer a request, and small texts that follow; the head of what follows them, if it was read."""
    limits = request.limits
    child.die_with_parent()
    child.restrict(limits)
    for left in reversed(range(MOST_TOGETHER)):
        child.restrict_time(limits, shared=_is_light(request))
        content = bytes(receive(channel, request.size))
        page = request.page
        if request.draws:
            answer = child.draw(content, request.filename, page, limits)
        elif page:
            answer = child.recognise(content, page, limits)
        else:
            answer = child.answer(content, request.filename, limits)
        channel.sendall(len(answer).to_bytes(8))
        channel.sendall(answer)
        channel.sendall(READY)
        if not (left and _is_light(request, content) and select([channel], [], [], _LINGER)[0]):
            break
        head = _head(channel)
        if not head:
            return head
        following = HostRequest.of(head)
        if not _is_light(following) or following.limits != limits:
            return head
        request = following
    return b""


def _is_light(request: HostRequest, content: bytes | None = None) -> bool:
    """Return whether it is a small text: by its name, and by its content where that is known."""
    filename = request.filename
    if request.page or request.size > SMALL_FILE or type_of_name(filename) not in _LIGHT:
        return False
    with suppress(FileRejected):
        return content is None or detect(content, filename) in _LIGHT
    return False


def _in_fork(work: Callable[[], bytes]) -> bytes:
    """Return what `work` returns in a forked process. Ends like that one unless it ends well: 128 + n for signal n."""
    gc.freeze()  # what is loaded is left alone from here on, so the two processes share it
    reading, writing = os.pipe()
    number = os.fork()
    if not number:
        _end_with(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        returned = pipe.read()
    _, status = os.waitpid(number, 0)
    if status:
        sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else 1)
    return returned


def _end_with(work: Callable[[], bytes], writing: int) -> NoReturn:
    """Leave the process behind `work`, without the clean-up that belongs to the host."""
    code = 1
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(work())
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
