"""Join lines to paragraphs that a page layout or a text editor broke.

Also here: headings of documents that mark none; headings recognised by their numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby

from sextant.domain.documents import HeadingSource
from sextant.ingestion.parsing.blocks import Block, HeadingBlock, Paragraph, texts_of, with_texts
from sextant.ingestion.parsing.raised import begins_shifted

_HAN = "[一二三四五六七八九十百零〇\\d]{1,6}"
# In the order in which documents nest them; decimals come last and nest by their depth.
_KINDS = (
    rf"第\s*{_HAN}\s*(?:[编篇卷]|部分)|(?:Part|PART)\s+(?:[IVX]+|\d+)\b",
    rf"第\s*{_HAN}\s*章|(?:Chapter|CHAPTER)\s+(?:[IVX]+|\d+)\b"
    r"|附[录件]\s*[A-Z一二三四五六七八九十\d]?(?=\W|$)|(?:Appendix|APPENDIX)\s+[A-Z\d]\b",
    rf"第\s*{_HAN}\s*节|(?:Section|SECTION)\s+\d+\b",
    rf"第\s*{_HAN}\s*条|(?:Article|ARTICLE)\s+(?:[IVX]+|\d+)\b",
    r"[一二三四五六七八九十]{1,3}\s*、",
    r"[（(][一二三四五六七八九十]{1,3}[）)]",
)
_NUMBERED = re.compile("|".join(f"({kind})" for kind in _KINDS))
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})(?:[.、．]\s*|\s+)(?=[^\W\d_a-z])")
_ROMAN = re.compile(r"(?=[IVXL])(X{0,3}(?:L?X{0,3})(?:IX|IV|V?I{0,3}))[.)、．]\s+(?=\S)")
_ROMAN_RANK = 4  # as 一、
_MAX_WIDTH = 80  # columns, of which an ideograph takes two
_STOPS = tuple("。；，、：:;,.!?！？…")


def has_roman_numbers(lines: Iterable[str]) -> bool:
    """Return whether lines are numbered I., II., … : one such line alone begins with somebody's initial."""
    found = {number[1] for line in lines if (number := _ROMAN.match(line.strip()))}
    return {"I", "II"} <= found


def number_rank(line: str, *, with_roman: bool = False) -> int | None:
    """Return how high a numbered line stands: 0 for 第一编, 1 for 第一章, …, 6 + depth for 3.1; else None.

    Only the order of ranks means anything; a document's own levels come from those it uses.

    Args:
        line: the line.
        with_roman: whether the document numbers lines by I., II., … (`has_roman_numbers`).
    """
    line = line.strip()
    if with_roman and _ROMAN.match(line):
        return _ROMAN_RANK
    if (numbered := _NUMBERED.match(line)) and numbered.lastindex:
        return numbered.lastindex - 1
    decimal = _DECIMAL.match(line)
    return len(_KINDS) + decimal[1].count(".") + 1 if decimal else None


def is_strong(rank: int | None) -> bool:
    """Return whether a number of this rank makes a heading by itself: list items have none of these.

    `1. apples` and `（一）` number lists as often as headings; 第三章, 一、 and 3.1 rarely do.
    """
    return rank is not None and rank not in {5, len(_KINDS) + 1}


def could_be_heading(line: str) -> bool:
    """Return whether a line is short, says more than a number, and does not end as a sentence or clause does."""
    line = line.strip()
    if len(line) > _MAX_WIDTH:  # a whole paragraph: its width need not be counted
        return False
    return (
        0 < width(line) <= _MAX_WIDTH
        and not line.endswith(_STOPS)
        and sum(map(str.isalpha, line)) > sum(map(str.isdigit, line))
    )


_MONOSPACED = ("mono", "courier", "consol", "menlo", "typewriter", "cmtt", "fixed")


@cache
def is_monospaced(font: str) -> bool:
    """Return whether the letters of a font, by its name, are all as wide, as those of code are."""
    return any(name in font.lower() for name in _MONOSPACED)


