"""What a command's log says on standard error."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from sextant.cli.session import show_log
from sextant.domain.settings import Settings

WHY = "lane vector failed: The model is gone. Run `pip install x`."


@pytest.fixture
def searching() -> Iterator[logging.Logger]:
    """Yield the logger of searches, left as it was."""
    logger = logging.getLogger("sextant.retrievers")
    yield logger
    logger.handlers.clear()
    logger.setLevel(logging.NOTSET)


def test_why_a_search_goes_on_without_a_part_is_told_in_a_line(
    searching: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    show_log(Settings(_env_file=None))
    show_log(Settings(_env_file=None))
    lane = logging.getLogger("sextant.retrievers.lanes.warnings")
    lane.error("%s\nSELECT 1", WHY, exc_info=ValueError("anything"))
    lane.warning("the search is slow")
    assert capsys.readouterr().err == f"Note: {WHY}\n"


def test_where_a_level_was_asked_for_the_log_tells(
    searching: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    show_log(Settings(_env_file=None, log_level="ERROR"))
    logging.getLogger("sextant.retrievers.lanes.warnings").error(WHY)
    assert "Note:" not in capsys.readouterr().err
    assert searching.handlers == []
