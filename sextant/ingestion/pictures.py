"""Describe the images in a document with a vision model; read scanned pages and the words in pictures by OCR."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import signal
from collections import defaultdict
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import psutil

from sextant import prompts
from sextant.domain.concurrency import run_together
from sextant.domain.errors import (
    FileEmpty,
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.host import HostRequest
from sextant.ingestion.parsing.hosts import HostEnded, ParserHosts, body_of
from sextant.ingestion.parsing.images import Captions, FoundImage
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.recognised import OcrPage, Recognised, page_ranges
from sextant.ingestion.progress import OnCount
from sextant.models.chat.pictures import EncodedPicture, PictureLimits, read_picture, size_of
from sextant.stores.documents.document_reader import CaptionStore
from sextant.stores.documents.document_store import OcrPageStore, StoredOcrPage

if TYPE_CHECKING:
    from sextant.models.chat.pictures import VisionModel
    from sextant.stores.postgresql.database import Database

log = logging.getLogger(__name__)


class Captioner:
    """Describe images with a vision model, each image of a knowledge base once.

    Args:
        vision: the model.
        captions: stores the descriptions.
        settings: `multimodal` applies.
    """

    def __init__(self, vision: VisionModel, captions: CaptionStore, settings: Settings) -> None:
        self._vision = vision
        self._captions = captions
        self._at_once = asyncio.Semaphore(settings.shared_concurrency)
        self._limits = PictureLimits(edge=settings.multimodal.image_edge)

    async def describe(
        self,
        scope: Scope,
        made: DocumentDraft,
        *,
        again: bool = False,
    ) -> Captions:
        """Describe the images of one document; a failure is a warning.

        Args:
            scope: the knowledge base.
            made: the parsed document, whose language is that of the descriptions.
            again: whether this is a further attempt; earlier failures are not tried again, so that the document's
                text stays the same as that of the stored chunks.
        """
        model, images, language = self._vision.name, made.images, made.language
        known = await self._captions.known(
            scope, model, language, [image.sha256 for image in images]
        )
        if not again:
            known = {sha256: text for sha256, text in known.items() if text}
        reasons = list[str]()

        async def look(image: FoundImage) -> None:
            try:
                prompt = prompts.PICTURE.messages(
                    language, title=prompts.as_data(made.title), caption=prompts.as_data(image.alt)
                )
                picture = await asyncio.to_thread(self._shrink, image)
                async with self._at_once:
                    description = await self._vision.describe(picture, prompt)
                known[image.sha256] = " ".join(description.text.split())
            except (ModelUnavailable, ModelOutputInvalid) as error:
                log.warning("an image of a document was not described: %s", error)
                known[image.sha256] = ""
                reasons.append(error.message)
            await self._captions.keep(scope, model, language, image.sha256, known[image.sha256])

        async with asyncio.TaskGroup() as group:
            for image in images:
                if image.sha256 not in known:
                    group.create_task(look(image))
        failed = sum(not known[image.sha256] for image in images)
        reason = next(iter(reasons), "as before")
        params = {"failed": failed, "images": len(images), "reason": reason}
        warning = CodedWarning(WarningCode.IMAGES_NOT_DESCRIBED, params)
        texts = {sha256: text for sha256, text in known.items() if text}
        return Captions(texts, (warning,) if failed else ())

    def _shrink(self, image: FoundImage) -> EncodedPicture:
        """Return an image in the size for the model; OCR gets a larger one."""
        width, height = size_of(image.jpeg)
        if max(width, height) <= self._limits.edge:
            return EncodedPicture(image.jpeg, width, height)
        return read_picture(image.jpeg, self._limits)


_PACKAGE = "rapidocr"  # of the extra `ocr`
_OUT_OF_MEMORY = (
    "OCR ran out of memory or crashed on it. Raise SEXTANT_OCR__MEMORY_BYTES if you trust the file."
)


def open_reader(database: Database) -> OcrReader | None:
    """Return the OCR reader; None if the extra is not installed or the settings switch it off."""
    settings = database.settings
    try:
        version = metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    if not settings.ocr.pages:
        return None
    return OcrReader(OcrPageStore(database, f"{_PACKAGE} {version}"), settings)


@dataclass(frozen=True, slots=True)
class _Target:
    """A page of the file, or a picture in it.

    Attributes:
        key: identifies it for the parser.
        page: the page of `content` to read.
        number: the page of the file; 0 for a picture.
    """

    key: str
    sha256: str
    content: bytes
    page: int
    number: int = 0


class OcrReader:
    """Read pages and pictures without text.

    Args:
        pages: stores the results.
        settings: `ocr` and `limits` apply.
        hosts: processes that read pages; by default new ones.
    """

    def __init__(
        self, pages: OcrPageStore, settings: Settings, hosts: ParserHosts | None = None
    ) -> None:
        self._pages = pages
        self._settings = settings.ocr
        self._limits = replace(
            Limits.of(settings),
            memory_bytes=settings.ocr.memory_bytes,
            cpu_seconds=settings.ocr.page_seconds,
        )
        # Their models need much memory, so they end when nothing is left to read.
        self._hosts = hosts or ParserHosts()
        self._slots = asyncio.Semaphore(settings.ocr.concurrency or _usual_concurrency())
        self._documents = 0

    async def read(
        self,
        scope: Scope,
        document_id: UUID,
        content: bytes,
        made: DocumentDraft,
        on_progress: OnCount,
        *,
        again: bool = False,
    ) -> Recognised:
        """Read the pages and pictures of a document that have no text; a failure of one is a warning.

        Args:
            scope: the knowledge base.
            document_id: the document.
            content: its file.
            made: the parsed document.
            on_progress: called with the number of pages and pictures done, and the total.
            again: whether this is a further attempt; earlier failures are not tried again, so that the document's
                text stays the same as that of the stored chunks.

        Raises:
            FileRejected: OCR does not work, and the document has no other text.
        """
        targets = [*self._targets(content, made)]
        files = {target.sha256 for target in targets}
        known = {
            (page.sha256, page.page): page
            for page in await self._pages.known(scope, document_id, files)
            if again or page.error is None
        }
        missing = [one for one in targets if (one.sha256, one.page) not in known]
        done = len(targets) - len(missing)
        on_progress(done, len(targets))

        async def read(target: _Target) -> None:
            nonlocal done
            page = await self._read(target)
            await self._pages.keep(scope, document_id, page)
            known[page.sha256, page.page] = page
            done += 1
            on_progress(done, len(targets))

        try:
            await self._read_all([read(target) for target in missing])
        except ModelUnavailable as error:
            return _without_models(made, error)
        found = [(target, known[target.sha256, target.page]) for target in targets]
        return Recognised(
            {target.key: page.lines for target, page in found if page.lines is not None},
            (*self._over_limit(made), *_failed(found), *self._unsure(found)),
        )

    def _targets(self, content: bytes, made: DocumentDraft) -> Iterator[_Target]:
        sha256 = hashlib.sha256(content).hexdigest()
        for number in made.unread_pages[: self._settings.pages]:
            yield _Target(str(number), sha256, content, number, number)
        unread = [image for image in made.images if not image.is_read]
        for image in unread[: self._settings.images]:
            yield _Target(image.sha256, image.sha256, image.jpeg, 1)

    async def _read_all(self, reading: Sequence[Coroutine[None, None, None]]) -> None:
        """Read pages concurrently; the first error stops the others and is raised."""
        self._documents += 1
        try:
            await run_together(reading)
        finally:
            self._documents -= 1
            if not self._documents:
                self._hosts.close()

    async def _read(self, target: _Target) -> StoredOcrPage:
        """Read a page; a failure is part of the result.

        Raises:
            ModelUnavailable: OCR does not work at all.
        """
        async with self._slots:
            try:
                # 5 s for each second of CPU, since a page may wait for others.
                async with asyncio.timeout(5 * self._settings.page_seconds):
                    answer = await self._hosts.ask(
                        target.content, HostRequest("", self._limits, target.page)
                    )
                lines = orjson.loads(body_of(answer))
            except ModelUnavailable:
                raise
            except TimeoutError:
                return _failure(target, self._out_of_time)
            except HostEnded as ended:
                log.warning("OCR ended with status %s", ended.status)
                is_late = ended.status - 128 in {signal.SIGXCPU, signal.SIGKILL}
                return _failure(target, self._out_of_time if is_late else _OUT_OF_MEMORY)
            except SextantError as error:
                return _failure(target, str(error))
        confidence = OcrPage.from_json(lines).confidence
        return StoredOcrPage(target.sha256, target.page, lines, confidence)

    @property
    def _out_of_time(self) -> str:
        return f"It took more than {self._settings.page_seconds} s of CPU. Raise SEXTANT_OCR__PAGE_SECONDS."

    def _over_limit(self, made: DocumentDraft) -> Iterator[CodedWarning]:
        most = self._settings.pages
        if over := made.unread_pages[most:]:
            things = count(len(over), "page", [page_ranges(over)])
            yield CodedWarning(WarningCode.OCR_OVER_LIMIT, {"things": [things], "most": most})

    def _unsure(self, found: Sequence[_Found]) -> Iterator[CodedWarning]:
        unsure = list[_Target]()
        for target, page in found:
            if page.lines is not None:
                read = OcrPage.from_json(page.lines)
                if read.confidence < self._settings.sure or read.unsure > len(read.lines):
                    unsure.append(target)
        if unsure:
            yield CodedWarning(WarningCode.OCR_UNSURE, {"things": _count(unsure)})


def _usual_concurrency() -> int:
    """Return the number of concurrent pages that cores and free memory allow."""
    free: int = psutil.virtual_memory().available
    # A page usually needs 1 GB at most.
    return max(1, min(os.cpu_count() or 1, free // 1_000_000_000))


_Found = tuple[_Target, StoredOcrPage]


def _failure(target: _Target, reason: str) -> StoredOcrPage:
    return StoredOcrPage(target.sha256, target.page, None, error=reason)


def _failed(found: Sequence[_Found]) -> Iterator[CodedWarning]:
    by_reason = defaultdict[str, list[_Target]](list)
    for target, page in found:
        if page.error is not None:
            by_reason[page.error].append(target)
    for reason, targets in by_reason.items():
        yield CodedWarning(WarningCode.OCR_FAILED, {"things": _count(targets), "reason": reason})


def _count(targets: Sequence[_Target]) -> list[Any]:
    """Return the counts of pages and pictures for a warning."""
    numbers = [target.number for target in targets if target.number]
    pictures = len(targets) - len(numbers)
    pages = [count(len(numbers), "page", [page_ranges(numbers)])] if numbers else []
    return pages + ([count(pictures, "image")] if pictures else [])


def _without_models(made: DocumentDraft, error: ModelUnavailable) -> Recognised:
    """Return a warning that nothing could be read; raise if the document has no other text."""
    if not made.cuts:
        raise FileEmpty(
            f"The file has no text that can be read without OCR. {error.message}",
            next_step=error.next_step,
        ) from error
    things = [count(len(made.unread_pages), "page", [page_ranges(made.unread_pages)])]
    things = (things if made.unread_pages else []) + (
        [count(len(made.images), "image")] if made.images else []
    )
    params = {"things": things, "reason": describe_reason(error)}
    return Recognised(warnings=(CodedWarning(WarningCode.OCR_FAILED, params),))
