"""The parts of OpenDocument files, and their styles and numbering (ODF 1.3 part 3, 16), each style with what it inherits."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import unquote

from sextant.domain.errors import FileBroken, FileEncrypted
from sextant.ingestion.parsing.formats.numbering import BULLET, ListLevel, NumberedList
from sextant.ingestion.parsing.formats.opc import Archive, Element, qn, read_number, read_xml
from sextant.ingestion.parsing.formats.stories import Look
from sextant.ingestion.parsing.structure import Omissions

_DEEPEST = 10  # levels of a list (ODF 1.3 part 3, 16.31)
_BOLD = frozenset({"bold", "600", "700", "800", "900"})


class OdfPackage:
    """The parts of a document; of a flat file (`.fodt`) all are the one element that it is."""

    def __init__(self, content: bytes, omissions: Omissions) -> None:
        self.omissions = omissions
        self._archive = Archive(content) if content.startswith(b"PK") else None
        self._flat = read_xml(content) if self._archive is None else None

    def main(self) -> Element:
        """Return the root of the part that holds the document; raises `FileBroken` where there is none."""
        root = self._flat if self._archive is None else self.part("content.xml")
        if root is None:
            raise broken("its main part is missing or no XML")
        return root

    def part(self, name: str) -> Element | None:
        """Return the root element of a part, of damaged XML with what can be read of it."""
        if self._archive is None:
            return None
        name = _part_name(name)
        root = self._archive.xml(name)
        manifest = self._archive.read("META-INF/manifest.xml") or b""
        if name in self._archive.damaged and b"encryption-data" in manifest:
            raise FileEncrypted(
                "The file is protected by a password.",
                next_step="Remove the password in its program and try again.",
            )
        self.omissions.add_damaged(self._archive.damaged)
        return root

    def read(self, name: str) -> bytes | None:
        """Return a part's bytes; None where it is missing or damaged."""
        return self._archive.read(_part_name(name)) if self._archive is not None else None


def _part_name(reference: str) -> str:
    return posixpath.normpath(unquote(reference))


def broken(reason: str) -> FileBroken:
    """Return the error that a file cannot be read at all."""
    return FileBroken(
        f"The OpenDocument file cannot be read: {reason}.",
        next_step="Open it in its program, save it again and retry.",
    )


@dataclass(frozen=True, slots=True)
class OdfStyle(Look):
    """What a paragraph and its text look like. `level`: of a heading, from 1."""

    level: int | None = None
    is_title: bool = False
    list_style: str = ""


class OdfStyles:
    """All styles of a document, of the parts that hold any."""

    def __init__(self, roots: list[Element]) -> None:
        self._elements: dict[tuple[str, str], Element] = {}
        self.lists: dict[str, Element] = {}
        self.outline: Element | None = None
        for root in roots:
            for one in root.iter(qn("style:style")):
                key = (one.get(qn("style:family"), ""), one.get(qn("style:name"), ""))
                self._elements.setdefault(key, one)
            for one in root.iter(qn("text:list-style")):
                self.lists.setdefault(one.get(qn("style:name"), ""), one)
            self.outline = next(root.iter(qn("text:outline-style")), self.outline)

    def lay_over(self, look: OdfStyle, family: str, name: str | None) -> OdfStyle:
        """Return `look` with what a named style, and before it those that it is based on, say otherwise."""
        chain = list[Element]()
        for _ in self._elements:  # which ends a cycle of styles based on each other
            element = self._elements.get((family, name or ""))
            if element is None:
                break
            chain.append(element)
            name = element.get(qn("style:parent-style-name"))
        for element in reversed(chain):
            look = _with_properties(look, element)
        return look


def _with_properties(look: OdfStyle, element: Element) -> OdfStyle:
    name = element.get(qn("style:display-name")) or element.get(qn("style:name"), "")
    level = element.get(qn("style:default-outline-level"))
    if level is not None:
        look = replace(look, level=read_number(level, None) or None)
    look = replace(
        look,
        is_title=look.is_title or name == "Title",
        list_style=element.get(qn("style:list-style-name"), look.list_style),
    )
    properties = element.find(qn("style:text-properties"))
    if properties is None:
        return look
    weight = properties.get(qn("fo:font-weight"))
    font = properties.get(qn("style:font-name")) or properties.get(qn("fo:font-family"))
    lines = (
        properties.get(qn("style:text-line-through-style")),
        properties.get(qn("style:text-line-through-type")),
    )
    raised, size = look.raised, look.size
    # "super", "sub", or a percentage by which letters are moved up or down, and then their size.
    if position := properties.get(qn("style:text-position"), "").split(" ")[0]:
        raised = position if position in {"super", "sub"} else ""
        with suppress(ValueError):
            shift = float(position.rstrip("%"))
            raised = "super" if shift > 0 else "sub" if shift < 0 else ""
    with suppress(ValueError):
        if points := properties.get(qn("fo:font-size")):
            is_share = points.endswith("%")
            size = size * float(points[:-1]) / 100 if is_share else float(points.removesuffix("pt"))
    return replace(
        look,
        size=size,
        bold=look.bold if weight is None else weight in _BOLD,
        font=font or look.font,
        struck=any(line != "none" for line in lines if line) if any(lines) else look.struck,
        hidden=properties.get(qn("text:display"), "none" if look.hidden else "") == "none",
        raised=raised,
    )


class OdfNumbering:
    """Counts the items of lists, and the headings, of a document."""

    def __init__(self, styles: OdfStyles) -> None:
        self._outline = _levels(styles.outline)
        self._levels = {name: _levels(element) for name, element in styles.lists.items()}
        self._counts = dict[str, dict[int, int]]()  # by list

    def heading_label(self, level: int) -> str:
        """Return the number before a heading, "" if its level has none."""
        return self._label("outline", self._outline, level, None)

    def item_label(self, list_id: str, style: str, level: int, start: int | None) -> str:
        """Return the label of an item: its number or bullet."""
        return self._label(list_id, self._levels.get(style, {}), level, start) or BULLET

    def _label(
        self, key: str, levels: Mapping[int, ListLevel], level: int, start: int | None
    ) -> str:
        counted = NumberedList(levels, self._counts.setdefault(key, {}))
        return counted.label(min(level, _DEEPEST) - 1, start).strip()


def _levels(style: Element | None) -> dict[int, ListLevel]:
    """Return how the levels of a list are numbered, by depth from 0; none for one without a number."""
    elements = {
        read_number(one.get(qn("text:level")), 0): one
        for one in (style if style is not None else ())
    }
    formats = dict[int, str]()  # "" of a level without numbers
    for level, one in elements.items():
        style_name = str(one.get(qn("style:num-format"), ""))
        # Letters may be doubled behind z, as in Word.
        is_doubled = one.get(qn("style:num-letter-sync")) == "true"
        letters = {"a": "lowerLetter", "A": "upperLetter"} if is_doubled else {}
        formats[level] = letters.get(style_name, style_name)
    levels = dict[int, ListLevel]()
    for level, element in elements.items():
        if formats[level] and level:
            shown = min(read_number(element.get(qn("text:display-levels")), 1), level)
            places = (at for at in range(level - shown + 1, level + 1) if formats.get(at))
            before, behind = (
                element.get(qn(f"style:num-{name}"), "") for name in ("prefix", "suffix")
            )
            levels[level - 1] = ListLevel(
                formats[level],
                f"{before}{'.'.join(f'%{at}' for at in places)}{behind}",
                read_number(element.get(qn("text:start-value")), 1),
            )
    return levels
