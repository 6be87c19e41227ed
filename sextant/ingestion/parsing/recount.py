"""Read a file's text a second time without its parser, as plainly as its format allows.

Nothing here knows order, tables or headings. So what a parser loses on its way is seen, however it loses it.
"""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.encodings import META_CHARSET, decode
from sextant.ingestion.parsing.limits import DAMAGED

if TYPE_CHECKING:
    from email.message import Message

# `w:t`, `a:t`, `m:t` and `t` of all Office formats, and what was deleted under review.
_RUN = re.compile(r"<(?:\w+:)?(?:t|delText)(?:\s[^<>]*)?>([^<]+)<")
_CHART_TEXT = re.compile(r"<(?:\w+:)?(?:t|v)(?:\s[^<>]*)?>([^<]*[^\W\d_][^<]*)<")
_FALLBACK = re.compile(r"<mc:Fallback\b.*?</mc:Fallback>", re.DOTALL)
_WRITTEN = re.compile(
    r"word/(?:document\d*|(?:foot|end)notes|header\d*|footer\d*)\.xml|ppt/(?:slides|notesSlides)/[^/]+\.xml"
)
_DRAWN = re.compile(r"(?:word|ppt|xl)/(?:charts/chart|diagrams/data)[^/]*\.xml")
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_CELL = re.compile(
    r"<(?:\w+:)?c\b([^<>]*?)(?:/>|>(?:<(?:\w+:)?f\b[^<>]*?(?:/>|>[^<]*</(?:\w+:)?f>))?"
    r"(?:<(?:\w+:)?v>([^<]*)</|(<(?:\w+:)?is>.*?</(?:\w+:)?is>))?)",
    re.DOTALL,
)
_STRING = re.compile(r"<(?:\w+:)?si\b[^<>]*?(?:/>|>(.*?)</(?:\w+:)?si>)", re.DOTALL)
_PHONETIC = re.compile(r"<(?:\w+:)?rPh\b.*?</(?:\w+:)?rPh>", re.DOTALL)
_CELL_KIND = re.compile(r"\bt=\"(\w+)\"")
_TAG = re.compile(r"<[^<>]*>")
_XML_ASIDE = re.compile(
    r"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[|\]\]>|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>", re.DOTALL
)
_ODF_CONTENT = re.compile(r"content\.xml")
_ODF_BODY = re.compile(r"<office:body\b.*</office:body>", re.DOTALL)
_ODF_ASIDE = re.compile(
    r"<office:annotation\b.*?</office:annotation>|<text:tracked-changes\b.*?</text:tracked-changes>",
    re.DOTALL,
)
_CHAPTER = re.compile(r".*\.(?:xhtml|html?|xml)")
_CONTENTS_PAGE = re.compile(
    r"<nav\b|<ncx\b|<container\b|<encryption\b|<package\b|<(?:\w+:)?rights\b"
)
_LINK_TARGET = re.compile(
    r"\]\([^()\s]*\)|^ {0,3}\[[^\]]+\]: .*$|^---$.{0,2000}?^---$", re.MULTILINE | re.DOTALL
)
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_UNSEEN = ["script", "style", "template", "noscript", "head", "svg"]
_XML_ENCODING = re.compile(rb"<\?xml[^>]{0,100}?encoding=[\"']([\w-]{2,20})")


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
    read = _READERS.get(file_type)
    if read is None:
        return None
    try:
        return [part for part in read(content) if part.text or part.numbers]
    except Exception:  # noqa: BLE001 - readers of damaged files raise anything
        return None


def _office(content: bytes) -> Iterator[SourcePart]:
    for name, xml in _parts(content, _WRITTEN, _DRAWN):
        if _DRAWN.match(name):  # each series of a chart names its categories again
            yield SourcePart(name, unescape(" ".join(dict.fromkeys(_CHART_TEXT.findall(xml)))))
        else:
            yield SourcePart(name, _runs(xml))


