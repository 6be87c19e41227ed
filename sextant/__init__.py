"""The facade and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sextant.facade import Sextant as Sextant

__all__ = ["Sextant"]


def __getattr__(name: str) -> object:
    """Import the facade when it is first asked for, so that the command line starts fast."""
    if name == "Sextant":
        from sextant.facade import Sextant

        return Sextant
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
