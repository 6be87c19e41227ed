"""How much memory a process may use."""

from __future__ import annotations

from pathlib import Path

import psutil

from domain.machine import usable_memory
from domain.settings import Settings

MACHINE = psutil.virtual_memory().total


def test_a_container_that_may_take_less_than_the_machine_has_is_what_counts(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("1000000\n")
    assert usable_memory(limit) == 1_000_000


def test_a_container_without_a_limit_has_the_machine_s_memory(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("max\n")
    assert usable_memory(limit) == MACHINE


def test_a_container_that_may_take_more_than_there_is_has_the_machine_s(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(f"{2 * MACHINE}\n")
    assert usable_memory(limit) == MACHINE


def test_where_nothing_is_said_of_containers_it_is_the_machine_s_memory(tmp_path: Path) -> None:
    assert usable_memory(tmp_path / "memory.max") == MACHINE


def test_knowledge_bases_in_memory_take_a_32nd_of_it_unless_it_is_set() -> None:
    assert Settings(_env_file=None).retrieval.hot_memory == usable_memory() // 32
