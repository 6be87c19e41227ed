"""Measure how much of a file's text is stored, and warn where it is too little.

The text that is stored is compared with a second count of the file, letter by letter and digit by digit: order, line
breaks, hyphens and spaces, which a parser changes with reason, make no difference. That count reads the file as plainly
as possible, and independently of its parser: it knows no order, tables or headings, so that text is missed however a
parser loses it.
"""

from __future__ import annotations

import json
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any

from sextant.domain.documents import Coverage
from sextant.domain.errors import FileTypeUnknown
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.blocks import Blocks, HeadingBlock, Paragraph, Table, texts_of
from sextant.ingestion.parsing.detect import OLE, FileType
from sextant.ingestion.parsing.encodings import charset_of_page, decode
from sextant.ingestion.parsing.limits import DAMAGED
from sextant.ingestion.parsing.structure import Omissions, count_characters, name_some
from sextant.text.characters import normalise

if TYPE_CHECKING:
    from email.message import Message

_TOLERATED = 0.04  # of the text: spelling of numbers, marks of lists, names of columns
_LEAST_MISSING = 40  # letters and digits
_LOST = 0.5  # of the words of a part
_WORD = re.compile(r"[^\W_]{2,}")
# Parts of packages, as `fnmatch` has them.
_WRITTEN = (
    "word/document*.xml", "word/footnotes.xml", "word/endnotes.xml", "word/comments.xml", "word/header*.xml",
    "word/footer*.xml", "ppt/slides/*.xml", "ppt/notesSlides/*.xml",
)  # fmt: skip
_DRAWN = tuple(
    f"{folder}/{kind}*.xml"
    for folder in ("word", "ppt", "xl")
    for kind in ("charts/chart", "diagrams/data")
)
# Not the document's text: what is there for older programs, how ideographs are read, comments, what was deleted.
_ASIDES = (
    "{*}Fallback",
    "{*}rPh",
    "{*}annotation",
    "{*}tracked-changes",
    "{*}binary-data",
    "{*}meta",
)
_UNSEEN = ["script", "style", "template", "head", "svg"]


_texts = partial(texts_of, once=True)


@dataclass(frozen=True, slots=True)
class _SourcePart:
    """The text of a part of a file, and how many cells of it are filled.

    `name`: a page or slide by its number, any other part by its name; "" for the whole file.
    """

    name: str | int
    text: str
    cells: int = 0


def measure_coverage(
    blocks: Blocks, text: str, content: bytes, file_type: FileType
) -> tuple[Coverage, tuple[CodedWarning, ...]]:
    """Count what is stored of a file, with warnings where more than a few per cent are missing.

    Args:
        blocks: what the parser made of it.
        text: what is stored of that.
        content: the file, for a second count.
        file_type: its format.
    """
    omissions = blocks.omissions or Omissions()
    left_out = omissions.left_out
    pages = [_SourcePart(number, text) for number, text in blocks.page_texts.items()]
    parts = pages or _recount(content, file_type)
    found, missing = None, 0
    if parts is not None:
        count_letters = partial(_tally, numbers=file_type is not FileType.XLSX)
        source = count_letters(part.text for part in parts)
        here = count_letters([text])
        if any(isinstance(block, Table) and block.repeated for block in blocks.blocks):
            # What merged cells repeat would hide what is lost.
            here &= count_letters(chain.from_iterable(map(_texts, blocks.blocks)))
        found, lost = source.total(), (source - here).total()
        if cells := sum(part.cells for part in parts):
            found, lost = found + cells, lost + max(cells - _count_cells(blocks), 0)
        missing = max(lost - sum(left_out.values()), 0)
    stored, warnings = _stored(blocks, omissions), list[CodedWarning]()
    if found and missing >= _LEAST_MISSING and missing > _TOLERATED * found:
        gone = _lost_parts(parts or (), text)
        shares = {"percent": _percent(missing, found), "number": missing, "parts": name_some(gone)}
        code = WarningCode.PARTS_MISSING if gone else WarningCode.TEXT_MISSING
        warnings.append(CodedWarning(code, shares))
    furniture = omissions.furniture.total()
    whole = sum(stored.values()) + sum(left_out.values())
    if furniture >= _LEAST_MISSING and furniture > _TOLERATED * whole:
        reasons = [
            count(number, reason) for reason, number in omissions.furniture.items() if number
        ]
        params = {"percent": _percent(furniture, whole), "characters": reasons}
        warnings.append(CodedWarning(WarningCode.FURNITURE_LEFT_OUT, params))
    coverage = Coverage(stored, left_out, omissions.not_read, found, missing)
    return coverage, tuple(warnings)


