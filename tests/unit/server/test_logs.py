"""The server's log: JSON for machines, readable on a terminal, at the level that is set."""

from __future__ import annotations

import json
import logging
import logging.config
from collections.abc import Iterator

import pytest

from sextant.domain.settings import Settings
from sextant.server.observe.logs import formatter, log_config, request_id


def record(level: int = logging.WARNING, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("some.module", level, "file.py", 1, "it took %d s", (3,), None)
    made.__dict__.update(extra)
    return made


def test_a_line_is_json_with_the_id_of_its_request() -> None:
    token = request_id.set("mine-1")
    line = json.loads(formatter(as_json=True).format(record(route="/search", secret="text")))
    request_id.reset(token)
    assert line["event"] == "it took 3 s"
    assert line["request_id"] == "mine-1"
    assert line["route"] == "/search"
    assert line["level"] == "warning"
    assert line["timestamp"].endswith("Z")
    assert "secret" not in line


def test_chinese_stays_readable_in_a_line() -> None:
    assert "/付款节点" in formatter(as_json=True).format(record(route="/付款节点"))


def test_an_exception_is_part_of_its_line() -> None:
    made, broken = record(logging.ERROR), ValueError("broken")
    made.exc_info = (ValueError, broken, None)
    line = formatter(as_json=True).format(made)
    assert "\n" not in line
    assert "ValueError: broken" in json.loads(line)["exception"]


def test_on_a_terminal_a_line_is_read_by_people() -> None:
    line = formatter(as_json=False).format(record())
    assert "it took 3 s" in line
    assert not line.startswith("{")


@pytest.fixture
def loggers() -> Iterator[None]:
    """Yield the loggers' own levels afterwards."""
    names = ("", "sextant.requests", "uvicorn", "uvicorn.access", "procrastinate")
    before = {name: logging.getLogger(name).level for name in names}
    handlers = logging.getLogger().handlers[:]
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)
    logging.getLogger().handlers[:] = handlers


@pytest.mark.usefixtures("loggers")
@pytest.mark.parametrize(
    ("level", "tells_queries"), [("WARNING", False), ("INFO", True), ("ERROR", False)]
)
def test_requests_are_told_at_every_level_and_queries_only_when_asked(
    level: str, tells_queries: bool
) -> None:
    chosen = Settings(_env_file=None, log_level=level)
    logging.config.dictConfig(log_config(chosen))
    assert logging.getLogger("sextant.requests").isEnabledFor(logging.INFO)
    assert not logging.getLogger("uvicorn.access").isEnabledFor(logging.INFO)
    told = logging.getLogger("sextant.retrievers.graph_retriever").isEnabledFor(logging.INFO)
    assert told is tells_queries


@pytest.mark.usefixtures("loggers")
def test_the_queue_s_lines_that_name_users_are_left_out() -> None:
    logging.config.dictConfig(log_config(Settings(_env_file=None, log_level="INFO")))
    assert not logging.getLogger("procrastinate.worker").isEnabledFor(logging.INFO)
    assert logging.getLogger("procrastinate.worker").isEnabledFor(logging.WARNING)
