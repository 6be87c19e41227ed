"""Rich Text Format: headings by style or look, lists with their numbers, tables, notes, pictures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from sextant.ingestion.parsing.blocks import Block, Blocks, Image, Paragraph, lines_of
from sextant.ingestion.parsing.formats.docx_styles import heading_level
from sextant.ingestion.parsing.formats.html import fragment_blocks
from sextant.ingestion.parsing.formats.numbering import BULLET
from sextant.ingestion.parsing.formats.rtf_text import RtfLexer, RtfState
from sextant.ingestion.parsing.formats.stories import (
    LINK_FIELD,
    PAGE_FIELD,
    PAGE_MARK,
    StoryLine,
    StoryWriter,
    without_page_numbers,
    write_comment,
)
from sextant.ingestion.parsing.limits import CellBudget, Limits
from sextant.ingestion.parsing.raised import note
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.ingestion.parsing.tables import SpannedCell, table_blocks

_FURNITURE = frozenset({
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
})  # fmt: skip
_STORIES = _FURNITURE | {"footnote", "annotation", "shptxt"}
_LABELS = frozenset({"listtext", "pntext"})
_EDGE = 30  # twips between the edges of cells that are one column's


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read an RTF file as its reader sees it, with all changes accepted; HTML that is wrapped in it as HTML.

    Raises:
        FileUnsafe: its tables have more cells than the limit.
    """
    reader = RtfReader(limits)
    RtfLexer(reader).read(content)
    if reader.html is not None:
        omissions = Omissions()
        blocks = fragment_blocks("".join(reader.html), limits, omissions)
        return finish_blocks(blocks, omissions, reader.title)
    return reader.document(reader.end().blocks, reader.title)


@dataclass(slots=True)
class _CellDefinition:
    """The right edge of a cell in twips, and whether it is merged with the one above it."""

    edge: int
    goes_down: bool = False


@dataclass(slots=True)
class _RtfRow:
    texts: list[str]
    definitions: list[_CellDefinition]
    left: int
    is_header: bool


@dataclass(slots=True)
class _RtfStory:
    """A story (body, note or text box), with the paragraph, cell and row that are open in it."""

    blocks: list[Block] = field(default_factory=list[Block])
    line: StoryLine = field(default_factory=StoryLine)
    label: str = ""
    cell: list[tuple[int, str]] = field(
        default_factory=list[tuple[int, str]]
    )  # lines by depth of their table
    cells: defaultdict[int, list[str]] = field(
        default_factory=lambda: defaultdict[int, list[str]](list)
    )
    rows: list[_RtfRow] = field(default_factory=list[_RtfRow])
    has_mark: bool = False
    on_each_page: bool = False  # a head or foot


@dataclass(slots=True)
class _RtfParagraph:
    level: int | None = None
    in_table: bool = False
    depth: int = 1  # of the table that it stands in, one inside another


