"""Sockets of a server: one process listens at once, of several each has its own."""

from __future__ import annotations

import socket
import sys
from multiprocessing.reduction import ForkingPickler

import pytest

from sextant.cli.processes import alone, share_socket

BACKLOG, PATIENCE, CONNECTIONS = 128, 30.0, 64


@pytest.fixture
def bound() -> socket.socket:
    """Return a port of ours, as uvicorn binds it."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", 0))
    return made


def in_another_process(given: socket.socket) -> socket.socket:
    """Return what a process is given that is started with a socket."""
    made = ForkingPickler.loads(ForkingPickler.dumps(given))
    assert isinstance(made, socket.socket)
    return made


def accepted(listening: socket.socket) -> int:
    """Return how many connections wait there."""
    listening.settimeout(0)
    number = 0
    while True:
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


def test_who_comes_before_a_process_is_ready_waits(bound: socket.socket) -> None:
    with alone(bound, BACKLOG, PATIENCE) as listening:
        socket.create_connection(listening.getsockname()).close()
        assert accepted(listening) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections")
def test_several_processes_share_connections_that_come_at_once(bound: socket.socket) -> None:
    with (
        share_socket(bound, BACKLOG, PATIENCE) as port,
        in_another_process(port) as one,
        in_another_process(port) as other,
    ):
        for own in (one, other):
            own.listen(BACKLOG)
        clients = [socket.create_connection(port.getsockname()) for _ in range(CONNECTIONS)]
        numbers = accepted(one), accepted(other)
        for client in clients:
            client.close()
    assert sum(numbers) == CONNECTIONS
    # Each side by chance: fewer than ten of 64 come about once in hundred million times.
    assert min(numbers) >= 10


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections")
def test_nobody_is_sent_to_a_process_that_is_not_ready(bound: socket.socket) -> None:
    with (
        share_socket(bound, BACKLOG, PATIENCE) as port,
        in_another_process(port) as ready,
        in_another_process(port) as starting,
    ):
        ready.listen(BACKLOG)
        for _ in range(CONNECTIONS):
            socket.create_connection(port.getsockname()).close()
        assert accepted(ready) == CONNECTIONS
        assert starting.getsockname() == port.getsockname()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux spreads connections")
def test_another_server_is_told_that_the_port_is_taken(bound: socket.socket) -> None:
    with share_socket(bound, BACKLOG, PATIENCE) as port, in_another_process(port) as own:
        own.listen(BACKLOG)
        with socket.socket() as another:
            another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with pytest.raises(OSError, match="in use"):
                another.bind(port.getsockname())


def test_a_client_that_takes_nothing_is_left_by_each_of_several(bound: socket.socket) -> None:
    option = getattr(socket, "TCP_USER_TIMEOUT", None)
    if option is None:
        pytest.skip("this system has no such option")
    with share_socket(bound, BACKLOG, PATIENCE) as port, in_another_process(port) as own:
        assert own.getsockopt(socket.IPPROTO_TCP, option) == PATIENCE * 1000