def width(text: str) -> int:
    """Return columns a text takes in a fixed-width font; East Asian characters take two."""
    return len(text) + sum(char >= "\u2e80" for char in text)


# Small letters that begin a heading: (a) Scope, iv. Terms, 1a, e-mail, x86.
_LETTERED = re.compile(r"[（(]?(?:[a-z]|[ivx]{2,4})[.)）]|\d|[^\W\d_][\d-]")
_IN_A_ROW = 2  # headings of one look without text between them, at most
LARGER, SMALLER = 1.12, 0.93  # times the size of the body's letters: a heading; small print


@dataclass(frozen=True, slots=True)
class Styled:
    """A line or paragraph with its look. `is_body`: it is no heading, however it looks."""

    text: str
    size: float = 0.0
    bold: bool = False
    is_body: bool = False


@dataclass(frozen=True, slots=True, order=True)
class _HeadingStyle:
    """Sorts from the highest kind of heading to the lowest."""

    smallness: float
    plain: bool
    rank: int

    @property
    def order(self) -> tuple[float, bool]:
        """Return where it stands without its number."""
        return self.smallness, self.plain


def infer_levels(lines: Sequence[Styled]) -> list[int | None]:
    """Return the heading level of each line, None for body text, 0 for the document's title.

    A short line without final stop is a heading when it is larger than the body, bold in a body that is not, or has a
    strong number (第三章, 3.1). Larger stands above bolder above plain; among equals the number decides (章 above 节
    above 一、 above 1 above 1.1), and a heading without number stands with the highest numbered one of its look.
    """
    body = _body(lines)
    with_roman = has_roman_numbers(line.text for line in lines)
    above = ["", *(line.text for line in lines)]
    looks = _without_runs(
        [_look(line, body, above[at], with_roman=with_roman) for at, line in enumerate(lines)]
    )
    looks = [
        None if _MARK.match(line.text) else look for line, look in zip(lines, looks, strict=True)
    ]
    ranks: dict[tuple[float, bool], int] = {}
    for look in looks:
        if look and look.rank >= 0:
            style = (look.smallness, look.plain)
            ranks[style] = min(look.rank, ranks.get(style, look.rank))
    resolved = [
        _HeadingStyle(look.smallness, look.plain, ranks.get((look.smallness, look.plain), 0))
        if look and look.rank < 0
        else look
        for look in looks
    ]
    used = Counter(look for look in resolved if look)
    order = sorted(used)
    first = next((at for at, look in enumerate(resolved) if look), 0)
    # The title is the one highest heading, has no number, and opens the document.
    is_alone = len(order) > 1 and used[order[0]] == 1 and resolved[first] == order[0]
    has_title = is_alone and first < 10 and number_rank(lines[first].text) is None
    level = {look: at for at, look in enumerate(order, start=0 if has_title else 1)}
    return [level[look] if look else None for look in resolved]


def infer_headings(blocks: Sequence[Block], looks: Mapping[int, Styled]) -> list[Block]:
    """Return the blocks of a document whose author made headings by hand, with bold type and large letters.

    Args:
        blocks: what was read; where a heading is marked among them, they are returned as they are.
        looks: by `id` of a paragraph, how it looks.
    """
    if any(isinstance(block, HeadingBlock) and block.level for block in blocks):
        return [*blocks]
    nothing = Styled("")
    levels = infer_levels([looks.get(id(block), nothing) for block in blocks])
    return [
        HeadingBlock(block.text, level, HeadingSource.INFERRED)
        if level is not None and isinstance(block, Paragraph)
        else block
        for block, level in zip(blocks, levels, strict=True)
    ]


def _without_runs(looks: Sequence[_HeadingStyle | None]) -> list[_HeadingStyle | None]:
    """Remove headings that directly follow each other: a heading has text or lower headings below it."""
    kept = list[_HeadingStyle | None]()
    for _, run in groupby(looks, key=bool):
        together = list(run)
        if len(together) <= _IN_A_ROW:
            kept += together
        else:
            # Left are those with lower headings below them, and the last one if it differs from the one before.
            afters = [*together[1:], None]
            for before, look, after in zip([None, *together], together, afters, strict=False):
                goes_down = after.order > look.order if look and after else False
                is_last = not after and look and before and before.order != look.order
                kept.append(look if goes_down or is_last else None)
    return kept


