"""The naming of JSON for dataclasses; does not import pydantic, so that parser processes start without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ConfigDict


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


CAMEL_CASE: ConfigDict = {"alias_generator": _camel_case, "populate_by_name": True}
"""Of a dataclass (`__pydantic_config__`): camelCase over HTTP, snake_case in Python."""
