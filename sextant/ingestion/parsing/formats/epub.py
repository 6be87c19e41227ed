"""EPUB: the chapters of a book in the order of its spine, each read as a page (EPUB 3.3, and 2)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from sextant.domain.errors import FileBroken, FileEncrypted
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, lines_of
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.formats.html import fragment_blocks, read_page
from sextant.ingestion.parsing.formats.opc import Archive, Element
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.structure import Omissions

_CONTAINER = "META-INF/container.xml"
_TEXTS = frozenset(
    {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
)
# Fonts are disguised in books that anybody may read.
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_DETAILS = {
    "creator": "Author",
    "publisher": "Publisher",
    "date": "Date",
}


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a book: what its title page's data say, then its chapters.

    Raises:
        FileBroken: it has no list of chapters.
        FileEncrypted: its chapters are encrypted.
    """
    book = Book(content)
    blocks = list[Block]()
    if details := book.details(limits):
        blocks.append(Paragraph(details))
    for name in dict.fromkeys(book.spine()):  # which lists no chapter twice
        blocks += book.chapter(name, limits)
    warnings = book.omissions.warnings()
    return Blocks(blocks, book.title, warnings=warnings, omissions=book.omissions)


class Book(Archive):
    """The parts of an EPUB: its package document lists them all, and the order in which chapters are read."""

    def __init__(self, content: bytes) -> None:
        self.omissions = Omissions()
        super().__init__(content)
        container = self.xml(_CONTAINER)
        listed = container.iter("{*}rootfile") if container is not None else ()
        found = (one.get("full-path", "") for one in listed)
        packages = (name for name in self._names if name.endswith(".opf"))
        self._path = next(found, "") or next(packages, "")
        package = self.xml(self._path)
        if package is None:
            raise FileBroken(
                "The EPUB cannot be read: its list of chapters is missing.",
                next_step="Open it in a program for e-books, save it again and retry.",
            )
        self._package: Element = package
        self._items = {one.get("id"): one for one in self._package.iter("{*}item")}
        self._contents = self._read_contents()

    @property
    def title(self) -> str:
        """Return its main title."""
        return self._details("title")[0] if self._details("title") else ""

    def details(self, limits: Limits) -> str:
        """Return who wrote it, and what else it says of itself, a line each."""
        said = {label: ", ".join(self._details(name)) for name, label in _DETAILS.items()}
        # Descriptions are often pages of HTML.
        pages = (
            fragment_blocks(one, limits, self.omissions) for one in self._details("description")
        )
        said["Description"] = ", ".join(" ".join(lines_of(page)) for page in pages)
        return "\n".join(f"{label}: {text}" for label, text in said.items() if text)

    def _details(self, name: str) -> list[str]:
        found = self._package.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}")
        texts = (" ".join("".join(one.itertext()).split()) for one in found)
        return [*dict.fromkeys(filter(None, texts))]

    def spine(self) -> Iterator[str]:
        """Yield the names of the chapters in their order; of what is no text a fallback."""
        for reference in self._package.iter("{*}itemref"):
            item = self._items.get(reference.get("idref"))
            for _ in range(len(self._items)):
                if item is None or item.get("media-type") in _TEXTS:
                    break
                item = self._items.get(item.get("fallback"))
            if item is None:
                self.omissions.add_part("chapter", reference.get("idref", ""))
            else:
                yield self._join(self._path, item.get("href", ""))

    def chapter(self, name: str, limits: Limits) -> list[Block]:
        """Return a chapter's blocks; where it has no heading, the table of contents names it."""
        content = self.read(name)
        if content is None:
            self.omissions.add_part("chapter", name)
            return []
        if self._is_encrypted(name):
            raise FileEncrypted(
                "The chapters of the book are encrypted.",
                next_step="Use a copy without copy protection.",
            )
        page = read_page(
            decode(content).text,
            limits,
            lambda address: self.read(self._join(name, address)),
            is_all=True,
        )
        self.omissions.include(page.omissions)
        called = self._contents.get(name.lower(), "")
        has_heading = any(isinstance(block, HeadingBlock) for block in page.blocks)
        heading = [HeadingBlock(called, 1)] if called and page.blocks and not has_heading else []
        return [*heading, *page.blocks]

    def _read_contents(self) -> dict[str, str]:
        """Return what the table of contents (`nav`, or `ncx` of EPUB 2) calls a chapter, by its name."""
        contents = dict[str, str]()
        for item in self._items.values():
            is_nav = "nav" in item.get("properties", "").split()
            if not is_nav and item.get("media-type") != "application/x-dtbncx+xml":
                continue
            name = self._join(self._path, item.get("href", ""))
            root = self.xml(name)
            for point in root.iter("{*}a" if is_nav else "{*}navPoint") if root is not None else ():
                target = point if is_nav else point.find("{*}content")
                label = point if is_nav else point.find("{*}navLabel")
                if target is None or label is None:
                    continue
                address = target.get("href") or target.get("src", "")
                text = " ".join("".join(label.itertext()).split())
                contents.setdefault(self._join(name, address).lower(), text)
        return contents

    def _is_encrypted(self, name: str) -> bool:
        listed = self.xml("META-INF/encryption.xml")
        for data in listed.iter("{*}EncryptedData") if listed is not None else ():
            method, reference = (
                data.find("{*}EncryptionMethod"),
                next(data.iter("{*}CipherReference"), None),
            )
            algorithm = method.get("Algorithm", "") if method is not None else ""
            if reference is not None and unquote(reference.get("URI", "")) == name:
                return not algorithm.startswith(_FONTS)
        return False

    def _join(self, base: str, address: str) -> str:
        path = unquote(address.partition("#")[0])
        return posixpath.normpath(posixpath.join(posixpath.dirname(base), path)).lstrip("/")
