"""Lists come in pages (`sextant.retrievers.pages.cursor`): how a request says which."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

_LONGEST = 2000  # characters of a cursor

Cursor = Annotated[
    str | None,
    Field(
        max_length=_LONGEST,
        description="`nextCursor` of the page before, with everything else as it was.",
    ),
]
