"""Names and addresses that can only mean this machine."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})


@lru_cache(1024)
def is_loopback(host: str) -> bool:
    """Return whether a host name or address, without port, is one of this machine's own.

    A name that has to be looked up is none, whatever it resolves to: that may change (DNS rebinding).
    """
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host.lower().rstrip(".") in _NAMES
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
