"""The parser host: a process that has the parsers loaded and forks itself to read files.

Starting Python and importing the parsers takes 0.2 s of CPU, forking a loaded process a few milliseconds.
`sextant.ingestion.parsing.hosts` starts it with an empty environment and a socket for stdin and stdout. The host says
that it is ready, reads the head of a request, forks, and waits. The forked process reads the file's bytes from the
socket, answers and ends. When it ends badly, the host ends in the same way, because what is left of the request in the
socket is unknown.

Request: four bytes of length, as many of a `HostRequest`, `size` bytes of file. With a `page` that page is drawn
(`draws`), or read by OCR, whose models are loaded once, before the fork; without, the file is parsed.
Answer: eight bytes of length, as many of what `sextant.ingestion.parsing.child.answer` gives, or `draw`, or `recognise`.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

import msgspec

from sextant.domain.errors import SextantError
from sextant.ingestion.parsing import child
from sextant.ingestion.parsing.detect import CONVERTED, FileType, type_of_name
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.limits import Limits

READY = b"R"
_FREQUENT = (FileType.TXT, FileType.MARKDOWN, FileType.CSV, FileType.JSON)
_FIRST = b"# First\n\nIt says this. And that.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"


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
    for file_type in _FREQUENT:
        parser_for(file_type)
    child.answer(_FIRST, "first.md", Limits())  # what is made on first use is made here, once
    with socket.socket(fileno=0) as channel:
        channel.sendall(READY)
        while head := bytes(receive(channel, int.from_bytes(receive(channel, 4)))):
            request = HostRequest.of(head)
            _load(request)
            _serve_in_fork(channel, request)
            channel.sendall(READY)


def receive(channel: socket.socket, size: int) -> bytearray:
    """Exactly `size` bytes, or fewer when the other side has closed the socket."""
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size and (got := channel.recv_into(view[done:])):
        done += got
    return data[:done]


def _load(request: HostRequest) -> None:
    """Import what a request needs (parser, page drawing or OCR models) before the fork, so that later requests have it.

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


def _serve_in_fork(channel: socket.socket, request: HostRequest) -> None:
    """Answer a request in a forked process, and end like that one unless it ends well: 128 + n for signal n."""
    gc.freeze()  # what is loaded is left alone from here on, so the two processes share it
    number = os.fork()
    if not number:  # it leaves without the clean-up that belongs to the host
        code = 1
        try:
            child.die_with_parent()
            child.restrict(request.limits)
            _answer(channel, bytes(receive(channel, request.size)), request)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(number, 0)
    if status:
        sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else 1)


def _answer(channel: socket.socket, content: bytes, request: HostRequest) -> None:
    if request.draws:
        answer = child.draw(content, request.filename, request.page, request.limits)
    elif request.page:
        answer = child.recognise(content, request.page, request.limits)
    else:
        answer = child.answer(content, request.filename, request.limits)
    channel.sendall(len(answer).to_bytes(8))
    channel.sendall(answer)


if __name__ == "__main__":
    main()
