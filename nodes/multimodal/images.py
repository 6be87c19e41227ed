"""An image as a caller names it: its bytes, from a data URI, an upload, or an allowed folder."""

from __future__ import annotations

import asyncio
import binascii
import os
import re
import stat
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

from sextant.domain.errors import InputError
from sextant.domain.scope import Scope
from sextant.domain.settings import MultimodalSettings
from sextant.models.chat.pictures import EncodedPicture, PictureLimits, read_picture
from sextant.nodes.multimodal.parts import AttachmentPart
from sextant.stores.documents.document_reader import document_id_of

if TYPE_CHECKING:
    from sextant.stores.documents.document_reader import DocumentReader

_WAYS = ("data", "upload_id", "img_path", "url")
_DATA_URI = re.compile(r"data:[\w.+/-]{0,60}(?:;[\w=.+-]{1,60}){0,4},", re.IGNORECASE)
_ADDRESS = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?[\\/]{2}|\s*[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_GIVE = "Give a data URI in `data`, the id of an uploaded image in `upload_id`, or upload it first."


async def load_picture(
    part: AttachmentPart,
    scope: Scope,
    documents: DocumentReader | None,
    settings: MultimodalSettings,
    limits: PictureLimits,
) -> EncodedPicture:
    """Return the image that a part names, checked and encoded anew; nothing is ever fetched.

    Raises:
        OptionInvalid: it names none, an address, or a file outside of the allowed folder.
        FileRejected: it is too large, damaged, unsafe or no image; the field is named.
        DocumentNotFound: this user has no such upload.
    """
    way = next((name for name in _WAYS if part.values.get(name)), None)
    if way is None:
        raise part.wrong("", "It names no image.", _GIVE)
    value = part.values[way]
    try:
        if isinstance(value, bytes):
            content = value
        elif not isinstance(value, str):
            raise part.wrong(way, "It is not text.", _GIVE)
        elif match := _DATA_URI.match(value):
            content = _decode_image(part, way, value, match.end(), limits)
        elif way == "upload_id":
            content = await _load_upload(part, value, scope, documents)
        elif _ADDRESS.match(value) or way == "url":
            raise part.wrong(way, "Images are not fetched from addresses.", _GIVE)
        elif way == "data":
            raise part.wrong(
                way, "It is not a data URI.", 'Begin it with "data:image/png;base64,".'
            )
        else:
            content = await asyncio.to_thread(_from_folder, part, value, settings, limits)
        return await asyncio.to_thread(read_picture, content, limits)
    except InputError as error:
        if (error.field or "").startswith(part.field):
            raise
        raise _at(part, way, error) from error


def _at(part: AttachmentPart, way: str, error: InputError) -> InputError:
    # A file of the caller's own was read before (`sextant.nodes.multimodal.local_files`): the path is what they named.
    named = "img_path" if way == "data" and part.values.get("img_path") else way
    field = part.field_of(named)
    return type(error)(f"{field}: {error.message}", next_step=error.next_step, field=field)


def _decode_image(
    part: AttachmentPart, way: str, uri: str, start: int, limits: PictureLimits
) -> bytes:
    if not uri[:start].lower().endswith(";base64,"):
        raise part.wrong(way, "It is not in base64.", 'Begin it with "data:image/png;base64,".')
    if len(uri) - start > limits.max_bytes * 4 // 3 + 4:
        # Refused before it is decoded; the check of the bytes says the limit.
        return bytes(limits.max_bytes + 1)
    try:
        return b64decode(uri[start:], validate=True)
    except (binascii.Error, ValueError):
        raise part.wrong(way, "Its base64 is damaged.", "Encode the file again.") from None


async def _load_upload(
    part: AttachmentPart, value: str, scope: Scope, documents: DocumentReader | None
) -> bytes:
    if documents is None:
        raise part.wrong("upload_id", "There are no uploads here.", "Give a data URI in `data`.")
    return (await documents.read_source(scope, document_id_of(value))).content


def _from_folder(
    part: AttachmentPart, value: str, settings: MultimodalSettings, limits: PictureLimits
) -> bytes:
    if settings.image_dir is None:
        raise part.wrong("img_path", "Files of the server cannot be named.", _GIVE)
    try:
        return read_inside(settings.image_dir, value, limits.max_bytes)
    except OSError:
        # The same sentence for a file that is missing and one that is not to be read.
        raise part.wrong(
            "img_path", "There is no such image in the folder for images.", "Check the path."
        ) from None


def read_inside(folder: Path, path: str, most: int) -> bytes:
    """Read a regular file inside of `folder`, at most `most` + 1 bytes; blocks.

    The way there is opened step by step without following links, so that what was checked is what is
    read (CWE-22, CWE-59, CWE-367).

    Raises:
        OSError: there is no such file, it is no regular one, or the way leads out or over a link.
    """
    steps = _inside(folder, path)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in steps[:-1]:
            deeper = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
            os.close(directory)
            directory = deeper
        file = os.open(steps[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    finally:
        os.close(directory)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise FileNotFoundError(f"No image of the folder: {path!r}")
    with os.fdopen(file, "rb") as opened:
        return opened.read(most + 1)


def _inside(folder: Path, path: str) -> tuple[str, ...]:
    """Return the names on the way from `folder` to `path`, which may be given in full."""
    given = Path(path)
    steps = given.parts
    if given.is_absolute():
        root = folder.parts
        if steps[: len(root)] != root:
            raise FileNotFoundError(f"No image of the folder: {path!r}")
        steps = steps[len(root) :]
    if not steps or "\0" in path or any(step in {"..", "."} for step in steps):
        raise FileNotFoundError(f"No image of the folder: {path!r}")
    return steps
