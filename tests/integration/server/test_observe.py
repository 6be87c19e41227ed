"""What a running server tells of itself: metrics, one line a request, and whether it is ready."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from sextant.domain.scope import Permission
from sextant.server.observe.logs import formatter
from sextant.stores.api_keys import ApiKeyStore
from tests.integration.own_database import short_folder
from tests.integration.server.calling import bearer
from tests.integration.server.served import Served, judging, serving_with

TOKEN = "a-scraper-s-own-token-of-forty-characters"
SECRET_WORDS = "the canary sings"


@pytest_asyncio.fixture(scope="module")
async def served() -> AsyncIterator[Served]:
    """Yield a server that asks for keys, with one document."""
    settings = {"auth": {"required": True}, "observe": {"metrics_token": TOKEN}}
    with short_folder() as folder:
        async with serving_with(folder, **settings) as served:
            file = folder / "rust.md"
            file.write_text("# Ownership\n\nEach value in Rust has exactly one owner.\n")
            await served.app.state.serving.rag.as_user("alice").ingest([file])
            yield served


@pytest_asyncio.fixture(scope="module")
async def keys(served: Served) -> dict[Permission, str]:
    """Return a key of each kind, of one user."""
    store = ApiKeyStore(served.app.state.serving.rag.database)
    return {one: (await store.create("alice", [one]))[1].text for one in Permission}


async def samples(served: Served) -> list[Sample]:
    async with served.client(headers=bearer(TOKEN)) as client:
        told = await client.get("/metrics")
    assert told.status_code == 200
    assert told.headers["content-type"].startswith("text/plain; version=")
    return [one for family in text_string_to_metric_families(told.text) for one in family.samples]


def value(found: list[Sample], metric: str, **labels: str) -> float:
    """Return the sum of the samples that have these labels."""
    return sum(
        one.value
        for one in found
        if one.name == metric and labels.items() <= dict(one.labels).items()
    )


async def test_searches_and_answers_are_measured(
    served: Served, keys: dict[Permission, str]
) -> None:
    before = await samples(served)
    served.script = judging("Each value in Rust has exactly one owner [1]. It can fly [1].")
    async with served.client(headers=bearer(keys[Permission.READ])) as client:
        found = await client.post("/search", json={"query": "Who owns a value?"})
        answer = await client.post("/api/query", json={"query": "Who owns a value?"})
        missing = await client.post("/search", json={"query": "x", "graphId": "nowhere"})
    assert (found.status_code, answer.status_code, missing.status_code) == (200, 200, 404)
    after = await samples(served)

    def grown(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    retrieval = "kb_retrieval_request_seconds_count"
    assert grown(retrieval, mode="chunks", lane="total", outcome="ok") == 1
    assert grown(retrieval, mode="chunks", lane="vector", outcome="ok") == 1
    assert grown(retrieval, mode=answer.json()["mode"], lane="total") >= 1
    assert grown(retrieval, outcome="failed") == 0  # what the caller asked wrongly is no failure
    requests = "kb_http_request_seconds_count"
    assert grown(requests, route="/search", status="200", method="POST") == 1
    assert grown(requests, route="/search", status="404") == 1
    assert grown(requests, route="/api/query", status="200") == 1
    assert grown("kb_node_seconds_count", node="generate", outcome="ok") == 1
    assert grown("kb_refine_rounds_count") == 1
    usage = answer.json()["usage"]
    # The sum of all calls has estimates for those that failed; the endpoint's own counts are by model.
    counted = usage["models"]["scripted"]
    assert grown("kb_llm_tokens_total", kind="prompt") >= counted["prompt_tokens"] > 0
    assert grown("kb_llm_calls_total", outcome="ok") >= usage["calls"] > 0
    assert grown("kb_citations_dropped_total") >= 1


async def test_ingestion_and_the_queue_are_measured(served: Served) -> None:
    found = await samples(served)
    for stage in ("parse", "embed", "graph"):
        assert value(found, "kb_ingest_stage_seconds_count", stage=stage, outcome="ok") >= 1
    assert value(found, "kb_ingest_queue", state="waiting") == 0
    assert value(found, "kb_ingest_queue", state="failed") == 0
    assert value(found, "kb_dependency_up", name="database") == 1
    assert value(found, "process_resident_memory_bytes") > 0


async def test_no_label_tells_of_a_user_a_document_or_a_question(
    served: Served, keys: dict[Permission, str]
) -> None:
    async with served.client(headers=bearer(keys[Permission.READ])) as client:
        await client.post("/search", json={"query": SECRET_WORDS})
        await client.get(f"/documents/{SECRET_WORDS}/structure")
        await client.get(f"/{SECRET_WORDS}")
        await client.request("CANARY", "/search")
    said = " ".join(text for one in await samples(served) for text in one.labels.values())
    assert not {"canary", "alice", "rust.md", "CANARY"} & set(said.replace("/", " ").split())
    assert "unmatched" in said


async def test_metrics_are_for_administrators_and_the_scraper(
    served: Served, keys: dict[Permission, str]
) -> None:
    expected = {
        keys[Permission.ADMIN]: 200,
        keys[Permission.INGEST]: 403,
        keys[Permission.READ]: 403,
        TOKEN: 200,
        TOKEN[:-1]: 401,
    }
    async with served.client() as client:
        assert (await client.get("/metrics")).status_code == 401
        for key, status in expected.items():
            assert (await client.get("/metrics", headers=bearer(key))).status_code == status
        # The token is for metrics only.
        assert (await client.get("/documents", headers=bearer(TOKEN))).status_code == 401


async def test_a_ready_server_says_so_to_anybody(served: Served) -> None:
    async with served.client() as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200
    told = answer.json()
    states = {one["name"]: one["state"] for one in told["dependencies"]}
    assert told["status"] == "up"
    assert states == {
        "database": "up",
        "migrations": "up",
        "queue": "up",
        "neo4j": "off",
        "embedding": "up",
        "chat": "up",
    }


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    """Yield the lines that the server's log has by now, read as JSON."""
    written = list[dict[str, object]]()

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(self.format(record)))

    handler, log = Kept(), logging.getLogger()
    handler.setFormatter(formatter(as_json=True))
    requests = logging.getLogger("sextant.requests")
    before = requests.level
    log.addHandler(handler)
    requests.setLevel(logging.INFO)
    yield written
    requests.setLevel(before)
    log.removeHandler(handler)


async def test_every_request_leaves_one_line_without_what_was_asked(
    served: Served, keys: dict[Permission, str], lines: list[dict[str, object]]
) -> None:
    headers = bearer(keys[Permission.READ]) | {"X-Request-Id": "mine-1"}
    async with served.client(headers=headers) as client:
        await client.post("/search", json={"query": SECRET_WORDS})
        await client.get("/healthz")
    [line] = [one for one in lines if one["logger"] == "sextant.requests"]
    assert line["event"] == "request"
    assert (line["method"], line["route"], line["status"]) == ("POST", "/search", 200)
    assert line["request_id"] == "mine-1"
    assert line["level"] == "info"
    assert isinstance(line["ms"], float)
    assert "alice" not in json.dumps(line)
    assert len(str(line["user"])) == 12
    assert "canary" not in json.dumps(lines)
