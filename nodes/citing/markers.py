"""The grammar of markers: how a model's text, and an answer, points at what a statement rests on.

`[2]`, `[2, 4]`, `[2-4]`, `【2】`, `[^2]`, `[citation:2]`, `(passage 2)` and `（段落2）` name passages by number, and so do
mentions: "as stated in passage 2", 根据段落2. `[I1]` names an image that came with the question, `[T1]` a table,
`[T1:r3c2]` a cell of it and `[T1:c2]` a column. This file alone knows the shapes; what a number or label means is
the business of `sextant.nodes.citing.cited_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sextant.text.characters import IDEOGRAPHS

_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_AND = re.compile(r"\s*(?:and|&|和|及)\s*", re.IGNORECASE)
_LABEL = r"[IT]\d{1,2}(?::(?:r\d{1,6})?(?:c\d{1,5})?)?"
_LABELS = rf"{_LABEL}(?:\s*[,，、;；]\s*{_LABEL})*"
_NUMBERS = r"\d{1,3}(?:\s*(?:[,，、;；–&和及-]|and)\s*\d{1,3})*"
# Passages that one marker may name: more is a slip of the model, or an attack.
_MOST_NAMED = 50
# No marker is longer.
_LONGEST = 80

_WORD = (
    "citations?|cites?|sources?|passages?|refs?|references?|documents?|docs?|quotes?|excerpts?|context"
    "|来源|來源|段落|引用|引文|出处|出處|文档|文件|资料|資料|参考|參考|片段"
)
_SIGN = r"\s*(?:nos?\.?\s*)?[:：#.]?\s*"
_OPEN, _CLOSE = r"[\[【［]", r"[\]】］]"
_IN_BRACKETS = rf"{_OPEN}\s*\^?(?:(?:{_WORD}){_SIGN})?(?P<bracket>{_NUMBERS}|{_LABELS})\s*{_CLOSE}"
_IN_ROUND = (
    r"[(（]\s*(?:see\s+|cf\.?\s+|from\s+|参见|參見|见|見|来自)?(?:"
    rf"(?:(?:{_WORD}){_SIGN})+{_OPEN}?\s*(?P<round>{_NUMBERS})\s*{_CLOSE}?"
    rf"|{_OPEN}\s*(?P<doubled>{_NUMBERS})\s*{_CLOSE}"
    r"|第\s*(?P<nth>\d{1,3})\s*个?(?:段落|段|条)"
    r")\s*[)）]"
)
# The number of a passage is followed by no unit.
_MENTION = (
    r"(?P<word>(?<![A-Za-z])(?:passages?|excerpts?|段落|片段))\s*[:：#]?\s*"
    rf"(?:{_OPEN}\s*(?P<mentioned>{_NUMBERS})\s*{_CLOSE}|(?P<bare>{_NUMBERS})(?![\d.]\d|\s*[%℃°]))"
)

MARKER = re.compile(rf"{_IN_BRACKETS}|{_IN_ROUND}|{_MENTION}", re.IGNORECASE)
"""A whole marker in any dress; `read` tells what it names."""

_MAY_BEGIN = re.compile(r"[\[【［(（]|(?<![A-Za-z])[pe]|段|片", re.IGNORECASE)
_BEGUN_MENTION = re.compile(
    r"(?:p(?:a(?:s(?:s(?:a(?:g(?:es?)?)?)?)?)?)?|e(?:x(?:c(?:e(?:r(?:p(?:ts?)?)?)?)?)?)?|段落?|片段?)"
    rf"\s*[:：#]?\s*{_OPEN}?(?:[\d\s,，、;；–&和及-]|an?d?){{0,16}}",
    re.IGNORECASE,
)
_BEGUN_BRACKET = re.compile(
    rf"{_OPEN}\s*\^?(?:[\d\s,，、;；–&和及-]|and?){{0,32}}|{_OPEN}\s*[IT][\dIT:rc\s,，、;；]{{0,64}}"
    rf"|{_OPEN}\s*\^?(?:[A-Za-z]{{1,10}}|[{IDEOGRAPHS}]{{1,3}})[\s.:：#]{{0,3}}[\d\s,，、;；–-]{{0,32}}",
    re.IGNORECASE,
)
_BEGUN_ROUND = re.compile(
    rf"[(（]\s*(?:(?:[A-Za-z]{{1,10}}|[{IDEOGRAPHS}]{{1,4}})[\s.:：#]{{0,2}}){{0,3}}{_OPEN}?[\d\s,，、和and–-]{{0,16}}{_CLOSE}?\s*"
    rf"(?:个?段?落?)"
)

_WITH_GAP = re.compile(rf"[ \t]*(?:{MARKER.pattern})", re.IGNORECASE)
_BY_NUMBERS = r"(?:[\[【［(（\s]*\d[\d\s,，、和\]】］)）]*)"
_OF_FILE = r"(?:\s+(?:of|from|in)\s+(?:the\s+)?[\w .-]{1,40}?)?"
# "According to passage 1, …", 根据文档内容，…, "…, as stated in passage 3 of the handbook": who says it, not what.
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
# A document's own reference numbers would look like our markers.
_LIKE_A_MARKER = re.compile(rf"[\[【](\d+|{_LABEL})[\]】]")


@dataclass(frozen=True, slots=True)
class Named:
    """What a marker names, and of a mention the word that stays in the text: "passage", 段落."""

    names: str
    word: str = ""


def read(found: re.Match[str]) -> Named:
    """Return what a match of `MARKER` names."""
    groups = found.groupdict()
    word = groups.pop("word") or ""
    names = next(text for text in groups.values() if text)
    return Named(_AND.sub(",", names), word)


def find_marker_start(text: str) -> int | None:
    """Return where, at the end of a text, something begins that may become a marker; None: nowhere."""
    start = max(0, len(text) - _LONGEST)
    for found in _MAY_BEGIN.finditer(text, start):
        rest = text[found.start() :]
        if any(
            pattern.fullmatch(rest) for pattern in (_BEGUN_BRACKET, _BEGUN_ROUND, _BEGUN_MENTION)
        ):
            return found.start()
    return None


def leads(text: str) -> bool:
    """Return whether a sentence that goes so far says no more than that it is from what comes next."""
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


def format_marker(number: int) -> str:
    """Return the marker of a number, as answers have it."""
    return f"[{number}]"


def strip_markers(text: str) -> str:
    """Return `text` without its markers and the gaps before them."""
    return _WITH_GAP.sub(lambda found: found["word"] or "", text)


def statement_text(text: str) -> str:
    """Return what a sentence says, without its markers and without who says it: "According to passage 1, …"."""
    return strip_markers(_ATTRIBUTION.sub("", text)).strip()


def format_label(label: str, place: str = "") -> str:
    """Return the marker of an attachment, or of a part of it."""
    return f"[{label}:{place}]" if place else f"[{label}]"


def escape_markers(text: str) -> str:
    """Return `text` with what looks like one of our markers in round brackets."""
    return _LIKE_A_MARKER.sub(r"(\1)", text)
