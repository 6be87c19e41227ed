"""Read tables of HTML: which hold data, which rows name columns, where merged cells lie.

Also here: the visibility of elements, code with its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sextant.ingestion.parsing.blocks import NO_WORDS, Table
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.tables import (
    SpannedCell,
    close_up,
    header_rows,
    lay_out,
    repeated_cells,
    rows_across,
    title_rows,
)
from sextant.tables.cells.values import ValueKind, read_value

_DROPPED = frozenset({
    "script", "style", "nav", "footer", "template", "noscript", "iframe", "object", "canvas", "datalist",
    "head", "audio", "video", "rp",
})  # fmt: skip
_FOOTERS = frozenset({"main", "article", "blockquote", "section", "aside", "dialog"})
_TEXT_INPUTS = frozenset({
    "", "text", "number", "email", "date", "tel", "url", "time", "datetime-local", "month", "week", "search",
})  # fmt: skip
# Ticked and not, as forms of Word show them.
TICKS = {"checkbox": ("☐", "☒"), "radio": ("○", "●")}
_STRUCK = frozenset({"del", "s", "strike"})
# Classes of MediaWiki: the link at each heading by which a section is edited, links to the page in other languages.
_WIKI_MENUS = frozenset({"mw-editsection", "interlanguage-link"})
_OPENERS = ("aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle")
_HEADS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary", "legend"})


class Visibility:
    """Decides which elements of a page are visible."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._opened = {
            target
            for node in tree.css("[aria-controls], [data-bs-target], [data-target]")
            for name in ("aria-controls", "data-bs-target", "data-target")
            for target in (node.attributes.get(name) or "").replace("#", " ").split()
        }
        programs = sum(len(node.text()) for node in tree.css("body script, body style"))
        letters = len(tree.body.text()) - programs if tree.body else 0
        # Those may hold the whole page: what stands for scripts, and what a script shows when it has run.
        self._read = {
            node.mem_id
            for node in tree.css("noscript, body, [style*='visibility' i]")
            if 2 * len(node.text()) > letters
        }

    def is_hidden(self, node: LexborNode) -> bool:
        """Return whether an element is not read: invisible, a control, or navigation.

        A panel that a button, a tab or a search opens is read.
        """
        tag, attributes = node.tag or "", node.attributes
        if tag in _DROPPED:
            is_foot_of_part = tag == "footer" and _has_parent(node, _FOOTERS)
            return not is_foot_of_part and node.mem_id not in self._read
        if tag == "button":
            return not _is_opener(node)
        if tag == "dialog":
            return "open" not in attributes
        is_of_wiki = not _WIKI_MENUS.isdisjoint((attributes.get("class") or "").split())
        if is_of_wiki or attributes.get("role") == "navigation":
            return True
        style = (attributes.get("style") or "").replace(" ", "").lower()
        is_off = (
            "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or "display:none" in style
            or "visibility:hidden" in style
        )
        is_opened = (
            node.mem_id in self._read
            or attributes.get("id") in self._opened
            or attributes.get("role") == "tabpanel"
            or attributes.get("hidden") == "until-found"
            or (is_off and _follows_opener(node))
        )
        return is_off and not is_opened


def _follows_opener(node: LexborNode) -> bool:
    """Return whether a button that opens something, alone or in a heading, stands right before an element."""
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    if before is None:
        return False
    button = before if before.tag == "button" else before.css_first("button[aria-expanded]")
    return button is not None and "aria-expanded" in button.attributes


def _is_opener(button: LexborNode) -> bool:
    """Return whether the text of a button is content: it names the panel that it opens, as in lists of questions."""
    return (
        any(name in button.attributes for name in _OPENERS)
        or button.attributes.get("role") == "tab"
        or _has_parent(button, _HEADS)
        or (button.text() or "").strip().endswith(("?", "？"))
    )


def _has_parent(node: LexborNode, tags: frozenset[str]) -> bool:
    parent = node.parent
    while parent is not None and parent.tag not in tags:
        parent = parent.parent
    return parent is not None


def is_struck(node: LexborNode) -> bool:
    """Return whether an element's text is struck through."""
    style = (node.attributes.get("style") or "").replace(" ", "").lower()
    return node.tag in _STRUCK or "line-through" in style


