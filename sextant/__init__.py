"""The facade and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.lazy import lazily

if TYPE_CHECKING:
    from sextant.facade import Sextant as Sextant

__all__ = ["Sextant"]
__getattr__ = lazily(__name__, {"Sextant": "sextant.facade"})