def _body(lines: Sequence[Styled]) -> tuple[float, bool]:
    """Return the look of most of the text; prose weighs most, tables least."""
    characters = Counter[tuple[float, bool]]()
    for line in lines:
        is_prose = not could_be_heading(line.text) or _MARK.match(line.text)
        weight = 1 if line.is_body else 4 if is_prose else 2
        characters[(line.size, line.bold)] += weight * len(line.text)
    return characters.most_common(1)[0][0] if characters else (0.0, False)


def _look(
    line: Styled, body: tuple[float, bool], above: str, *, with_roman: bool
) -> _HeadingStyle | None:
    if line.is_body or not could_be_heading(line.text):
        return None
    body_size, body_bold = body
    if line.size < body_size * SMALLER:
        return None
    rank = number_rank(line.text, with_roman=with_roman)
    larger = line.size >= body_size * LARGER if body_size else False
    is_middle = above and not above.endswith(_SENTENCE_END)
    goes_on = is_middle and line.text[:2].islower() and not _LETTERED.match(line.text)
    bolder = line.bold and not body_bold and not goes_on
    if larger or bolder or is_strong(rank):
        return _HeadingStyle(-line.size, not line.bold, -1 if rank is None else rank)
    return None


# A line that goes on with "99.95 % of …" begins no item.
_MARKS = "[-*+•·●○◦■□◆▪‣–—]\\s+"
_MARK = re.compile(_MARKS)
_BULLET = re.compile(
    rf"\s*(?:{_MARKS}|[（(]?\d{{1,3}}(?:[）)、]|\.(?!\d))\s*|[（(]?(?:[a-z]|[ivx]{{2,4}})[.)）]\s+|[①-⑳])"
)
# A word divided at a line's end; these first parts keep their hyphen in any place, and so does a compound that has
# one already (state-of-the-): typesetters break it there and nowhere else.
_HYPHENATED = re.compile(
    r"[^\s-]*[A-Za-z]{2}(?<!\b[Ss]elf)(?<!\b[Hh]alf)(?<!\b[Ww]ell)(?<!\b[Cc]ross)(?<!\b[Hh]igh)(?<!\b[Ll]ow)"
    r"[-\u00ad\ufffe\u2010]$"
)
# A noncharacter: stands for the hyphen of a divided word until all compounds of the document are known.
_DIVIDED = "\ufdd5"
_DIVIDED_WORD = re.compile(rf"(?:[^\W\d_]+-)*[^\W\d_]*{_DIVIDED}[^\W\d_]*(?:-[^\W\d_]+)*")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FIELD = re.compile(r"[^\s：:]{1,12}[：:]")
_FIGURES = re.compile(r"\d+")
_RECORD_FIGURES = 4  # in the first word, which tells a record by itself: 10:00:01, 2026-03-01
_ADDRESS_JOINTS = tuple("-_=&?%")  # a slash may end an address
_SENTENCE_END = tuple("。！？!?.；;：:…”」』")


_FORM_FIELD = re.compile(r"[\u3400-\u9fff][\u3400-\u9fff ]{1,9}[:：]")  # 名 称: of a form
_WIDEST_FIELD = 40  # columns; what is wider is a line of prose, which may have colons, too


