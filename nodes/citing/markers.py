"""The grammar of markers: how an answer points at what a statement rests on.

`[2]`, `[2, 4]`, `[2-4]` and `【2】` name passages by number, and so do mentions: "as stated in passage 2", 根据段落2.
`[I1]` names an image that came with the question, `[T1]` a table, `[T1:r3c2]` a cell of it and `[T1:c2]` a column.
Other forms are written so by `sextant.nodes.citing.marker_forms`; what a number or label means is the business of
`sextant.nodes.citing.cited_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import regex

_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_AND = re.compile(r"\s*(?:and|&|和|及)\s*", re.IGNORECASE)
LABEL = r"[IT]\d{1,2}(?::(?:r\d{1,6})?(?:c\d{1,5})?)?"
_LABELS = rf"{LABEL}(?:\s*[,，、;；]\s*{LABEL})*"
NUMBERS = r"\d{1,3}(?:\s*(?:[,，、;；–&和及-]|and)\s*\d{1,3})*"
# Passages that one marker may name: more is a slip of the model, or an attack.
_MOST_NAMED = 50
# No marker is longer.
_LONGEST = 80

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


@dataclass(frozen=True, slots=True)
class Named:
    """What a marker names, and of a mention the word that stays in the text: "passage", 段落."""

    names: str
    word: str = ""


def read(found: regex.Match[str]) -> Named:
    """Return what a match of `MARKER` names."""
    groups = found.groupdict()
    word = groups.pop("word") or ""
    names = next(text for text in groups.values() if text)
    return Named(_AND.sub(",", names), word)


def find_marker_start(text: str) -> int | None:
    """Return where, at the end of a text, something begins that may become a marker; None: nowhere."""
    for begun in _MAY_BEGIN.finditer(text, max(0, len(text) - _LONGEST)):
        found = MARKER.fullmatch(text, begun.start(), partial=True)
        if found and (found.partial or found["bare"]):
            return begun.start()
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


def strip_markers(text: str) -> str:
    """Return `text` without its markers and the gaps before them."""
    return _WITH_GAP.sub(lambda found: found["word"] or "", text)


def statement_text(text: str) -> str:
    """Return what a sentence says, without its markers and without who says it: "According to passage 1, …"."""
    return strip_markers(_ATTRIBUTION.sub("", text)).strip()
