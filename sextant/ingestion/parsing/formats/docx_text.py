"""Read the text of a Word paragraph as its reader sees it, and collect what is anchored in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sextant.ingestion.parsing.formats.docx_styles import Style, Styles, is_on, value_of
from sextant.ingestion.parsing.formats.drawingml import chosen_content, descend
from sextant.ingestion.parsing.formats.numbering import format_number
from sextant.ingestion.parsing.formats.opc import Element, PackagePart, qn, read_number
from sextant.ingestion.parsing.formats.stories import (
    LINK_FIELD,
    PAGE_FIELD,
    PAGE_MARK,
    StoryLine,
    StoryWriter,
    read_symbol,
)
from sextant.ingestion.parsing.formulas import read_omml
from sextant.ingestion.parsing.raised import note

_WHITE = {
    qn("w:tab"): "\t",
    qn("w:ptab"): "\t",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
_SKIPPED = {
    qn(name)
    for name in (
        "w:pPr", "w:rPr", "w:sdtPr", "w:sdtEndPr", "w:customXmlPr", "w:smartTagPr", "w:tblPr", "w:tcPr", "w:trPr",
        "w:instrText", "w:delInstrText", "w:footnoteRef", "w:endnoteRef", "w:rt",
    )
}  # fmt: skip
DELETED = "deleted under review"
_DELETED = {qn("w:del"), qn("w:moveFrom")}
_NOTE_REFERENCES = {qn(f"w:{kind}Reference") for kind in ("footnote", "endnote", "comment")}
_OBJECTS = {qn("w:drawing"), qn("w:pict"), qn("w:object")}
_FORMULAS = {qn("m:oMath"), qn("m:oMathPara")}


@dataclass(slots=True)
class DocxParagraph(StoryLine):
    """A paragraph with the elements that hang on it, which are read after it."""

    notes: list[tuple[str, Element]] = field(default_factory=list[tuple[str, Element]])
    boxes: list[Element] = field(default_factory=list[Element])
    objects: list[Element] = field(default_factory=list[Element])


@dataclass(slots=True)
class _Field:
    """A complex field: its code is not shown, its result is."""

    code: str = ""
    in_code: bool = True
    form: Element | None = None


class TextReader:
    """Reads paragraphs in their order; fields may reach over several of them."""

    def __init__(
        self,
        part: PackagePart,
        writer: StoryWriter,
        styles: Styles,
        notes: NoteTexts,
        on_each_page: bool,
    ) -> None:
        """`on_each_page`: the part is a head or foot, in which the page's number stands for nothing."""
        self._part = part
        self._on_each_page = on_each_page
        self._styles = styles
        self._notes = notes
        self._writer = writer
        self._omissions = writer.omissions
        self._fields: list[_Field] = []

    def read(self, paragraph: Element, style: Style, line: DocxParagraph) -> None:
        """Add what a paragraph holds to `line`."""
        self._children(paragraph, style, line, "")
        # A field that never reaches its result would swallow the rest of the document.
        self._fields = [one for one in self._fields if not one.in_code]

    def _children(self, element: Element, style: Style, line: DocxParagraph, address: str) -> None:
        for child in element.iterchildren():
            self._child(child, style, line, address)

    def _child(self, element: Element, style: Style, line: DocxParagraph, address: str) -> None:
        tag = element.tag
        if tag == qn("w:r"):
            look = self._styles.of_run(element, style)
            for child in element.iterchildren():
                self._in_run(child, look, line, address)
        elif tag == qn("w:hyperlink"):
            found = self._part.address(element.get(qn("r:id")))
            self._children(element, style, line, found or address)
        elif tag == qn("w:fldSimple"):
            self._fields.append(_Field(element.get(qn("w:instr"), ""), in_code=False))
            self._children(element, style, line, address)
            self._fields.pop()
        elif tag in _FORMULAS:
            self._add(read_omml(element), line, address, spaced=True)
        elif tag in _DELETED:
            self._omissions.add_text(DELETED, plain_text(element))
        elif tag == qn("mc:AlternateContent"):
            for chosen in chosen_content(element):
                self._child(chosen, style, line, address)
        elif tag not in _SKIPPED:
            self._children(element, style, line, address)

    def _in_run(self, element: Element, style: Style, line: DocxParagraph, address: str) -> None:
        tag = element.tag
        if (text := _characters(element)) is not None:
            self._add(text, line, address, look=style)
        elif tag == qn("w:fldChar"):
            self._field(element, line, address)
        elif tag == qn("w:instrText"):
            if self._fields and self._fields[-1].in_code:
                self._fields[-1].code += element.text or ""
        elif tag in _NOTE_REFERENCES:
            self._note(element, line)
        elif tag == qn("mc:AlternateContent"):
            for chosen in chosen_content(element):
                self._in_run(chosen, style, line, address)
        else:
            self._larger(element, style, line, address)

    def _larger(self, element: Element, style: Style, line: DocxParagraph, address: str) -> None:
        """Read the parts of a run that are no characters: drawings, ruby text, runs inside."""
        if element.tag in _OBJECTS:
            line.objects.append(element)
            box = qn("w:txbxContent")  # the outermost ones, without those of a fallback
            line.boxes += (inner for inner in descend(element, box) if inner.tag == box)
        elif element.tag == qn("w:ruby"):  # the reading stands behind its text: 漢字(かんじ)
            base = element.find(qn("w:rubyBase"))
            if base is not None:
                self._children(base, style, line, address)
            if reading := plain_text(element.find(qn("w:rt"))):
                self._add(f"({reading})", line, address)
        elif element.tag not in _SKIPPED:
            self._children(element, style, line, address)

    def _add(
        self,
        text: str,
        line: DocxParagraph,
        address: str,
        *,
        look: Style | None = None,
        spaced: bool = False,
    ) -> None:
        if any(one.in_code for one in self._fields):
            return
        codes = [one.code for one in self._fields]
        address = address or next(
            (found[1] for code in codes if (found := LINK_FIELD.match(code))), ""
        )
        if self._on_each_page and any(map(PAGE_FIELD.match, codes)):
            line.text.add(PAGE_MARK)
        elif look is not None:
            self._writer.add_run(line, text, look, address)
        else:
            line.text.add(text, address, spaced=spaced)

    def _field(self, mark: Element, line: DocxParagraph, address: str) -> None:
        kind = mark.get(qn("w:fldCharType"))
        if kind == "begin":
            self._fields.append(_Field(form=mark.find(qn("w:ffData"))))
        elif self._fields and kind == "separate":
            self._fields[-1].in_code = False
        elif self._fields and kind == "end":
            ended = self._fields.pop()
            if ended.form is not None:
                self._add(_form_value(ended.form), line, address)
            elif ended.code.upper().split()[:1] == ["EQ"]:  # drawn from its code, without a result
                self._omissions.add_part("EQ formula")

    def _note(self, reference: Element, line: DocxParagraph) -> None:
        found = self._notes.find(reference)
        if found is None:
            self._omissions.add_part("note")
        else:
            line.text.add(note(found[0]))
            line.notes.append(found)


