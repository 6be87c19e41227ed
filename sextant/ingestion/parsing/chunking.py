"""Cut a structured document into retrieval units.

Promises: a chunk lies in one section; chunks come in order and do not overlap; every character
that is not blank and not part of a heading is in exactly one chunk; prose ends at a sentence where
the text has sentences; a table is never mixed with prose; a line that ends in a colon is not parted from
what it introduces, and a list of some lines goes with it. A heading is in its section's path, not in a chunk, except that a section with nothing
but a heading gives a chunk of it (a title slide). What OCR read is never mixed with other text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from sextant.domain.documents import Modality
from sextant.ingestion.parsing.lines import starts_item
from sextant.ingestion.parsing.structure import Piece, Structure, TextSpan
from sextant.text.characters import estimate_tokens
from sextant.text.sentences import sentence_spans

_CAPTION = re.compile(
    r"(?:附?表格?|table)\s*[\dA-Z一二三四五六七八九十]|.*[^。.!?！？\s]\s*$", re.I | re.S
)
_CAPTION_CHARS = 120
_BLANKS = re.compile(r"\s*")
_PAUSE = re.compile(r"[，、；：,;:]+[”’」』）)]*|\s+")
_INTRODUCES = re.compile(r"[:：]\W{0,4}$")


@dataclass(frozen=True, slots=True)
class Cut:
    """A chunk by offset, before it has an id. `context` is a table's header for later rows."""

    section: int
    start: int
    end: int
    page: int | None
    tokens: int
    modality: Modality = Modality.TEXT
    context: str = ""


def cut_chunks(structure: Structure, max_tokens: int) -> list[Cut]:
    """Return chunks of at most `max_tokens` estimated tokens (see `sextant.text.characters.estimate_tokens`)."""
    cutter = _Cutter(structure.text, max_tokens)
    # A short paragraph above a table is its caption, unit or period, but no sentence.
    pieces: list[Piece] = []
    for piece in structure.pieces:
        above = pieces[-1] if pieces else None
        is_text = above and not (above.rows or above.is_image or above.by_ocr != piece.by_ocr)
        is_near = above and is_text and piece.rows and above.section == piece.section
        text = structure.text[above.span.start : above.span.end] if above and is_near else ""
        if above and text and len(text) <= _CAPTION_CHARS and _CAPTION.match(text):
            start, (first, *others) = above.span.start, piece.rows
            rows = (TextSpan(start, first.end), *others)
            pieces[-1] = replace(piece, span=TextSpan(start, piece.span.end), rows=rows)
        else:
            pieces.append(piece)
    occupied = {piece.section for piece in pieces}
    occupied.update(section.parent for section in structure.sections if section.parent is not None)
    for index, section in enumerate(structure.sections):
        if index not in occupied and section.heading.start < section.heading.end:
            by_ocr = section.page in structure.ocr_pages
            pieces.append(Piece(index, section.heading, section.page, by_ocr=by_ocr))
    pieces.sort(key=lambda piece: piece.span.start)
    cuts: list[Cut] = []
    for (_, is_table, is_image, by_ocr), group in groupby(
        pieces, key=lambda piece: (piece.section, bool(piece.rows), piece.is_image, piece.by_ocr)
    ):
        if is_image:
            for image in group:
                cuts.extend(cutter.prose([image], Modality.SCAN if by_ocr else Modality.IMAGE))
        elif is_table:
            for table in group:
                cuts.extend(cutter.table(table))
        else:
            cuts.extend(cutter.prose(list(group), Modality.SCAN if by_ocr else Modality.TEXT))
    return cuts


@dataclass(frozen=True, slots=True)
class _Atom:
    """The smallest part that packing moves: a paragraph or row, or a part of one too long.

    `introduces`: it says little without the next one. `is_item`: it goes on a list.
    """

    span: TextSpan
    page: int | None
    tokens: int
    introduces: bool
    is_item: bool


