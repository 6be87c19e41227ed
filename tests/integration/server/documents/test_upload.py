"""Uploads become documents that can be found, listed, watched and deleted."""

from __future__ import annotations

import json
import random
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from sextant.domain.errors import DocumentNotFound
from sextant.server.lifespan import Serving
from tests.integration.server.documents.conftest import Settled
from tests.pictures import data_uri, picture

LOAN = "# Loans\n\nA borrower may keep a lens for fourteen days.\n\n# Returns\n\nReturn it clean."


@pytest.fixture
def graph_id() -> str:
    return f"graph-{uuid4()}"


async def add(client: httpx.AsyncClient, graph_id: str, *files: tuple[str, bytes]) -> Any:
    answer = await client.post(
        "/documents",
        data={"graphId": graph_id},
        files=[("files", (name, content)) for name, content in files],
    )
    assert answer.status_code == 202, answer.text
    return answer.json()["documents"]


async def test_an_uploaded_file_is_ingested_and_found(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [uploaded] = await add(client, graph_id, ("loans.md", LOAN.encode()))

    document = await settled(uploaded["documentId"])

    assert (document["status"], document["job"]["stage"]) == ("ready", "done")
    assert (document["filename"], document["graphId"]) == ("loans.md", graph_id)
    found = await client.post(
        "/search", json={"query": "How long may a lens be kept?", "graphId": graph_id}
    )
    assert "fourteen days" in found.json()["results"][0]["text"]


async def test_a_text_comes_as_json_with_an_id_and_metadata_of_its_owner(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    body = {
        "text": "汇率每天更新一次。",
        "title": "汇率",
        "externalId": "fx-1",
        "metadata": {"owner": "财务"},
        "graphId": graph_id,
    }
    [uploaded] = (await client.post("/documents", json=body)).json()["documents"]
    first = await settled(uploaded["documentId"])
    assert (first["externalId"], first["metadata"]["owner"]) == ("fx-1", "财务")

    body["text"] = "汇率每小时更新一次。"
    [again] = (await client.post("/documents", json=body)).json()["documents"]
    second = await settled(again["documentId"])

    assert second["documentId"] == first["documentId"]
    text = await client.get(f"/documents/{first['documentId']}/text?start=0&end=100")
    assert "每小时" in text.json()["text"]


async def test_progress_is_streamed_until_the_end(client: httpx.AsyncClient, graph_id: str) -> None:
    [uploaded] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    answer = await client.get(f"/documents/{uploaded['documentId']}/events")

    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in answer.text.strip().split("\n\n")]
    names = [lines[1].removeprefix("event: ") for lines in events]
    last = json.loads(events[-1][2].removeprefix("data: "))
    assert (names[-1], last["status"], last["job"]["stage"]) == ("done", "ready", "done")
    assert set(names[:-1]) <= {"progress"}


async def test_the_same_bytes_again_are_the_same_document_without_a_job(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [first] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    await settled(first["documentId"])

    [again] = await add(client, graph_id, ("copy.md", LOAN.encode()))

    assert again["documentId"] == first["documentId"]
    assert (again["unchanged"], again["jobId"], again["sameAs"]) == (True, None, "loans.md")


async def test_two_files_of_one_name_are_two_documents_unless_one_replaces_the_other(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    late, early = (
        "# Rules\n\nComing late costs 50 euros.",
        "# Rules\n\nLeaving early costs 30 euros.",
    )
    first, second = await add(
        client, graph_id, ("rules.md", late.encode()), ("rules.md", early.encode())
    )
    assert second["sameNameAs"] == first["documentId"] != second["documentId"]
    for one in (first, second):
        await settled(one["documentId"])
    listed = (await client.get("/documents", params={"graphId": graph_id})).json()["documents"]
    assert [one["filename"] for one in listed] == ["rules.md", "rules.md"]

    form = {"graphId": graph_id, "replace": "true"}
    files = {"files": ("rules.md", b"# Rules\n\nBoth cost 20 euros.")}
    replaced = (await client.post("/documents", data=form, files=files)).json()["documents"]
    assert (replaced[0]["documentId"], replaced[0]["sameNameAs"]) == (first["documentId"], None)


async def test_a_document_is_listed_by_a_part_of_its_name(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    names = ("Loans_100%.md", "Returns.md", "Ausleihe U\u0308BER Nacht.md")
    files = [(name, f"# {name}\n\nText.".encode()) for name in names]
    for one in await add(client, graph_id, *files):
        await settled(one["documentId"])

    async def named(part: str, **page: Any) -> Any:
        asked = {"graphId": graph_id, "name": part, **page}
        return (await client.get("/documents", params=asked)).json()

    for part, found in (("LOANS", names[:1]), ("%", names[:1]), ("über", names[2:]), ("x", ())):
        assert tuple(one["filename"] for one in (await named(part))["documents"]) == found
    first = await named(".md", limit=2)
    rest = await named(".md", limit=2, cursor=first["nextCursor"])
    assert [len(page["documents"]) for page in (first, rest)] == [2, 1]
    assert (await named("r", cursor=first["nextCursor"]))["status"] == 422
    graphs = (await client.get("/api/graphs", params={"limit": 1000})).json()["graphs"]
    assert [one["underWay"] for one in graphs if one["graphId"] == graph_id] == [0]


async def test_a_parameter_that_counts_nowhere_is_refused(
    client: httpx.AsyncClient, graph_id: str
) -> None:
    files = {"files": ("rules.md", b"# Rules")}
    uploaded = await client.post("/documents", params={"graphId": graph_id}, files=files)
    searched = await client.post("/search?graphId=x", json={"query": "rules"})
    for refused in (uploaded, searched):
        assert refused.status_code == 422
        assert (refused.json()["field"], refused.json()["code"]) == ("graphId", "option_invalid")
    [document] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    path = f"/documents/{document['documentId']}"
    misspelt = await client.delete(path, params={"nam": "loans.md"})
    assert (misspelt.status_code, misspelt.json()["field"]) == (422, "nam")
    assert "name" in misspelt.json()["nextStep"]
    assert (await client.get(path)).status_code == 200
    chat = {"model": "nobody", "messages": [{"role": "user", "content": "rules"}]}
    of_azure = await client.post("/v1/chat/completions?api-version=1", json=chat)
    assert of_azure.status_code == 404  # the model is unknown, the parameter ignored
    assert (await client.get("/metrics?module=sextant")).status_code == 200


async def test_a_document_of_two_files_is_gone_once_both_are_deleted(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [first] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    [second] = await add(client, graph_id, ("copy.md", LOAN.encode()))
    assert second["documentId"] == first["documentId"]
    path = f"/documents/{first['documentId']}"
    await settled(first["documentId"])

    stays = await client.delete(path)
    assert stays.status_code == 200
    assert (stays.json()["source"], stays.json()["copies"]) == ("copy.md", [])
    assert stays.json() == (await client.get(path)).json()

    assert (await client.delete(path)).status_code == 204
    assert (await client.get(path)).status_code == 404


async def test_the_next_of_a_name_is_replaced_once_the_first_is_deleted(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    first, second = await add(
        client, graph_id, ("rules.md", b"# A\n\nOne."), ("rules.md", LOAN.encode())
    )
    for one in (first, second):
        await settled(one["documentId"])
    await client.delete(f"/documents/{first['documentId']}")

    form = {"graphId": graph_id, "replace": "true"}
    files = {"files": ("rules.md", b"# Rules\n\nCups go back on the shelf.")}
    [replaced] = (await client.post("/documents", data=form, files=files)).json()["documents"]

    assert replaced["documentId"] == second["documentId"]
    document = await settled(second["documentId"])
    assert (document["source"], document["filename"]) == ("rules.md", "rules.md")
    listed = (await client.get("/documents", params={"graphId": graph_id})).json()["documents"]
    assert [one["documentId"] for one in listed] == [second["documentId"]]


async def test_one_name_of_a_document_of_two_files_is_taken_away(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [first] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    await add(client, graph_id, ("copy.md", LOAN.encode()))
    path = f"/documents/{first['documentId']}"
    await settled(first["documentId"])

    assert (await client.delete(path, params={"name": "other.md"})).status_code == 404
    stays = await client.delete(path, params={"name": "copy.md"})

    assert (stays.status_code, stays.json()["source"], stays.json()["copies"]) == (
        200,
        "loans.md",
        [],
    )
    found = await client.post(
        "/search", json={"query": "How long may a lens be kept?", "graphId": graph_id}
    )
    assert found.json()["results"][0]["documentId"] == first["documentId"]


async def test_a_deleted_document_is_gone_everywhere(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [uploaded] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    path = f"/documents/{uploaded['documentId']}"
    await settled(uploaded["documentId"])

    assert (await client.delete(path)).status_code == 204

    for answer in (
        await client.get(path),
        await client.delete(path),
        await client.get(f"{path}/events"),
        await client.get(f"{path}/text"),
        await client.get(f"{path}/file"),
        await client.post(f"{path}/retry"),
        await client.post(f"{path}/cancel"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "document_not_found")
    listed = await client.get("/documents", params={"graphId": graph_id})
    assert listed.json() == {"documents": [], "nextCursor": None}


async def test_the_file_comes_back_byte_by_byte_and_is_no_page_of_this_server(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    page = b"<h1>Loans</h1><p>A lens may be kept for fourteen days.</p><script>alert(1)</script>"
    broken = b"%PDF-1.7 " + random.Random(7).randbytes(2_500_000)  # noqa: S311 - no secret
    plain = {"镜头 “A”.html": "__ _A_.html", "scan.pdf": "scan.pdf"}
    for name, content in (("镜头 “A”.html", page), ("scan.pdf", broken)):
        [uploaded] = await add(client, graph_id, (name, content))
        await settled(uploaded["documentId"])

        file = await client.get(f"/documents/{uploaded['documentId']}/file")

        assert file.content == content
        assert file.headers["content-type"] == "application/octet-stream"
        saved_as = file.headers["content-disposition"]
        assert saved_as.startswith(f'attachment; filename="{plain[name]}"; ')
        assert saved_as.endswith(f"; filename*=UTF-8''{quote(name)}")
        assert file.headers["x-content-type-options"] == "nosniff"


async def test_a_file_is_its_owner_s_alone(
    app: FastAPI, client: httpx.AsyncClient, graph_id: str
) -> None:
    [uploaded] = await add(client, graph_id, ("loans.md", LOAN.encode()))
    serving: Serving = app.state.serving
    with pytest.raises(DocumentNotFound):
        await serving.rag.as_user("stranger").library().file(UUID(uploaded["documentId"]))


async def test_what_was_imported_as_chunks_has_no_file(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    lines = (
        b'{"type": "document", "id": "loans"}\n'
        b'{"type": "chunk", "id": "c1", "document": "loans", "text": "A lens may be kept."}\n'
    )
    sent = await client.post(
        f"/api/graphs/{graph_id}/import",
        content=lines,
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert sent.json()["documents"] == 1, sent.text
    listed = await client.get("/documents", params={"graphId": graph_id})
    [document] = listed.json()["documents"]

    file = await client.get(f"/documents/{document['documentId']}/file")

    assert (file.status_code, file.json()["code"]) == (404, "document_not_found")
    assert "imported as chunks" in file.json()["detail"]


async def test_documents_are_listed_page_by_page(client: httpx.AsyncClient, graph_id: str) -> None:
    files = [(f"note-{n}.txt", f"Note number {n}.".encode()) for n in range(5)]
    added = await add(client, graph_id, *files)

    asked: dict[str, Any] = {"graphId": graph_id, "limit": 2}
    listed, cursor = [], None
    while True:
        page = (await client.get("/documents", params=asked)).json()
        listed += [document["documentId"] for document in page["documents"]]
        if not (cursor := page["nextCursor"]):
            break
        asked["cursor"] = cursor

    assert listed == [document["documentId"] for document in added]
    refused = await client.get("/documents", params={**asked, "cursor": f"{cursor}x"})
    assert refused.status_code == 422


async def test_what_of_a_document_was_not_taken_in_is_said_by_its_job_everywhere(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    page = f'<p>A chart:</p><img src="{data_uri(picture())}">'.encode()
    whole, lacking = await add(client, graph_id, ("whole.txt", b"All."), ("chart.html", page))
    await settled(whole["documentId"])

    said = (await settled(lacking["documentId"]))["job"]["warnings"]

    assert [warning[:20] for warning in said] == ["1 image not read: no"]
    listed = (await client.get("/documents", params={"graphId": graph_id})).json()["documents"]
    assert [document["job"]["warnings"] for document in listed] == [[], said]
    chinese = {"Accept-Language": "zh-CN,en;q=0.5"}
    one = (await client.get(f"/documents/{lacking['documentId']}", headers=chinese)).json()
    assert [warning[:6] for warning in one["job"]["warnings"]] == ["1 张图像未"]
    assert one["job"]["warningCodes"] == ["images_not_looked_at"]
    events = (await client.get(f"/documents/{lacking['documentId']}/events")).text
    last = json.loads(events.strip().split("data: ")[-1])
    assert last["job"]["warnings"] == said


async def test_a_listed_document_that_failed_has_the_code_of_its_fault(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    [sent] = await add(client, graph_id, ("broken.pdf", b"%PDF-1.7 and nothing"))
    failed = await settled(sent["documentId"])
    [listed] = (await client.get("/documents", params={"graphId": graph_id})).json()["documents"]
    assert listed == failed
    assert listed["job"]["errorCode"] == "file_broken"


async def test_a_document_says_how_much_of_its_file_was_read(
    client: httpx.AsyncClient, graph_id: str, settled: Settled
) -> None:
    page = f"<html><body><nav>{'Home and more ' * 9}</nav><h1>Fees</h1><p>It costs 12 EUR.</p></body></html>"
    [uploaded] = await add(client, graph_id, ("fees.html", page.encode()))

    document = await settled(uploaded["documentId"])

    assert document["coverage"] == {
        "stored": {"heading": 4, "text": 13},
        "leftOut": {"in menus and feet of the page": 99},
        "notRead": {},
        "found": 115,
        "missing": 0,
    }
    assert document["job"]["warningCodes"] == ["furniture_left_out"]