def _stored(blocks: Blocks, omissions: Omissions) -> dict[str, int]:
    """Return the characters of all blocks by kind."""
    stored = Counter[str]()
    for block in blocks.blocks:
        match block:
            case HeadingBlock():
                kind = "heading"
            case Table():
                kind = "table"
            case Paragraph():
                kind = str(block.kind)
            case _:
                kind = "caption"
        stored[kind] += sum(map(count_characters, _texts(block)))
    for kind, number in omissions.inline.items():
        around = "text" if stored["text"] >= number else "table"
        moved = min(number, stored[around])
        stored[around] -= moved
        stored[str(kind)] += moved
    return dict(+stored)


def _count_cells(blocks: Blocks) -> int:
    """Return how many cells are stored: filled ones of tables, and words elsewhere, as a line of cells is no table."""
    return sum(
        bool(text) if isinstance(block, Table) else len(text.split())
        for block in blocks.blocks
        for text in _texts(block)
    )


def _tally(texts: Iterable[str], *, numbers: bool) -> Counter[str]:
    """Return how often each letter stands in the texts, and each digit if `numbers`; however it is written."""
    is_counted = str.isalnum if numbers else str.isalpha
    tally = Counter[str]()
    for char, number in Counter(chain.from_iterable(texts)).items():
        for plain in filter(is_counted, normalise(char)):
            tally[plain] += number
    return tally


def _lost_parts(parts: Sequence[_SourcePart], text: str) -> list[str | int]:
    """Return the names of parts that are mostly missing, judged by the words that no other part has."""
    words = [set(_WORD.findall(normalise(part.text))) for part in parts]
    parts_of = Counter(chain.from_iterable(words))
    stored, lost = set(_WORD.findall(normalise(text))), list[str | int]()
    for part, each in zip(parts, words, strict=True):
        special = [word for word in each if parts_of[word] == 1]
        if part.name and sum(word not in stored for word in special) > _LOST * len(special):
            lost.append(part.name)
    return lost


def _percent(part: int, whole: int) -> int:
    return max(round(100 * part / whole), 1)


def _recount(content: bytes, file_type: FileType) -> list[_SourcePart] | None:
    """Return the text of a file by parts; None where its format has no second way to read it.

    What is damaged is passed over, as the parser says so: a second count never costs the file.
    """
    if (read := _READERS.get(file_type)) is None:
        return None
    try:
        found = read(content)
        parts = [_SourcePart("", found)] if isinstance(found, str) else found
        return [part for part in parts if part.text or part.cells]
    except Exception:  # noqa: BLE001 - readers of damaged files raise anything
        return None


def _office(content: bytes) -> Iterator[_SourcePart]:
    for name, root in _xml_parts(content, *_WRITTEN, *_DRAWN):
        if any(fnmatchcase(name, drawn) for drawn in _DRAWN):
            # Each series of a chart names its categories again.
            texts = (one.text or "" for one in root.iter("{*}t", "{*}v"))
            words = dict.fromkeys(text for text in texts if any(map(str.isalpha, text)))
            yield _SourcePart(name, " ".join(words))
        else:
            yield _SourcePart(name, _runs(root))


