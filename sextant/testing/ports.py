"""Ports of this machine for servers that cannot be asked which one they took."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def reserve_port() -> socket.socket:
    """Return a socket whose port is given to nobody else while it is open.

    It is bound and does not listen, so that a server that is told the port may still do so, as long as
    it reuses addresses, which asyncio's, uvicorn's and Netty's do (socket(7), SO_REUSEADDR).
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((LOOPBACK, 0))
    return held
