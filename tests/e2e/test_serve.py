"""`sextant serve` says at once what it cannot do."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Sextant

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("--log", "loud"), "log"),
        (("--host", "0.0.0.0"), "host"),  # noqa: S104 - that is what is refused
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_starts(
    sextant: Sextant, arguments: tuple[str, ...], field: str
) -> None:
    ran = sextant("serve", *arguments)
    assert ran.status == 2
    assert field in ran.err
