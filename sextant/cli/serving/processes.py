"""The processes of `sextant serve`: one that ends well when it is told to, or several and their supervisor."""

from __future__ import annotations

import logging
import signal
from socket import socket
from types import FrameType

from uvicorn import Server
from uvicorn.importer import import_from_string
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from sextant.domain.errors import SextantError


class Alone(Server):
    """Uvicorn's server, but the signal that stopped it is not raised again once all is finished.

    Uvicorn would die of it at last, with 143 of SIGTERM, which service managers show as a failure, and
    without Python's exit handlers.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """See uvicorn; a second Ctrl-C does not wait for what is under way."""
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True


_log = logging.getLogger("uvicorn.error")

# Seconds for an interpreter that has closed its end to finish, so that its own exit code is seen.
_ENDING = 10
# Exit codes from here on are those of a process that could not start: with this added to their own.
_UNSTARTED = 64


class Several(Multiprocess):
    """Uvicorn's supervisor, but a process that ends while being asked whether it lives is noticed.

    Uvicorn itself keeps the other end of each process's pipe open. When a process ends after it was
    asked, uvicorn waits for `timeout_worker_healthcheck`, and is deaf to signals meanwhile.

    Attributes:
        exit_code: with which a process could not start, and all of them ended.
    """

    exit_code = 0

    def init_processes(self) -> None:
        """See uvicorn."""
        self.processes.extend(self._begun() for _ in range(self.processes_num))

    def keep_subprocess_alive(self) -> None:
        """Replace whoever has ended or is silent; stop where one cannot start."""
        if self.should_exit.is_set():
            return  # a signal came to all of them: those that have ended shall stay so
        for index, one in enumerate(self.processes):
            one.child_conn.close()  # held by the process alone: its end is then the pipe's
            if one.ping(self.config.timeout_worker_healthcheck):
                continue
            one.process.join(_ENDING)
            one.kill()
            one.process.join()
            if (code := one.exitcode or 0) >= _UNSTARTED:
                self.exit_code = code - _UNSTARTED
                self.should_exit.set()
                return
            _log.warning("Child process [%s] died", one.pid)
            self.processes[index] = self._begun()

    def _begun(self) -> Process:
        process = _Process(self.config, self.sockets)
        process.start()
        return process


class _Process(Process):
    """One that serves, whose exit code says why it does not start."""

    def target(self, sockets: list[socket] | None = None) -> None:
        """See uvicorn."""
        try:
            super().target(sockets)
        except SystemExit:
            raise SystemExit(_UNSTARTED + refusal(str(self.config.app))) from None


def refusal(name: str) -> int:
    """Return the exit code of an application that did not start; the log says why."""
    app = import_from_string(name)
    error: type[SextantError] | SextantError = getattr(
        getattr(app, "state", None), "refused", SextantError
    )
    return error.exit_code
