"""The grammar of markers, by which an answer cites passages and attachments.

`[2]`, `[2, 4]`, `[2-4]` and `【2】` name passages by number, and so do mentions: "as stated in passage 2", 根据段落2.
`[I1]` names an image that came with the question, `[T1]` a table, `[T1:r3c2]` a cell of it and `[T1:c2]` a column.

Models also write citations like products and papers do: `[2†source]` and `【4:2†source】`
(OpenAI), `[^2^]`, `^2^`, `$^{[2]}$`, `²`, `<sup>2</sup>`, `[[2]](https://…)` (search engines), `[ID:2]`, `##2$$` (RAGFlow),
`[Document 2: title]`, `⟦2⟧`, `:contentReference[oaicite:2]`, `<cite>2</cite>`, `{2}`, `(2)`, `②`. `MarkerReader` rewrites each
as `[2]`, before the text is sanitized, which would remove tags and links. Some forms may also be a power, a list item or
a number of the text. They are markers only behind a word, at the end of a clause, and for a passage that exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from sextant.text.characters import IDEOGRAPHS

_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_AND = re.compile(r"\s*(?:and|&|和|及)\s*", re.IGNORECASE)
LABEL = r"[IT]\d{1,2}(?::(?:r\d{1,6})?(?:c\d{1,5})?)?"
_LABELS = rf"{LABEL}(?:\s*[,，、;；]\s*{LABEL})*"
NUMBERS = r"\d{1,3}(?:\s*(?:[,，、;；–&和及-]|and)\s*\d{1,3})*"
# The most passages that one marker may name.
_MOST_NAMED = 50
# No marker is longer.
_MARKER_LONGEST = 80

WORD = (
    "citations?|cites?|sources?|passages?|refs?|references?|documents?|docs?|quotes?|excerpts?|context"
    "|来源|來源|段落|引用|引文|出处|出處|文档|文件|资料|資料|参考|參考|片段"
)
SIGN = r"\s*(?:nos?\.?\s*)?[:：#._=-]?\s*"
OPEN, CLOSE = r"[\[【［]", r"[\]】］]"
_IN_BRACKETS = rf"{OPEN}\s*(?P<bracket>{NUMBERS}|{_LABELS})\s*{CLOSE}"
# The number of a passage is followed by no unit.
_MENTION = (
    r"(?P<word>(?<![A-Za-z])(?:passages?|excerpts?|段落|片段))\s*[:：#]?\s*"
    rf"(?:{OPEN}\s*(?P<mentioned>{NUMBERS})\s*{CLOSE}|(?P<bare>{NUMBERS})(?![\d.]\d|\s*[%℃°]))"
)

MARKER = regex.compile(rf"{_IN_BRACKETS}|{_MENTION}", regex.IGNORECASE)
"""A whole marker; `read` tells what it names."""

_MAY_BEGIN = re.compile(r"[\[【［]|(?<![A-Za-z])[pe]|段|片", re.IGNORECASE)

_WITH_GAP = regex.compile(rf"[ \t]*(?:{MARKER.pattern})", regex.IGNORECASE)
_BY_NUMBERS = r"(?:[\[【［(（\s]*\d[\d\s,，、和\]】］)）]*)"
_OF_FILE = r"(?:\s+(?:of|from|in)\s+(?:the\s+)?[\w .-]{1,40}?)?"
# "According to passage 1, …", 根据文档内容，…, "…, as stated in passage 3 of the handbook".
_ATTRIBUTION = re.compile(
    r"\A\W*(?:according to|based on|as (?:stated|described|mentioned|noted|said|given) in|per)\s+(?:the\s+|your\s+)?(?:provided\s+|given\s+)?"
    rf"(?:[\w-]+\s+){{0,4}}?(?:passages?|sources?|excerpts?|documents?|context|text|handbook|manual|information|policy|contract)?\s*{_BY_NUMBERS}?{_OF_FILE}\s*[,，:：]\s*"
    rf"|\A\W*(?:根据|依据|按照|基于)[^，,:：。]{{0,30}}?(?:文档|文件|资料|段落|内容|原文|来源|信息|指南|手册|制度|合同(?!总|价|金|签)|规程|{_BY_NUMBERS})[^，,:：。]{{0,12}}[，,:：]\s*"
    r"|,?\s*(?:(?:as|which is)\s+(?:is\s+)?(?:stated|described|mentioned|noted|said|given|shown|specified)\s+(?:in|by)"
    r"|according to|(?:as )?per|based on)\s+(?:the\s+)?"
    rf"(?:passages?|sources?|excerpts?)?\s*{_BY_NUMBERS}?{_OF_FILE}(?=\W*\Z)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"\W*(?:(?:according to|based on|as (?:stated|described|mentioned|noted|said|given) in|per|from|in)\s+(?:the\s+)?|根据|依据|按照|基于|在|据)?\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Named:
    """The passages or labels that a marker names, and the word of a mention, which stays in the text: "passage", 段落."""

    names: str
    word: str = ""


def read(found: regex.Match[str]) -> Named:
    """Return what a match of `MARKER` names."""
    groups = found.groupdict()
    word = groups.pop("word") or ""
    names = next(text for text in groups.values() if text)
    return Named(_AND.sub(",", names), word)


def find_marker_start(text: str) -> int | None:
    """Return the offset of what may become a marker at the end of a text; None if nothing may."""
    for begun in _MAY_BEGIN.finditer(text, max(0, len(text) - _MARKER_LONGEST)):
        found = MARKER.fullmatch(text, begun.start(), partial=True)
        if found and (found.partial or found["bare"]):
            return begun.start()
    return None


def leads(text: str) -> bool:
    """Return whether a beginning only introduces a source: "According to", 根据."""
    return _LEADING.fullmatch(text) is not None


def find_targets(named: str, labels: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return what a marker names, each once: passages from 0, and the part of a table or "".

    `1, 3` names two passages, `2-4` three; `T1:r3c2` the part `r3c2` of what `labels` calls T1.
    """
    return list(dict.fromkeys(_split_targets(named, labels)))[:_MOST_NAMED]