class NoteTexts:
    """Notes and comments by their ids; notes are numbered in the order in which they are referred to."""

    def __init__(self, roots: Mapping[str, Element | None]) -> None:
        """`roots`: by kind ("footnote") the element that holds all of them."""
        self._elements = {
            (f"w:{kind}Reference", one.get(qn("w:id"), "")): one
            for kind, root in roots.items()
            for one in (root.iterchildren(qn(f"w:{kind}")) if root is not None else ())
            if one.get(qn("w:type"), "normal") == "normal"  # separators have a type
        }
        self._marks = {"footnote": dict[str, str](), "endnote": dict[str, str]()}

    def find(self, reference: Element) -> tuple[str, Element] | None:
        """Return the mark and the element of a note; the mark is "" for a comment, or where it is written by hand."""
        kind, note_id = reference.tag.rpartition("}")[2], reference.get(qn("w:id"), "")
        element = self._elements.get((f"w:{kind}", note_id))
        marks = self._marks.get(kind.removesuffix("Reference"))
        if element is None:
            return None
        if marks is None or reference.get(qn("w:customMarkFollows"), "0") in {"1", "true", "on"}:
            return "", element
        style = "decimal" if "footnote" in kind else "lowerRoman"
        return marks.setdefault(note_id, format_number(len(marks) + 1, style)), element


def _characters(element: Element) -> str | None:
    """Return the characters that an element of a run stands for; None where it is something else."""
    if element.tag == qn("w:t"):
        return element.text or ""
    if element.tag != qn("w:sym"):
        return _WHITE.get(element.tag)
    try:
        code = int(element.get(qn("w:char"), ""), 16)
    except ValueError:
        return ""
    is_character = 0x20 <= code < 0xD800 or 0xE000 <= code <= 0xFFFF  # and no half of one
    return read_symbol(code, element.get(qn("w:font"), "")) if is_character else ""


def _form_value(form: Element) -> str:
    """Return what a form field without text of its own shows: a ticked box, the chosen entry of a list."""
    box, choices = form.find(qn("w:checkBox")), form.find(qn("w:ddList"))
    if box is not None:
        name = "w:checked" if box.find(qn("w:checked")) is not None else "w:default"
        return "☒" if is_on(box, name) else "☐"
    if choices is not None:
        entries = [entry.get(qn("w:val"), "") for entry in choices.findall(qn("w:listEntry"))]
        chosen = read_number(value_of(choices, "w:result") or value_of(choices, "w:default"), 0)
        return entries[chosen] if chosen < len(entries) else ""
    return ""


def plain_text(element: Element | None) -> str:
    """Return all the characters inside an element, deleted ones too."""
    if element is None:
        return ""
    texts = (node.text or "" for node in element.iter(qn("w:t"), qn("w:delText")))
    return "".join(texts)
