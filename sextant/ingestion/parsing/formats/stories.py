"""Shared by the readers of Word, OpenDocument and RTF: paragraphs made of runs, comments, page headers and footers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import dedent

from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, TextKind
from sextant.ingestion.parsing.formats.numbering import BULLET
from sextant.ingestion.parsing.images import LinkedText
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.lines import Styled, infer_headings, is_monospaced
from sextant.ingestion.parsing.raised import mark_lowered, mark_raised
from sextant.ingestion.parsing.structure import Omissions, finish_blocks
from sextant.text.characters import has_cjk

# Fields of Word, and of RTF.
PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)
LINK_FIELD = re.compile(r"\s*HYPERLINK\s+(?!\\)\"?([^\"\s]+)", re.IGNORECASE)
PAGE_MARK = "\ufdd8"  # a noncharacter: stands for a page's number until the line is looked at
# Signs of the symbol fonts (Wingdings, Symbol), which Unicode has elsewhere: boxes, ticks, arrows, and Greek by its letters.
DINGS = re.compile(r"((?:wing|web)dings)[ -]?([23]?)", re.IGNORECASE)
_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x75: "◆", 0x76: "❖", 0x78: "☒", 0x9F: "•",
    0xA1: "○", 0xA3: "☐", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
    0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    **dict(zip(range(0x81, 0x8B), "①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
    **dict(zip(range(0x8C, 0x96), "❶❷❸❹❺❻❼❽❾❿", strict=True)),
}  # fmt: skip
_OTHER_DINGS = {
    "wingdings2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xA3: "☐"},
    "wingdings3": {0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓", 0x7D: "►"},
    "webdings": {0x61: "✓", 0x63: "☐", 0x67: "■", 0x6E: "●", 0x72: "✗"},
}  # fmt: skip
_SYMBOLS = dict(
    enumerate("ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑", 0xA1)
) | {
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0x7E: "∼", 0xF1: "〉", 0xF2: "∫",
}  # fmt: skip
_USUAL = frozenset("•▪●○■☐❑☒☑✓✗←→↔➢√×÷±≤≥≠≈°∞∑∈⊕…")  # of a font that is not known
_GREEK = dict(zip("abcdefghijklmnopqrstuvwxyz", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)) | dict(
    zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)
)
_PRIVATE = re.compile("[\uf020-\uf0ff]")  # where programs put them
_PAGE_WORDS = 16  # letters in the part of a line that only tells the page ("Page 3 of 7")


@dataclass(frozen=True, slots=True)
class Look:
    """What letters look like. `raised`: "super" or "sub"."""

    size: float = 0.0
    bold: bool = False
    font: str = ""
    struck: bool = False
    hidden: bool = False
    raised: str = ""


def read_symbol(code: int, font: str) -> str:
    """Return the sign that a character of a symbol font draws, "" where we know none in Unicode."""
    name, low = font.lower(), code & 0xFF
    if name.startswith(("symbol", "kingsoftsign")):
        return _SYMBOLS.get(low) or _GREEK.get(chr(low), chr(low) if low < 0x7F else "")
    if dings := DINGS.search(name):
        return _OTHER_DINGS.get("".join(dings.groups()), _WINGDINGS).get(low, "")
    sign = _WINGDINGS.get(low) or _SYMBOLS.get(low)
    return sign if code >= 0xF000 and sign in _USUAL else chr(code)


def without_page_numbers(text: str) -> str:
    """Remove the parts of a header or footer line that only tell the number of the page."""
    if PAGE_MARK not in text:
        return text

    def without_page(part: re.Match[str]) -> str:
        if PAGE_MARK not in part[0]:
            return part[0]
        rest = part[0].replace(PAGE_MARK, "")
        letters = [char for char in rest if char.isalnum()]
        is_page = len(letters) <= _PAGE_WORDS and not any(map(str.isdigit, letters))
        return "" if is_page else rest.strip()

    return re.sub(r"[^\t\n]+", without_page, text).strip()


def write_comment(author: str, text: str, page: int | None = None) -> Paragraph:
    """Return a comment as a note with its author's name."""
    words = " ".join(text.split())
    pattern = (
        ("批注（{}）：{}", "批注：{1}") if has_cjk(words) else ("Comment ({}): {}", "Comment: {1}")
    )
    return Paragraph(pattern[not author].format(author, words), page, kind=TextKind.NOTE)