def _xlsx(content: bytes) -> Iterator[_SourcePart]:
    shared = [
        _runs(one)
        for _, root in _xml_parts(content, "xl/[sS]haredStrings.xml")
        for one in root.iter("{*}si")
    ]
    for name, root in _xml_parts(content, "xl/worksheets/*.xml"):
        words, filled = list[str](), 0
        for cell in root.iter("{*}c"):
            kind, value = cell.get("t", "n"), cell.findtext("{*}v") or ""
            if kind == "s" and value.isdigit() and int(value) < len(shared):
                value = shared[int(value)]
            elif kind == "inlineStr":
                value = _runs(cell)
            if kind in {"s", "inlineStr", "str"}:
                words.append(value)
            filled += bool(value.strip("0. "))  # a nought may be shown as a dash, or not at all
        yield _SourcePart(name, " ".join(words), filled)


def _json(content: bytes) -> str:
    """Return the names of members that hold something, each once, and all texts."""
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


def _odf(content: bytes) -> Iterator[_SourcePart]:
    packed = content.startswith(b"PK")
    documents = _xml_parts(content, "content.xml") if packed else [("", _read_part(content))]
    for _, root in documents:
        for body in root.iterchildren("{*}body"):
            yield _SourcePart("", " ".join(body.itertext()))


def _epub(content: bytes) -> Iterator[_SourcePart]:
    from sextant.ingestion.parsing.formats.epub import Book  # few files are books

    book = Book(content)
    for name in dict.fromkeys(book.spine()):
        with suppress(FileTypeUnknown):
            yield _SourcePart(name, _html_text(decode(book.read(name) or b"").text))


def _xml(content: bytes) -> str:
    root = _read_part(content)
    return "" if root is None else _html_text(" ".join(root.itertext()))  # feeds hold HTML as text


def _ipynb(content: bytes) -> Iterator[_SourcePart]:
    book = json.loads(decode(content).text)
    sheets = book.get("worksheets") or [book]
    for number, cell in enumerate((one for sheet in sheets for one in sheet.get("cells", ())), 1):
        source = cell.get("source", cell.get("input", ""))
        text = source if isinstance(source, str) else "".join(source)
        is_marked = cell.get("cell_type") == "markdown"
        yield _SourcePart(f"cell {number}", _marked_text(text) if is_marked else text)


def _mail(content: bytes) -> Iterator[_SourcePart]:
    # Few files are mail.
    from sextant.ingestion.parsing.formats.eml import parse_mime
    from sextant.ingestion.parsing.formats.msg import parse_tree

    is_of_outlook = content.startswith(OLE)
    yield from _message((parse_tree if is_of_outlook else parse_mime)(content))


def _message(part: Message) -> Iterator[_SourcePart]:
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
        yield _SourcePart("", _html_text(text.text) if kind == "text/html" else text.text)


def _marked_text(text: str) -> str:
    """Return the words of Markdown, without what a link or a tag says to a program."""
    from sextant.ingestion.parsing.formats.markdown import render_page

    return _html_text(render_page(text))


def _html_text(text: str) -> str:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    tree.strip_tags(_UNSEEN)
    return tree.body.text(separator=" ") if tree.body else ""


def _xml_parts(content: bytes, *patterns: str) -> Iterator[tuple[str, Any]]:
    """Yield the root elements of the parts of a package whose names match."""
    with zipfile.ZipFile(BytesIO(content)) as package:
        for entry in package.namelist():
            name = posixpath.normpath(entry.replace("\\", "/").lstrip("/"))
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                with suppress(*DAMAGED):
                    root = _read_part(package.read(entry))
                    if root is not None:
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


_READERS: Mapping[FileType, Callable[[bytes], str | Iterator[_SourcePart]]] = {
    FileType.HTML: lambda content: _html_text(decode(content, charset_of_page(content)).text),
    **dict.fromkeys((FileType.TXT, FileType.CSV), lambda content: decode(content).text),
    FileType.MARKDOWN: lambda content: _marked_text(decode(content).text),
    FileType.JSON: _json,
    FileType.XML: _xml,
    **dict.fromkeys((FileType.DOCX, FileType.PPTX), _office),
    FileType.XLSX: _xlsx,
    **dict.fromkeys((FileType.EML, FileType.MHTML, FileType.MSG), _mail),
    **dict.fromkeys((FileType.ODT, FileType.ODS, FileType.ODP), _odf),
    FileType.EPUB: _epub,
    FileType.IPYNB: _ipynb,
}
