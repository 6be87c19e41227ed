"""`sextant serve` as a process, for as long as it is needed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_RUNNING = re.compile(r"running on (http://\S+)")


@dataclass(frozen=True)
class Served:
    """A server that listens, and the lines of its log so far."""

    address: str
    process: subprocess.Popen[str]
    log: list[str]

    def stop(self) -> None:
        """Tell it to end, as a service manager does."""
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def served(environment: Mapping[str, str], *arguments: str) -> Iterator[str]:
    """Provide the address of a server on a free port of this machine; it is stopped as a service would be."""
    with serving(environment, *arguments) as server:
        yield server.address


@contextmanager
def serving(
    environment: Mapping[str, str],
    *arguments: str,
    python: Path = Path(sys.executable),
    folder: Path | None = None,
) -> Iterator[Served]:
    """Provide the same with its process, which may have ended before; started by `python` in `folder`."""
    with subprocess.Popen(
        [python, "-m", "sextant", "serve", "--port", "0", *arguments],
        env={**environment, "PYTHONUNBUFFERED": "1"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        told = []
        for line in process.stdout:
            told.append(line)
            if found := _RUNNING.search(line):
                break
        else:
            pytest.fail("sextant serve did not start:\n" + "".join(told))
        # Its log must be read on, or the server would block on a full pipe.
        reader = threading.Thread(target=told.extend, args=(process.stdout,))
        reader.start()
        server = Served(found[1], process, told)
        try:
            yield server
        finally:
            server.stop()
            reader.join()
            # A native library that crashes leaves its callers with "connection refused" only.
            assert process.wait() != -signal.SIGSEGV, "".join(told[-20:])
