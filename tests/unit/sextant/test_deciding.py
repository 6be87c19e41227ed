"""`sextant entities merge` and `unmerge` say what of the graph did not follow the decision."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest

from sextant.cli import app as cli
from sextant.cli import entities
from sextant.domain.documents import GraphInfo
from sextant.domain.graph import Entity
from sextant.domain.warnings import CodedWarning, WarningCode

GONE = CodedWarning(WarningCode.GRAPH_NOT_PROJECTED, {"reason": "Start it."})


@pytest.mark.parametrize(
    "command", [["merge", "WHO", "World Health Organization"], ["unmerge", "WHO"]]
)
@pytest.mark.parametrize("warnings", [(), (GONE,)])
def test_a_decision_tells_what_did_not_follow_it(
    command: list[str],
    warnings: tuple[CodedWarning, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    merged = Entity(uuid4(), "World Health Organization", "TERM")
    rag = AsyncMock()
    rag.find_graph.return_value = "kb"
    rag.entities.return_value.merge.return_value = merged
    rag.graphs.return_value = [
        GraphInfo("kb", 1, 1, coded_warnings=warnings),
        GraphInfo("other", 1, 1),
    ]

    def with_it(work: Callable[[Any], Awaitable[Any]]) -> Any:
        async def worked() -> Any:
            return await work(rag)

        return asyncio.run(worked())

    monkeypatch.setattr(entities, "with_sextant", with_it)

    assert cli.run(["entities", *command, "--graph", "kb"]) == 0
    assert capsys.readouterr().err == "".join(f"Note: {one}\n" for one in warnings)
