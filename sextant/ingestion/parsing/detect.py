"""Detect the format of a file: by its content, or by its name where the content is ambiguous."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from contextlib import suppress
from enum import StrEnum
from io import BytesIO
from pathlib import PurePath

from sextant.domain.errors import FileBroken, FileEncrypted, FileTypeUnknown
from sextant.ingestion.parsing.encodings import decode, is_binary
from sextant.models.chat.pictures import is_picture, is_scan


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
    MSG = "msg"
    MHTML = "mhtml"
    EPUB = "epub"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    IPYNB = "ipynb"
    XML = "xml"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    IMAGE = "image"


_OPEN_XML = "application/vnd.openxmlformats-officedocument"
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument"
# The media type and the suffixes of each.
_FORMATS = {
    FileType.TXT: ("text/plain", "txt text log"),
    FileType.MARKDOWN: ("text/markdown", "md markdown"),
    FileType.HTML: ("text/html", "html htm xhtml"),
    FileType.PDF: ("application/pdf", "pdf"),
    FileType.DOCX: (f"{_OPEN_XML}.wordprocessingml.document", "docx docm dotx dotm"),
    FileType.PPTX: (f"{_OPEN_XML}.presentationml.presentation", "pptx pptm ppsx ppsm potx potm"),
    FileType.XLSX: (f"{_OPEN_XML}.spreadsheetml.sheet", "xlsx xlsm xltx xltm"),
    FileType.CSV: ("text/csv", "csv tsv"),
    FileType.JSON: ("application/json", "json jsonl ndjson"),
    FileType.EML: ("message/rfc822", "eml mbox"),
    FileType.MSG: ("application/vnd.ms-outlook", "msg"),
    FileType.MHTML: ("multipart/related", "mhtml mht"),
    FileType.EPUB: ("application/epub+zip", "epub"),
    FileType.ODT: (f"{_OPEN_DOCUMENT}.text", "odt ott fodt"),
    FileType.ODS: (f"{_OPEN_DOCUMENT}.spreadsheet", "ods ots fods"),
    FileType.ODP: (f"{_OPEN_DOCUMENT}.presentation", "odp otp fodp"),
    FileType.RTF: ("application/rtf", "rtf"),
    FileType.IPYNB: ("application/x-ipynb+json", "ipynb"),
    FileType.XML: ("application/xml", "xml fb2 dbk rss atom"),
    FileType.DOC: ("application/msword", "doc dot"),
    FileType.XLS: ("application/vnd.ms-excel", "xls xlt xlsb"),
    FileType.PPT: ("application/vnd.ms-powerpoint", "ppt pps pot"),
}
EXTENSIONS = {
    f".{suffix}": file_type
    for file_type, (_, suffixes) in _FORMATS.items()
    for suffix in suffixes.split()
}
# Images are ingested when they are named themselves, not with their folder: most hold no text.
_IMAGES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
}
OFFICE = frozenset({FileType.DOCX, FileType.PPTX, FileType.XLSX})
CONTAINERS = OFFICE | {FileType.EPUB, FileType.ODT, FileType.ODS, FileType.ODP}
# Formats that LibreOffice converts first, and the format that it writes.
CONVERTED = {FileType.DOC: FileType.DOCX, FileType.XLS: FileType.XLSX, FileType.PPT: FileType.PPTX}
_WITH_SIGNATURE = CONTAINERS | {FileType.PDF, FileType.MSG, *CONVERTED}

# Each program has its usual folder and names, and a package may have others: Word on the web numbers its main part, some
# have no folders, or write `\\` between them.
_OFFICE_PARTS = {
    FileType.XLS: ("", "workbook", ".bin"),
    FileType.DOCX: ("word/", "document", ".xml"),
    FileType.PPTX: ("ppt/", "presentation", ".xml"),
    FileType.XLSX: ("xl/", "workbook", ".xml"),
}
# What the entry `mimetype` of a zip archive begins with; templates have a suffix.
_PACKAGES = {
    _FORMATS[one][0]: one for one in (FileType.EPUB, FileType.ODT, FileType.ODS, FileType.ODP)
} | {f"{_OPEN_DOCUMENT}.graphics": FileType.ODP}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Streams at the root of an OLE container ([MS-CFB]), and whose they are.
_STREAMS = {
    "encryptedpackage": None,
    "worddocument": FileType.DOC,
    "powerpoint document": FileType.PPT,
    "workbook": FileType.XLS,
    "book": FileType.XLS,
    "__properties_version1.0": FileType.MSG,
}
# Headings that make a text Markdown, whatever its name; a single `#` begins comments as well.
_MARKDOWN_HEADING = re.compile(r"^#{2,6} \S", re.MULTILINE)
_XML_HEAD = r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)?"
_HTML = re.compile(rf"{_XML_HEAD}<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_XML = re.compile(r"\s*<(?:\?xml\s|!DOCTYPE\s|!--|[\w:.-]+[\s/>])")
# A flat OpenDocument file has its media type in its root element.
_FLAT = re.compile(
    r"<office:document\s[^>]*office:mimetype=\"(application/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation|graphics))"
)
ENVELOPE = r"From (?=[^\r\n]*\b\w{3} \w{3} {1,2}\d{1,2} \d\d:\d\d)[^\r\n]*\r?\n"
"""The line before each message of a mailbox, with a day as in "Fri May  1 09:00" (RFC 4155)."""
_HEADER = re.compile(rf"(?:{ENVELOPE})?(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+")
_MAIL_FIELDS = frozenset({"from", "received", "return-path", "message-id", "mime-version"})
SUPPORTED = (
    "Supported are TXT, Markdown, HTML, MHTML, XML, PDF, DOCX, PPTX, XLSX, ODT, ODS, ODP, RTF, EPUB, CSV, JSON, IPYNB, EML, "
    "MSG, with LibreOffice DOC, XLS and PPT, and images under their names."
)


def type_of_name(filename: str) -> FileType | None:
    """Return the format that the file's extension stands for, if it is one of ours."""
    return EXTENSIONS.get(PurePath(filename).suffix.lower())