def join_lines(lines: Iterable[str]) -> str:
    """Return one paragraph from its lines.

    No space where a Chinese or Japanese character meets the break, but between fields of a form; an English word divided by a
    hyphen is closed up when its second half is in lower case (`close_divided` has the last word);
    self-test, MC- and 200 keep theirs. An address of the web goes on as it is.
    """
    parts: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        above = parts[-1] if parts else ""
        is_field_above = _FORM_FIELD.match(above) and width(above) <= _WIDEST_FIELD
        are_fields = is_field_above and _FORM_FIELD.match(line)
        is_divided = above and line[0].islower() and not above[-1].isalnum()
        is_address = _ends_in_address(above)
        if is_divided and not is_address and _HYPHENATED.fullmatch(above.split()[-1]):
            parts[-1] = above[:-1] + _DIVIDED
        elif are_fields or (
            above
            and not (is_wide(above[-1]) or is_wide(line[0]))
            and not (begins_shifted(line) or ends_in_hyphen(above) or is_address)
        ):
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def close_divided(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks with the words closed up that were divided at the ends of lines; compounds keep their hyphen.

    A compound is what the document writes with a hyphen elsewhere, or of which it has both halves as words, but not
    the whole. A short second half ("ing", "all") says nothing.
    """
    texts = [text for block in blocks for text in texts_of(block)]
    if not any(_DIVIDED in text for text in texts):
        return [*blocks]
    known = {
        part.lower()
        for text in texts
        for word in _WORD.findall(_DIVIDED_WORD.sub("", text))
        for part in (word, *word.split("-"))
    }

    def close(word: re.Match[str]) -> str:
        closed, compound = word[0].replace(_DIVIDED, ""), word[0].replace(_DIVIDED, "-")
        halves = word[0].lower().split(_DIVIDED)
        are_words = len(halves[0]) > 2 and len(halves[-1]) > 3 and known.issuperset(halves)
        is_compound = compound.lower() in known or (closed.lower() not in known and are_words)
        return compound if is_compound else closed

    return [with_texts(block, partial(_DIVIDED_WORD.sub, close)) for block in blocks]


def with_fields(lines: Iterable[str]) -> str:
    """As `join_lines`, but a field below another one (`Owner: …`) stays a line of its own."""
    fields: list[list[str]] = [[]]
    for line in lines:
        if fields[-1] and is_field(line) and is_field(fields[-1][0]):
            fields.append([])
        fields[-1].append(line)
    return "\n".join(map(join_lines, fields))


def ends_in_hyphen(line: str) -> bool:
    """Return whether a line breaks off inside a word or a code like MC-200."""
    return line.endswith(("-", "\u2010")) and (line[-2:-1].isalnum() or line[-2:-1] == "_")


def _ends_in_address(line: str) -> bool:
    """Return whether an address of the web ends a line with a sign that joins its parts, so that it goes on below."""
    return line.endswith(_ADDRESS_JOINTS) and "://" in line.rsplit(maxsplit=1)[-1]


def starts_item(line: str) -> bool:
    """Return whether a line begins a list item or a numbered heading, so that it continues nothing."""
    return item_indent(line) is not None or is_strong(number_rank(line))


def item_indent(line: str) -> int | None:
    """Return the column at which the text of a list item begins; None for other lines."""
    mark = _BULLET.match(line)
    return mark.end() if mark else None


def ends_sentence(line: str) -> bool:
    """Return whether a line ends as sentences do."""
    return line.rstrip().endswith(_SENTENCE_END)


def begin_alike(line: str, other: str) -> bool:
    """Return whether two lines begin alike but for their figures, as records do: with a time, or "Entry 17"."""
    heads = [one.split(maxsplit=2)[:2] for one in (line, other)]
    if all(head and sum(map(str.isdigit, head[0])) >= _RECORD_FIGURES for head in heads):
        heads = [head[:1] for head in heads]
    forms = {_FIGURES.sub("0", " ".join(head)) for head in heads}
    return len(forms) == 1 and "0" in forms.pop()


def is_field(line: str) -> bool:
    """Return whether a line begins with a label and a colon (`Owner: …`)."""
    line = line.lstrip()
    match = _FIELD.match(line)
    return match is not None and not line.startswith("//", match.end())


def is_wide(char: str) -> bool:
    """Return whether a character belongs to a script without blanks between words; Korean has blanks."""
    is_full = unicodedata.east_asian_width(char) in {"W", "F"} and char.isprintable()
    return is_full and not "\uac00" <= char <= "\ud7a3"
