"""What a store tells of how it went on."""

from __future__ import annotations

import pytest

from sextant.domain.warnings import CodedWarning, WarningCode, collect_warnings, warn


def test_what_is_told_again_within_one_request_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    behind, gone = WarningCode.NEO4J_BEHIND, WarningCode.NEO4J_UNAVAILABLE
    with collect_warnings() as warnings:
        warn(behind)
        warn(behind)
        warn(gone)
    warn(behind)

    assert [one.code for one in warnings] == [behind, gone]
    logged = [str(CodedWarning(code)) for code in (behind, gone, behind)]
    assert [record.getMessage() for record in caplog.records] == logged
