"""Uploads that cannot be taken are refused with a reason, and cost nothing."""

from __future__ import annotations

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any
from uuid import uuid4

import httpx
import pytest

from sextant.server import uploading
from sextant.server.edge import limits as body_limit
from tests.integration.server.documents.conftest import Settled

FORM = {"content-type": "multipart/form-data; boundary=cut"}
PART = b'--cut\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nSome text.'


def code(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


async def send(
    client: httpx.AsyncClient, name: str, content: bytes, **fields: str
) -> httpx.Response:
    return await client.post("/documents", files={"files": (name, content)}, data=fields)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("empty.txt", b"", (422, "file_empty")),
        ("blank.txt", b" \n\x00 ", (422, "file_empty")),
        ("photo.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), (415, "file_type_unknown")),
        ("report.docx", b"just text", (415, "file_type_unknown")),
        ("report.docx", b"PK\x03\x04 and then nothing", (422, "file_broken")),
    ],
)
async def test_a_file_that_is_no_document_is_refused_at_once(
    client: httpx.AsyncClient, name: str, content: bytes, expected: tuple[int, str]
) -> None:
    assert code(await send(client, name, content)) == expected


@pytest.mark.parametrize("levels", [101, 260, 1000])
async def test_metadata_that_nests_too_deep_are_refused(
    client: httpx.AsyncClient, levels: int
) -> None:
    """Stored, they could not be written again: 500, here and at every export."""
    metadata = '{"a":' * levels + "1" + "}" * levels
    body = '{"text": "Some text.", "metadata": ' + metadata + "}"
    json_type = {"content-type": "application/json"}
    assert (await client.post("/documents", content=body, headers=json_type)).status_code == 422
    assert (await send(client, "a.txt", b"Some text.", metadata=metadata)).status_code == 422


async def test_an_id_and_a_name_hold_nothing_that_cannot_be_stored_or_hides_what_it_is(
    client: httpx.AsyncClient,
) -> None:
    body = {"text": "Some text.", "externalId": "a\0b", "title": "invoice\u202efdp.txt\u2066"}
    answer = await client.post("/documents", json=body | {"graphId": f"g-{uuid4()}"})
    assert answer.status_code == 202
    [document] = answer.json()["documents"]
    assert document["filename"] == "invoicefdp.txt"
    found = (await client.get(f"/documents/{document['documentId']}")).json()
    assert "\0" not in found["externalId"]


@pytest.mark.parametrize(
    ("external_id", "said"),
    [("", "at least 1 character"), ("a" * 1001, "at most 200 characters, not 1,001")],
)
async def test_the_length_of_an_id_is_told_in_characters_by_json_and_by_form(
    client: httpx.AsyncClient, external_id: str, said: str
) -> None:
    body = {"text": "Some text.", "externalId": external_id}
    form = await send(client, "a.txt", b"Some text.", externalId=external_id)
    for answer in (await client.post("/documents", json=body), form):
        assert code(answer) == (422, "request_invalid")
        assert f"externalId: String should have {said}" in answer.json()["detail"]
        assert answer.json()["field"] == "externalId"