def is_label(named: str) -> bool:
    """Return whether a marker names attachments instead of numbers."""
    return not named[0].isdigit()


def _split_targets(named: str, labels: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for part in _LISTED.split(named):
        if is_label(part):
            label, _, place = part.partition(":")
            if label in labels:
                yield labels[label], place
            continue
        first, _, last = _RANGE.sub("-", part).partition("-")
        for index in range(int(first) - 1, int(last.rpartition("-")[2] or first)):
            yield index, ""


def strip_markers(text: str) -> str:
    """Return `text` without its markers and the gaps before them."""
    return _WITH_GAP.sub(lambda found: found["word"] or "", text)


def statement_text(text: str) -> str:
    """Return a sentence without its markers and without its attribution ("According to passage 1, …")."""
    return strip_markers(_ATTRIBUTION.sub("", text)).strip()


_SUPERSCRIPTS = "⁰¹²³⁴-⁹"
_CIRCLED = "①-⑳"
_CLOSED = rf"\s*{CLOSE}"
_TAG = r"(?:sup|cite|citation|ref|reference|source|passage|c)"
# Certain wherever they stand: nothing else is written like this.
_CERTAIN = (
    rf"{OPEN}\s*(?:\d{{1,3}}:)?(?P<n>\d{{1,3}})\s*†[^\]】］\n]{{0,60}}{CLOSE}",
    rf"{OPEN}\s*\^(?P<n>{NUMBERS})\^?{_CLOSED}",
    rf"\^\s*{OPEN}(?P<n>{NUMBERS}){_CLOSED}\s*\^?",
    rf"\$?\^\{{\s*{OPEN}?(?P<n>{NUMBERS}){CLOSE}?\s*\}}\$?",
    rf"[〔〖⟦〚]\s*(?P<n>{NUMBERS})\s*[〕〗⟧〛]",
    rf"{OPEN}{{2}}\s*(?:(?:{WORD}){SIGN})?(?P<n>{NUMBERS}){_CLOSED}{_CLOSED}",
    rf"{OPEN}\s*(?:{WORD}|id|s|chunks?){SIGN}(?P<n>{NUMBERS})(?:\s*[:：,，|][^\]】］\n]{{1,80}})?{_CLOSED}",
    rf"{OPEN}\s*(?P<n>\d{{1,3}})\s*[,，:：]\s*(?:pp?\.|page|line|section|§|第)[^\]】］\n]{{1,40}}{_CLOSED}",
    # With the title or the file of the passage behind its number.
    rf"{OPEN}\s*(?P<n>\d{{1,3}})\s*[:：|]\s*(?=[^\]】］\n]*(?:[^\W\d_]{{3}}|[{IDEOGRAPHS}]{{2}}))[^\]】］\n]{{1,80}}{CLOSE}",
    rf"{OPEN}\s*(?P<n>\d{{1,3}})\s*[,，–—-]?\s*[^\]】］\n]{{1,80}}\.[a-z]{{2,5}}{_CLOSED}",
    rf"[(（]\s*(?:see\s+|cf\.?\s+|from\s+|参见|參見|见|見|来自)?(?:(?:{WORD}|id|chunks?){SIGN})+{OPEN}?\s*(?P<n>{NUMBERS})\s*{CLOSE}?\s*[)）]",
    rf"[(（]\s*{OPEN}\s*(?P<n>{NUMBERS})\s*{CLOSE}\s*[)）]",
    r"[(（]\s*(?:参见|參見|见|見|来自)?\s*第\s*(?P<n>\d{1,3})\s*个?(?:段落|段|条)\s*[)）]",
    r"\#\#(?P<n>\d{1,3})\$\$",
    r":?contentReference\[oaicite:(?P<n>\d{1,3})\](?:\{index=\d{1,3}\}|(?!\{))",
    rf"\\\[(?P<n>{NUMBERS})\\\]",
    rf"<{_TAG}(?:\s[^<>]{{0,80}})?>\s*{OPEN}(?P<n>{NUMBERS}){_CLOSED}\s*</{_TAG}>",
    rf"<(?!sup){_TAG}>\s*(?P<n>{NUMBERS})\s*</{_TAG}>",
    rf"<(?!sup){_TAG}\s+(?:id|ref|source|index|n)\s*=\s*[\"']?(?P<n>\d{{1,3}})[\"']?\s*(?:/>|>\s*</{_TAG}>)",
)
# Markers behind a word; behind a number, a letter or a unit they are powers.
_RAISED = (
    rf"<sup>\s*(?P<raised>{NUMBERS})\s*</sup>",
    rf"\^(?P<raised>{NUMBERS})\^",
    rf"⁽(?P<raised>[{_SUPERSCRIPTS}]{{1,2}}|{NUMBERS})⁾",
    rf"(?P<raised>[{_SUPERSCRIPTS}]{{1,2}}(?:[,，˒][{_SUPERSCRIPTS}]{{1,2}}){{0,3}})(?![⁺⁻])",
)
# Markers at the end of a clause, unless a passage has the same; elsewhere they number what is listed.
_ENDING = (
    rf"[(（]\s*(?P<ending>{NUMBERS})\s*[)）]",
    rf"\{{(?P<ending>{NUMBERS})\}}",
    rf"(?P<ending>[{_CIRCLED}])",
)
_END_OF_CLAUSE = r"(?=[*_]{0,2}\s*(?:[.,;!?]\s|[。，；！？]|\n))"
_END_OF_TEXT = r"(?=[*_]{0,2}\s*(?:[.,;!?]\s*)?\Z)"


def _form(ends: str) -> regex.Pattern[str]:
    ending = rf"(?:{'|'.join(_ENDING)}){ends}"
    return regex.compile("|".join([*_CERTAIN, *_RAISED, ending]), regex.IGNORECASE)


_BEGUN, _WHOLE = _form(_END_OF_CLAUSE), _form(f"(?:{_END_OF_CLAUSE}|{_END_OF_TEXT})")
_BEGINS = regex.compile(
    rf"[\[【［〔〖⟦〚(（⁽{{<^$#:\\{_SUPERSCRIPTS}{_CIRCLED}]|(?<![a-z])contentReference",
    regex.IGNORECASE,
)
_BEHIND_A_WORD = regex.compile(
    rf"(?:[^\W\d_{IDEOGRAPHS}]{{3,}}|(?<!\d\s?)[米秒]|(?![米秒])[{IDEOGRAPHS}]|[%％.!?。！？，；)）\]\"”])[*_]{{0,2}}\s?\Z"
)
_SPACED_OFF = regex.compile(rf"[\w%％.!?)）\]\"”*]\s+\Z|[{IDEOGRAPHS}。！？%％”]\s?\Z")
# weeks(1): a marker where nothing else is one; not f(1), Section(1), print_all(1) nor getAll(1).
_JOINED_TO = regex.compile(
    r"(?:(?<![\w.'’-])(?!(?i:sections?|articles?|clauses?|paragraphs?|rules?|items?|steps?|notes?|tables?|figures?|figs?"
    r"|appendix|annex|schedules?|parts?|chapters?|equations?|eqs?|options?|types?|levels?)\Z)\p{L}\p{Ll}{2,}"
    r"|\d\s\p{L}{1,2})[*_]{0,2}\Z"
)
_LONGEST, _KEPT = 200, 120
_OURS = regex.compile(rf"{OPEN}\s*{NUMBERS}{_CLOSED}")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹˒", "0123456789,")


class MarkerReader:
    """Rewrites the markers of a text as `[2]`, piece by piece.

    Args:
        passages: the texts that may be cited; the first is number 1.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._count = len(passages)
        self._passages = passages
        self._buffer = ""
        self._line = ""  # of what was passed on
        self._fenced = False
        self._has_markers = False  # that are certain

    def feed(self, piece: str) -> str:
        """Return what of the text so far is certain."""
        self._buffer += piece
        return self._pass(final=False)

    def finish(self) -> str:
        """Return the rest, once no more text comes."""
        return self._pass(final=True)

    def _pass(self, *, final: bool) -> str:
        passed = list[str]()
        while self._buffer:
            begins = _BEGINS.search(self._buffer) if self._count else None
            length = begins.start() if begins else len(self._buffer)
            if length:
                passed.append(self._take(length))
                continue
            found = None if self._is_code() else self._match(final=final)
            if found is not None and not final and self._may_go_on(found):
                break
            passed.append(self._take(1) if found is None else self._take_marker(found))
        return "".join(passed)

    def _match(self, *, final: bool) -> regex.Match[str] | None:
        if final or len(self._buffer) > _LONGEST:
            return _WHOLE.match(self._buffer)
        return _BEGUN.match(self._buffer, partial=True)

    def _may_go_on(self, found: regex.Match[str]) -> bool:
        return len(self._buffer) <= _LONGEST and (found.partial or found.end() == len(self._buffer))

    def _take(self, length: int) -> str:
        """Pass so many characters on."""
        text, self._buffer = self._buffer[:length], self._buffer[length:]
        *lines, last = (self._line + text).split("\n")
        self._fenced ^= sum(line.lstrip().startswith("```") for line in lines) % 2 == 1
        self._line = last
        self._has_markers |= length > 0 and _OURS.search(self._line) is not None
        return text

    def _take_marker(self, found: regex.Match[str]) -> str:
        """Pass a marker on as `[2]`, and what is none as it stands."""
        text = self._take(found.end())
        before = self._line[: -len(text)] if text else ""
        named = found["n"] or found["raised"] or found["ending"]
        is_marker = (
            found["n"] is not None
            or (found["raised"] is not None and _BEHIND_A_WORD.search(before[-_KEPT:]))
            or (found["ending"] is not None and self._ends_a_clause(text, named, before))
        )
        if not is_marker:
            return text
        self._has_markers |= found["ending"] is None
        return format_markers(named, self._count)

    def _ends_a_clause(self, text: str, named: str, before: str) -> bool:
        """Return whether a number in round brackets is a marker, and not a list item of a passage."""
        is_joined = not self._has_markers and _JOINED_TO.search(before[-_KEPT:])
        return (
            bool(is_joined or _SPACED_OFF.search(before[-_KEPT:]))
            and all(
                0 < int(number) <= self._count for number in regex.findall(r"\d+", _digits(named))
            )
            and not any(text in passage for passage in self._passages)
        )

    def _is_code(self) -> bool:
        return self._fenced or self._line.count("`") % 2 == 1


def _digits(named: str) -> str:
    circled = "".join(
        str(ord(sign) - ord("①") + 1) if "①" <= sign <= "⑳" else sign for sign in named
    )
    return circled.translate(_DIGITS)


def format_markers(named: str, count: int) -> str:
    """Return the marker of the numbers that a model wrote; ¹² is `[1][2]` where there is no passage 12."""
    digits = _digits(named)
    if digits != named and digits.isdigit() and int(digits) > count:
        return "".join(f"[{digit}]" for digit in digits)
    return f"[{digits}]"


def read_markers(text: str, passages: Sequence[str]) -> str:
    """Return a whole text with its markers as `[2]`."""
    reader = MarkerReader(passages)
    return reader.feed(text) + reader.finish()
