"""Limits of what a file may cost, and checks before it is parsed."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self
from xml.parsers import expat

from sextant.domain.errors import FileBroken, FileEmpty, FileEncrypted, FileTooLarge, FileUnsafe
from sextant.ingestion.parsing.detect import CONTAINERS, OFFICE, FileType

if TYPE_CHECKING:
    from sextant.domain.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """`settings.limits` and `settings.ingestion` as far as parsing needs them.

    A parser process does not import `sextant.domain.settings`: pydantic-settings alone takes 0.25 s.
    """

    file_bytes: int = 50_000_000
    pdf_pages: int = 2000
    page_edge: int = 1600
    zip_entries: int = 2000
    zip_inflated_bytes: int = 100_000_000
    zip_part_bytes: int = 20_000_000
    zip_ratio: int = 200
    table_cells: int = 100_000
    cpu_seconds: int = 60
    wall_seconds: float = 120
    memory_bytes: int = 1_000_000_000
    chunk_tokens: int = 320
    images: int = 0  # looked at, of one document; 0: images are passed over
    describes: bool = True  # a vision model says what images show
    reads: bool = False  # OCR reads pages without text, and the words in images
    attachments: int = 50  # of one e-mail, which become documents of their own
    image_bytes: int = 10_000_000
    image_pixels: int = 40_000_000
    image_edge: int = 1536
    smallest_edge: int = 64
    captions: Mapping[str, str] = field(default_factory=dict[str, str])  # by sha256 of the image
    # What OCR read (`sextant.ingestion.parsing.recognised.OcrPage`), by number of the page or sha256 of the image.
    recognised: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )

    @classmethod
    def of(cls, settings: Settings, *, describes: bool = False, reads: bool = False) -> Self:
        """Return the limits that `settings` asks for.

        Args:
            settings: of the installation.
            describes: whether a vision model says what images show.
            reads: whether OCR reads scanned pages, and the words in images.
        """
        limits, multimodal, ocr = settings.limits, settings.multimodal, settings.ocr
        files = limits.model_dump(include={*cls.__dataclass_fields__})  # those of the same names
        return cls(
            **files,
            cpu_seconds=limits.parse_cpu_seconds,
            wall_seconds=limits.parse_wall_seconds,
            memory_bytes=limits.parse_memory_bytes,
            chunk_tokens=settings.ingestion.chunk_tokens,
            images=max(multimodal.document_images * describes, ocr.images * reads),
            describes=describes,
            reads=reads,
            attachments=settings.ingestion.attachments,
            image_bytes=multimodal.image_bytes,
            image_pixels=multimodal.image_pixels,
            image_edge=multimodal.image_edge,
        )


class CellBudget:
    """Counts the cells of one table or sheet while it is read, so that a huge one stops early."""

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.table_cells
        self._used = 0

    def spend(self, cells: int) -> None:
        """Count `cells` more; raises `FileUnsafe` past the limit."""
        self._used += cells
        if self._used > self._limit:
            raise FileUnsafe(
                f"A table has more than {self._limit:,} cells.",
                next_step="Split the table, or raise SEXTANT_LIMITS__TABLE_CELLS.",
            )


_PIECE = 64 * 1024  # bytes inflated at a time
_ENCRYPTED_FLAG = 0x1  # bit 0 of an entry's flags (APPNOTE.TXT, 4.4.4)
_XML_PARTS = (".xml", ".rels", ".vml")
_ARCHIVES = (
    ".zip", ".jar", ".7z", ".rar", ".gz", ".tgz", ".bz2", ".xz", ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm",
)  # fmt: skip
# Office puts the data behind charts and embedded objects here; no parser of ours opens them.
_EMBEDDED = ("word/embeddings/", "ppt/embeddings/", "xl/embeddings/")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
"""What reading an entry of a container raises where its bytes are damaged."""
_UNREADABLE = {
    expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING],
    expat.errors.codes[expat.errors.XML_ERROR_INCORRECT_ENCODING],
}


def check_size(content: bytes, filename: str, limits: Limits) -> None:
    """Refuse an empty or over-long file, before it is stored or sent anywhere.

    Raises:
        FileEmpty: it holds nothing but white space and NUL.
        FileTooLarge: it has more bytes than the limit.
    """
    if not content.strip(b"\x00\t\n\r\f "):
        raise FileEmpty(f"{filename} is empty.", next_step="Check that the file was saved.")
    if len(content) > limits.file_bytes:
        raise FileTooLarge(
            f"{filename} has {len(content):,} bytes; the limit is {limits.file_bytes:,}.",
            next_step="Split the file, or raise SEXTANT_LIMITS__FILE_BYTES.",
        )


def check_container(content: bytes, file_type: FileType, limits: Limits) -> None:
    """Refuse a zip container (Office, OpenDocument, EPUB) that would exhaust its parser.

    Raises:
        FileUnsafe: too many entries, too much inflated data, a nested archive, or XML entities.
        FileEncrypted: an entry needs a password.
        FileBroken: the container's directory cannot be read.
    """
    if file_type not in CONTAINERS or not content.startswith(
        b"PK"
    ):  # OpenDocument may be one file of XML
        return
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            _check_archive(archive, len(content), limits, is_office=file_type in OFFICE)
    except DAMAGED as error:
        raise FileBroken(
            f"The file's container is damaged ({error}).",
            next_step="Open it in its program, save it again and retry.",
        ) from error


def _check_archive(archive: zipfile.ZipFile, size: int, limits: Limits, *, is_office: bool) -> None:
    entries = archive.infolist()
    if len(entries) > limits.zip_entries:
        raise _unsafe(f"holds {len(entries):,} entries", limits.zip_entries, "ZIP_ENTRIES")
    # A blank picture inflates far, and harms nothing while it is no larger than a part may be.
    far = max(size * limits.zip_ratio, limits.zip_part_bytes)
    allowed = min(limits.zip_inflated_bytes, far)
    inflated = 0
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise FileEncrypted(
                "The file is protected by a password.",
                next_step="Remove the password in its program and try again.",
            )
        name = entry.filename.lower()
        if name.endswith(_ARCHIVES) and not name.startswith(_EMBEDDED):
            raise FileUnsafe(
                f"The file holds another archive ({entry.filename}).",
                next_step="Take the inner file out and ingest it by itself.",
            )
        inflated += _inflate(archive, entry, allowed - inflated, limits, is_office=is_office)


def _inflate(
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    budget: int,
    limits: Limits,
    *,
    is_office: bool,
) -> int:
    """Inflate one entry piece by piece and return its true size, stopping past any limit."""
    is_xml = entry.filename.lower().endswith(_XML_PARTS)
    size = 0
    prolog = _Prolog(entry.filename, is_office=is_office) if is_xml else None
    # What is damaged costs that entry alone; its parser finds it missing.
    with suppress(*DAMAGED), archive.open(entry) as part:
        while piece := part.read(_PIECE):
            if prolog is not None and not prolog.read(piece):
                prolog = None
            size += len(piece)
            if size > budget:
                raise _unsafe("inflates too far", limits.zip_inflated_bytes, "ZIP_INFLATED_BYTES")
            if is_xml and size > limits.zip_part_bytes:
                raise _unsafe("has a part too large", limits.zip_part_bytes, "ZIP_PART_BYTES")
    return size


class _Prolog:
    """What stands before the first element of an XML part, read as the parsers read it, in any encoding.

    Entities can be declared nowhere else (XML 1.0, 2.8). Office never declares even a document type; other programs
    name one, and declare no entities in it.
    """

    def __init__(self, name: str, *, is_office: bool) -> None:
        self._name = name
        self._over = False
        self._parser = expat.ParserCreate()
        if is_office:
            self._parser.StartDoctypeDeclHandler = self._refuse
        else:
            self._parser.EntityDeclHandler = self._refuse
        self._parser.StartElementHandler = self._end

    def read(self, piece: bytes) -> bool:
        """Read on; return False once nothing can be declared any more.

        Raises:
            FileUnsafe: a document type is declared, or the encoding is one that only hides it.
        """
        try:
            self._parser.Parse(piece, False)  # noqa: FBT003 - the only way that it takes it
        except expat.ExpatError as error:
            if error.code not in _UNREADABLE:
                return False  # no XML from here on, as its parser will say
            raise self._unreadable() from error
        except (ValueError, LookupError) as error:  # of Python's codecs
            raise self._unreadable() from error
        return not self._over

    def _unreadable(self) -> FileUnsafe:
        return FileUnsafe(
            f"{self._name} is XML in an encoding that no document uses.",
            next_step="Open the file in its program, save it again and retry.",
        )

    def _refuse(self, *_: object) -> None:
        raise FileUnsafe(f"{self._name} declares XML entities, which no document needs.")

    def _end(self, *_: object) -> None:
        self._over = True


def _unsafe(what: str, limit: int, setting: str) -> FileUnsafe:
    return FileUnsafe(
        f"The file's container {what} (limit {limit:,}).",
        next_step=f"Split the file, or raise SEXTANT_LIMITS__{setting} if you trust it.",
    )
