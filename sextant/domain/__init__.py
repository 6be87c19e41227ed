"""The data that crosses boundaries: errors, settings, questions, answers, documents. Imports only text and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ConfigDict


def _camel_case(name: str) -> str:
    from pydantic.alias_generators import to_camel  # parser processes start without pydantic

    return to_camel(name)


CAMEL_CASE: ConfigDict = {"alias_generator": _camel_case, "populate_by_name": True}
"""Of a dataclass (`__pydantic_config__`): camelCase over HTTP, snake_case in Python."""
