"""Uploads, a form with files or a text as JSON, and the progress of documents for clients that watch them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from sextant.domain.concurrency import Shares
from sextant.domain.documents import LONGEST_FILENAME, printable_name
from sextant.domain.errors import (
    DocumentNotFound,
    FileTooLarge,
    OptionInvalid,
    SextantError,
    Wording,
)
from sextant.domain.settings import Settings
from sextant.facade.library import Library
from sextant.ingestion.parsing.detect import detect, media_type, type_of_name
from sextant.ingestion.parsing.limits import Limits, check_size
from sextant.server.connections import content_type_of
from sextant.server.schemas.documents import TextUpload, UploadOptions
from sextant.server.schemas.wire import Wire
from sextant.stores.documents.registration import Upload
from sextant.stores.queue import UploadStatus
from sextant.text.characters import clean_text

_log = logging.getLogger(__name__)

_LOOK_SECONDS = (
    1.0  # between two looks at a document; the contract is an event at least every two seconds
)
_INSTEAD = "Close some streams, or ask `GET /documents/{documentId}` now and then."


def watch_shares() -> Shares:
    """Return the limits of clients that watch documents."""
    return Shares(
        100,
        Wording("You watch too many documents at a time.", _INSTEAD),
        total=1000,
        all_taken=Wording("Too many documents are watched at a time.", _INSTEAD),
    )


async def watch(library: Library, first: UploadStatus) -> AsyncIterator[UploadStatus]:
    """Yield the status of a document, beginning with `first`, until its ingestion has ended.

    Raises:
        DocumentNotFound: the document was deleted.
    """
    status = first
    yield status
    while not status.is_settled:
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            status = await library.status(status.document_id)
        except DocumentNotFound:
            raise
        except SextantError as error:  # the next look may succeed
            _log.warning("the progress of a document cannot be reported: %s", error)
        else:
            yield status


MOST_FILES = 20  # of one request
_IDLE_SECONDS = 30.0  # without a byte of the body, before the client gets 408

W = TypeVar("W", bound=Wire)


@dataclass(frozen=True, slots=True)
class Received:
    """An upload: its files, and the errors of refused ones by index."""

    graph_id: str
    uploads: list[Upload]
    refused: dict[int, SextantError]


class Uploads:
    """Reads the uploads of all users.

    A form is on disk until it is complete; then a few at a time are in memory and stored.

    Attributes:
        shares: the limits of uploads and imports.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.shares = Shares(
            16,
            Wording("You have too many uploads under way.", "Wait for some to end."),
            total=64,
            all_taken=Wording("Too many uploads are under way.", "Try again in a moment."),
        )
        self._in_memory = asyncio.Semaphore(3)  # of 50 MB each

    @asynccontextmanager
    async def receive(self, request: Request, user_id: str) -> AsyncIterator[Received]:
        """Read an upload, whose size `sextant.server.edge` has checked.

        Raises:
            HTTPException: 415, neither a form nor JSON; 400, a broken form; 408, too slow.
            RequestValidationError: a field is missing, unknown or out of its range.
            OptionInvalid: there is no file.
            FileTooLarge: a text so long that it should be sent as a file.
            Overloaded, Limited: too many uploads are under way.
        """
        with self.shares.slot(user_id):
            form = await self._read(request)
            try:
                async with self._in_memory:
                    read = _of_form(form) if isinstance(form, FormData) else _of_text(form)
                    graph_id, uploads = await read
                    yield await asyncio.to_thread(
                        _inspect_upload, graph_id, uploads, self._settings
                    )
            finally:
                if isinstance(form, FormData):
                    await form.close()

    async def _read(self, request: Request) -> FormData | bytes:
        kind = content_type_of(request)
        try:
            async with asyncio.timeout(600.0):
                if kind == "multipart/form-data":
                    return await _read_form(request)
                if kind == "application/json":
                    return await _read_text(request, self._settings.http.body_bytes)
        except TimeoutError:
            headers = {"Connection": "close"}
            raise HTTPException(408, "The upload takes too long.", headers) from None
        raise HTTPException(415, "An upload is multipart/form-data, or a text as application/json.")


