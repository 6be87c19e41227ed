"""Read XML: documents (DocBook, JATS, DITA, FB2, …) as HTML, records (feeds, exports) as JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from html.entities import html5

from lxml import etree

from sextant.domain.errors import FileBroken, FileUnsafe
from sextant.ingestion.parsing.blocks import Blocks, lines_of
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.formats.html import fragment_blocks
from sextant.ingestion.parsing.formats.json import Json, json_blocks
from sextant.ingestion.parsing.formats.opc import Element, read_number
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.raised import note
from sextant.ingestion.parsing.structure import Omissions, count_characters, finish_blocks
from sextant.ingestion.parsing.tables import MAX_COLUMNS

# Elements by what documents call them, and what pages do. Any other is a block where it stands among blocks, and a run
# of text inside one.
_TAGS = {
    name: tag
    for tag, names in {
        "p": "p para simpara v subtitle l line",
        "pre": "programlisting screen literallayout codeblock pre code-block verbatim",
        "ul": "itemizedlist ul list simplelist",
        "ol": "orderedlist ol procedure steps",
        "li": "listitem list-item li member step item",
        "dl": "variablelist def-list dl glosslist",
        "dt": "term dt glossterm",
        "dd": "dd def glossdef",
        "table": "table informaltable tgroup",
        "tr": "row tr strow sthead",
        "td": "entry td stentry cell",
        "th": "th",
        "thead": "thead",
        "sup": "superscript sup",
        "sub": "subscript sub",
        "blockquote": "blockquote disp-quote cite epigraph",
        "math": "math",
        "strong": "strong bold b",
    }.items()
    for name in names.split()
}
# How lists of JATS and DocBook are numbered, as HTML says it.
_NUMBERS = {
    "order": "1", "arabic": "1", "alpha-lower": "a", "loweralpha": "a", "alpha-upper": "A", "upperalpha": "A",
    "roman-lower": "i", "lowerroman": "i", "roman-upper": "I", "upperroman": "I",
}  # fmt: skip
_TITLES = frozenset({"title", "head", "heading", "article-title", "chapter-title"})
_LINKS = frozenset({"a", "ulink", "link", "xref", "ext-link", "ref", "uri"})
_BREAKS = frozenset({"br", "break", "sbr", "empty-line", "lb"})
_INLINE = frozenset({"sup", "sub", "strong"})
# As HTML has them, in a field of a record, too.
_MARKED = frozenset({"a", "b", "br", "em", "font", "i", "span", "strong", "sub", "sup", "u"})
# Blocks by any name: those, and what holds any of them.
_BLOCKS = frozenset(_TAGS.values()) - _INLINE - {"math"}
_CAPTIONED = frozenset(
    {"table", "informaltable", "table-wrap", "figure", "fig", "example", "caption"}
)
_NOTES = frozenset({"footnote", "fn"})
_NOT_TEXT = frozenset({"binary", "script", "style"})
# Elements of an XML workbook that say how Excel shows it.
_OFFICE = "{urn:schemas-microsoft-com:office:"
_SHEET = f"{_OFFICE}spreadsheet}}"
_SETTINGS = (f"{_OFFICE}excel}}*", f"{_OFFICE}office}}*", f"{_SHEET}Styles")
_ENTITY = re.compile(r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|&([A-Za-z_][\w.-]{0,63});", re.DOTALL)
_DECLARED = re.compile(r"<!ENTITY\s+([\w.-]+)\s+[\"']")  # with its text
_PREDEFINED = ("amp", "lt", "gt", "quot", "apos")
_INCLUSION = "{http://www.w3.org/2001/XInclude}include"
_ENCODING = re.compile(r"^(\s*<\?xml[^>]{0,100}?)\s+encoding\s*=\s*[\"'][^\"']{0,40}[\"']")
_MARKUP = re.compile(
    r"<(?:p|a|br|div|img|b|i|em|strong|ul|li|span|table|h[1-6])\b[^>]*>", re.IGNORECASE
)
_HREF = ("href", "url", "{http://www.w3.org/1999/xlink}href")
_DEEPEST = 200


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an XML file: as a document where text and elements mix or are called paragraphs, else as records.

    Entities that it declares are read, none from other files; a warning names what it refers to there.

    Raises:
        FileBroken: it is no XML.
        FileUnsafe: its entities expand too far, or it nests too deep.
    """
    declared = re.match(rb"\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]{2,40})", content[:300])
    decoded = decode(content, declared[1].decode("ascii") if declared else None)
    omissions = Omissions()
    root = _root(decoded.text, omissions)
    for inclusion in root.iter(_INCLUSION):
        omissions.add_part("reference", inclusion.get("href"))
    title = next((one for one in root.iter() if _name(one) in _TITLES), None)
    whole = count_characters(_text(root))
    etree.strip_elements(root, *_SETTINGS, with_tail=False)
    if unseen := whole - count_characters(_text(root)):
        omissions.furniture["out of sight"] += unseen
    _position_cells(root)
    if any(map(_is_of_document, root.iter())):
        _mark_notes(root)
        markup = "".join(_write(root, 1))
        blocks = fragment_blocks(markup, limits, omissions)
    else:
        blocks = json_blocks(_value(root, limits), limits)
    return finish_blocks(
        blocks, omissions, _text(title) if title is not None else "", decoded=decoded
    )


