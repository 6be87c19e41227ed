"""What a command's log says on standard error."""

from __future__ import annotations

import logging

import pytest

from sextant.cli.session import show_log
from sextant.domain.settings import Settings


def test_a_command_whose_log_was_not_asked_for_leaves_it_to_its_warnings(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_log(Settings(_env_file=None))
    logging.getLogger("sextant.retrievers.lanes.lane").error("lane vector failed")
    assert "lane vector" not in capsys.readouterr().err
