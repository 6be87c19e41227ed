"""The grammar of markers, by which an answer cites passages and attachments.

`[2]`, `[2, 4]` and `[2-4]` name passages by number. `[I1]` names an image that came with the question, `[T1]` a table,
`[T1:r3c2]` a cell of it and `[T1:c2]` a column.

Models also write citations like products and papers do: `[2†source]` and `【4:2†source】` (OpenAI), `[^2^]`, `^2^`,
`$^{[2]}$`, `²`, `<sup>2</sup>`, `[[2]](https://…)` (search engines), `[ID:2]`, `##2$$` (RAGFlow), `[Document 2: title]`,
`:contentReference[oaicite:2]`, `<cite>2</cite>`, `(2)`, `②`; or they mention a passage: "as stated in passage 2",
根据段落2. `MarkerReader` rewrites each as `[2]`, before the text is sanitized, which would remove tags and links. Some
forms may also be a power, a list item or a number of the text. They are markers only behind a word, at the end of a clause,
and for a passage that exists.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import regex

from sextant.text.characters import IDEOGRAPHS

LABEL = r"[IT]\d{1,2}(?::(?:r\d{1,6})?(?:c\d{1,5})?)?"
_BETWEEN = r"\s*[,，、;；]\s*"
NUMBERS = r"\d{1,3}(?:\s*(?:[,，、;；–&和及-]|and)\s*\d{1,3})*"
# The most passages that one marker may name.
_MOST_NAMED = 50
# No marker is longer.
_MARKER_LONGEST = 80
OPEN, CLOSE = r"[\[【［〔〖⟦]", r"[\]】］〕〗⟧]"

MARKER = regex.compile(
    rf"{OPEN}\s*(?P<names>{NUMBERS}|{LABEL}(?:{_BETWEEN}{LABEL})*)\s*{CLOSE}", regex.IGNORECASE
)
"""A whole marker."""

_WITH_GAP = regex.compile(rf"[ \t]*{MARKER.pattern}", regex.IGNORECASE)
_TARGET = re.compile(
    r"(?P<label>[IT]\d{1,2})(?::(?P<place>\w*))?|(?P<first>\d{1,3})(?:\s*[–-]\s*(?P<last>\d{1,3}))?",
    re.IGNORECASE,
)

_SOURCE = "passages?|sources?|excerpts?|documents?|context|text|handbook|manual|information|policy|contract"
_SOURCE_ZH = "文档|文件|资料|段落|内容|原文|来源|信息|指南|手册|制度|合同(?!总|价|金|签)|规程"
_ACCORDING = r"\b(?:according to|based on|(?:as|which is) (?:is )?\w+ (?:in|by)|(?:as )?per)\b"
_ACCORDING_ZH = "根据|依据|按照|基于"
# "According to the passage, …", 根据文档内容，…, "…, as stated in passage 3 of the handbook".
_ATTRIBUTION = re.compile(
    rf"\A\W*{_ACCORDING}(?:[^,，:：]{{0,40}}?(?:\b(?:{_SOURCE})\b|\d)[^,，:：]{{0,60}}|\s*)[,，:：]\s*"
    rf"|\A\W*(?:{_ACCORDING_ZH})(?:[^，,:：。]{{0,30}}?(?:{_SOURCE_ZH}|\d)[^，,:：。]{{0,12}}|\s*)[，,:：]\s*"
    rf"|,?\s*{_ACCORDING}\s*(?:the\s+)?(?:(?:{_SOURCE})[\s\d]*(?:\s(?:of|from|in)\s[\w .-]{{1,40}}?)?)?(?=\W*\Z)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"\W*(?:(?:{_ACCORDING}|from|in)\s+(?:the\s+)?|{_ACCORDING_ZH}|[在据])?\s*(?:passages?|excerpts?|段落|片段)?\s*",
    re.IGNORECASE,
)


def leads(text: str) -> bool:
    """Return whether a beginning only introduces a source: "According to passage", 根据."""
    return _LEADING.fullmatch(text) is not None


def find_targets(names: str, labels: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return what a marker names, each once: passages from 0, and the part of a table or "".

    `1, 3` names two passages, `2-4` three; `T1:r3c2` the part `r3c2` of what `labels` calls T1.
    """
    return list(dict.fromkeys(_split_targets(names, labels)))[:_MOST_NAMED]