def _root(text: str, omissions: Omissions) -> Element:
    """Return the root element, of damaged XML with what can be read of it; count entities that it does not hold."""
    names = {*_PREDEFINED, *_DECLARED.findall(text[:100_000])}

    def resolve(found: re.Match[str]) -> str:
        name = found[1]
        if not name or name in names:
            return found[0]
        # Names of HTML, which documents use whose declaration lies elsewhere.
        if not (character := html5.get(f"{name};", "")):
            omissions.add_part("reference", name)
        return character

    text = _ENTITY.sub(resolve, _ENCODING.sub(r"\1", text))
    source = text.encode("utf-8", "replace")
    for recover in (False, True):
        parser = etree.XMLParser(
            resolve_entities="internal",
            no_network=True,
            recover=recover,
            remove_comments=True,
            remove_pis=True,
        )
        try:
            root = etree.fromstring(source, parser)
        except etree.XMLSyntaxError as error:
            if (
                error.code == etree.ErrorTypes.ERR_ENTITY_LOOP
                or "amplification" in str(error)
                or "depth" in str(error)
            ):
                raise FileUnsafe(
                    "The XML expands or nests too far.", next_step="Flatten it and retry."
                ) from error
            continue
        if root is not None:
            return root
    raise FileBroken("The file is no XML that can be read.", next_step="Correct it and try again.")


def _name(element: Element) -> str:
    """Return what an element is called, without its namespace; "" for what is none."""
    return _local(element.tag).lower() if isinstance(element.tag, str) else ""


def _local(name: str) -> str:
    """Return a name without its namespace, or without a prefix that nothing declares."""
    return name.rpartition("}")[2].rpartition(":")[2]


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _mark_notes(root: Element) -> None:
    """Mark the labels of footnotes, where they are referred to and before the note's own words."""
    references, labels = (
        root.iterfind(".//{*}xref[@ref-type='fn']"),
        root.iterfind(".//{*}fn/{*}label"),
    )
    for label in (*references, *labels):
        label.text = note(_text(label)) + (" " if _name(label) == "label" else "")
        del label[:]


def _position_cells(root: Element) -> None:
    """Give the cells of an XML workbook the spans that pages have, and put blank ones where it leaves columns out."""
    for table in root.iter(f"{_SHEET}Table"):
        covered, number = dict[int, int](), 0  # by cells above: column → last row
        for row in table.iterchildren(f"{_SHEET}Row"):
            number = read_number(row.get(f"{_SHEET}Index"), number + 1)
            at = 1
            for cell in row.findall(f"{_SHEET}Cell"):
                column = min(read_number(cell.get(f"{_SHEET}Index"), at), MAX_COLUMNS)
                above = sum(at <= one < column for one, last in covered.items() if last >= number)
                if (blank := column - at - above) > 0:
                    cell.addprevious(cell.makeelement("td", colspan=str(blank)))
                across = min(read_number(cell.get(f"{_SHEET}MergeAcross"), 0), MAX_COLUMNS)
                down = read_number(cell.get(f"{_SHEET}MergeDown"), 0)
                cell.set("colspan", str(across + 1))
                cell.set("rowspan", str(down + 1))
                at = column + across + 1
                if down:
                    covered.update(dict.fromkeys(range(column, at), number + down))


def _write(
    element: Element, depth: int, *, in_text: bool = False, nesting: int = 0
) -> Iterator[str]:
    """Yield an element as HTML.

    Args:
        element: what to write.
        depth: the level of its heading, if it has one.
        in_text: whether it stands in a run of text.
        nesting: how many elements it stands in.
    """
    name = _name(element)
    if nesting > _DEEPEST:
        raise FileUnsafe("The XML nests too deep.", next_step="Flatten it and retry.")
    if name in _BREAKS:
        yield "<br>"
    elif name in _NOTES:
        if words := escape(_text(element)):
            yield f" ({words})" if in_text else f"<p>{words}</p>"
    elif name in _TITLES and not in_text:
        tag = "p" if _name(element.getparent()) in _CAPTIONED else f"h{min(depth, 6)}"
        yield f"<{tag}>{escape(_text(element))}</{tag}>"
    elif name and name not in _NOT_TEXT:
        if name == "worksheet" and (sheet := element.get(f"{_SHEET}Name")):
            yield f"<h2>{escape(sheet)}</h2>"
        is_text = in_text or not _holds_blocks(element)
        # Of a formula or a table that is given in several forms, the first in words: others may be pictures.
        children = [*filter(_text, element)][:1] if name == "alternatives" else [*element]
        tag = _tag(element, in_text=in_text, is_text=is_text)
        has_title = any(_name(child) in _TITLES for child in element) and not is_text
        # Fields of a record that stand in one line.
        is_record = is_text and len(children) > 1 and not any(map(str.strip, _pieces(element)))
        yield f"<{tag}>{escape(element.text or '')}"
        for child in children:
            is_below = has_title and _name(child) not in _TITLES
            yield from _write(child, depth + is_below, in_text=is_text, nesting=nesting + 1)
            yield " " if is_record else escape(child.tail or "")
        yield f"</{tag.partition(' ')[0]}>"


