"""The names of users and knowledge bases."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope


@pytest.mark.parametrize("name", ["x", "hr", "糖尿病 手册", "x" * 200, "'; drop table --"])
def test_a_name_may_be_any_text(name: str) -> None:
    assert Scope(name, name).graph_id == name


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x00b", "a\udcffb", "\ufffd", None, 5])
@pytest.mark.parametrize("field", ["user_id", "graph_id"])
def test_what_no_store_can_hold_is_refused_with_the_field_that_is_wrong(
    field: str, name: object
) -> None:
    with pytest.raises(OptionInvalid) as refused:
        Scope(**cast("dict[str, Any]", {field: name}))

    assert refused.value.field == field
