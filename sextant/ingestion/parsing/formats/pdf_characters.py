"""Read the box, size, weight and direction of characters on a PDF page."""

from __future__ import annotations

import ctypes
import math
import re
import struct
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from operator import sub
from statistics import median
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw

from sextant.ingestion.parsing.formats.pdf_lines import FILLER, SMALL, PdfBox, contains
from sextant.ingestion.parsing.formats.stories import DINGS, read_symbol
from sextant.ingestion.parsing.lines import is_monospaced

_BOLD_WEIGHT = 600  # semi-bold, of OpenType's weight classes
_BOLD_NAMES = ("bold", "black", "heavy", "simhei", "黑体")
_LETTER = re.compile(r"[^\W\d_]")
_ASKED = 20  # characters of a page
_BLANK_CHARACTER = re.compile("(?<=[a-z]) (?=[a-z])")
_NAME_BYTES = 128
# Accents that old fonts have as characters of their own, drawn over a letter, and as Unicode combines them.
_ACCENTS = dict(
    zip(
        "`´ˆ˜¯˘˙¨˚˝ˇ¸˛",
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328",
        strict=True,
    )
)
_ACCENT = re.compile(f"[{''.join(_ACCENTS)}]")
_DOTTED = {"ı": "i", "ȷ": "j"}
# Of a symbol font, perhaps.
_SIGN = re.compile(r"[\uf020-\uf0ff☐□❑]|(?<!\S)[A-Za-z\xa1-\xff](?!\S)")
# Fonts draw one glyph for an ideograph and for a radical of its shape, and many files name the radical: ⾒積, ⻛险.
_RADICALS = "⺟⺠⺩⺼⻁⻄⻅⻆⻉⻊⻋⻑⻓⻔⻗⻘⻙⻚⻛⻜⻝⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳"
_IDEOGRAPHS = "母民王月虎西见角贝足车長长门雨青韦页风飞食首马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟"
# PDFium puts a mark in place of a hyphen at a line's end, and another in place of what has no meaning.
MARKS = str.maketrans(
    {"\x02": "-", "\ufffe": "-", "\uffff": "\ufffd"}
    | {
        chr(radical): unicodedata.normalize("NFKC", chr(radical))
        for radical in range(0x2F00, 0x2FD6)
    }
    | dict(zip(_RADICALS, _IDEOGRAPHS, strict=True))
)


