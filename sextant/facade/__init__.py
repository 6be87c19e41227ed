"""The facade `Sextant` and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.domain.system import load_lazily

if TYPE_CHECKING:
    from sextant.facade.sextant import Sextant as Sextant

__getattr__, __dir__, __all__ = load_lazily(__name__, {"sextant.facade.sextant": ["Sextant"]})
