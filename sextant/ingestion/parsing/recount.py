"""Read the text of a file a second time, independently of its parser and as plainly as possible.

Nothing here knows order, tables or headings, so that text is missed however a parser loses it.
"""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape, unescape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sextant.domain.errors import FileTypeUnknown
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.encodings import charset_of_page, decode
from sextant.ingestion.parsing.limits import DAMAGED

if TYPE_CHECKING:
    from email.message import Message

_WRITTEN = re.compile(
    r"word/(?:document\d*|(?:foot|end)notes|comments|header\d*|footer\d*)\.xml|ppt/(?:slides|notesSlides)/[^/]+\.xml"
)
_DRAWN = re.compile(r"(?:word|ppt|xl)/(?:charts/chart|diagrams/data)[^/]*\.xml")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_STRINGS = re.compile(r"xl/sharedStrings\.xml", re.IGNORECASE)
_ODF_CONTENT = re.compile(r"content\.xml")
# Not the document's text: what is there for older programs, how ideographs are read, comments, what was deleted.
_ASIDES = (
    "{*}Fallback",
    "{*}rPh",
    "{*}annotation",
    "{*}tracked-changes",
    "{*}binary-data",
    "{*}meta",
)
_TAG = re.compile(r"<[^<>]*>")
_XML_ASIDE = re.compile(
    r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[|\]\]>|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>", re.DOTALL
)
_CHAPTER = re.compile(r".*\.(?:xhtml|html?|xml)")
_CONTENTS_PAGE = re.compile(
    r"<nav\b|<ncx\b|<container\b|<encryption\b|<package\b|<(?:\w+:)?rights\b"
)
# What Markdown says to a program: addresses with their titles, front matter, classes of boxes and headings.
_LINK_TARGET = re.compile(
    r"\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)|\{[^{}]*\})"
    r"|^ {0,3}\[[^\]]+\]: [^\n]*$|^---$.{0,2000}?^---$|^:{3,}[^\n]*$|\{[#.][^{}]*\}",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_UNSEEN = ["script", "style", "template", "head", "svg"]


@dataclass(frozen=True, slots=True)
class SourcePart:
    """The text of a part of a file, and how many cells of it hold a number.

    `name`: a page or slide by its number, any other part by its name; "" for the whole file.
    """

    name: str | int
    text: str
    numbers: int = 0


def recount(content: bytes, file_type: FileType) -> list[SourcePart] | None:
    """Return the text of a file by parts; None where its format has no second way to read it.

    What is damaged is passed over, as the parser says so: a second count never costs the file.
    """
    try:
        if whole := _WHOLE.get(file_type):
            parts: Iterable[SourcePart] = [SourcePart("", whole(content))]
        elif read := _READERS.get(file_type):
            parts = read(content)
        else:
            return None
        return [part for part in parts if part.text or part.numbers]
    except Exception:  # noqa: BLE001 - readers of damaged files raise anything
        return None


def _office(content: bytes) -> Iterator[SourcePart]:
    for name, root in _xml_parts(content, _WRITTEN, _DRAWN):
        if _DRAWN.match(name):  # each series of a chart names its categories again
            texts = (one.text or "" for one in root.iter("{*}t", "{*}v"))
            words = dict.fromkeys(text for text in texts if any(map(str.isalpha, text)))
            yield SourcePart(name, " ".join(words))
        else:
            yield SourcePart(name, _runs(root))


def _xlsx(content: bytes) -> Iterator[SourcePart]:
    shared = [_runs(one) for _, root in _xml_parts(content, _STRINGS) for one in root.iter("{*}si")]
    for name, root in _xml_parts(content, _SHEET):
        words, numbers = list[str](), 0
        for cell in root.iter("{*}c"):
            kind, value = cell.get("t", "n"), cell.findtext("{*}v") or ""
            if kind == "s" and value.isdigit() and int(value) < len(shared):
                words.append(shared[int(value)])
            elif kind == "inlineStr":
                words.append(_runs(cell))
            elif kind == "str":
                words.append(value)
            elif kind in {"n", "d"}:
                numbers += bool(value.strip("0."))  # a nought may be shown as a dash, or not at all
        yield SourcePart(name, " ".join(words), numbers)


def _json(content: bytes) -> str:
    text = decode(content).text
    try:
        values = [json.loads(text, parse_int=str, parse_float=str)]
    except ValueError:
        lines = [line for line in text.split("\n") if line.strip()]
        values = [json.loads(line, parse_int=str, parse_float=str) for line in lines]
    names, found, todo = dict[str, None](), list[str](), values
    while todo:
        value: Any = todo.pop()
        if isinstance(value, dict):
            filled = {str(name): one for name, one in value.items() if one or one == 0}
            names.update(dict.fromkeys(filled))
            todo.extend(filled.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str):
            found.append(value)
    return " ".join([*names, *found])


def _odf(content: bytes) -> Iterator[SourcePart]:
    packed = content.startswith(b"PK")
    documents = _xml_parts(content, _ODF_CONTENT) if packed else [("", _read_part(content))]
    for _, root in documents:
        for body in root.iterchildren("{*}body"):
            yield SourcePart("", " ".join(body.itertext()))


def _epub(content: bytes) -> Iterator[SourcePart]:
    for name, chapter in _parts(content, _CHAPTER):
        with suppress(FileTypeUnknown):
            page = decode(chapter).text
            is_page = "<html" in page or not name.endswith(".xml")
            if is_page and not _CONTENTS_PAGE.search(page):
                yield SourcePart(name, _html_text(page))


def _xml(content: bytes) -> str:
    text = unescape(_TAG.sub(" ", _XML_ASIDE.sub(" ", decode(content).text)))
    return _html_text(text)  # feeds hold HTML as text


def _ipynb(content: bytes) -> Iterator[SourcePart]:
    book = json.loads(decode(content).text)
    sheets = book.get("worksheets") or [book]
    for number, cell in enumerate((one for sheet in sheets for one in sheet.get("cells", ())), 1):
        source = cell.get("source", cell.get("input", ""))
        text = source if isinstance(source, str) else "".join(source)
        is_marked = cell.get("cell_type") == "markdown"
        yield SourcePart(f"cell {number}", _marked_text(text) if is_marked else text)


def _eml(content: bytes) -> Iterator[SourcePart]:
    from sextant.ingestion.parsing.formats.eml import parse_mime  # few files are mail

    yield from _message(parse_mime(content))


def _msg(content: bytes) -> Iterator[SourcePart]:
    from sextant.ingestion.parsing.formats.msg import parse_tree

    yield from _message(parse_tree(content))


def _message(part: Message) -> Iterator[SourcePart]:
    """Yield the text parts of a message; of alternatives the shortest that says most of it."""
    kind, inner = part.get_content_type(), part.get_payload()
    if isinstance(inner, list):
        each = [list(_message(one)) for one in inner if not isinstance(one, str)]
        if kind == "multipart/alternative":
            sizes = [sum(len(one.text) for one in parts) for parts in each]
            whole = [at for at, size in enumerate(sizes) if 2 * size >= max(sizes)]
            each = [each[at] for at in sorted(whole, key=sizes.__getitem__)[:1]]
        for parts in each:
            yield from parts
    elif kind in {"text/plain", "text/html"} and part.get_content_disposition() != "attachment":
        payload = part.get_payload(decode=True)
        text = decode(payload if isinstance(payload, bytes) else b"", part.get_content_charset())
        yield SourcePart("", _html_text(text.text) if kind == "text/html" else text.text)


def _marked_text(text: str) -> str:
    """Return the words of Markdown, without what a link or a tag says to a program."""
    return _html_text(_CODE.sub(lambda code: escape(code[0]), _LINK_TARGET.sub("", text)))


def _html_text(text: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    tree.strip_tags(_UNSEEN)
    return tree.body.text(separator=" ") if tree.body else ""


def _parts(content: bytes, *patterns: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a package whose names match."""
    with zipfile.ZipFile(BytesIO(content)) as package:
        for entry in package.namelist():
            name = posixpath.normpath(entry.replace("\\", "/").lstrip("/"))
            if any(pattern.fullmatch(name) for pattern in patterns):
                with suppress(*DAMAGED):
                    yield name, package.read(entry)


def _xml_parts(content: bytes, *patterns: re.Pattern[str]) -> Iterator[tuple[str, Any]]:
    """Yield the root elements of such parts."""
    for name, part in _parts(content, *patterns):
        if (root := _read_part(part)) is not None:
            yield name, root


def _read_part(part: bytes) -> Any:  # noqa: ANN401 - of lxml, which ships no types
    """Return the root element of what can be read of a part, without what is no text of the document."""
    from lxml import etree  # only packages need it

    from sextant.ingestion.parsing.formats.opc import read_xml

    root = read_xml(part, recover=True)
    if root is not None:
        etree.strip_elements(root, *_ASIDES, with_tail=False)
    return root


def _runs(element: Any) -> str:  # noqa: ANN401 - of lxml
    """Return the text of the runs of all Office formats (`w:t`, `a:t`, `m:t`, `t`), deleted ones too."""
    return " ".join(run.text or "" for run in element.iter("{*}t", "{*}delText"))


_WHOLE: Mapping[FileType, Callable[[bytes], str]] = {
    FileType.HTML: lambda content: _html_text(decode(content, charset_of_page(content)).text),
    FileType.TXT: lambda content: decode(content).text,
    FileType.CSV: lambda content: decode(content).text,
    FileType.MARKDOWN: lambda content: _marked_text(decode(content).text),
    FileType.JSON: _json,
    FileType.XML: _xml,
}
_READERS: Mapping[FileType, Callable[[bytes], Iterator[SourcePart]]] = {
    FileType.DOCX: _office,
    FileType.PPTX: _office,
    FileType.XLSX: _xlsx,
    FileType.EML: _eml,
    FileType.MHTML: _eml,
    FileType.MSG: _msg,
    FileType.ODT: _odf,
    FileType.ODS: _odf,
    FileType.ODP: _odf,
    FileType.EPUB: _epub,
    FileType.IPYNB: _ipynb,
}
