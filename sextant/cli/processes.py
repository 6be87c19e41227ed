"""Processes and sockets of `sextant serve`: one process, or several with a supervisor."""

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

# Only Linux spreads connections over the sockets of a shared port.
_SPREADS = sys.platform == "linux"


def bound_to(host: str, port: int) -> socket.socket:
    """Return a socket that is bound and does not listen yet.

    Raises:
        OptionInvalid: the address cannot be bound.
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
    """Listen at once, so that clients wait until the server is ready."""
    bound.listen(backlog)
    _drop_silent_clients(bound, unacknowledged_seconds)
    return bound


def share_socket(
    bound: socket.socket, backlog: int, unacknowledged_seconds: float
) -> socket.socket:
    """Return a socket from which each of several processes makes its own.

    A process listens only while it is ready, so a starting or dead process gets no connections. The port is shared
    only after it was bound exclusively, so a port that is already in use is noticed.
    """
    if not _SPREADS:
        return alone(bound, backlog, unacknowledged_seconds)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return _Port(bound, unacknowledged_seconds)


class _Port(socket.socket):
    """Holds a port; pickled for another process, it becomes a socket of its own there (SO_REUSEPORT)."""

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
    _drop_silent_clients(bound, unacknowledged_seconds)
    return bound


def _drop_silent_clients(listening: socket.socket, seconds: float) -> None:
    """Let the kernel close connections whose client acknowledges nothing for so long.

    Closing a connection waits until its data is sent, so a client that never reads would block a server that stops.
    Connections inherit the option from the listening socket (Linux: tcp(7), TCP_USER_TIMEOUT).
    """
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is not None:
        listening.setsockopt(socket.IPPROTO_TCP, option, int(seconds * 1000))


class Alone(Server):
    """Uvicorn's server, which does not raise the signal again that stopped it.

    Uvicorn would exit with 143 after SIGTERM, which service managers show as a failure, and skip Python's exit handlers.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """See uvicorn; a second Ctrl-C does not wait for open requests."""
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True


_log = logging.getLogger("uvicorn.error")

_UNSTARTED = 64  # added to the exit code of a process that could not start


class Several(Multiprocess):
    """Uvicorn's supervisor, which notices a process that ends during its health check.

    Uvicorn keeps the other end of each process's pipe open. If a process ends during the check, uvicorn waits for
    `timeout_worker_healthcheck` and ignores signals meanwhile.

    Attributes:
        exit_code: the exit code of a process that could not start; 0 if all could.
    """

    exit_code = 0

    def init_processes(self) -> None:
        """See uvicorn."""
        self.processes.extend(self._begun() for _ in range(self.processes_num))

    def keep_subprocess_alive(self) -> None:
        """Replace processes that have ended or are silent; stop if one cannot start."""
        if self.should_exit.is_set():
            return  # all processes got the signal
        for index, one in enumerate(self.processes):
            one.child_conn.close()  # so that the pipe ends with the process
            if one.ping(self.config.timeout_worker_healthcheck):
                continue
            # Seconds for the interpreter to finish, so that its own exit code is seen.
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
    """A serving process whose exit code says why it did not start."""

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
