"""The OpenAPI document tells the truth: its examples run, and every route has one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from fastapi.routing import APIRoute, iter_route_contexts
from jsonschema import Draft202012Validator

from sextant.domain.settings import Settings
from sextant.server.app import app as described
from sextant.server.app import create_app
from sextant.server.openapi import examples
from sextant.server.routing import Route
from tests.integration.server.calling import started

DOCUMENT = described.openapi()
COMMON = {"401", "403", "422", "429", "500", "503"}
PUBLIC = {"/", "/healthz", "/readyz", "/metrics"}
REFERENCE = Path(__file__).parents[4] / "docs" / "http.md"


@dataclass(frozen=True)
class Operation:
    """One route, as the document has it."""

    path: str
    method: str
    said: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def body(self) -> tuple[str, dict[str, Any]] | None:
        """Return the type of its request's body, and what is said of it."""
        content = self.said.get("requestBody", {}).get("content", {})
        return next(((kind, one) for kind, one in content.items() if "multipart" not in kind), None)

    @property
    def answer(self) -> tuple[str, dict[str, Any]]:
        """Return the status of a good answer, and its types with what is said of them."""
        status = min(own for own in self.said["responses"] if own.startswith("2"))
        return status, self.said["responses"][status].get("content", {})


OPERATIONS = [
    Operation(path, method, said)
    for path, methods in DOCUMENT["paths"].items()
    for method, said in methods.items()
]
# What there is nothing to do for: an answer that nobody streams, a document that is ingested, the file and the pages
# of one that was imported, a document that is gone with its only name.
OTHERWISE = {
    "deleteDocument": "204",
    "getFile": "404",
    "getPagePicture": "404",
    "answerEvents": "404",
    "resumeAnswer": "404",
    "cancelAnswer": "404",
    "retryDocument": "409",
    "cancelDocument": "409",
}
# Deleting comes last, so that the others find what they need.
RUN = sorted(OPERATIONS, key=lambda one: (one.method == "delete", "import" not in one.path))


def example_of(content: dict[str, Any]) -> Any:
    """Return the example of a body; None where there is none."""
    return content.get("example")


def fits(example: object, schema: dict[str, Any]) -> list[str]:
    """Return what of an example does not fit its schema."""
    whole = schema | {"components": DOCUMENT["components"]}
    return [error.message for error in Draft202012Validator(whole).iter_errors(example)]


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_route_has_examples_that_fit(operation: Operation) -> None:
    for parameter in operation.said.get("parameters", ()):
        if parameter["in"] == "path":
            assert parameter["example"]
    if operation.body:
        kind, content = operation.body
        assert example_of(content) is not None, "no example of the request"
        if kind == "application/json":
            assert fits(example_of(content), content["schema"]) == []
    status, contents = operation.answer
    assert status == "204" or contents
    for kind, content in contents.items():
        assert example_of(content) is not None, f"no example of the answer as {kind}"
        if kind == "application/json":
            assert fits(example_of(content), content["schema"]) == []


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_route_lists_the_errors_that_it_may_answer_with(operation: Operation) -> None:
    responses = operation.said["responses"]
    if operation.path not in PUBLIC:
        assert responses.keys() >= COMMON
    for status, said in responses.items():
        if status >= "400" and operation.path not in PUBLIC and "/v1" not in operation.path:
            [content] = said["content"].values()
            assert fits(example_of(content), content["schema"]) == []


def test_operation_ids_are_names_and_unique() -> None:
    ids = [one.said["operationId"] for one in OPERATIONS]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z][A-Za-z0-9]+", own) for own in ids)


def test_every_route_reads_json_strictly_and_asks_for_leave_before_it_reads() -> None:
    loose = [
        one.path
        for one in iter_route_contexts(described.routes)
        if isinstance(one.original_route, APIRoute) and not isinstance(one.original_route, Route)
    ]
    assert loose == []


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_every_route_is_in_the_written_reference(operation: Operation) -> None:
    text = REFERENCE.read_text("utf-8")
    assert f"`{operation.method.upper()} {operation.path}`" in text


async def test_the_document_and_its_page_are_served(client: httpx.AsyncClient) -> None:
    assert (await client.get("/openapi.json")).json() == json.loads(json.dumps(DOCUMENT))
    page = await client.get("/docs")
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert not [one for one in loaded if "//" in one]
    for one in loaded:
        assert (await client.get(f"/{one}")).status_code == 200


@pytest_asyncio.fixture(scope="module")
async def reader(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a user who has nothing but what the examples bring."""
    app = create_app(settings.model_copy(update={"user_id": "reader-of-examples"}))
    async with started(app) as client:
        yield client


@pytest_asyncio.fixture(scope="module")
async def known(reader: httpx.AsyncClient) -> dict[str, str]:
    """Return ids that the server has given, by the parameter that takes them."""
    imported = await reader.post(
        "/api/graphs/rust/import",
        content=examples()["requests"]["importGraph"].encode(),
        headers={"content-type": "application/x-ndjson"},
    )
    assert imported.status_code == 200
    passages = (await reader.post("/search", json=examples()["requests"]["search"])).json()[
        "results"
    ]
    found = await reader.post(
        "/api/knowledge/entities/search", json=examples()["requests"]["searchEntities"]
    )
    return {
        "documentId": passages[0]["documentId"],
        "entityId": found.json()["results"][0]["entity"]["id"],
    }


@pytest.mark.parametrize("operation", RUN, ids=str)
async def test_every_example_runs(
    reader: httpx.AsyncClient, known: dict[str, str], operation: Operation
) -> None:
    answer = await reader.request(
        operation.method.upper(),
        operation.path.format_map(given(operation, "path") | known),
        params=given(operation, "query"),
        **sent(operation),
    )
    status, contents = operation.answer
    status = OTHERWISE.get(operation.said["operationId"], status)
    assert str(answer.status_code) == status, answer.text
    kind = answer.headers.get("content-type", "").partition(";")[0]
    assert kind in operation.said["responses"][status].get("content", {"": None})
    if kind == "application/json":
        assert fits(answer.json(), contents[kind]["schema"]) == []


def given(operation: Operation, place: str) -> dict[str, str]:
    """Return the examples of the parameters that have one."""
    parameters = [one for one in operation.said.get("parameters", ()) if one["in"] == place]
    examples_of = {
        one["name"]: one.get("example") or (one["schema"].get("examples") or [None])[0]
        for one in parameters
    }
    return {name: str(example) for name, example in examples_of.items() if example is not None}


def sent(operation: Operation) -> dict[str, Any]:
    """Return the example of the body, as the client sends it."""
    contents = operation.said.get("requestBody", {}).get("content", {})
    if "application/json" in contents:
        return {"json": example_of(contents["application/json"])}
    return {
        name: value
        for kind, content in contents.items()
        for name, value in (
            ("content", example_of(content).encode()),
            ("headers", {"content-type": kind}),
        )
    }
