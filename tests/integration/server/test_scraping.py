"""Metrics of a process that answers no other requests, as `sextant worker --metrics-port` does."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from sextant.domain.errors import OptionInvalid, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.models.embedding.cache import CachedEmbedder
from sextant.server.observe.metrics import serving_metrics
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.calling import bearer

TOKEN = "a-scraper-s-own-token-of-forty-characters"
HERE = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - that is what is asked for


@pytest_asyncio.fixture(scope="module")
async def rag() -> AsyncIterator[Sextant]:
    with short_folder() as folder:
        embedder = CachedEmbedder(HashEmbedder(384), 8)
        async with Sextant.open(settings_over(folder), embedder=embedder) as opened:
            yield opened


@pytest.fixture
def with_token(settings: Settings, rag: Sextant, monkeypatch: pytest.MonkeyPatch) -> Sextant:
    """Return the same, with a token for scrapers."""
    told = Settings(_env_file=None, data_dir=settings.data_dir, observe={"metrics_token": TOKEN})
    monkeypatch.setattr(rag, "settings", told)
    return rag


async def read(address: str, headers: dict[str, str] | None = None) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as client:
        return await client.get(address, headers=headers)


async def test_a_worker_tells_of_its_stages_the_queue_and_what_it_depends_on(
    rag: Sextant, tmp_path: Path
) -> None:
    (tmp_path / "rust.md").write_text("# Ownership\n\nEach value has exactly one owner.\n")
    async with serving_metrics(rag, HERE, 0) as address:
        await rag.ingest([tmp_path])
        told = await read(address)
        elsewhere = await read(address.removesuffix("metrics"))
    assert elsewhere.status_code == 404
    assert told.headers["content-type"].startswith("text/plain; version=")
    samples = [
        one for family in text_string_to_metric_families(told.text) for one in family.samples
    ]
    stages = {one.labels["stage"] for one in samples if one.name == "kb_ingest_stage_seconds_count"}
    assert {"parse", "embed", "graph"} <= stages
    assert {one.labels["state"] for one in samples if one.name == "kb_ingest_queue"} == {
        "waiting",
        "running",
        "failed",
    }
    up = {one.labels["name"]: one.value for one in samples if one.name == "kb_dependency_up"}
    assert up["database"] == 1


async def test_a_token_is_asked_for_where_there_is_one(with_token: Sextant) -> None:
    async with serving_metrics(with_token, EVERYWHERE, 0) as address:
        here = address.replace(EVERYWHERE, HERE)
        statuses = [
            (await read(here, headers)).status_code
            for headers in (None, bearer("something else"), bearer(TOKEN))
        ]
    assert statuses == [401, 401, 200]


async def test_others_are_told_nothing_without_a_token(rag: Sextant) -> None:
    with pytest.raises(SettingsInvalid, match="METRICS_TOKEN"):
        async with serving_metrics(rag, EVERYWHERE, 0):
            pass


async def test_a_port_that_is_taken_is_refused(rag: Sextant) -> None:
    with (
        socket.create_server((HERE, 0)) as taken,
        pytest.raises(OptionInvalid, match="another --metrics-port"),
    ):
        async with serving_metrics(rag, HERE, taken.getsockname()[1]):
            pass


async def test_signals_stay_the_worker_s(rag: Sextant) -> None:
    """It decides itself when it stops; a web server in it must not take that over."""
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]
    async with serving_metrics(rag, HERE, 0) as address:
        await read(address)
        assert [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)] == before