class _Cutter:
    def __init__(self, text: str, max_tokens: int) -> None:
        self._text = text
        self._max_tokens = max_tokens

    def prose(self, pieces: Sequence[Piece], modality: Modality = Modality.TEXT) -> Iterator[Cut]:
        """Pack neighbouring paragraphs of one section."""
        atoms = [
            atom
            for piece in pieces
            for atom in self._atoms(piece.span, piece.page, self._max_tokens)
        ]
        for pack in _pack(atoms, self._max_tokens):
            yield self._cut(pieces[0].section, pack, modality)

    def table(self, table: Piece) -> Iterator[Cut]:
        """Pack rows; all but the first chunk carry the header rows as context.

        A header of more than half a chunk is not repeated: it would leave the rows no room.
        """
        rows = table.rows
        header = ""
        if 0 < table.header_lines < len(rows):
            header = self._text[rows[0].start : rows[table.header_lines - 1].end]
            rows = (
                TextSpan(rows[0].start, rows[table.header_lines].end),
                *rows[table.header_lines + 1 :],
            )
        header_tokens = estimate_tokens(header)
        if header_tokens > self._max_tokens / 2:
            header, header_tokens = "", 0
        budget = self._max_tokens - header_tokens
        modality = Modality.SCANNED_TABLE if table.by_ocr else Modality.TABLE
        atoms = [atom for row in rows for atom in self._atoms(row, table.page, budget)]
        for index, pack in enumerate(_pack(atoms, budget)):
            yield self._cut(table.section, pack, modality, header if index else "")

    def _cut(
        self,
        section: int,
        pack: Sequence[_Atom],
        modality: Modality = Modality.TEXT,
        context: str = "",
    ) -> Cut:
        tokens = sum(atom.tokens for atom in pack) + estimate_tokens(context)
        start, end = pack[0].span.start, pack[-1].span.end
        return Cut(section, start, end, pack[0].page, tokens, modality, context)

    def _atoms(self, span: TextSpan, page: int | None, budget: int) -> list[_Atom]:
        text = self._text[span.start : span.end]
        whole = self._atom(span, page)
        if whole.tokens <= budget:
            return [whole]
        return [
            self._atom(TextSpan(span.start + part.start, span.start + part.end), page)
            for part in _split(text, max(1, budget))
        ]

    def _atom(self, span: TextSpan, page: int | None) -> _Atom:
        text = self._text[span.start : span.end]
        introduces = _INTRODUCES.search(text[-5:]) is not None
        return _Atom(span, page, estimate_tokens(text), introduces, starts_item(text))


def _pack(atoms: Sequence[_Atom], budget: int) -> Iterator[list[_Atom]]:
    """Yield groups of atoms that fit into a chunk; a list that would be cut is moved whole, with its introduction, if it fits."""
    pack: list[_Atom] = []
    filled = 0
    for atom in atoms:
        if pack and filled + atom.tokens > budget:
            start = _list_start(pack, atom)
            carried = sum(one.tokens for one in pack[start:])
            if not start or carried + atom.tokens > budget:
                start, carried = len(pack), 0
            yield pack[:start]
            pack, filled = pack[start:], carried
        pack.append(atom)
        filled += atom.tokens
    if pack:
        yield pack


def _list_start(pack: Sequence[_Atom], following: _Atom) -> int:
    """Return the index of the introduction of the list that continues behind the pack; the pack's length if there is none."""
    for at in reversed(range(len(pack))):
        if pack[at].introduces:
            return at
        if not (pack[at].is_item and following.is_item):
            break
    return len(pack)


def _split(text: str, budget: int) -> Iterator[TextSpan]:
    """Cut a text into sentences, and a sentence that is too long at its last comma or space."""
    for begin, end in sentence_spans(text):
        start = begin
        while start < end:
            # A letter is a fifth of a token, so what fits lies within this window.
            window = text[start : min(end, start + budget * 5)]
            length = len(window) if estimate_tokens(window) <= budget else _fitting(window, budget)
            yield TextSpan(start, start + len(window[:length].rstrip()))
            blanks = _BLANKS.match(text, start + length, end)
            start = blanks.end() if blanks else end


def _fitting(text: str, budget: int) -> int:
    """Return the length of the longest beginning of `text` within `budget` tokens, at a pause if it has one."""
    fitting = bisect_right(
        range(1, len(text)), budget, key=lambda length: estimate_tokens(text[:length])
    )
    pauses = [pause.end() for pause in _PAUSE.finditer(text, fitting // 2, max(fitting, 1))]
    return pauses[-1] if pauses else max(fitting, 1)
