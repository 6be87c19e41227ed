"""Check `multimodal_content`, and read the files and images that it names."""

from __future__ import annotations

import asyncio
import binascii
import os
import re
import stat
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sextant.domain.errors import InputError, OptionInvalid
from sextant.domain.questions import AttachmentKind
from sextant.domain.scope import Scope
from sextant.domain.settings import MultimodalSettings, Settings
from sextant.ingestion.parsing.encodings import decode
from sextant.models.chat.pictures import EncodedPicture, PictureLimits, read_picture
from sextant.stores.documents.document_reader import document_id_of
from sextant.text.characters import clean_text

if TYPE_CHECKING:
    from sextant.stores.documents.document_reader import DocumentReader

_PATHS = ("img_path", "imgPath", "image_path")


async def with_local_images(
    content: Sequence[Mapping[str, Any]], settings: Settings
) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a question with the contents of the files in `img_path`.

    With `multimodal.image_dir` set, paths are relative to that folder and are read later. Invalid parts stay as they
    are; the workflow reports them.

    Raises:
        OptionInvalid: a file cannot be read.
    """
    if settings.multimodal.image_dir is not None or isinstance(content, str | Mapping):
        return content
    return await asyncio.to_thread(
        lambda: [
            _with_image(part, number, settings) if isinstance(part, Mapping) else part
            for number, part in enumerate(content)
        ]
    )


def read_attachments(
    images: Sequence[Path], tables: Sequence[Path], settings: Settings
) -> list[dict[str, Any]]:
    """Return files of the command line as parts of a question; blocks.

    Raises:
        OptionInvalid: a file cannot be read.
        FileTypeUnknown: the file of a table is not text.
    """
    shown: list[dict[str, Any]] = [
        _with_image({"type": "image", "img_path": str(path)}, number, settings)
        for number, path in enumerate(images)
    ]
    most = settings.multimodal.table_chars * 4  # bytes of a character in UTF-8
    return shown + [
        {
            "type": "table",
            "table_data": decode(_read(path, most, "table")).text,
            "table_caption": path.stem,
        }
        for path in tables
    ]


def _with_image(part: Mapping[str, Any], number: int, settings: Settings) -> dict[str, Any]:
    name = next((name for name in _PATHS if isinstance(part.get(name), str | Path)), None)
    if name is None or part.get("data") or "://" in str(part[name]):
        return dict(part)
    path = str(part[name])
    if path.startswith("data:"):
        return dict(part)
    field = f"multimodal_content[{number}].{name}"
    content = _read(Path(path), settings.multimodal.image_bytes, field)
    encoded = b64encode(content).decode("ascii")
    data = f"data:application/octet-stream;base64,{encoded}"
    return {**part, name: path, "data": data}


def _read(path: Path, most: int, field: str) -> bytes:
    """Read at most `most` + 1 bytes; the additional one shows that the file is too large."""
    try:
        with path.expanduser().open("rb") as file:
            return file.read(most + 1)
    except OSError as error:
        raise OptionInvalid(
            f"{field}: {path} cannot be read ({error.strerror}).",
            next_step="Check the path.",
            field=field,
        ) from error


FIELD = "multimodal_content"
_KINDS = " or ".join(f'"{kind.value}"' for kind in AttachmentKind)
# Other names of the fields: in camelCase, and those of RAG-Anything.
_ALIASES = {
    "imgPath": "img_path",
    "image_path": "img_path",
    "uploadId": "upload_id",
    "imgCaption": "caption",
    "img_caption": "caption",
    "image_caption": "caption",
    "imageCaption": "caption",
    "tableData": "table_data",
    "table_body": "table_data",
    "tableCaption": "caption",
    "table_caption": "caption",
    "image_url.url": "url",
}
_CAPTION_CHARS = 500


@dataclass(frozen=True, slots=True)
class AttachmentPart:
    """An image or table of a question.

    `field` is its name in errors; `sent` maps the names of values to those that the caller used.
    """

    kind: AttachmentKind
    label: str
    field: str
    caption: str
    values: Mapping[str, Any]
    sent: Mapping[str, str]

    def field_of(self, name: str) -> str:
        """Return the name of one of its values in errors, as the caller wrote it."""
        plain, bracket, rest = name.partition("[")
        return f"{self.field}.{self.sent.get(plain, plain)}{bracket}{rest}"

    def wrong(self, name: str, message: str, next_step: str) -> OptionInvalid:
        """Return the error for one of its values."""
        field = self.field_of(name) if name else self.field
        return OptionInvalid(f"{field}: {message}", next_step=next_step, field=field)


def read_parts(content: object, limits: MultimodalSettings) -> list[AttachmentPart]:
    """Return the parts of `multimodal_content`; images are labelled I1, I2 …, tables T1, T2 ….

    Raises:
        OptionInvalid: a part has an unknown type, or there are too many.
    """
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        raise OptionInvalid(
            f"{FIELD} is not a list.",
            next_step='Give it as [{"type": "image", "img_path": "…"}].',
            field=FIELD,
        )
    parts: list[AttachmentPart] = []
    for index, given in enumerate(map(_as_openai, content)):
        kind = _kind(given, f"{FIELD}[{index}]")
        number = sum(part.kind is kind for part in parts) + 1
        label = f"{'I' if kind is AttachmentKind.IMAGE else 'T'}{number}"
        most = limits.images if kind is AttachmentKind.IMAGE else limits.tables
        if number > most:
            raise OptionInvalid(
                f"{FIELD} has more than {most} {kind.value}s.",
                next_step="Ask about fewer at a time, or ingest them as documents.",
                field=FIELD,
            )
        sent = {_ALIASES.get(name, name): name for name in given}
        values = {name: given[key] for name, key in sent.items()}
        caption = _caption(values.get("caption"))
        parts.append(AttachmentPart(kind, label, f"{FIELD}[{index}]", caption, values, sent))
    return parts


def _as_openai(given: object) -> Any:  # noqa: ANN401 - whatever was sent
    """Return an image as clients of OpenAI's API send it, as ours do."""
    if not isinstance(given, Mapping) or given.get("type") != "image_url":
        return given
    shown = given.get("image_url")
    return {
        "type": "image",
        "image_url.url": shown.get("url") if isinstance(shown, Mapping) else shown,
    }


