"""Whether the process that works on a job still lives."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sextant.ingestion.workers import is_dead, worker_name


def test_a_living_process_is_not_dead() -> None:
    assert worker_name().endswith(f":{os.getpid()}")
    assert not is_dead(worker_name())


def test_a_process_that_has_ended_is_dead_even_before_its_parent_asks() -> None:
    machine = worker_name().rpartition(":")[0]
    ended = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert ended.stdout is not None
    ended.stdout.read()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(f"{machine}:{ended.pid}")
    ended.communicate()
    assert is_dead(f"{machine}:{ended.pid}")


@pytest.mark.parametrize("worker", [None, "", "a worker", "elsewhere:1:999999", "elsewhere:999999"])
def test_of_workers_elsewhere_nothing_is_known(worker: str | None) -> None:
    assert not is_dead(worker)
