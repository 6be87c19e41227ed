"""What format a file has: by its content first, by its name where content leaves it open."""

from __future__ import annotations

import re
import zipfile
from enum import StrEnum
from io import BytesIO
from pathlib import PurePath

from sextant.domain.errors import FileBroken, FileEncrypted, FileTypeUnknown
from sextant.ingestion.parsing.encodings import decode, is_binary
from sextant.models.chat.pictures import is_picture


class FileType(StrEnum):
    """The formats we read; the value names the parser's module."""

    TXT = "txt"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"
    XLSX = "xlsx"
    CSV = "csv"
    JSON = "json"
    EML = "eml"
    IMAGE = "image"


MEDIA_TYPES = {
    FileType.TXT: "text/plain",
    FileType.MARKDOWN: "text/markdown",
    FileType.HTML: "text/html",
    FileType.PDF: "application/pdf",
    FileType.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    FileType.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    FileType.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    FileType.CSV: "text/csv",
    FileType.JSON: "application/json",
    FileType.EML: "message/rfc822",
}
EXTENSIONS = {
    ".txt": FileType.TXT,
    ".text": FileType.TXT,
    ".log": FileType.TXT,
    ".md": FileType.MARKDOWN,
    ".markdown": FileType.MARKDOWN,
    ".html": FileType.HTML,
    ".htm": FileType.HTML,
    ".xhtml": FileType.HTML,
    ".pdf": FileType.PDF,
    ".docx": FileType.DOCX,
    ".pptx": FileType.PPTX,
    ".xlsx": FileType.XLSX,
    ".csv": FileType.CSV,
    ".tsv": FileType.CSV,
    ".json": FileType.JSON,
    ".jsonl": FileType.JSON,
    ".ndjson": FileType.JSON,
    ".eml": FileType.EML,
}
# Images are ingested when they are named, not when a folder is: most are none that words are about.
_IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}
CONTAINERS = frozenset({FileType.DOCX, FileType.PPTX, FileType.XLSX})

# Word on the web numbers its main part; some programs write `\\` between folders.
_MAIN_PARTS = {
    re.compile(r"word[/\\]document\d*\.xml"): FileType.DOCX,
    re.compile(r"ppt[/\\]presentation\d*\.xml"): FileType.PPTX,
    re.compile(r"xl[/\\]workbook\d*\.xml"): FileType.XLSX,
}
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHER_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"RIFF": "a media file",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"{\\rtf": "an RTF document",
    b"%!PS": "a PostScript file",
    b"SQLite format 3": "an SQLite database",
}
# Of text without Markdown's name; a single `#` begins comments as well.
_MARKDOWN_HEADING = re.compile(r"^#{2,6} \S", re.MULTILINE)
_MARKDOWN_HEADINGS = 2
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
SUPPORTED = "Supported are TXT, Markdown, HTML, PDF, DOCX, PPTX, XLSX, CSV, JSON, EML, and images under their names."


def type_of_name(filename: str) -> FileType | None:
    """Return the format that the file's extension stands for, if it is one of ours."""
    return EXTENSIONS.get(PurePath(filename).suffix.lower())


def media_type(filename: str) -> str:
    """Return the media type by name alone, for the record; parsing goes by content."""
    named = type_of_name(filename)
    image = _IMAGES.get(PurePath(filename).suffix.lower(), "application/octet-stream")
    return MEDIA_TYPES[named] if named else image


def detect(content: bytes, filename: str) -> FileType:
    """Return the format to parse a file as.

    A clear signature in the content wins over the name: a PDF called `notes.txt` is a PDF. Text
    has no signature, so the name tells Markdown from CSV, and text called `report.pdf` is refused.
    Notes with headings as Markdown has them (`## Rules`) are Markdown under a name of plain text, too.

    Raises:
        FileTypeUnknown: the content is of another format, or contradicts the name.
        FileBroken: a DOCX, PPTX or XLSX whose container cannot be opened.
        FileEncrypted: an Office file with a password.
    """
    if b"%PDF-" in content[:1024]:
        return FileType.PDF
    if content.startswith(b"PK\x03\x04"):
        return _container_type(content, filename)
    if content.startswith(_OLE):
        raise _ole_error(content, filename)
    if is_picture(content) and PurePath(filename).suffix.lower() in _IMAGES:
        return FileType.IMAGE
    for magic, kind in _OTHER_MAGIC.items():
        if content.startswith(magic) and _is_really(magic, content):
            raise _unknown(filename, kind)
    return _text_type(content, filename)


def _is_really(magic: bytes, content: bytes) -> bool:
    """Return short signatures of letters could begin a text as well: then only if binary data follows."""
    return not magic.isalnum() or is_binary(content[:4096].decode("latin-1"))


def _container_type(content: bytes, filename: str) -> FileType:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise FileBroken(
            f"{filename} is a damaged or incomplete Office file.",
            next_step="Open it in its program, save it again and retry.",
        ) from error
    for part, file_type in _MAIN_PARTS.items():
        if any(map(part.fullmatch, names)):
            return file_type
    raise _unknown(filename, "a zip archive that is no DOCX, PPTX or XLSX")


def _ole_error(content: bytes, filename: str) -> Exception:
    # A password-protected OOXML file is an OLE container with this stream ([MS-OFFCRYPTO] 2.3.4).
    if "EncryptedPackage".encode("utf-16-le") in content:
        return FileEncrypted(
            f"{filename} is protected by a password.",
            next_step="Remove the password in its program and try again.",
        )
    return _unknown(filename, "an Office file of the format before 2007")


def _text_type(content: bytes, filename: str) -> FileType:
    named = type_of_name(filename)
    try:
        text = decode(content[: 64 * 1024]).text
    except FileTypeUnknown:
        raise _unknown(filename, "binary data of no format we know") from None
    if is_binary(text):
        raise _unknown(filename, "binary data of no format we know")
    if _HTML.match(text):
        return FileType.HTML
    if named is FileType.PDF or named in CONTAINERS:
        raise _unknown(filename, "plain text")
    if named in {None, FileType.TXT} and len(_MARKDOWN_HEADING.findall(text)) >= _MARKDOWN_HEADINGS:
        return FileType.MARKDOWN
    return named or FileType.TXT


def _unknown(filename: str, kind: str) -> FileTypeUnknown:
    suffix = PurePath(filename).suffix
    named = (
        f"named {suffix} but its content is" if suffix else "without extension and its content is"
    )
    return FileTypeUnknown(
        f"{filename} is {named} {kind}.", next_step=f"{SUPPORTED} Save it as one of these."
    )