def bind(function: object, result: type = ctypes.c_int) -> Callable[..., Any]:
    """Bind a function of PDFium without conversion of arguments and with the interpreter's lock kept: three times as fast."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
    return ctypes.PYFUNCTYPE(result)(address)


_loose_box = bind(raw.FPDFText_GetLooseCharBox)
_font_size = bind(raw.FPDFText_GetFontSize, ctypes.c_double)
_font_weight = bind(raw.FPDFText_GetFontWeight)
_font_info = bind(raw.FPDFText_GetFontInfo)
_matrix_of = bind(raw.FPDFText_GetMatrix)
_origin_of = bind(raw.FPDFText_GetCharOrigin)
_two_boxes = struct.Struct("8f").unpack_from
_FEWEST, _MOST = 5, 64  # letters of a word in which blanks may be missing
_boxes_of_word = struct.Struct(f"{4 * _MOST}f").unpack_from
_BLANK = 0.12  # of the letters' size: a gap where a blank is meant, at least
_EVEN = 0.5  # of that gap: the usual one between letters of the same word, at most


class Characters:
    """The characters of a page by their index, as long as its text is open."""

    def __init__(self, text: pdfium.PdfTextPage) -> None:
        self._text = text.raw
        self._boxes, self._matrix = (raw.FS_RECTF * 2)(), raw.FS_MATRIX()
        self._first = ctypes.byref(self._boxes)
        self._second = ctypes.byref(self._boxes, ctypes.sizeof(raw.FS_RECTF))
        self._word = (raw.FS_RECTF * _MOST)()
        size = ctypes.sizeof(raw.FS_RECTF)
        self._letters = [ctypes.byref(self._word, at * size) for at in range(_MOST)]
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name = ctypes.create_string_buffer(_NAME_BYTES)

    def find_sides(self, first: int, last: int) -> tuple[float, ...]:
        """Return the left, upper, right and lower side of two characters; with hardly a call, as pages have many."""
        _loose_box(self._text, first, self._first)
        _loose_box(self._text, last, self._second)
        return _two_boxes(self._boxes)

    def has_own_blanks(self, text: str) -> bool:
        """Return whether a page has all of its blanks as characters, so that PDFium needs to find none."""
        blanks = [found.start() for found in _BLANK_CHARACTER.finditer(text)]
        sample = blanks[:: max(len(blanks) // _ASKED, 1)]
        return not any(raw.FPDFText_IsGenerated(self._text, at) == 1 for at in sample)

    def find_gaps(self, word: str, start: int) -> list[int]:
        """Return the letters of a word before which a blank is missing, as PDFium overlooks narrow ones.

        Text that is set wide has gaps everywhere, and they mean nothing.
        """
        count = len(word)
        if not _FEWEST <= count <= _MOST:
            return []
        page, read = self._text, _loose_box
        for at, letter in enumerate(self._letters[:count], start):
            read(page, at, letter)
        sides = _boxes_of_word(self._word)
        gaps = [*map(sub, sides[4 : 4 * count : 4], sides[2 : 4 * count : 4])]
        widest = max(gaps)
        if widest < _BLANK * (sides[1] - sides[3]) / 2:  # as nearly always
            return []
        least = _BLANK * self.look(start)[0]
        if abs(median(gaps)) > min(least, _EVEN * widest):
            return []
        return [
            start + at + 1
            for at, gap in enumerate(gaps)
            if gap >= least and word[at].isalpha() and word[at + 1].isalpha()
        ]

    def box(self, index: int) -> PdfBox | None:
        """Return where a character stands."""
        if not _loose_box(self._text, index, self._first):
            return None
        box = self._boxes[0]
        return PdfBox(box.left, box.bottom, box.right, box.top)

    def read_signs(self, text: str, ticks: Sequence[PdfBox] = ()) -> str:
        """Return a page's text with the boxes, ticks and bullets that fonts like Wingdings draw for letters.

        Boxes to be ticked that are drawn below a form field, one of `ticks`, are no part of it.
        """

        def read(found: re.Match[str]) -> str:
            sign = self._sign(found[0], found.start())
            box = self.box(found.start()) if ticks and sign in "☐□❑" else None
            return " " if box and any(contains(tick, box) for tick in ticks) else sign

        return _SIGN.sub(read, text)

    def _sign(self, char: str, index: int) -> str:
        font = self._font(index).rpartition("+")[2]
        is_symbol = char >= "\uf020" and font.startswith(("Symbol", "KingsoftSign"))
        sign = read_symbol(ord(char), font) if is_symbol or DINGS.match(font) else ""
        return sign if len(sign) == 1 else char

    def compose_accents(self, text: str) -> str:
        """Return a page's text with the accents that are drawn over letters as parts of these: `ä` for `a¨`."""
        chars = list(text)
        for found in _ACCENT.finditer(text):
            accent = found.start()
            for letter in (accent + 1, accent - 1):
                base = text[letter : letter + 1] if letter >= 0 else ""
                both = unicodedata.normalize("NFC", _DOTTED.get(base, base) + _ACCENTS[found[0]])
                if base.isalpha() and len(both) == 1 and self._is_over(accent, letter):
                    chars[accent], chars[letter] = FILLER, both
                    break
        return "".join(chars)

    def _is_over(self, accent: int, letter: int) -> bool:
        above, below = self.box(accent), self.box(letter)
        return (
            above is not None
            and below is not None
            and contains(below, above)  # in upright text, too
        )

    def base(self, index: int) -> float:
        """Return the height at which a character stands."""
        _origin_of(self._text, index, ctypes.byref(self._x), ctypes.byref(self._y))
        return self._y.value

    def look(self, index: int) -> tuple[float, float]:
        """Return a character's size, and the slope at which it stands."""
        matrix, size = self._matrix, _font_size(self._text, index)
        if not _matrix_of(self._text, index, ctypes.byref(matrix)):
            return round(size, 1), 0.0
        size *= math.hypot(matrix.c, matrix.d)
        return round(size, 1), abs(matrix.b) / abs(matrix.a) if matrix.a else math.inf

    def is_small(self, index: int, size: float) -> bool:
        """Return whether a character is much smaller than those of that size."""
        return self.look(index)[0] < SMALL * size

    def are_bold(self, text: str, start: int, end: int) -> bool:
        """Return whether the middle and the last letter of characters that begin bold are bold, too."""
        middle = find_letter(text, (start + end) // 2, end)
        last = next((at for at in range(end - 1, start, -1) if text[at].isalpha()), start)
        return all(self.weight(index)[0] for index in (middle, last))

    def weight(self, index: int) -> tuple[bool, bool]:
        """Return whether a character is bold, and whether those of its font are all as wide."""
        name = self._font(index)
        return _is_bold(name, _font_weight(self._text, index)), is_monospaced(name)

    def _font(self, index: int) -> str:
        self._name.value = b""
        _font_info(self._text, index, self._name, _NAME_BYTES, None)
        return self._name.value.decode(errors="ignore")


def find_letter(text: str, start: int, end: int) -> int:
    """Return the index of a letter whose look stands for the others; bullets and numbers often look different."""
    found = _LETTER.search(text, start, end)
    return found.start() if found else start


@cache
def _is_bold(name: str, weight: int) -> bool:
    return weight >= _BOLD_WEIGHT or any(part in name.lower() for part in _BOLD_NAMES)


def is_invisible(text: pdfium.PdfTextPage) -> bool:
    """Return whether a page's text is invisible, as OCR lays it over a scan; its sizes and fonts mean little."""
    middle = raw.FPDFText_GetTextObject(text, text.count_chars() // 2)
    return (
        bool(middle)
        and raw.FPDFTextObj_GetTextRenderMode(middle) == raw.FPDF_TEXTRENDERMODE_INVISIBLE
    )


def angle_of_text(text: pdfium.PdfTextPage) -> int:
    """Return by how much a page is to be turned clockwise for most of its letters to stand upright: 0, 90 or 270."""
    count = text.count_chars()
    angles = Counter(
        round(math.degrees(raw.FPDFText_GetCharAngle(text, index))) % 360
        for index in range(0, count, max(count // _ASKED, 1))
    )
    angle, number = next(iter(angles.most_common(1)), (0, 0))
    return 360 - angle if angle in {90, 270} and 2 * number > angles.total() else 0


def turn_page(page: pdfium.PdfPage, angle: int) -> None:
    """Rotate the contents of a page instead of the page, so that coordinates are as shown; reopen the page to see it."""
    left, bottom, right, top = page.get_cropbox()
    match angle:
        case 90:
            matrix, size = (0, -1, 1, 0, -bottom, right), (top - bottom, right - left)
        case 180:
            matrix, size = (-1, 0, 0, -1, right, top), (right - left, top - bottom)
        case _:
            matrix, size = (0, 1, -1, 0, top, -left), (top - bottom, right - left)
    raw.FPDFPage_TransFormWithClip(
        page, raw.FS_MATRIX(*matrix), raw.FS_RECTF(0, size[1], size[0], 0)
    )
    raw.FPDFPage_TransformAnnots(page, *matrix)
    page.set_rotation(0)
    page.set_mediabox(0, 0, *size)
    page.set_cropbox(0, 0, *size)