def _tag(element: Element, *, in_text: bool, is_text: bool) -> str:
    """Return the tag of HTML, with its attributes, that an element stands for."""
    name = _name(element)
    if name in _LINKS:
        address = next(filter(None, (element.get(key) for key in _HREF)), "")
        return f'a href="{escape(address)}"' if address else "span"
    tag = _TAGS.get(name)
    if name == "code" and not in_text and "\n" in (element.text or ""):
        return "pre"
    if tag == "li" and _name(element.getparent()) == "varlistentry":
        return "dd"
    number = _NUMBERS.get(element.get("list-type") or element.get("numeration") or "")
    if tag in {"ul", "ol"} and number:
        return f'ol type="{number}"'
    if tag not in {"td", "th"}:
        return tag or ("span" if in_text else "p" if is_text else "div")
    # Merged cells, as pages or as CALS tables have them.
    across, down = element.get("colspan", ""), element.get("rowspan", "")
    if more := read_number(element.get("morerows"), 0):
        down = str(more + 1)
    first, last = element.get("namest"), element.get("nameend")
    group = next(element.iterancestors("{*}tgroup"), None) if first and last else None
    if group is not None:
        names = [one.get("colname") for one in group.iterchildren("{*}colspec")]
        if first in names and last in names:
            across = str(names.index(last) - names.index(first) + 1)
    given = (("colspan", across), ("rowspan", down))
    return tag + "".join(f' {name}="{escape(value)}"' for name, value in given if value)


def _pieces(element: Element) -> list[str]:
    """Return the text that stands in an element itself, between others."""
    return [piece or "" for piece in (element.text, *(child.tail for child in element))]


def _is_of_document(element: Element) -> bool:
    """Return whether no record holds such an element: a paragraph, a cell of a row, text with others than those of HTML."""
    tag = _TAGS.get(_name(element))
    if tag == "td":
        around = [_TAGS.get(_name(one)) for one in element.iterancestors()]
        return around[:1] == ["tr"] and "table" in around
    if tag in {"p", "pre"} or not _is_mixed(element):
        return tag in {"p", "pre"}
    is_marked = all(_name(inner) in _MARKED for inner in element.iterdescendants())
    return not is_marked or _is_one_of_section(element)


def _is_one_of_section(element: Element) -> bool:
    """Return whether an element is one of several of its kind, without attributes, next to a title: paragraphs by any name."""
    parent, around = element.getparent(), (element.getprevious(), element.getnext())
    if element.attrib or not any(one is not None and one.tag == element.tag for one in around):
        return False
    return _name(parent[0]) in _TITLES and parent[1].tag == element.tag


def _is_mixed(element: Element) -> bool:
    """Return whether text stands between the elements of an element."""
    return len(element) > 0 and any(map(str.strip, _pieces(element)))


def _holds_blocks(element: Element) -> bool:
    """Return whether an element holds paragraphs, or others that are not a line of fields."""
    if any(map(str.strip, _pieces(element))):
        return any(_TAGS.get(_name(child)) in _BLOCKS for child in element)
    below = (one for child in element for one in child.iter())
    return any(_name(one) in _TITLES or _TAGS.get(_name(one)) in _BLOCKS for one in below)


def _value(element: Element, limits: Limits, nesting: int = 0) -> Json:
    """Return an element without mixed text as JSON has it: its attributes and children by name, or its text."""
    if nesting > _DEEPEST:
        raise FileUnsafe("The XML nests too deep.", next_step="Flatten it and retry.")
    members = dict[str, list[Json]]()
    for key, value in element.attrib.items():
        members.setdefault(_local(key), []).append(value)
    names = Counter(child.tag for child in element)
    is_mixed = _is_mixed(element)
    for child in element if not is_mixed else ():
        if _name(child):
            name, value = _local(child.tag), _value(child, limits, nesting + 1)
            is_single = child.attrib and not len(child) and names[child.tag] == 1
            if is_single and isinstance(value, dict) and "text" in value:
                # A figure and what it is counted in are fields of one record.
                fields = {f"{name} {_local(key)}": other for key, other in child.attrib.items()}
                for key, other in {name: value["text"], **fields}.items():
                    members.setdefault(key, []).append(other)
            else:
                members.setdefault(name, []).append(value)
    text = (element.text or "").strip()
    if is_mixed or _MARKUP.search(text):  # feeds hold pages in it
        markup = "".join(_write(element, 1, in_text=True)) if is_mixed else text
        text = "\n".join(lines_of(fragment_blocks(markup, limits, Omissions())))
    if not members:
        return text
    if text:
        members.setdefault("text", []).append(text)
    read = {name: values[0] if len(values) == 1 else values for name, values in members.items()}
    only = next(iter(read.values()))
    return only if len(read) == 1 and isinstance(only, list) else read