def field_value(node: LexborNode) -> str:
    """Return what a field of a form shows its reader: what is typed in, the options of a list that are in sight."""
    if node.tag == "textarea":
        return node.text() or ""
    if node.tag == "select":
        shown, _ = _options(node)
        return ", ".join(shown)
    kind = (node.attributes.get("type") or "").lower()
    if kind in TICKS:
        return TICKS[kind]["checked" in node.attributes]
    return (node.attributes.get("value") or "") if kind in _TEXT_INPUTS else ""


def options_out_of_sight(node: LexborNode) -> str:
    """Return the options that a closed list does not show, "" for other fields."""
    _, hidden = _options(node) if node.tag == "select" else ([], [])
    return " ".join(hidden)


def _options(select: LexborNode) -> tuple[list[str], list[str]]:
    """Return the options of a list that are shown, and those that are not.

    An open list shows all, a closed one the chosen one or the first; a first option without a value is a prompt.
    """
    options = select.css("option")
    texts = [" ".join((one.text() or "").split()) for one in options]
    if "multiple" in select.attributes or (select.attributes.get("size") or "1") != "1":
        return texts, []
    chosen = [at for at, one in enumerate(options) if "selected" in one.attributes]
    asks = not chosen and bool(options) and options[0].attributes.get("value") == ""
    at = chosen[-1] if chosen else 0
    return [] if asks else texts[at : at + 1], [*texts[:at], *texts[at + 1 :]]


def read_code(node: LexborNode) -> str:
    """Return code with its lines and indentation, line breaks by `<br>` included, and its language."""
    code = node.css_first("code[class^='language-']")
    language = (code.attributes["class"] or "").split()[0][9:] if code else ""
    texts, todo = list[str](), [node]
    while todo:
        one = todo.pop()
        if one.is_text_node:
            texts.append(one.text_content or "")
        elif one.tag == "br":
            texts.append("\n")
        else:
            todo.extend(reversed(list(one.iter(include_text=True))))
    return f"```{language}\n{''.join(texts).strip(chr(10))}\n```"


_MAX_COLSPAN = 1_000  # HTML standard, 4.9.11; rows end with their group
_CELLS = frozenset({"td", "th"})
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_LONG_CELL = 200  # characters
_ICONS = (
    "img[alt], svg[aria-label], svg > title, i[aria-label], i[title], span[aria-label], span[title]"
)


def holds_data(table: LexborNode) -> bool:
    """Return whether a table is data rather than page layout.

    A table is layout if its cells have headings with much text, if it has a single unnamed column, or further tables in most cells.
    """
    if table.attributes.get("role") in {"presentation", "none"}:
        return False
    cells = [cell for row in rows_of(table) for cell in _cells_of(row)]
    if len(cells) < 2:
        return False
    is_named = any(cell.tag == "th" for cell in cells)
    if not is_named and all(len(_cells_of(row)) < 2 for row in rows_of(table)):
        return False
    nested = sum(cell.css_first("table") is not None for cell in cells)
    if len(rows_of(table)) == 1 and any(cell.css_first("pre") for cell in cells):
        return False  # code beside the numbers of its lines
    headed = [cell for cell in cells if cell.tag == "td" and cell.css_first(_HEADINGS)]
    if headed and (
        len(rows_of(table)) == 1 or any(len(cell.text()) > _LONG_CELL for cell in headed)
    ):
        return False
    return not nested or is_named or nested * 4 <= len(cells)


def rows_of(table: LexborNode) -> list[LexborNode]:
    """Return a table's own rows, those of its foot last."""
    rows = list[LexborNode]()
    last = list[LexborNode]()
    for child in table.iter():
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in {"thead", "tbody", "tfoot"}:
            part = [row for row in child.iter() if row.tag == "tr"]
            (last if child.tag == "tfoot" else rows).extend(part)
    return rows + last


