"""Processes and sockets of `sextant serve`: one process that ends well when it is told to, or several and their supervisor."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from types import FrameType

from uvicorn import Server
from uvicorn.importer import import_from_string
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

from sextant.domain.errors import OptionInvalid, SextantError

# Elsewhere the option lets several bind, but spreads nothing among them.
_SPREADS = sys.platform == "linux"


def bound_to(host: str, port: int) -> socket.socket:
    """Return a socket bound there, which does not listen yet.

    Raises:
        OptionInvalid: there can be none; says why.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise OptionInvalid(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            next_step="Choose another address with --host and --port; port 0 takes any that is free.",
            field="port",
        ) from None
    return bound


def alone(bound: socket.socket, backlog: int, unacknowledged_seconds: float) -> socket.socket:
    """Listen at once: who comes before the server is ready, waits."""
    bound.listen(backlog)
    _drop_who_takes_nothing(bound, unacknowledged_seconds)
    return bound


def share_socket(
    bound: socket.socket, backlog: int, unacknowledged_seconds: float
) -> socket.socket:
    """Return what several processes can be given to listen on: each makes a socket of its own of it.

    A process listens from when it is ready until it ends, so none that starts or has died is sent
    anybody. Only now may others bind the port: one who had it before us has been noticed.
    """
    if not _SPREADS:
        return alone(bound, backlog, unacknowledged_seconds)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return _Port(bound, unacknowledged_seconds)


class _Port(socket.socket):
    """Keeps a port; sent to another process, it is a socket that can listen there (SO_REUSEPORT)."""

    def __init__(self, bound: socket.socket, unacknowledged_seconds: float) -> None:
        super().__init__(fileno=bound.detach())
        self._seconds = unacknowledged_seconds

    def __reduce__(self) -> tuple[object, ...]:
        return _bind_shared, (self.family, self.getsockname(), self._seconds)


def _bind_shared(
    family: int, address: tuple[str, int], unacknowledged_seconds: float
) -> socket.socket:
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(address)
    _drop_who_takes_nothing(bound, unacknowledged_seconds)
    return bound


def _drop_who_takes_nothing(listening: socket.socket, seconds: float) -> None:
    """Have the kernel close connections whose client acknowledges nothing, or never reads, for so long.

    Closing one ourselves waits for what is still to be sent, so a client with a full window would
    keep it, and a server that stops, for ever. Connections inherit this from the socket that listens
    (Linux: tcp(7), TCP_USER_TIMEOUT; measured: closed after 1.8 s where 1.5 s were set).
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


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
            # Seconds for an interpreter that has closed its end to finish, so that its own exit code is seen.
            one.process.join(10)
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

    def target(self, sockets: list[socket.socket] | None = None) -> None:
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