def is_label(names: str) -> bool:
    """Return whether a marker names attachments instead of numbers."""
    return not names[0].isdigit()


def _split_targets(names: str, labels: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for one in _TARGET.finditer(names):
        if one["label"]:
            if one["label"] in labels:
                yield labels[one["label"]], one["place"] or ""
            continue
        for index in range(int(one["first"]) - 1, int(one["last"] or one["first"])):
            yield index, ""


def strip_markers(text: str) -> str:
    """Return `text` without its markers and the gaps before them."""
    return _WITH_GAP.sub("", text)


def statement_text(text: str) -> str:
    """Return a sentence without its markers and without its attribution ("According to passage 1, …")."""
    return _ATTRIBUTION.sub("", strip_markers(text)).strip()


_WORD = (
    "citations?|cites?|sources?|passages?|refs?|references?|documents?|docs?|quotes?|excerpts?|context|id|chunks?"
    "|来源|來源|段落|引用|引文|出处|出處|文档|文件|资料|資料|参考|參考|片段"
)
_SIGN = r"\s*(?:nos?\.?\s*)?[:：#._=-]?\s*"
_REST = r"[^\]】］\n]{0,80}"
_N = rf"(?P<n>{NUMBERS})"
_TAG = "(?:sup|cite|citation|ref|reference|source|passage|c)"
# Certain wherever they stand: nothing else is written like this.
_CERTAIN = (
    # With the name of what is cited ahead of the number, or behind it a page, a title or a file.
    rf"{OPEN}{{1,2}}\s*\^?(?:(?:{_WORD}|s){_SIGN}|\d{{1,3}}:(?=\d{{1,3}}\s*†))?{_N}\^?"
    rf"(?:\s*†{_REST}|\s*[,，:：]\s*(?:pp?\.|page|line|section|§|第){_REST}"
    rf"|\s*[:：|](?={_REST}?(?:[^\W\d_]{{3}}|[{IDEOGRAPHS}]{{2}})){_REST}|\s*[,，–—-]?{_REST}\.[a-z]{{2,5}})?\s*{CLOSE}{{1,2}}",
    rf"[(（]\s*(?:see\s+|cf\.?\s+|from\s+|[参參]?[见見]|来自)?\s*"
    rf"(?:(?:(?:{_WORD}){_SIGN})+{OPEN}?\s*{_N}\s*{CLOSE}?|{OPEN}\s*{_N}\s*{CLOSE}|第\s*{_N}\s*个?(?:段落|段|条))\s*[)）]",
    rf"\$?\^\{{?\s*{OPEN}{_N}\s*{CLOSE}\s*\}}?\^?\$?",
    rf"\#\#{_N}\$\$|\\\[{_N}\\\]|\\cite\{{{_N}\}}",
    rf":?contentReference\[oaicite:{_N}\](?:\{{index=\d{{1,3}}\}}|(?!\{{))",
    rf"<{_TAG}(?:\s[^<>]{{0,80}})?>\s*(?:{OPEN}\s*{_N}\s*{CLOSE}|(?<!<sup>\s*){_N})\s*</{_TAG}>",
    rf"<(?!sup){_TAG}\s+(?:id|ref|source|index|n)\s*=\s*[\"']?{_N}[\"']?\s*(?:/>|>\s*</{_TAG}>)",
)
_SUPERSCRIPTS = "⁰¹²³⁴-⁹"
_CIRCLED = "①-⑳"
# Markers behind a word; behind a number, a letter or a unit they are powers.
_RAISED = (
    rf"<sup>\s*(?P<raised>{NUMBERS})\s*</sup>|\$?\^(?:\{{\s*(?P<raised>{NUMBERS})\s*\}}|(?P<raised>{NUMBERS})\^)\$?"
    rf"|(?P<raised>[{_SUPERSCRIPTS}]{{1,2}}(?:[,，][{_SUPERSCRIPTS}]{{1,2}}){{0,3}})(?![⁺⁻])"
)
# Markers of passages that exist. The number of a passage is followed by no unit.
_MENTION = (
    r"(?P<word>passages?|excerpts?|段落|片段)\s*[:：#]?\s*"
    rf"(?P<mentioned>{NUMBERS})(?!\d|\.\d|\s?[%℃°])"
)
# Markers at the end of a clause, unless a passage has the same; elsewhere they number what is listed.
_ENDING = rf"(?:[(（{{]\s*(?P<ending>{NUMBERS})\s*[)）}}]|(?P<ending>[{_CIRCLED}]))"
_END_OF_CLAUSE = r"(?=[*_]{0,2}\s*(?:[.,;!?]\s|[。，；！？]|\n))"
_END_OF_TEXT = r"(?=[*_]{0,2}\s*(?:[.,;!?]\s*)?\Z)"


def _form(ends: str) -> regex.Pattern[str]:
    return regex.compile("|".join([*_CERTAIN, _RAISED, _MENTION, _ENDING + ends]), regex.IGNORECASE)


_BEGUN, _WHOLE = _form(_END_OF_CLAUSE), _form(f"(?:{_END_OF_CLAUSE}|{_END_OF_TEXT})")
_BEGINS = regex.compile(
    rf"[\[【［〔〖⟦(（{{<^$#:\\{_SUPERSCRIPTS}{_CIRCLED}]|(?<![a-z])(?:contentRef|[pe](?=[ax]|\Z))|段|片",
    regex.IGNORECASE,
)
_BEHIND_A_WORD = regex.compile(
    rf"(?:[^\W\d_{IDEOGRAPHS}]{{3,}}|(?<!\d\s?)[米秒]|(?![米秒])[{IDEOGRAPHS}]|[%％.!?。！？，；)）\]\"”])[*_]{{0,2}}\s?\Z"
)
_SPACED_OFF = regex.compile(rf"[\w%％.!?)）\]\"”*]\s+\Z|[{IDEOGRAPHS}。！？%％”]\s?\Z")
_LONGEST, _KEPT = 200, 120


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
        return text

    def _take_marker(self, found: regex.Match[str]) -> str:
        """Pass a marker on as `[2]`, and what is none as it stands."""
        before = self._line[-_KEPT:]
        text = self._take(found.end())
        word = found["word"] or ""
        named = found["n"] or found["raised"] or found["mentioned"] or found["ending"]
        is_marker = (
            found["n"]
            or (found["raised"] and _BEHIND_A_WORD.search(before))
            or (word and self._exist(named) and not re.search(r"[A-Za-z]\Z", before))
            or (found["ending"] and self._ends_a_clause(text, named, before))
        )
        if not is_marker:
            return text
        return word + " " * (word[:1].isascii() and bool(word)) + self._format(named)

    def _format(self, named: str) -> str:
        """Return the marker of the numbers that a model wrote; ¹² is `[1][2]` where there is no passage 12."""
        numbers = unicodedata.normalize("NFKC", named)
        if numbers != named and numbers.isdigit() and int(numbers) > self._count:
            return "".join(f"[{number}]" for number in numbers)
        return f"[{numbers}]"

    def _exist(self, named: str) -> bool:
        """Return whether there are passages of all these numbers."""
        numbers = regex.findall(r"\d+", unicodedata.normalize("NFKC", named))
        return all(0 < int(number) <= self._count for number in numbers)

    def _ends_a_clause(self, text: str, named: str, before: str) -> bool:
        """Return whether a number in round brackets is a marker, and not a list item of a passage."""
        return (
            _SPACED_OFF.search(before) is not None
            and self._exist(named)
            and not any(text in passage for passage in self._passages)
        )

    def _is_code(self) -> bool:
        return self._fenced or self._line.count("`") % 2 == 1


def read_markers(text: str, passages: Sequence[str]) -> str:
    """Return a whole text with its markers as `[2]`."""
    reader = MarkerReader(passages)
    return reader.feed(text) + reader.finish()
