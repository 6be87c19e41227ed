"""The pages of a document: pictures drawn by the parser's process, and boxes of what is quoted."""

from __future__ import annotations

from io import BytesIO
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from PIL import Image

from sextant.facade.library import PagePictures
from sextant.server.lifespan import Serving
from tests.integration.server.documents.conftest import Settled
from tests.pdf_writer import Area, PdfText, write_pdf

FIRST = "The belt of the conveyor lasts nine hundred hours."
SECOND = "The filter is changed every spring."
PDF = write_pdf([[PdfText(70, 760, FIRST)], [PdfText(70, 500, SECOND), Area(300, 100, 200, 200)]])


async def taken(client: httpx.AsyncClient, settled: Settled, name: str, content: bytes) -> str:
    """Return the id of a document that has been ingested."""
    data = {"graphId": f"graph-{uuid4()}"}
    answer = await client.post("/documents", files={"files": (name, content)}, data=data)
    [document] = answer.json()["documents"]
    await settled(document["documentId"])
    return str(document["documentId"])


async def test_a_quote_is_boxed_where_its_page_shows_it(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    document_id = await taken(client, settled, "belt.pdf", PDF)
    text = (await client.get(f"/documents/{document_id}/text")).json()["text"]
    start = text.index(SECOND)

    answer = await client.get(
        f"/documents/{document_id}/boxes", params={"start": start, "end": start + len(SECOND)}
    )

    [box] = answer.json()["boxes"]
    assert box["page"] == 2
    assert box["x0"] == pytest.approx(70 / 595, abs=0.01)
    assert box["y0"] < 1 - 500 / 842 < box["y1"]


async def test_the_picture_of_a_page_shows_what_stands_on_it(
    client: httpx.AsyncClient, settled: Settled, app: FastAPI
) -> None:
    document_id = await taken(client, settled, "belt.pdf", PDF)

    answer = await client.get(f"/documents/{document_id}/pages/2")

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/webp")
    picture = Image.open(BytesIO(answer.content)).convert("L")
    serving: Serving = app.state.serving
    assert max(picture.size) == serving.settings.limits.page_edge
    scale = picture.height / 842
    assert picture.getpixel((round(400 * scale), picture.height - round(200 * scale))) != 255
    assert picture.getpixel((round(100 * scale), picture.height - round(200 * scale))) == 255


async def test_a_picture_that_the_caller_has_is_not_sent_again(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    document_id = await taken(client, settled, "belt.pdf", PDF)
    path = f"/documents/{document_id}/pages/1"
    first = await client.get(path)

    again = await client.get(path, headers={"If-None-Match": f"W/{first.headers['ETag']}"})
    other = await client.get(path, headers={"If-None-Match": '"another"'})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert (other.status_code, other.content) == (200, first.content)
    assert "private" in first.headers["Cache-Control"]


async def test_an_image_is_its_only_page(client: httpx.AsyncClient, settled: Settled) -> None:
    written = BytesIO()
    Image.new("RGB", (300, 200), "navy").save(written, "PNG")
    document_id = await taken(client, settled, "plan.png", written.getvalue())

    answer = await client.get(f"/documents/{document_id}/pages/1")

    assert Image.open(BytesIO(answer.content)).size == (300, 200)
    assert (await client.get(f"/documents/{document_id}/pages/2")).status_code == 404


async def test_the_frames_of_a_tiff_are_its_pages(
    client: httpx.AsyncClient, settled: Settled
) -> None:
    written = BytesIO()
    first, second = (Image.new("L", size, "white") for size in ((300, 200), (100, 400)))
    first.save(written, "TIFF", save_all=True, append_images=[second])
    document_id = await taken(client, settled, "scan.tiff", written.getvalue())

    answer = await client.get(f"/documents/{document_id}/pages/2")

    assert Image.open(BytesIO(answer.content)).size == (100, 400)


@pytest.mark.parametrize(
    ("name", "content", "page"),
    [("belt.pdf", PDF, 3), ("belt.txt", b"Nothing but text.", 1)],
    ids=["beyond the last page", "without pages"],
)
async def test_a_page_that_is_not_there_says_what_to_do(
    client: httpx.AsyncClient, settled: Settled, name: str, content: bytes, page: int
) -> None:
    document_id = await taken(client, settled, name, content)

    answer = await client.get(
        f"/documents/{document_id}/pages/{page}", headers={"If-None-Match": "*"}
    )

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (404, "page_not_found")
    assert problem["nextStep"]
    assert problem["field"] == "page"
    boxes = await client.get(f"/documents/{document_id}/boxes?start=1000&end=1010")
    assert (boxes.status_code, boxes.json()["boxes"]) == (200, [])


async def test_pages_are_not_shown_where_the_settings_say_so(
    client: httpx.AsyncClient, settled: Settled, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = await taken(client, settled, "belt.pdf", PDF)
    settings = app.state.serving.settings
    limits = settings.limits.model_copy(update={"page_edge": 0})
    without = settings.model_copy(update={"limits": limits})
    drawn = PagePictures.picture

    def picture(self: PagePictures, *arguments: Any, **named: Any) -> object:
        monkeypatch.setattr(self, "_settings", without)
        return drawn(self, *arguments, **named)

    monkeypatch.setattr(PagePictures, "picture", picture)

    answer = await client.get(f"/documents/{document_id}/pages/1")

    assert (answer.status_code, answer.json()["code"]) == (404, "page_not_found")
    assert "SEXTANT_LIMITS__PAGE_EDGE" in answer.json()["nextStep"]
