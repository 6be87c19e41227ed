"""The pages that OCR reads of a document: each once, within its limits, what fails as a warning."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID, uuid4

import orjson
import pytest

from sextant.domain.documents import Modality
from sextant.domain.errors import FileEmpty
from sextant.domain.scope import Scope
from sextant.domain.settings import OcrSettings, Settings
from sextant.ingestion.parsing.chunking import Cut
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.host import HostRequest
from sextant.ingestion.parsing.hosts import HostEnded, ParserHosts
from sextant.ingestion.parsing.images import FoundImage
from sextant.ingestion.parsing.recognised import OcrLine, OcrPage, Recognised
from sextant.ingestion.pictures import OcrReader
from sextant.stores.documents.document_store import OcrPageStore, StoredOcrPage

SCOPE, DOCUMENT = Scope("ann", "default"), uuid4()
CORNERS = ((0.0, 0.0), (9.0, 0.0), (9.0, 1.0), (0.0, 1.0))


class FakePages(OcrPageStore):
    """Pages in memory."""

    def __init__(self) -> None:
        self.kept = dict[tuple[str, int], StoredOcrPage]()

    async def known(
        self, scope: Scope, document_id: UUID, files: Iterable[str]
    ) -> list[StoredOcrPage]:
        wanted = set(files)
        return [page for page in self.kept.values() if page.sha256 in wanted]

    async def keep(self, scope: Scope, document_id: UUID, page: StoredOcrPage) -> None:
        self.kept[page.sha256, page.page] = page


class FakeHosts(ParserHosts):
    """Says of each page its number; `failing` says of a page what happens instead."""

    def __init__(self, failing: dict[int, BaseException | bytes] | None = None) -> None:
        super().__init__()
        self.failing = failing or {}
        self.asked = list[int]()
        self.sure = 0.99

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        page = request.page
        self.asked.append(page)
        failure = self.failing.get(page)
        if isinstance(failure, BaseException):
            raise failure
        if failure is not None:
            return failure
        read = OcrPage(10, 10, (OcrLine(f"Page {page}.", self.sure, CORNERS),))
        return b'{"ok":true}\n' + orjson.dumps(read.to_json())


def draft(pages: int, *images: FoundImage, text: bool = False) -> DocumentDraft:
    cuts = (Cut(0, 0, 5, 1, 1, Modality.TEXT),) if text else ()
    unread = tuple(range(1, pages + 1))
    return DocumentDraft("t", "Text.", "en", (), cuts, images=images, unread_pages=unread)


async def read(
    hosts: FakeHosts,
    made: DocumentDraft,
    store: FakePages | None = None,
    *,
    again: bool = False,
    progress: list[tuple[int, int]] | None = None,
    **settings: int,
) -> Recognised:
    values = Settings(_env_file=None, ocr=OcrSettings(**settings))
    reader = OcrReader(store or FakePages(), values, hosts)
    told = progress if progress is not None else []

    def note(done: int, total: int) -> None:
        told.append((done, total))

    return await reader.read(SCOPE, DOCUMENT, b"%PDF-", made, note, again=again)


def error(code: str, message: str = "What is wrong.") -> bytes:
    return orjson.dumps({"code": code, "message": message, "next_step": "Install `ocr`."})


async def test_each_page_is_read_and_told_of() -> None:
    progress = list[tuple[int, int]]()
    found = await read(FakeHosts(), draft(3), progress=progress)
    assert sorted(found.pages) == ["1", "2", "3"]
    assert progress == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert not found.warnings


async def test_what_was_read_is_not_read_again() -> None:
    pages, hosts = FakePages(), FakeHosts()
    first = await read(hosts, draft(2), pages)
    progress = list[tuple[int, int]]()
    assert await read(hosts, draft(3), pages, progress=progress) != first
    assert hosts.asked == [1, 2, 3]
    assert progress == [(2, 3), (3, 3)]


async def test_a_page_that_fails_costs_no_other() -> None:
    late, lost = HostEnded(128 + 24), HostEnded(128 + 11)
    hosts = FakeHosts({1: TimeoutError(), 2: late, 3: lost, 4: error("file_broken")})
    found = await read(hosts, draft(5))
    assert sorted(found.pages) == ["5"]
    words = [str(warning) for warning in found.warnings]
    assert words[0].startswith("OCR could not read 2 pages (1–2): It took more than 60 s of CPU.")
    assert words[1].startswith("OCR could not read 1 page (3): OCR ran out of memory")
    assert words[2].startswith("OCR could not read 1 page (4): What is wrong.")
    assert found.warnings[2].in_language("zh").startswith("OCR 未能识别1 页（4）：")


@pytest.mark.parametrize(("again", "asked"), [(True, [1]), (False, [1, 1])])
async def test_a_resumed_job_leaves_what_failed(again: bool, asked: list[int]) -> None:
    pages, hosts = FakePages(), FakeHosts({1: TimeoutError()})
    await read(hosts, draft(1), pages)
    hosts.failing.clear()
    found = await read(hosts, draft(1), pages, again=again)
    assert hosts.asked == asked
    assert bool(found.pages) is not again


async def test_pages_over_the_limit_are_named() -> None:
    found = await read(FakeHosts(), draft(5), pages=3)
    assert sorted(found.pages) == ["1", "2", "3"]
    [warning] = found.warnings
    assert "OCR has not read 2 pages (4–5): the limit is 3 pages per document." in str(warning)


async def test_pictures_are_read_unless_their_words_are_known() -> None:
    images = [FoundImage(f"{n:064}", b"jpeg", "", is_read=n == 1) for n in range(4)]
    found = await read(FakeHosts(), draft(0, *images), images=2)
    assert sorted(found.pages) == [f"{0:064}", f"{2:064}"]


async def test_what_is_not_sure_is_said() -> None:
    hosts = FakeHosts()
    hosts.sure = 0.6
    [warning] = (await read(hosts, draft(2))).warnings
    assert str(warning).startswith("OCR is not sure of what it read on 2 pages (1–2).")


async def test_models_that_are_missing_refuse_a_scan_and_name_the_extra() -> None:
    hosts = FakeHosts(
        {1: error("model_unavailable", "The models of OCR (extra `ocr`) are broken.")}
    )
    with pytest.raises(FileEmpty) as caught:
        await read(hosts, draft(1))
    assert "extra `ocr`" in caught.value.message
    assert caught.value.next_step == "Install `ocr`."


async def test_models_that_are_missing_leave_the_text_of_a_document() -> None:
    hosts = FakeHosts(
        {page: error("model_unavailable", "No models (extra `ocr`).") for page in (1, 2)}
    )
    found = await read(hosts, draft(2, text=True))
    assert not found.pages
    [warning] = found.warnings
    assert str(warning).startswith("OCR could not read 2 pages (1–2): No models (extra `ocr`).")
