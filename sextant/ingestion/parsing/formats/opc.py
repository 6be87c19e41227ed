"""Office Open XML packages (ECMA-376 part 2), read part by part so that a broken one costs only itself."""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from io import BytesIO
from typing import Any, Self, TypeVar
from urllib.parse import unquote

from lxml import etree

from sextant.domain.errors import FileBroken
from sextant.ingestion.parsing.limits import DAMAGED

Element = Any  # of lxml, which ships no types
T = TypeVar("T")

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "cx": "http://schemas.microsoft.com/office/drawing/2014/chartex",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "o": "urn:schemas-microsoft-com:office:office",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "rel": "http://schemas.openxmlformats.org/package/2006/relationships",
    "v": "urn:schemas-microsoft-com:vml",
    "xdr": "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "dc": "http://purl.org/dc/elements/1.1/",
}
_OPEN_DOCUMENT = {
    name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"
    for name in ("office", "style", "text", "table", "chart", "presentation")
} | {
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
    "math": "http://www.w3.org/1998/Math/MathML",
    "xlink": "http://www.w3.org/1999/xlink",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
# What the namespace of the root element of a part begins with.
_OWNERS = ("http://schemas.openxmlformats.org/", "http://schemas.microsoft.com/")
_MOST_DIGITS = 7  # of a number in an attribute
_MAIN_NAMES = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
# Relationship types, by the last segment, which both editions of the standard share.
MAIN, CORE = "officeDocument", "core-properties"
# Names of the strict edition, which are read as those of the transitional one.
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+)")
_STRICT_NAMES = {
    b"extendedProperties": b"extended-properties",
    b"customProperties": b"custom-properties",
}


@cache
def qn(name: str) -> str:
    """Return a tag or attribute as lxml names it: `w:p` → `{http://…/main}p`."""
    prefix, _, local = name.partition(":")
    return f"{{{(NAMESPACES | _OPEN_DOCUMENT)[prefix]}}}{local}"


def _transitional_name(strict: re.Match[bytes]) -> bytes:
    """Return the transitional name of a namespace or relationship of the strict edition (ISO/IEC 29500)."""
    family, rest = strict.groups()
    head, slash, last = rest.rpartition(b"/")
    rest = head + slash + _STRICT_NAMES.get(last, last)
    return b"http://schemas.openxmlformats.org/" + family + b"/2006/" + rest


@dataclass(frozen=True, slots=True)
class _Relationship:
    kind: str
    target: str
    is_external: bool


class Archive:
    """A zip archive whose parts are read when they are asked for, and cost only themselves where they are damaged.

    Attributes:
        damaged: names of the parts that were asked for and are missing, or of which only a part could be read.
    """

    def __init__(self, content: bytes) -> None:
        self.damaged: dict[str, None] = {}
        self._archive = zipfile.ZipFile(BytesIO(content))
        # Some programs write `\` for `/`; names differ in more than case from each other (part 2, 6.2.2.3).
        self._names = {
            name.replace("\\", "/").lstrip("/").lower(): name for name in self._archive.namelist()
        }

    def has(self, name: str) -> bool:
        """Return whether there is such a part."""
        return name.lower() in self._names

    def read(self, name: str) -> bytes | None:
        """Return a part's bytes; None where it is missing or damaged."""
        try:
            return self._archive.read(self._names[name.lower()])
        except (KeyError, *DAMAGED):
            return None

    def xml(self, name: str) -> Element | None:
        """Return a part's root element, of damaged XML with what can be read of it; None where it is missing."""
        content = self.read(name)
        root = read_xml(content or b"")
        if root is None and content is not None:
            self.damaged[name] = None
            root = read_xml(content, recover=True)
        return root