@dataclass(slots=True)
class StoryLine:
    """A paragraph while it is read: its text, the looks of its runs, and what hangs on it."""

    text: LinkedText = field(default_factory=LinkedText)
    looks: list[Look] = field(default_factory=list[Look])
    hanging: list[Block] = field(default_factory=list[Block])


class StoryWriter:
    """Makes blocks of the stories of a document: its body, cells, notes, text boxes.

    Attributes:
        limits: what the document may cost.
        omissions: what is left out of it.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.omissions = Omissions()
        self._looks = dict[int, Styled]()  # by id of a paragraph
        self._paragraphs = list[Block]()  # kept, lest an id be given again
        # By id of a paragraph in letters of one width: its text with the indentation.
        self._code = dict[int, str]()
        self._margins = list[Block]()
        self._margin_lines = set[str]()

    def add_run(self, line: StoryLine, text: str, look: Look, address: str = "") -> None:
        """Add text to a paragraph, or count it where its look says that it is not read."""
        if look.hidden or look.struck:
            self.omissions.add_text("hidden" if look.hidden else "struck through", text)
            return
        text = _PRIVATE.sub(lambda sign: read_symbol(ord(sign[0]), look.font), text)
        if text.strip():
            line.looks.append(look)
            mark = {"super": mark_raised, "sub": mark_lowered}.get(look.raised, str)
            text = mark(text)
        line.text.add(text, address)

    def paragraph(
        self,
        text: str,
        looks: Sequence[Look],
        *,
        label: str = "",
        depth: int = 0,
        level: int | None = None,
        size: float = 0.0,
        page: int | None = None,
    ) -> Block:
        """Return a heading or a paragraph.

        Args:
            text: what it says, with its indentation.
            looks: those of its runs.
            label: its number or bullet in a list.
            depth: how deep in the list, from 0.
            level: of a heading, 0 for the document's title.
            size: of its letters where no run has one.
            page: where it stands.
        """
        line, text = text.rstrip(), text.strip()
        labelled = f"{label} {text}" if label else text
        if level is not None:
            return HeadingBlock(labelled, level, page=page)
        block = Paragraph("  " * depth + labelled if label else text, page)
        if label != BULLET:
            bold = bool(looks) and all(look.bold for look in looks)
            smallest = min((look.size for look in looks), default=size)
            self._paragraphs.append(block)
            if looks and not label and all(is_monospaced(look.font) for look in looks):
                self._code[id(block)] = line
            self._looks[id(block)] = Styled(block.text, smallest, bold)
        return block

    def add_margin(self, text: str) -> None:
        """Keep text of page headers and footers, each line once."""
        lines = [*filter(str.strip, text.split("\n"))]
        repeated = [line for line in lines if line in self._margin_lines]
        self.omissions.add_furniture("in heads and feet that are repeated", " ".join(repeated))
        new = [line for line in lines if line not in self._margin_lines]
        self._margin_lines.update(new)
        if new:
            self._margins.append(Paragraph("\n".join(new), kind=TextKind.MARGIN))

    def document(self, body: Sequence[Block], title: str) -> Blocks:
        """Return the whole document; page headers and footers stand below its first heading."""
        blocks = infer_headings(body, self._looks)
        # Neighbouring lines of code are joined; letters of one width all over a document are a typewriter's.
        if 2 * len(self._code) <= len(self._paragraphs):
            joined = list[Block]()
            for is_code, run in groupby(blocks, key=lambda block: id(block) in self._code):
                together = list(run)
                if is_code:
                    lines = "\n".join(self._code[id(block)] for block in together)
                    together = [Paragraph(dedent(lines), together[0].page)]
                joined += together
            blocks = joined
        top = int(bool(blocks) and isinstance(blocks[0], HeadingBlock))
        blocks[top:top] = self._margins
        return finish_blocks(blocks, self.omissions, title)