class _WholeForm(MultiPartParser):
    """Starlette's parser, which silently drops the last part of an incomplete form; this one notes the end."""

    is_whole = False

    def on_end(self) -> None:
        self.is_whole = True


async def _read_form(request: Request) -> FormData:
    async with aclosing(_parts(request)) as parts:
        parser = _WholeForm(
            request.headers,
            parts,
            max_files=MOST_FILES,
            max_fields=10,
            max_part_size=100_000,
        )
        try:
            form = await parser.parse()
        except MultiPartException as error:
            raise HTTPException(400, f"The form is broken: {error.message}") from None
    if not parser.is_whole:
        await form.close()
        raise HTTPException(400, "The form is broken: it breaks off.")
    return form


async def _read_text(request: Request, most: int) -> bytes:
    body = bytearray()
    async with aclosing(_parts(request)) as parts:
        async for part in parts:
            body += part
            if len(body) > most:
                raise FileTooLarge(
                    f"A text has at most {most:,} bytes.", next_step="Send it as a file of a form."
                )
    return bytes(body)


async def _of_form(form: FormData) -> tuple[str, list[Upload]]:
    files = [value for _, value in form.multi_items() if isinstance(value, UploadFile)]
    fields: dict[str, Any] = {
        name: value for name, value in form.multi_items() if isinstance(value, str)
    }
    if "metadata" in fields:
        fields["metadata"] = _json(fields["metadata"].encode(), "metadata")
    options = _check_upload(UploadOptions, fields)
    if not files:
        raise OptionInvalid(
            "The form has no file.", next_step="Send one as a part with a filename.", field="files"
        )
    if options.external_id and len(files) > 1:
        raise OptionInvalid(
            "One externalId cannot name several files.",
            next_step="Send them one by one, or without it.",
            field="externalId",
        )
    return options.graph_id, [
        _upload(options, filename_of(file.filename), await file.read()) for file in files
    ]


async def _of_text(body: bytes) -> tuple[str, list[Upload]]:
    upload = _check_upload(TextUpload, _json(body, "body"))
    name = filename_of(upload.title)
    if type_of_name(name) is None:
        name = f"{name[: LONGEST_FILENAME - 4]}.txt"
    return upload.graph_id, [_upload(upload, name, clean_text(upload.text).encode())]


def _upload(options: UploadOptions, name: str, content: bytes) -> Upload:
    """Return the file with the options of its upload."""
    return Upload(
        options.external_id or name,
        name,
        media_type(name),
        content,
        options.external_id,
        options.metadata,
        replaces=options.replaces,
    )


def _inspect_upload(graph_id: str, uploads: list[Upload], settings: Settings) -> Received:
    """Check size and format of the files; a worker parses them."""
    limits, refused = Limits.of(settings), dict[int, SextantError]()
    for index, upload in enumerate(uploads):
        try:
            check_size(upload.content, upload.filename, limits)
            detect(upload.content, upload.filename)
        except SextantError as error:
            refused[index] = error
    return Received(graph_id, uploads, refused)


def filename_of(sent: str | None) -> str:
    """Return a client's file name without folders; `unnamed` if there is none."""
    return printable_name(PurePosixPath((sent or "").replace("\\", "/")).name) or "unnamed"


async def _parts(request: Request) -> AsyncGenerator[bytes]:
    """Yield the parts of the body; raise TimeoutError if none comes."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(_IDLE_SECONDS):
                part = await anext(stream)
        except StopAsyncIteration:
            return
        yield part


def _json(text: bytes, field: str) -> Any:  # noqa: ANN401 - whatever was sent
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise OptionInvalid(f"{field} is not JSON.", field=field) from None


def _check_upload(model: type[W], fields: object) -> W:
    """Return the validated fields; raise errors as FastAPI does."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        raise RequestValidationError([{**e, "loc": ("body", *e["loc"])} for e in errors]) from None