async def test_a_refused_file_among_others_carries_its_own_problem(
    client: httpx.AsyncClient,
) -> None:
    files = [("files", ("good.txt", b"Some text.")), ("files", ("empty.txt", b""))]
    answer = await client.post("/documents", files=files, data={"graphId": f"g-{uuid4()}"})
    assert answer.status_code == 202
    good, empty = answer.json()["documents"]
    assert good["documentId"]
    assert good["problem"] is None
    assert (empty["documentId"], empty["problem"]["code"]) == (None, "file_empty")


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        (FORM, PART, (400, "bad_request")),
        (FORM, b"--other\r\n\r\n--other--", (400, "bad_request")),
        (FORM, b"", (400, "bad_request")),
        ({"content-type": "multipart/form-data"}, PART, (400, "bad_request")),
        ({"content-type": "multipart/form-data; boundary="}, PART, (400, "bad_request")),
        (FORM, b"--cut\r\nNo-Disposition: 1\r\n\r\nx\r\n--cut--\r\n", (400, "bad_request")),
        (
            FORM,
            b'--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--cut--\r\n',
            (422, "request_invalid"),
        ),
        (FORM, b"--cut--\r\n", (422, "option_invalid")),
        ({"content-type": "text/plain"}, b"Some text.", (415, "unsupported_media_type")),
        ({}, b"Some text.", (415, "unsupported_media_type")),
        ({"content-type": "application/json"}, b"{", (422, "option_invalid")),
        ({"content-type": "application/json"}, b'{"text": NaN}', (422, "option_invalid")),
        ({"content-type": "application/json"}, b"[]", (422, "request_invalid")),
        ({"content-type": "application/json"}, b'{"text": ""}', (422, "request_invalid")),
        (
            {"content-type": "application/json"},
            b'{"text": "a", "tittle": "b"}',
            (422, "request_invalid"),
        ),
        (
            {"content-type": "application/json"},
            b'{"text": "a", "graphId": " "}',
            (422, "option_invalid"),
        ),
        ({"content-type": "application/json"}, b"[" * 100_000, (422, "option_invalid")),
        (
            {"content-type": "application/json"},
            b'"' + b"a" * 1_100_000 + b'"',
            (413, "file_too_large"),
        ),
    ],
)
async def test_a_body_that_is_no_upload_is_refused(
    client: httpx.AsyncClient, headers: dict[str, str], body: bytes, expected: tuple[int, str]
) -> None:
    assert code(await client.post("/documents", headers=headers, content=body)) == expected


async def test_a_form_has_a_largest_number_of_files(client: httpx.AsyncClient) -> None:
    def files(number: int) -> Any:
        return [("files", (f"{n}.txt", b"text %d" % n)) for n in range(number)]

    most, graph = uploading.MOST_FILES, {"graphId": f"g-{uuid4()}"}
    assert (await client.post("/documents", files=files(most), data=graph)).status_code == 202
    assert code(await client.post("/documents", files=files(most + 1), data=graph))[0] == 400


async def test_a_file_that_is_too_large_is_refused_before_it_has_come(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_limit, "_LINGERING", 0)
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield PART
        while True:
            sent += 1
            yield bytes(1_000_000)

    answer = await client.post("/documents", headers=FORM, content=endless())
    assert code(answer) == (413, "file_too_large")
    assert sent < 60


async def test_a_client_that_stops_in_the_middle_is_not_waited_for(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploading, "_IDLE_SECONDS", 0.05)

    async def slow() -> AsyncIterator[bytes]:
        yield PART
        await asyncio.Event().wait()

    answer = await client.post("/documents", headers=FORM, content=slow())
    assert code(answer) == (408, "request_timeout")


async def test_a_bomb_is_taken_in_and_left_failed_with_its_reason(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", bytes(150_000_000))
    [uploaded] = (await send(client, "bomb.docx", packed.getvalue())).json()["documents"]

    document = await settled(uploaded["documentId"])

    assert (document["status"], document["job"]["errorCode"]) == ("failed", "file_unsafe")
    assert document["chunkCount"] == 0
    assert document["job"]["attempts"] == 1


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\Users\\me\\plan.txt", "plan.txt"),
        ("报告.txt", "报告.txt"),
        ("a\x07b.txt", "ab.txt"),
        ("/", "unnamed"),
        ("..", ".."),
        ("long" * 100 + ".txt", ("long" * 100)[:251] + ".txt"),
    ],
)
def test_a_files_name_is_text_and_no_path(sent: str, shown: str) -> None:
    assert uploading.filename_of(sent) == shown


async def test_a_name_with_control_characters_comes_back_without(client: httpx.AsyncClient) -> None:
    body = {"text": "Some text.", "title": "a\u0000b\r\nX-Evil: 1", "graphId": f"g-{uuid4()}"}
    [uploaded] = (await client.post("/documents", json=body)).json()["documents"]
    assert uploaded["filename"] == "abX-Evil: 1.txt"


async def test_metadata_is_a_json_object(client: httpx.AsyncClient) -> None:
    for said, expected in (("{", 422), ("[1]", 422), (json.dumps({"a": 1}), 202)):
        answer = await send(client, "m.txt", uuid4().bytes.hex().encode(), metadata=said)
        assert answer.status_code == expected
