"""The parser host: a process that has the parsers loaded and forks itself for every file.

Starting Python and importing the parsers takes 0.2 s of CPU, forking a loaded process a few
milliseconds. `ingestion.parsing.hosts` starts it with an empty environment and a socket for stdin and stdout.
It never looks at a file of anybody's: it says that it is ready, reads the head of a request, forks, and waits; the
forked process reads the file's bytes from the socket, answers, and ends. When that one ends badly,
so does the host, in the same way: who knows what is left of the request in the socket.

Request: four bytes of length, as many of JSON `{"filename", "limits", "size"}`, `size` bytes of file.
Answer: eight bytes of length, as many of what `ingestion.parsing.child.answer` gives.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import orjson

from ingestion.parsing import child
from ingestion.parsing.detect import FileType, named_type
from ingestion.parsing.formats import parser_for
from ingestion.parsing.limits import Limits

READY = b"R"
_FIRST = b"# First\n\nIt says this. And that.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
_LIGHT = (FileType.TXT, FileType.MARKDOWN, FileType.CSV, FileType.JSON)


def main() -> None:
    """Serve one request after the other until the other side closes the socket."""
    child.leave_network()
    with suppress(ImportError):  # not on Windows
        import_module("resource")  # what the forked process limits itself with
    for light in _LIGHT:
        parser_for(light)
    child.answer(_FIRST, "first.md", Limits())  # what is made on first use is made here, once
    with socket.socket(fileno=0) as channel:
        while True:
            channel.sendall(READY)
            if not (length := receive(channel, 4)):
                return
            request = orjson.loads(receive(channel, int.from_bytes(length)))
            _load(request["filename"])
            _in_fork(lambda: _serve(channel, request))  # noqa: B023 - it ends before the next


def receive(channel: socket.socket, size: int) -> bytearray:
    """Exactly `size` bytes, or fewer when the other side has closed the socket."""
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size and (got := channel.recv_into(view[done:])):
        done += got
    return data[:done]


def _load(filename: str) -> None:
    """Import the parser that the name asks for, to have it for this file and those to come.

    On macOS libraries for fonts and images may not be used on both sides of a fork.
    """
    file_type = named_type(filename)
    if file_type is not None and sys.platform == "linux":
        parser_for(file_type)


def _serve(channel: socket.socket, request: dict[str, Any]) -> None:
    limits = Limits(**request["limits"])
    child.die_with_parent()
    child.restrict(limits)
    content = bytes(receive(channel, request["size"]))
    answer = child.answer(content, request["filename"], limits)
    channel.sendall(len(answer).to_bytes(8))
    channel.sendall(answer)


def _in_fork(work: Callable[[], None]) -> None:
    """Do `work` in a forked process, and end like it unless it ends well: 128 + n for signal n."""
    gc.freeze()  # what is loaded is left alone from here on, so the two processes share it
    number = os.fork()
    if not number:
        _end_with(work)
    _, status = os.waitpid(number, 0)
    if status:
        sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else 1)


def _end_with(work: Callable[[], None]) -> NoReturn:
    """Leave the process behind `work`, without the clean-up that belongs to the host."""
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
