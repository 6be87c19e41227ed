"""What is wrong with a value is told in the words of who wrote it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from sextant.domain.configuration import describe_error

CLEANED = Annotated[str, AfterValidator(str.strip), StringConstraints(min_length=1, max_length=5)]


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (CLEANED, "a" * 1234, "String should have at most 5 characters, not 1,234; shorten it"),
        (CLEANED, "", "String should have at least 1 character"),
        (
            Annotated[str, Field(max_length=3)],
            "四个汉字",
            "String should have at most 3 characters, not 4; shorten it",
        ),
        (
            Annotated[SecretStr | None, Field(min_length=32)],
            "geheim",
            "String should have at least 32 characters",
        ),
        (
            Annotated[tuple[int, ...], Field(max_length=1)],
            [1, 2],
            "List should have at most 1 item, not 2",
        ),
        (
            Annotated[list[int], Field(min_length=2)],
            [1],
            "List should have at least 2 items, not 1",
        ),
        (tuple[int, ...], "a", "Input should be a valid list"),
        (dict[str, int], [], "Input should be a valid object"),
    ],
)
def test_texts_have_characters_and_lists_have_items(kind: Any, value: object, said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python(value)

    [fault] = refused.value.errors()
    assert describe_error(fault) == said
