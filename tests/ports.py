"""Ports of this machine for servers that cannot be asked which one they took."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def reserve_port() -> socket.socket:
    """Return a socket that reserves a free port while it is open.

    It is bound but does not listen, so a server can listen on its port if it sets SO_REUSEADDR, as those
    of asyncio, uvicorn and Netty do (socket(7)).
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind((LOOPBACK, 0))
    return reserved
