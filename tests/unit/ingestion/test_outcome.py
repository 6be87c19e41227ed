"""What is kept of a file that could not be taken in."""

from __future__ import annotations

from sextant.domain.errors import FileUnsafe
from sextant.ingestion.pipeline import _outcome


def test_the_error_of_a_file_does_not_keep_the_file_in_memory() -> None:
    with _outcome("long.csv", "long.csv") as results:
        raise FileUnsafe("A table has more than 100 cells.")
    error = results[0].error
    assert isinstance(error, FileUnsafe)
    assert error.__traceback__ is None
