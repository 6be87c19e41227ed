"""Which paragraphs of a PDF are headings: by its outline, or by their look and numbers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import HeadingBlock
from sextant.ingestion.parsing.formats.pdf_layout import PageParagraph, Region
from sextant.ingestion.parsing.headings import Styled, infer_levels
from sextant.ingestion.parsing.numbering import could_be_heading

# An outline often leaves a heading's number out: up to so many characters more on the page.
_NUMBER_CHARS = 12
_FORM_LINES = 3  # at least, of a page that is a form
_ALIKE = 0.75  # of them, in the same places on both pages
_FILLED_IN = re.compile(r"(?<=[：:]).*|\d[\d.,]*")


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the file's outline: title, level from 1, page from 1, height on that page."""

    title: str
    level: int
    page: int
    top: float


Marked = HeadingBlock | Region


def mark_inferred(regions: Sequence[Region]) -> list[Marked]:
    """Replace paragraphs that look like headings."""
    return [
        _heading(region, level, HeadingSource.INFERRED)
        if level is not None and isinstance(region, PageParagraph)
        else region
        for region, level in zip(regions, _levels(regions), strict=True)
    ]


def mark_records(marked: Sequence[Marked]) -> list[Marked]:
    """Make a heading of the first line of each page that is a form like the page beside it: a payslip, a receipt.

    Such pages say the same in the same places but for what is filled in; what one says holds for it alone.
    """
    pages = [(page, list(found)) for page, found in groupby(marked, _page)]
    forms = {page: _form(regions) for page, regions in pages}
    with_records = list[Marked]()
    for page, regions in pages:
        first, form = regions[0], forms[page]
        beside = (forms.get(page - 1, frozenset()), forms.get(page + 1, frozenset()))
        is_record = any(len(form & other) >= _ALIKE * len(form) for other in beside)
        if form and is_record and isinstance(first, PageParagraph):
            title, rest = PageParagraph(first.lines[:1]), replace(first, lines=first.lines[1:])
            with_records.append(_heading(title, 1, HeadingSource.INFERRED))
            regions[:1] = [rest] if rest.lines else []
        with_records += regions
    return with_records


def _form(regions: Sequence[Marked]) -> frozenset[tuple[int, int, str]]:
    """Return what a page says and where, without what is filled in; nothing of a page whose first line is no line by itself."""
    paragraphs = [region for region in regions if isinstance(region, PageParagraph)]
    lines = [line for paragraph in paragraphs for line in paragraph.lines]
    if len(lines) < _FORM_LINES or len(paragraphs) < len(regions):
        return frozenset()
    title = paragraphs[0].text().split("\n")[0]
    if title != lines[0].text or not could_be_heading(title):
        return frozenset()
    return frozenset(
        (round(line.box.left), round(line.base), _FILLED_IN.sub("", line.text)) for line in lines
    )


def mark_outline(regions: Sequence[Region], outline: Sequence[OutlineEntry]) -> list[Marked]:
    """Replace the paragraphs that the outline names.

    An entry whose words are not on its page gets a heading of its own where it points to. A title
    line at the very beginning stays one though no outline lists it.
    """
    marked: list[Marked] = list(regions)
    if regions and isinstance(regions[0], PageParagraph) and _levels(regions)[0] == 0:
        marked[0] = _heading(regions[0], 0, HeadingSource.INFERRED)
    start = 0
    for entry in outline:
        start = _mark_entry(marked, entry, start)
    return marked


def _mark_entry(marked: list[Marked], entry: OutlineEntry, start: int) -> int:
    """Mark one entry at or after `start`; returns where the next one is looked for."""
    title = _squash(entry.title)
    place = len(marked)
    for index in range(start, len(marked)):
        region = marked[index]
        if _page(region) > entry.page:
            place = min(place, index)
            break
        if _page(region) < entry.page or not isinstance(region, PageParagraph):
            continue
        if count := _matching_lines(region, title):
            heading = _heading(
                PageParagraph(region.lines[:count]), entry.level, HeadingSource.OUTLINE
            )
            rest = region.lines[count:]
            marked[index : index + 1] = [heading, PageParagraph(rest)] if rest else [heading]
            return index + 1
        if region.first.box.bottom <= entry.top:
            place = min(place, index)
    marked.insert(place, HeadingBlock(entry.title, entry.level, HeadingSource.OUTLINE, entry.page))
    return place + 1


def _matching_lines(paragraph: PageParagraph, title: str) -> int:
    """Return how many of a paragraph's first lines are the title, with or without its number; 0: none."""
    text = ""
    for count, line in enumerate(paragraph.lines[:4], start=1):
        text += _squash(line.text)
        if text == title or (text.endswith(title) and len(text) <= len(title) + _NUMBER_CHARS):
            return count
    return 0


def _squash(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _page(region: Marked) -> int:
    if isinstance(region, PageParagraph):
        return region.first.page
    return region.page or 0


def _levels(regions: Sequence[Region]) -> list[int | None]:
    nothing = Styled("")
    return infer_levels(
        [region.styled() if isinstance(region, PageParagraph) else nothing for region in regions]
    )


def _heading(paragraph: PageParagraph, level: int, source: HeadingSource) -> HeadingBlock:
    return HeadingBlock(paragraph.text(), level, source, paragraph.first.page)
