"""Every test begins with endpoints that nobody knows: scripted models of one name would learn from each other."""

from __future__ import annotations

import pytest

from sextant.models.chat import endpoint_memory
from sextant.models.chat.endpoint_memory import EndpointMemory


@pytest.fixture(autouse=True)
def new_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of an endpoint from another test's."""
    monkeypatch.setattr(endpoint_memory, "MEMORY", EndpointMemory())
