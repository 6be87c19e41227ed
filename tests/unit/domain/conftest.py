"""What tests of values that several threads share need."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def switching_often() -> Iterator[None]:
    """Let threads take turns as often as they can, so that they meet in the middle of anything."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