def media_type(filename: str) -> str:
    """Return the media type by name alone, for the record; parsing goes by content."""
    named = type_of_name(filename)
    image = _IMAGES.get(PurePath(filename).suffix.lower(), "application/octet-stream")
    return _FORMATS[named][0] if named else image


def is_named_as_image(filename: str) -> bool:
    """Return whether a file has the extension of an image, which is read where it is named."""
    return PurePath(filename).suffix.lower() in _IMAGES


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
    if _is_pdf(content, filename):
        return FileType.PDF
    if content.startswith(b"PK\x03\x04"):
        return _container_type(content, filename)
    if content.startswith(OLE):
        return _ole_type(content, filename)
    # The signatures of BMP and GIF are letters, with which a text could begin as well.
    is_image = (is_picture(content) or is_scan(content)) and is_binary(
        content[:4096].decode("latin-1")
    )
    if is_image and is_named_as_image(filename):
        return FileType.IMAGE
    if is_image or content.startswith(b"%!PS"):
        raise _unknown(filename, "an image" if is_image else "a PostScript file")
    begin = b"{\\" if type_of_name(filename) is FileType.RTF else b"{\\rtf"
    if content[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(begin):
        return FileType.RTF
    return _text_type(content, filename)


def _is_pdf(content: bytes, filename: str) -> bool:
    """Return whether the signature stands at the beginning, or behind what some programs write before it.

    A text that only speaks of it is none.
    """
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        return True
    is_named = type_of_name(filename) is FileType.PDF
    signature = b"%PDF" if is_named else b"%PDF-"
    return signature in content[:1024] and (is_named or b"startxref" in content[-2048:])


def _container_type(content: bytes, filename: str) -> FileType:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            names = set(archive.namelist())
            kind = _read_kind(archive)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise FileBroken(
            f"{filename} is a damaged or incomplete Office file.",
            next_step="Open it in its program, save it again and retry.",
        ) from error
    if kind is not None:
        return kind
    paths = [name.replace("\\", "/") for name in names]
    for file_type, parts in _OFFICE_PARTS.items():
        if any(_is_part(path, *parts) for path in paths):
            return file_type
    raise _unknown(filename, "a zip archive that is no document of a kind we read")


def _is_part(path: str, folder: str, name: str, suffix: str) -> bool:
    """Return whether a part of a package stands in a program's folder, or is its main one by its name."""
    last = path.rpartition("/")[2]
    number = last.removeprefix(name).removesuffix(suffix)
    is_main = last == f"{name}{number}{suffix}" and (not number or number.isdigit())
    return is_main or (folder not in {"", path} and path.startswith(folder))


def _read_kind(archive: zipfile.ZipFile) -> FileType | None:
    """Return what the entry `mimetype` says, or the manifest; some EPUBs have neither and only their container."""
    for entry in ("mimetype", "META-INF/manifest.xml"):
        with (
            suppress(KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError),
            archive.open(entry) as part,
        ):
            declared = part.read(2048).decode("ascii", "replace")
            found = (file_type for name, file_type in _PACKAGES.items() if name in declared)
            if (file_type := next(found, None)) is not None:
                return file_type
    return FileType.EPUB if "META-INF/container.xml" in archive.namelist() else None


def _ole_type(content: bytes, filename: str) -> FileType:
    """Return the format of an OLE container (Office before 2007, Outlook) by the streams at its root."""
    from olefile import OleFileIO

    names = list[str]()
    # olefile raises many kinds of errors for damaged containers.
    with (
        suppress(OSError, ValueError, IndexError, TypeError, struct.error),
        OleFileIO(BytesIO(content)) as container,
    ):
        names = [path[0].lower() for path in container.listdir() if len(path) == 1]
    name = next((name for name in _STREAMS if name in names), None)
    if name == "encryptedpackage":  # an Office file with a password ([MS-OFFCRYPTO] 2.3.4)
        raise FileEncrypted(
            f"{filename} is protected by a password.",
            next_step="Remove the password in its program and try again.",
        )
    file_type = _STREAMS[name] if name is not None else None
    if file_type is None:
        raise _unknown(
            filename, "a container of the Office formats before 2007, and no DOC, XLS, PPT or MSG"
        )
    return file_type


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
    if found := _marked_type(text, named):
        return found
    if named in _WITH_SIGNATURE:
        raise _unknown(filename, "plain text")
    if named in _PLAIN_NAMES and len(_MARKDOWN_HEADING.findall(text)) > 1:
        return FileType.MARKDOWN
    return FileType.TXT if named is None or named in _MARKED else named


_PLAIN_NAMES = {None, FileType.TXT}
# Text formats that are detected by their content; the name alone is not enough.
_MARKED = frozenset({FileType.RTF, FileType.IPYNB, FileType.XML, FileType.MHTML})


def _marked_type(text: str, named: FileType | None) -> FileType | None:
    """Return the format of a text with an unmistakable beginning."""
    if flat := _FLAT.search(text[:8192]):
        return _PACKAGES[flat[1]]
    if (text.lstrip().startswith("<?xml") or named is FileType.XML) and _XML.match(text):
        return FileType.XML
    if named in {FileType.IPYNB, FileType.JSON} and text.lstrip().startswith("{"):
        keys = "".join(text.split())
        is_notebook = '"nbformat":' in keys or ('"cells":' in keys and named is FileType.IPYNB)
        return FileType.IPYNB if is_notebook else None
    header = _HEADER.match(text.lstrip("\ufeff\r\n").replace("\r\n", "\n"))
    lines = header[0].lower().split("\n") if header else []
    fields = [line.partition(":") for line in lines]
    marks = sum(name in _MAIL_FIELDS for name, _, _ in fields)
    if not marks:
        return None
    is_saved = any(
        name == "snapshot-content-location"
        or (name == "from" and value.lstrip(' <"').startswith("saved by"))
        for name, _, value in fields
    )
    if named is FileType.MHTML or is_saved:
        return FileType.MHTML
    is_mail = marks > 1 and named in _PLAIN_NAMES
    return FileType.EML if named is FileType.MSG or is_mail else None


def _unknown(filename: str, kind: str) -> FileTypeUnknown:
    suffix = PurePath(filename).suffix
    named = (
        f"named {suffix} but its content is" if suffix else "without extension and its content is"
    )
    return FileTypeUnknown(
        f"{filename} is {named} {kind}.", next_step=f"{SUPPORTED} Save it as one of these."
    )