def _kind(given: object, field: str) -> AttachmentKind:
    if not isinstance(given, Mapping):
        raise OptionInvalid(
            f"{field} is not an object.",
            next_step=f"Give an object with `type` {_KINDS}.",
            field=field,
        )
    named = given.get("type")
    try:
        return AttachmentKind(str(named))
    except ValueError:
        raise OptionInvalid(
            f"{field}.type is {str(named)[:40]!r}; it must be {_KINDS}.",
            next_step="Put formulas and other text into the question itself.",
            field=f"{field}.type",
        ) from None


def _caption(given: object) -> str:
    lines = given if isinstance(given, list) else [given]
    text = " ".join(str(line) for line in lines if line is not None)
    return " ".join(clean_text(text).split())[:_CAPTION_CHARS]


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
    """Return the image that a part names, checked and re-encoded; addresses are never fetched.

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
        # `with_local_images` has read a file into `data`: the caller knows its path.
        named = "img_path" if way == "data" and part.values.get("img_path") else way
        field = part.field_of(named)
        message = f"{field}: {error.message}"
        raise type(error)(message, next_step=error.next_step, field=field) from error


def _decode_image(
    part: AttachmentPart, way: str, uri: str, start: int, limits: PictureLimits
) -> bytes:
    if not uri[:start].lower().endswith(";base64,"):
        raise part.wrong(way, "It is not in base64.", 'Begin it with "data:image/png;base64,".')
    if len(uri) - start > limits.max_bytes * 4 // 3 + 4:
        # Not decoded; the check of the size then reports the limit.
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
        # A missing and an unreadable file get the same message.
        raise part.wrong(
            "img_path", "There is no such image in the folder for images.", "Check the path."
        ) from None


def read_inside(folder: Path, path: str, most: int) -> bytes:
    """Read a regular file inside `folder`, at most `most` + 1 bytes; blocks.

    Directories are opened one by one without following links, so that the checked file is the one that is read
    (CWE-22, CWE-59, CWE-367).

    Raises:
        OSError: there is no such regular file, or the path leads out of the folder or over a link.
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
    """Return the components of `path` relative to `folder`; `path` may be absolute."""
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