def read_table(
    table: LexborNode,
    limits: Limits,
    read_cell: Callable[[LexborNode], str],
    is_hidden: Callable[[LexborNode], bool],
) -> Table:
    """Return a table whose cells `read_cell` reads, without the rows that its reader does not see.

    Raises:
        FileUnsafe: it has more cells than the limit.
    """
    rows = [row for row in rows_of(table) if not is_hidden(row)]
    cells = list(
        _position_cells(
            rows, CellBudget(limits), lambda cell: read_cell(cell) or _icon_names(cell, is_hidden)
        )
    )
    cells, thin = close_up(cells)
    rows = [row for at, row in enumerate(rows) if at not in thin]
    laid_out = lay_out(cells, CellBudget(limits))
    header = 0
    while (
        header < len(rows)
        and _names_columns(rows[header])
        and not (header and _is_one_name(rows[header], laid_out[header]))
    ):
        header += 1
    is_titled = header == 1 and _is_one_name(rows[0], laid_out[0])
    if not any(cell.tag == "th" for row in rows[is_titled:] for cell in _cells_of(row)):
        header = _infer_header(rows, laid_out, cells)
    elif is_titled:
        header = 0
    return Table(laid_out, header, repeated=repeated_cells(cells))


def _infer_header(
    rows: Sequence[LexborNode], laid_out: Sequence[Sequence[str]], cells: Sequence[SpannedCell]
) -> int:
    """Return how many rows of a table without `th` name its columns.

    A table of two columns of words may as well be one of names and values, and one of a single column a list: then only
    bold type makes a header.
    """
    titles = title_rows(laid_out)
    body = laid_out[titles:]
    width = max(map(len, body), default=0)
    across = {row - titles for row in rows_across(cells, width)}
    found = header_rows(body, across)
    if found and width <= 2:
        kinds = [read_value(row[-1]).kind for row in body[found:]]
        values = sum(kind in {ValueKind.NUMBER, ValueKind.DATE} for kind in kinds)
        is_bold = all(cell.css_first("b, strong") is not None for cell in _cells_of(rows[titles]))
        if 2 * values <= len(kinds) and not is_bold:
            return 0
    return found + titles if found else 0


def _position_cells(
    rows: Sequence[LexborNode], budget: CellBudget, read_cell: Callable[[LexborNode], str]
) -> Iterator[SpannedCell]:
    taken: dict[int, int] = {}  # column → first row in which it is free again
    ends = {line.parent.mem_id: row + 1 for row, line in enumerate(rows) if line.parent}
    for row, line in enumerate(rows):
        left = (ends[line.parent.mem_id] if line.parent else len(rows)) - row
        column = 0
        for node in _cells_of(line):
            while taken.get(column, 0) > row:
                column += 1
            # No cell spans more than the rows of its group, and `rowspan=0` means all of them.
            is_rest = (node.attributes.get("rowspan") or "").strip() == "0"
            height = left if is_rest else _span(node, "rowspan", left)
            width = _span(node, "colspan", _MAX_COLSPAN)
            budget.spend(width)
            yield SpannedCell(row, column, read_cell(node), height, width)
            taken.update(dict.fromkeys(range(column, column + width), row + height))
            column += width


def _icon_names(cell: LexborNode, is_hidden: Callable[[LexborNode], bool]) -> str:
    """Return what the icons of a cell without words stand for: ticks in a table of features."""
    names = dict[str, None]()
    for icon in cell.css(_ICONS):
        if any(map(is_hidden, _up_to(cell, icon))):
            continue
        given = (icon.attributes.get(name) for name in ("alt", "aria-label", "title"))
        name = next(filter(None, given), "") or (icon.tag == "title" and icon.text()) or ""
        names[" ".join(name.split())] = None
    return " ".join(name for name in names if not NO_WORDS.search(name))


def _up_to(cell: LexborNode, node: LexborNode | None) -> Iterator[LexborNode]:
    """Yield a node and those around it inside a cell."""
    while node is not None and node.mem_id != cell.mem_id:
        yield node
        node = node.parent


def _cells_of(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in _CELLS]


def _names_columns(row: LexborNode) -> bool:
    in_head = row.parent is not None and row.parent.tag == "thead"
    cells = _cells_of(row)
    return in_head or (bool(cells) and all(cell.tag == "th" for cell in cells))


def _is_one_name(row: LexborNode, laid_out: Sequence[str]) -> bool:
    """Return whether a row has one cell across all columns: the name of a group of rows."""
    return len(_cells_of(row)) == 1 < len(laid_out) and sum(map(bool, laid_out)) == 1


def _span(node: LexborNode, name: str, most: int) -> int:
    value = (node.attributes.get(name) or "1").strip()
    is_number = value.isascii() and value.isdigit() and len(value) < 8
    return min(max(int(value), 1), most) if is_number else 1