class RtfReader(StoryWriter):
    """Makes blocks of the tokens that the lexer finds."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._names = {"title": "", "atnauthor": ""}  # of the document, and of who comments it
        self.html: list[str] | None = None
        self._budget = CellBudget(limits)
        self._stories = [_RtfStory()]
        self._paragraph = _RtfParagraph()
        self._outer: list[_RtfParagraph] = []
        self._definitions: list[_CellDefinition] = []
        self._next = _CellDefinition(0)
        self._left, self._is_header = 0, False
        self._fields: list[str] = []
        self._picture: list[str | bytes] = []
        self._picture_kind = ""
        self._levels: dict[int, int] = {}
        self._style, self._style_name = 0, ""
        self._style_level: int | None = None
        self._notes = 0

    @property
    def title(self) -> str:
        """Return what the document says it is called."""
        return self._names["title"].strip()

    @property
    def _story(self) -> _RtfStory:
        return self._stories[-1]

    def end(self) -> _RtfStory:
        """Return the body, with what was open in it."""
        while len(self._stories) > 1:
            self._stories.pop()
        self._end_paragraph()
        self._end_table()
        return self._story

    def text(self, text: str, state: RtfState) -> None:
        """Add text where its destination says."""
        destination = state.destination
        if destination == "stylesheet":
            self._style_name += text
            if ";" in text:
                self._define_style()
        elif destination in self._names:
            self._names[destination] += text
        elif destination == "pict":
            self._picture.append(text)
        elif destination == "fldinst":
            if self._fields:
                self._fields[-1] += text
        elif destination in _LABELS:
            self._story.label += text
        elif self.html is not None and destination != "fonttbl":
            self.html.append("" if state.is_rtf_only else text)
        elif destination != "fonttbl":
            self._add(text, state)

    def _define_style(self) -> None:
        name = self._style_name.partition(";")[0].strip()
        level = 0 if name.lower() == "title" else heading_level(name) or self._style_level
        if level is not None and level < 10:
            self._levels[self._style] = level
        self._style, self._style_name, self._style_level = 0, "", None

    def _add(self, text: str, state: RtfState) -> None:
        if state.deleted:
            self.omissions.add_text("deleted under review", text)
        elif self._story.on_each_page and any(map(PAGE_FIELD.match, self._fields)):
            self._story.line.text.add(PAGE_MARK)
        else:
            self.add_run(self._story.line, text, state.look, state.address)

    def opened(self, destination: str, state: RtfState) -> None:
        """Begin a story, a field, a picture or a label."""
        if destination in _STORIES:
            self._stories.append(_RtfStory(on_each_page=destination in _FURNITURE))
            self._outer.append(replace(self._paragraph))
            self._paragraph = _RtfParagraph()
        elif destination in self._names:
            self._names[destination] = ""
        elif destination == "field":
            self._fields.append("")
        elif destination == "fldrslt" and self._fields:
            if found := LINK_FIELD.match(self._fields[-1]):
                state.address = found[1]
        elif destination == "pict":
            self._picture, self._picture_kind = [], ""
        elif destination in _LABELS:
            self._story.label = ""

    def closed(self, destination: str, state: RtfState) -> None:  # noqa: ARG002 - the lexer's protocol
        """End what `opened` began."""
        if destination in _STORIES and len(self._stories) > 1:
            self._end_paragraph()
            self._end_table()
            story = self._stories.pop()
            self._paragraph = self._outer.pop()
            text, hanging = "\n".join(lines_of(story.blocks)), self._story.line.hanging
            if destination == "annotation":
                hanging.append(write_comment(self._names["atnauthor"].strip(), text))
            elif destination == "footnote":
                number = note(str(self._notes)) if story.has_mark else ""
                hanging.append(Paragraph(f"{number} {text}".strip()))
            elif destination == "shptxt":
                hanging += story.blocks
            else:
                self.add_margin(text)
        elif destination == "field" and self._fields:
            self._fields.pop()
        elif destination == "pict" and self._picture_kind not in {"pngblip", "jpegblip"}:
            self.omissions.add_part("picture")
        elif destination == "pict":
            with self.omissions.survive("picture"):
                parts = (p if isinstance(p, bytes) else bytes.fromhex(p) for p in self._picture)
                self._story.line.hanging.append(Image(b"".join(parts)))

    def data(self, content: bytes) -> None:
        """Keep the bytes of a picture."""
        self._picture.append(content)

    def word(self, word: str, number: int | None, state: RtfState) -> None:
        """Obey a control word of paragraphs, tables, styles, notes or pictures."""
        if self.html is not None or word == "fromhtml":
            self._html_word(word, number, state)
        elif word in _TABLE_WORDS:
            # How wide the columns of a table inside another are makes no difference to its lines.
            if word == "nestrow" or state.destination != "nesttableprops":
                self._table_word(word, number)
        elif state.destination == "stylesheet":
            if word == "s":
                self._style, self._style_name = number or 0, ""
            elif word == "outlinelevel":
                self._style_level = (number or 0) + 1
        elif word == "chftn":
            self._add_note_mark(state)
        elif word == "chpgn" and self._story.on_each_page:
            self._story.line.text.add(PAGE_MARK)
        elif word.endswith("blip") or word in {"wmetafile", "macpict", "dibitmap"}:
            self._picture_kind = word
        else:
            self._paragraph_word(word, number or 0)

    def _add_note_mark(self, state: RtfState) -> None:
        if len(self._stories) > 1:
            self._story.has_mark = True
        else:
            self._notes += 1
            self._story.line.text.add(note(str(self._notes)), state.address)

    def _paragraph_word(self, word: str, number: int) -> None:
        if word == "pard":
            self._paragraph = _RtfParagraph()
        elif word == "s":
            self._paragraph.level = self._levels.get(number)
        elif word == "outlinelevel":
            self._paragraph.level = number + 1 if number < 9 else None
        elif word in {"par", "sect", "page"}:
            self._end_paragraph()

    def _html_word(self, word: str, number: int | None, state: RtfState) -> None:
        if word == "fromhtml":
            self.html = [] if number else None
        elif self.html is not None and word in {"par", "tab"} and not state.is_rtf_only:
            self.html.append("\n" if word == "par" else "\t")

    def _table_word(self, word: str, number: int | None) -> None:
        story, inner = self._story, max(self._paragraph.depth, 2)
        match word:
            case "intbl":
                self._paragraph.in_table = True
            case "itap":
                self._paragraph.depth = number or 1
            case "row":
                self._end_row()
            case "nestrow":
                row = ", ".join(filter(None, story.cells.pop(inner, ())))
                story.cell.append((inner - 1, f"{row};"))
            case "cell" | "nestcell":
                depth = 1 if word == "cell" else inner
                self._paragraph.in_table = True
                self._end_paragraph()
                self._budget.spend(1)
                # The rows of tables inside a cell are lines of it.
                mine = [*takewhile(lambda line: line[0] >= depth, reversed(story.cell))]
                del story.cell[len(story.cell) - len(mine) :]
                story.cells[depth].append("\n".join(text for _, text in reversed(mine)))
            case "trowd":
                self._definitions, self._left, self._is_header = [], 0, False
                self._next = _CellDefinition(0)
            case "trleft":
                self._left = number or 0
            case "trhdr":
                self._is_header = True
            case "clvmrg":
                self._next.goes_down = True
            case _:  # cellx
                self._definitions.append(replace(self._next, edge=number or 0))
                self._next = _CellDefinition(0)

    def _end_row(self) -> None:
        story = self._story
        lines, story.cell = story.cell, []
        if lines:
            story.cells[1].append("\n".join(text for _, text in lines))
        if cells := story.cells.pop(1, []):
            story.rows.append(_RtfRow(cells, self._definitions, self._left, self._is_header))
        story.cells.clear()

    def _end_paragraph(self) -> None:
        story = self._story
        line, label = story.line, story.label.strip()
        story.line, story.label = StoryLine(), ""
        text = without_page_numbers(str(line.text)).strip()
        label = label if any(map(str.isalnum, label)) or not label else BULLET
        if self._paragraph.in_table:
            lines = filter(None, [f"{label} {text}".strip(), *lines_of(line.hanging)])
            story.cell += ((self._paragraph.depth, line) for line in lines)
            story.blocks += (block for block in line.hanging if isinstance(block, Image))
            return
        if text:
            self._end_table()
            level = self._paragraph.level
            story.blocks.append(self.paragraph(text, line.looks, label=label, level=level))
        story.blocks += line.hanging

    def _end_table(self) -> None:
        story = self._story
        if story.cell or story.cells:
            self._end_row()
        rows, story.rows = story.rows, []
        if not rows:
            return
        cells = _span_cells(rows)
        if len(cells) == 1:  # a box around text
            story.blocks.append(Paragraph(cells[0].text))
            return
        marked = next((at for at, row in enumerate(rows) if not row.is_header), 0)
        story.blocks += table_blocks(cells, CellBudget(self.limits), marked)


_TABLE_WORDS = frozenset({
    "intbl", "trowd", "trleft", "trhdr", "clvmrg", "cellx", "cell", "row", "nestcell", "nestrow", "itap",
})  # fmt: skip


def _span_cells(rows: Sequence[_RtfRow]) -> list[SpannedCell]:
    """Return cells with their spans: columns begin where any row's cells do."""
    starts = {edge for row in rows for edge in (row.left, *(d.edge for d in row.definitions))}
    places = sorted(starts)
    edges = [edge for at, edge in enumerate(places) if not at or edge - places[at - 1] > _EDGE]
    open_cells = dict[int, int]()  # by column, which of them may go on downwards
    found = list[SpannedCell]()
    for at, row in enumerate(rows):
        column = _column(edges, row.left)
        for index, text in enumerate(row.texts):
            definition = row.definitions[index] if index < len(row.definitions) else None
            end = max(_column(edges, definition.edge), column + 1) if definition else column + 1
            if definition and definition.goes_down and column in open_cells:
                above = open_cells[column]
                found[above] = replace(found[above], rows=at + 1 - found[above].row)
            else:
                open_cells[column] = len(found)
                found.append(SpannedCell(at, column, text, 1, end - column))
            column = end
    return found


def _column(edges: Sequence[int], edge: int) -> int:
    return max(sum(one <= edge for one in edges) - 1, 0)
