"""What a store tells of how it went on."""

from __future__ import annotations

import pytest

from sextant.domain.telemetry import collect_notices, notify


def test_what_is_told_again_within_one_request_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with collect_notices() as notices:
        notify("behind")
        notify("behind")
        notify("gone")
    notify("behind")

    assert notices == ["behind", "gone"]
    assert [record.getMessage() for record in caplog.records] == ["behind", "gone", "behind"]
