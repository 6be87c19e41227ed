"""Read Markdown and table annotations as plain text, headings and tables, which are compared."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

# A table's cells by row and column, each with a number: places of one number are one merged cell.
Grid = list[list[tuple[int, str]]]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(
    r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?:\([^()]*\)[^()]*)*(?:\s\"[^\"]*\")?\)"
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_EMPHASIS = re.compile(r"(\*\*|__|\*|~~|`+)(?=\S)(.*?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~$&-])")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?|[-*_]{3,}|```.*")
_MARK = re.compile(r"\s*(?:[-*+>•]\s+|\d+[.)]\s+)*(?:\[[ xX]\]\s+)?")
_HTML_TABLE = re.compile(r"<table.*?</table>", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(
    r"<t[dh]([^>]*)>(.*?)(?=<t[dh][\s>]|</t[dh]>|</tr>|<tr|</table)", re.DOTALL | re.IGNORECASE
)
_LEADERS = re.compile(r"[.·_]{4,}")
_SPAN = re.compile(r"(row|col)span=[\"']?(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says, by one reader or by its ground truth. `tables_only`: the truth knows nothing else."""

    text: str = ""
    headings: Sequence[str] = ()
    tables: Sequence[Grid] = field(default_factory=list[Grid])
    tables_only: bool = False


def read_markdown(source: str) -> Reading:
    """Return what Markdown says, with tables of pipes and of HTML."""
    source = _COMMENT.sub("", source).replace("\r\n", "\n")
    tables = [_html_grid(found[0]) for found in _HTML_TABLE.finditer(source)]
    lines, headings, rows = list[str](), list[str](), list[list[str]]()
    for line in [*_HTML_TABLE.sub(_html_lines, source).split("\n"), ""]:
        if line.strip().startswith("|"):
            if not _RULE.fullmatch(line.strip()):
                rows.append(
                    [plain_text(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
                )
                lines.append(" \t ".join(rows[-1]))
            continue
        if rows:
            tables.append(number_cells(rows))
            rows = []
        if found := _HEADING.fullmatch(line.strip()):
            headings.append(plain_text(found[1]))
            lines.append(headings[-1])
        elif not _RULE.fullmatch(line.strip()):
            lines.append(plain_text(_MARK.sub("", line, count=1)))
    return Reading("\n".join(filter(None, lines)), headings, tables)


def read_structure(file: Path) -> Reading:
    """Return the tables of an annotation of the ICDAR 2013 competition."""
    root = ElementTree.parse(file).getroot()  # noqa: S314 - a corpus that the caller chose
    return Reading(
        tables=[_region_grid(region) for region in root.iter("region")], tables_only=True
    )


def plain_text(text: str) -> str:
    """Return Markdown's inline text without its marks."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", text))
    text = html.unescape(_TAG.sub(" ", text))
    while (less := _EMPHASIS.sub(r"\2", text)) != text:
        text = less
    return _ESCAPED.sub(r"\1", text).strip()


def squash(text: str) -> str:
    """Return the text in one case and one form, without blanks and leaders of dots."""
    return _LEADERS.sub("", "".join(unicodedata.normalize("NFKC", text).casefold().split()))


def number_cells(rows: Sequence[Sequence[str]]) -> Grid:
    """Return rows of cells of which none is merged."""
    width = max(map(len, rows), default=0)
    return [
        [(at * width + column, cell) for column, cell in enumerate(row)]
        for at, row in enumerate(rows)
    ]


def _region_grid(region: ElementTree.Element) -> Grid:
    placed = list[tuple[int, int, int, int, str]]()
    for cell in region.iter("cell"):
        row, column = int(cell.get("start-row", 0)), int(cell.get("start-col", 0))
        last = int(cell.get("end-row", row)), int(cell.get("end-col", column))
        placed.append((row, column, *last, cell.findtext("content") or ""))
    height = max((bottom for _, _, bottom, _, _ in placed), default=-1) + 1
    width = max((right for _, _, _, right, _ in placed), default=-1) + 1
    grid: Grid = [[(-1, "")] * width for _ in range(height)]
    for number, (row, column, bottom, right, text) in enumerate(placed):
        for at in range(row, bottom + 1):
            grid[at][column : right + 1] = [(number, text)] * (right + 1 - column)
    return grid


def _html_rows(table: str) -> Iterator[list[tuple[str, str]]]:
    for row in re.split(r"<tr[^>]*>", table, flags=re.IGNORECASE)[1:]:
        yield [(found[1], plain_text(found[2])) for found in _CELL.finditer(row)]


def _html_lines(found: re.Match[str]) -> str:
    return "\n".join(" \t ".join(text for _, text in row) for row in _html_rows(found[0]))


def _html_grid(table: str) -> Grid:
    taken = dict[tuple[int, int], tuple[int, str]]()
    number = 0
    for at, row in enumerate(_html_rows(table)):
        column = 0
        for attributes, text in row:
            spans = {kind.lower(): int(size) for kind, size in _SPAN.findall(attributes)}
            while (at, column) in taken:
                column += 1
            for down in range(min(spans.get("row", 1), 100)):
                for right in range(min(spans.get("col", 1), 100)):
                    taken[at + down, column + right] = (number, text)
            number += 1
    width = max((column for _, column in taken), default=-1) + 1
    height = max((row for row, _ in taken), default=-1) + 1
    return [
        [taken.get((row, column), (-1, "")) for column in range(width)] for row in range(height)
    ]