class Package(Archive):
    """The parts of one file of Office."""

    def __init__(self, content: bytes) -> None:
        try:
            super().__init__(content)
        except zipfile.BadZipFile as error:
            raise _broken(str(error)) from error

    def main(self) -> PackagePart:
        """Return the part that the document begins with; raises `FileBroken` where it cannot be read."""
        part = next(PackagePart(self, "").related(MAIN), None)
        if part is None and (name := next(filter(self.has, _MAIN_NAMES), None)):
            part = PackagePart(self, name)  # the file no longer says which it is
        if part is None:
            raise _broken("its main part is missing")
        if part.root is None:
            raise _broken(f"{part.name} is no XML of Office")
        return part

    def title(self) -> str:
        """Return the title among the file's properties, "" if it has none."""
        core = next(PackagePart(self, "").related(CORE), None)
        root = core.root if core is not None else None
        return ("" if root is None else root.findtext(qn("dc:title")) or "").strip()

    def parts_in(self, folder: str) -> list[PackagePart]:
        """Return the parts that lie in a folder, in the order of their numbers."""
        inside = [
            PackagePart(self, name)
            for name in self._names
            if posixpath.dirname(name) == folder and name.endswith(".xml")
        ]
        return sorted(inside, key=lambda part: [len(part.name), part.name])

    def read(self, name: str) -> bytes | None:
        """Return a part's bytes, XML with the names of the transitional edition; None where it is missing or damaged."""
        content = super().read(name)
        if content is not None and name.lower().endswith((".xml", ".rels", ".vml")):
            return _STRICT.sub(_transitional_name, content)
        return content


@dataclass(frozen=True)
class PackagePart:
    """One part of a package, and the parts it refers to. The package itself is the part named ""."""

    package: Package
    name: str

    @cached_property
    def content(self) -> bytes | None:
        """Return its bytes; None where they cannot be read."""
        return self.package.read(self.name)

    @cached_property
    def root(self) -> Element:
        """Return its root element, of damaged XML with what can be read of it; None where that is nothing.

        A part that is there and cannot be read as a whole is added to the damaged ones of its package.
        """
        root = self.package.xml(self.name)
        # A part that was cut short may use an undeclared prefix, which `etree.QName` refuses.
        tag = root.tag.removeprefix("{") if root is not None else ""
        is_cut = self.name in self.package.damaged and not len(root if root is not None else ())
        if tag.startswith(_OWNERS) and not is_cut:
            return root
        if self.package.has(self.name):
            self.package.damaged[self.name] = None
        return None

    def target(self, relationship_id: str | None) -> Self | None:
        """Return the part that an id refers to; None where it is missing, or outside the file."""
        found = self._relationships.get(relationship_id or "")
        return None if found is None or found.is_external else self._at(found)

    def address(self, relationship_id: str | None) -> str:
        """Return the address outside the file that an id refers to, "" if it does not."""
        found = self._relationships.get(relationship_id or "")
        return found.target if found is not None and found.is_external else ""

    def related(self, *kinds: str) -> Iterator[Self]:
        """Yield the parts of these kinds that it refers to, such as `styles`, `notesSlide`."""
        for found in self._relationships.values():
            if found.kind in kinds and not found.is_external:
                part = self._at(found)
                if part is not None:
                    yield part
                else:
                    self.package.damaged[self._name_of(found)] = None

    def _at(self, found: _Relationship) -> Self | None:
        name = self._name_of(found)
        return type(self)(self.package, name) if self.package.has(name) else None

    def _name_of(self, found: _Relationship) -> str:
        base = posixpath.dirname(self.name)
        target = unquote(found.target.replace("\\", "/"))
        return posixpath.normpath(posixpath.join("/", base, target)).lstrip("/")

    @cached_property
    def _relationships(self) -> dict[str, _Relationship]:
        folder, name = posixpath.split(self.name)
        part = PackagePart(self.package, posixpath.join(folder, "_rels", f"{name}.rels"))
        listed = part.root
        found = listed.iterchildren(qn("rel:Relationship")) if listed is not None else ()
        return {
            one.get("Id", ""): _Relationship(
                one.get("Type", "").rpartition("/")[2],
                one.get("Target", ""),
                one.get("TargetMode") == "External",
            )
            for one in found
        }


def read_xml(content: bytes, *, recover: bool = False) -> Element | None:
    """Return the root element; None where it is no XML. Entities stay what they are called.

    Args:
        content: of a part.
        recover: read what can be read of damaged XML.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
        huge_tree=True,  # texts of ten million characters, 2,048 elements inside each other
    )
    try:
        return etree.fromstring(content, parser)
    except etree.XMLSyntaxError:  # also where it recovers: bytes that begin with NUL give nothing
        return None


def read_number(text: str | None, default: T) -> int | T:
    """Return a whole number as attributes have it; `default` for anything else, and for one that no document needs."""
    if text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    return default


def _broken(reason: str) -> FileBroken:
    return FileBroken(
        f"The Office file cannot be read: {reason}.",
        next_step="Open it in its program, save it again and retry.",
    )
