"""The sockets of `sextant serve`: one for a process alone, one for each of several.

Several processes that accept from one socket do not share what comes: the first to wake takes all
there is (eight connections at once went to one of two processes in 23 of 40 tries; with a socket
each, six at most), and a connection that is kept alive stays where it is.
"""

from __future__ import annotations

import socket
import sys

from sextant.domain.errors import OptionInvalid

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