def _xlsx(content: bytes) -> Iterator[SourcePart]:
    shared = re.compile(r"xl/sharedStrings\.xml", re.IGNORECASE)
    texts = [
        _runs(_PHONETIC.sub("", string or ""))
        for _, xml in _parts(content, shared)
        for string in _STRING.findall(xml)
    ]
    for name, xml in _parts(content, _SHEET):
        words, numbers = list[str](), 0
        for attributes, value, inline in _CELL.findall(xml):
            found = _CELL_KIND.search(attributes)
            kind = found[1] if found else "n"
            if kind == "s" and value.isdigit() and int(value) < len(texts):
                words.append(texts[int(value)])
            elif kind == "inlineStr":
                words.append(_runs(inline))
            elif kind == "str":
                words.append(unescape(value))
            elif kind in {"n", "d"}:
                numbers += bool(value)
        yield SourcePart(name, " ".join(words), numbers)


def _html(content: bytes) -> Iterator[SourcePart]:
    declared = META_CHARSET.search(content[:4096])
    text = decode(content, declared[1].decode("ascii") if declared else None).text
    yield SourcePart("", _html_text(text))


def _text(content: bytes) -> Iterator[SourcePart]:
    yield SourcePart("", decode(content).text)


def _markdown(content: bytes) -> Iterator[SourcePart]:
    yield SourcePart("", _marked_text(decode(content).text))


def _json(content: bytes) -> Iterator[SourcePart]:
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
            names.update(dict.fromkeys(map(str, value)))
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
        elif isinstance(value, str):
            found.append(value)
    yield SourcePart("", " ".join([*names, *found]))


def _odf(content: bytes) -> Iterator[SourcePart]:
    packed = content.startswith(b"PK")
    documents = (
        _parts(content, _ODF_CONTENT) if packed else [("", content.decode(errors="replace"))]
    )
    for _, xml in documents:
        body = _ODF_BODY.search(xml)
        text = _TAG.sub(" ", _ODF_ASIDE.sub(" ", body[0])) if body else ""
        yield SourcePart("", unescape(text))


def _epub(content: bytes) -> Iterator[SourcePart]:
    for name, page in _parts(content, _CHAPTER):
        if not _CONTENTS_PAGE.search(page):
            yield SourcePart(name, _html_text(page))


def _xml(content: bytes) -> Iterator[SourcePart]:
    text = unescape(_TAG.sub(" ", _XML_ASIDE.sub(" ", decode(content).text)))
    yield SourcePart("", _html_text(text))  # feeds hold HTML as text


def _ipynb(content: bytes) -> Iterator[SourcePart]:
    book = json.loads(decode(content).text)
    sheets = book.get("worksheets") or [book]
    for number, cell in enumerate((one for sheet in sheets for one in sheet.get("cells", ())), 1):
        source = cell.get("source", cell.get("input", ""))
        text = source if isinstance(source, str) else "".join(source)
        is_marked = cell.get("cell_type") == "markdown"
        yield SourcePart(f"cell {number}", _marked_text(text) if is_marked else text)


def _eml(content: bytes) -> Iterator[SourcePart]:
    from email import message_from_bytes  # few files are mail

    yield from _message(message_from_bytes(content))


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


def _parts(content: bytes, *patterns: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the XML parts of a package whose names match, without what is there for older programs."""
    with zipfile.ZipFile(BytesIO(content)) as package:
        for entry in package.namelist():
            name = posixpath.normpath(entry.replace("\\", "/").lstrip("/"))
            if not any(pattern.fullmatch(name) for pattern in patterns):
                continue
            try:
                xml = package.read(entry)
            except DAMAGED:
                continue
            declared = _XML_ENCODING.match(xml)
            encoding = "utf-16" if xml[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
            encoding = (
                declared[1].decode("ascii") if declared and encoding != "utf-16" else encoding
            )
            try:
                yield name, _FALLBACK.sub("", xml.decode(encoding, "replace"))
            except LookupError:
                continue


def _runs(xml: str) -> str:
    return unescape(" ".join(_RUN.findall(xml)))


_READERS: Mapping[FileType, Callable[[bytes], Iterator[SourcePart]]] = {
    FileType.DOCX: _office,
    FileType.PPTX: _office,
    FileType.XLSX: _xlsx,
    FileType.HTML: _html,
    FileType.TXT: _text,
    FileType.MARKDOWN: _markdown,
    FileType.CSV: _text,
    FileType.JSON: _json,
    FileType.EML: _eml,
    FileType.ODT: _odf,
    FileType.ODS: _odf,
    FileType.ODP: _odf,
    FileType.EPUB: _epub,
    FileType.XML: _xml,
    FileType.IPYNB: _ipynb,
}
