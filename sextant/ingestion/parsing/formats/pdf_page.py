"""Read the lines of text on a PDF page with their look, and the places of their words."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise

import pypdfium2 as pdfium
from msgspec.structs import replace
from pypdfium2 import raw

from sextant.ingestion.parsing.blocks import Paragraph, TextKind, Word
from sextant.ingestion.parsing.formats.pdf_characters import (
    MARKS,
    Characters,
    angle_of_text,
    find_letter,
    is_invisible,
    turn_page,
)
from sextant.ingestion.parsing.formats.pdf_drawings import (
    Drawings,
    find_ticks,
    is_written_over,
    read_notes,
)
from sextant.ingestion.parsing.formats.pdf_lines import (
    BACK,
    BOXED,
    FILLER,
    SMALL,
    PdfBox,
    PdfLine,
    PdfWord,
    Shift,
    TextRun,
    WordSpan,
    contains,
    find_shift,
    find_shiftable,
    insert_fields,
    join_pieces,
    level_size,
    usual_size,
    words_of,
)

_WORD = re.compile(r"\S+")
_LEFTWARD = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufeff]")  # Hebrew, Arabic
_LEADER = re.compile(r"[.…·．_]{3,}|-{4,}|[.…·]")  # three dashes may stand for a missing value
_SPACE, _MONO_SPACE = 0.55, 1.0  # in sizes of letters: the gap between words of one phrase at most
_GAP = 1.5  # in sizes of letters: one that no justified line has
_UNPRINTABLE = 0.02  # of the characters, at most
# `ThaŶk`, `caլſes`: fonts that name glyphs by numbers have capitals or a letter of another alphabet behind small letters.
_SMALL_LETTERS = "".join(filter(str.islower, map(chr, range(0x61, 0x250))))
_CAPITALS = "".join(filter(str.isupper, map(chr, range(0x100, 0x250))))
_MISNAMED = re.compile(f"[{_SMALL_LETTERS}](?:[{_CAPITALS}]|[\u0530-\u1cff](?=[{_SMALL_LETTERS}]))")
_FEW_MISNAMED, _MOST_MISNAMED = 2, 0.1  # letters; of the words
_TURN = 0.02  # the slope of letters that do not stand upright
# Of the letters' size, or a box to be ticked: what is below the line on which they stand.
_DESCENT = 0.2
_TALL = 5.0  # times as high as its letters are wide: a word of narrow letters, or of a font with a wrong height
# PDFium puts a mark in place of a hyphen at a line's end, and leaves the line break out.
_LINE_END = re.compile("\r\n|\r|\n|(?<=[\x02\ufffe])")


class Page:
    """One page (counted from 1), to be read and closed before the next is opened."""

    def __init__(self, document: pdfium.PdfDocument, number: int) -> None:
        self.number = number
        self._page = document[number - 1]
        self._drawn: int | None = None
        self._has_leftward = False
        self._ticks = list[tuple[str, PdfBox]]()  # boxes to be ticked, however they are drawn
        self.unmapped = 0  # characters of which the file does not say what they mean
        self.filled = ""  # what its form fields hold
        self.unseen = ""  # text beside the part of the page that is shown
        if is_written_over(self._page):
            self._ticks += () if self._page.get_rotation() else find_ticks(document, self._page)
            # Form fields and free text are flattened into the page, behind all other text.
            with closing(self._page.get_textpage()) as text:
                self._drawn = text.count_chars()
            raw.FPDFPage_Flatten(self._page, raw.FLAT_NORMALDISPLAY)
            self._page.close()
            self._page = document[number - 1]
        if angle := self._page.get_rotation():
            self._turn_upright(document, angle)
        self._text = self._page.get_textpage()
        self._sideways = angle_of_text(self._text)  # shown so, but read upright
        if self._sideways:
            self._text.close()
            self._turn_upright(document, self._sideways)
            self._text = self._page.get_textpage()
        shown = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(self._page, shown)
        self._left, self._top = shown.left, shown.top
        self._size = (shown.right - shown.left) or 1.0, (shown.top - shown.bottom) or 1.0
        self.text: str = self._text.get_text_range()
        self.notes = [*self._notes()]
        self._chars = Characters(self._text)
        self._is_recognised = is_invisible(self._text)
        self._spans, self._starts = list[WordSpan](), list[int]()  # of each word
        self._unspaced = list[int]()  # characters before which a blank is missing
        self._shiftable = list[int]()  # characters that may be raised or lowered
        self._shown_starts, self._shown = list[int](), list[Word]()
        self._words_of = dict[PdfLine, list[PdfWord]]()
        self.drawings = Drawings(self._page, number)

    def _notes(self) -> Iterator[Paragraph]:
        """Yield the texts of annotations that the page does not show anyway."""
        shown = "".join(self.text.split())
        for note, box in read_notes(self._page):
            if "".join(note.split()) not in shown:
                sides = self._to_shares(box.left, box.top, box.right, box.bottom)
                words = [Word(word, self.number, *sides) for word in note.split()]
                yield Paragraph(note, self.number, words, TextKind.NOTE)

    def _to_shares(
        self, left: float, top: float, right: float, bottom: float
    ) -> tuple[float, float, float, float]:
        """Return the left, upper, right and lower side of a box in points, in shares of the page as it is shown."""
        x, y, (width, height) = self._left, self._top, self._size
        x0, x1 = (left - x) / width, (right - x) / width
        y0, y1 = (y - top) / height, (y - bottom) / height
        if not self._sideways:
            return x0, y0, x1, y1
        # A page that was turned to be read: where the box stands on the page as it is shown.
        return (y0, 1 - x1, y1, 1 - x0) if self._sideways == 90 else (1 - y1, x0, 1 - y0, x1)

    def _turn_upright(self, document: pdfium.PdfDocument, angle: int) -> None:
        turn_page(self._page, angle)
        self._page.close()
        self._page = document[self.number - 1]

    @property
    def frame(self) -> PdfBox:
        """Return the part of the page that is shown."""
        width, height = self._size
        return PdfBox(self._left, self._top - height, self._left + width, self._top)

    def close(self) -> None:
        """Give PDFium's memory back."""
        self._text.close()
        self._page.close()

    def lines(self) -> list[PdfLine]:
        """Return its lines in the order in which the file draws them, cut at wide gaps."""
        text = self._characters()
        plain, first = text.translate(MARKS), 0
        self._has_leftward = _LEFTWARD.search(text) is not None
        self._find_words(text, plain)
        self._shiftable = find_shiftable(plain, self._starts, self._spans)
        pieces = list[PdfLine]()
        for end in [*(found.start() for found in _LINE_END.finditer(text)), len(text)]:
            last = bisect_left(self._starts, end)
            pieces += self._pieces(plain, first, last)
            first = last
        is_kept = self._is_recognised  # OCR's text may lie beside its scan
        seen = [piece for piece in pieces if is_kept or words_of([piece])] or pieces
        self.unseen = " ".join(piece.text for piece in set(pieces).difference(seen))
        if self._is_recognised:
            usual = usual_size(seen)
            seen = [replace(piece, size=level_size(piece.size, usual)) for piece in seen]
        drawn = len(text) if self._drawn is None else self._drawn
        lines = [line for line in seen if line.runs[0].start < drawn]
        fields = [line for line in seen if line.runs[0].start >= drawn]
        ticks = [self._tick(len(text) + at, *tick) for at, tick in enumerate(self._ticks)]
        fields = [
            one for one in fields if not any(contains(box, one.box) for _, box in self._ticks)
        ]
        self.filled = " ".join(line.text for line in fields)
        return insert_fields(join_pieces(lines), [*join_pieces(fields), *ticks])

    def is_readable(self, lines: Sequence[PdfLine]) -> bool:
        """Return whether the characters of the lines can be mapped to Unicode.

        PDFium takes unmapped codes for characters; among wrong characters some are always unprintable.
        """
        unknown = sum(
            raw.FPDFText_HasUnicodeMapError(self._text, (run.start + run.end) // 2) == 1
            for run in (line.runs[0] for line in lines)
        )
        if 2 * unknown <= len(lines):
            return True
        text = "".join(run.text for line in lines for run in line.runs)
        return sum(not char.isprintable() for char in text) <= _UNPRINTABLE * len(text)

    def count_misnamed(self) -> int:
        """Return how many letters inside of words are of other alphabets, if they are too many to be meant; else 0."""
        found = len(_MISNAMED.findall(self.text))
        return found if found > max(_FEW_MISNAMED, _MOST_MISNAMED * len(self._starts)) else 0

    def characters(self, line: PdfLine) -> Iterator[tuple[str, float, float, Sequence[Word]]]:
        """Yield each character of a line with the middle of its box, and the word that begins with it.

        Blanks have no box of their own.
        """
        for run in line.runs:
            if run.space:
                yield " ", math.nan, math.nan, ()
            if run.shift is not Shift.NONE:
                yield run.shift.write(run.text), *self._middle(run.start), run.words
                continue
            for index, char in enumerate(run.text, run.start):
                if char.isspace():
                    yield char, math.nan, math.nan, ()
                else:
                    yield char, *self._middle(index), self._words_in(index, index + 1)

    def words(self, line: PdfLine) -> list[PdfWord]:
        """Return the words of a line with their places; raised and lowered characters belong to the word they touch."""
        if line in self._words_of:
            return self._words_of[line]
        words, space = list[PdfWord](), (_MONO_SPACE if line.mono else _SPACE) * line.size
        for run in line.runs:
            for at, found in enumerate(_WORD.finditer(run.text)):
                start, end = run.start + found.start(), run.start + found.end()
                left, behind, right, *_ = self._spans[bisect_left(self._starts, start)]
                if behind != end:  # ideographs, or a word that a mark cuts
                    left, right = self._box(start).left, self._box(end - 1).right
                shown = self._words_in(start, end)
                text = run.shift.write(found[0])
                if words and not at and not run.space and not run.text[0].isspace():
                    before = words[-1]
                    words[-1] = replace(
                        before, text=before.text + text, right=right, shown=[*before.shown, *shown]
                    )
                else:
                    words.append(PdfWord(text, left, right, line.base, line.size, space, shown))
        self._words_of[line] = [word for word in words if not _LEADER.fullmatch(word.text)]
        return self._words_of[line]

    def _middle(self, index: int) -> tuple[float, float]:
        box = self._box(index)
        return box.x, box.y

    def _characters(self) -> str:
        count = self._text.count_chars()
        text = self.text
        if len(text) != count:  # surrogates or unmapped glyphs: indices would drift
            codes = (raw.FPDFText_GetUnicode(self._text, index) for index in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else "\uffff" for code in codes)
            self.unmapped = text.count("\uffff")
        signs = self._chars.read_signs(text, [box for _, box in self._ticks])
        if (composed := self._chars.compose_accents(signs)) != text:
            self.text = composed
        return composed

    def _find_words(self, text: str, plain: str) -> None:
        """Note the place and the box of each word."""
        number, find_sides = self.number, self._chars.find_sides
        for start, end in self._word_spans(text):
            left, high, right, low, left2, high2, right2, low2 = find_sides(start, end - 1)
            left = left if left < left2 else left2
            right = right if right > right2 else right2
            if high - low > _TALL * (right - left) / (end - start):
                high, low = self._letter_height(start, high, low)
                high2, low2 = self._letter_height(end - 1, high2, low2)
            bottom = low if low < low2 else low2
            top = high if high > high2 else high2
            self._starts.append(start)
            self._spans.append((left, end, right, low, high, low2, high2))
            x0, y0, x1, y1 = self._to_shares(left, top, right, bottom)
            if x0 < 1 and y0 < 1 and x1 > 0 and y1 > 0:
                self._shown_starts.append(start)
                word = plain[start:end].replace(FILLER, "")
                self._shown.append(Word(word, number, x0, y0, x1, y1))
        self._spans.append((0.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0))  # behind the last word

    def _letter_height(self, index: int, high: float, low: float) -> tuple[float, float]:
        """Return the upper and lower side of a character, of its size where its font claims to be far higher."""
        size, slope = self._chars.look(index)
        if slope > _TURN or high - low <= 2 * size:
            return high, low
        base = self._chars.base(index)
        return base + size, base - _DESCENT * size

    def _word_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the first character of each word and the one behind it."""
        is_sure = self._is_recognised or self._chars.has_own_blanks(text)
        for found in BOXED.finditer(text):
            start, end = found.span()
            gaps = [] if is_sure else self._chars.find_gaps(found[0], start)
            self._unspaced += gaps
            yield from pairwise([start, *gaps, end])

    def _words_in(self, start: int, end: int) -> Sequence[Word]:
        """Return the words that begin within these characters."""
        starts = self._shown_starts
        return self._shown[bisect_left(starts, start) : bisect_left(starts, end)]

    def _tick(self, index: int, tick: str, box: PdfBox) -> PdfLine:
        """Return a box to be ticked as a line whose character follows those of the page."""
        word = Word(tick, self.number, *self._to_shares(box.left, box.top, box.right, box.bottom))
        runs = (TextRun(index, index + 1, tick, words=(word,)),)
        base = box.bottom + _DESCENT * box.height
        return PdfLine(self.number, box, box.height, base, runs)

    def _pieces(self, text: str, first: int, last: int) -> Iterator[PdfLine]:
        """Yield the parts of a line of PDFium, cut at gaps wider than those between words."""
        if first == last:
            return
        letter, look = self._look_of_words(text, first, last)
        size, slope = look
        widest, back = _GAP * size, -BACK * size
        start, end = self._starts[first], self._spans[last - 1][1]
        is_rightward = slope <= _TURN and not self._is_leftward(text, start, end)
        cuts = [
            at
            for at in (range(first + 1, last) if is_rightward and not self._is_recognised else ())
            if not back <= self._spans[at][0] - self._spans[at - 1][2] <= widest
        ]
        if not cuts:
            yield self._piece(text, first, last, letter, look)
            return
        for begin, end in pairwise([first, *cuts, last]):
            yield self._piece(text, begin, end, *self._look_of_words(text, begin, end))

    def _look_of_words(self, text: str, first: int, last: int) -> tuple[int, tuple[float, float]]:
        """Return the letter whose look stands for some words, and that look."""
        start, (_, behind, _, low, high, low2, high2) = self._starts[first], self._spans[first]
        # The mark of a note at the beginning of a word is lower than the word's last character.
        if text[start].isalnum() and high - low < SMALL * (high2 - low2):
            start = behind - 1
        letter = find_letter(text, start, self._spans[last - 1][1])
        return letter, self._chars.look(letter)

    def _piece(
        self, text: str, first: int, last: int, letter: int, look: tuple[float, float]
    ) -> PdfLine:
        left, _, right, low, high, *_ = self._spans[first]
        left2, end, right2, *_, low2, high2 = self._spans[last - 1]
        start = self._starts[first]
        size, slope = look
        base, is_turned = self._chars.base(letter), slope > _TURN
        is_rightward = not (is_turned or self._is_leftward(text, start, end))
        is_bold, is_mono = (False, False) if self._is_recognised else self._chars.weight(letter)
        if is_rightward and not self._is_recognised:
            runs = tuple(self._runs(text, start, end, size, base))
        else:
            runs = (TextRun(start, end, text[start:end], words=self._words_in(start, end)),)
        return PdfLine(
            self.number,
            PdfBox(min(left, left2), min(low, low2), max(right, right2), max(high, high2)),
            size,
            base,
            runs,
            bold=is_bold and self._chars.are_bold(text, start, end),
            mono=is_mono,
            slanted=is_turned and slope < 1 / _TURN,
            rightward=is_rightward,
        )

    def _runs(self, text: str, start: int, end: int, size: float, base: float) -> Iterator[TextRun]:
        """Yield runs of characters, split where figures and signs are raised or lowered."""
        at, places = start, self._shiftable
        for index in places[bisect_left(places, start) : bisect_left(places, end)]:
            if (
                index < at
                or self._chars.base(index) == base
                or not self._chars.is_small(index, size)
            ):
                continue
            first = last = index
            while last < end and not text[last].isspace() and self._chars.is_small(last, size):
                last += 1
            while (
                first > at
                and not text[first - 1].isspace()
                and self._chars.is_small(first - 1, size)
            ):
                first -= 1
            shift = find_shift(self._chars.base(first) - base, size)
            if shift is not Shift.NONE:
                yield from self._plain(text, at, first)
                words = self._words_in(first, last)
                yield TextRun(first, last, text[first:last], shift, words=words)
                at = last
        yield from self._plain(text, at, end)

    def _plain(self, text: str, start: int, end: int) -> Iterator[TextRun]:
        words = text[start:end].strip()
        if words:
            first = text.index(words, start)
            last, places = first + len(words), self._unspaced
            gaps = places[bisect_right(places, first) : bisect_left(places, last)]
            for begin, behind in pairwise([first, *gaps, last]):
                shown = self._words_in(begin, behind)
                yield TextRun(begin, behind, text[begin:behind], space=begin > start, words=shown)

    def _is_leftward(self, text: str, start: int, end: int) -> bool:
        return self._has_leftward and _LEFTWARD.search(text, start, end) is not None

    def _box(self, index: int) -> PdfBox:
        ticks = self._ticks[max(index - self._text.count_chars(), 0) :]
        return self._chars.box(index) or (ticks[0][1] if ticks else PdfBox(0, 0, 0, 0))
