"""Sentences of an answer in the making: which state something that a passage must carry, and what became of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from sextant.nodes.citing.support import SupportedQuote

# Headings and lead-ins ("The steps are:") state nothing; nor do questions back to the reader, rules of
# tables, fences of code, or a bare yes or no before what it rests on.
_NO_STATEMENT = re.compile(
    r"\s*(?:#.*|\W*|.*[:：]\W*|.*[?？]\W*|```.*|\W*(?:yes|no|sure|certainly|是的?|不是|对|不|没有|有|不?可以|不?能够?|不?会|不必|不需要|不用|需要|必须)\W*)\s*",
    re.DOTALL | re.IGNORECASE,
)

_SAYING = (
    r"(?:say|said|mention|state|specif|contain|includ|provid|describ|address|discuss|cover|give|tell|indicat"
    r"|answer|list|name|explain|reveal|offer|hold|have (?:any|enough|no)|support|speak)"
)
_SILENT = re.compile(
    r"\b(?:documents?|passages?|sources?|context|texts?|materials?|knowledge base|excerpts?|information)\b"
    r"[^.!?]{0,60}?(?:\b(?:do|does|did) not\b|n['’]t\b|\bnever\b|\bnothing\b)"
    rf"\s*(?:\w+\s+){{0,2}}?{_SAYING}"
    r"|\bno (?:information|mention|passage|document|evidence|answer|details?|data)\b"
    r"|\bnot (?:mentioned|stated|specified|found|covered|described|addressed|provided|given|said|listed)\b"
    r"|\b(?:cannot|can['’]?t|could not|unable to|not able to|(?:do|does) ?n['’o]t)"
    r"\s+(?:\w+\s+)?(?:answer|determine|find|know|tell|say)\b"
    r"|(?:文档|文件|文件|资料|資料|段落|材料|上下文|知识库|知識庫|原文|文中|内容|內容|信息|以上)[^。！？]{0,16}?"
    r"(?:没有|沒有|未|并未|並未|不|无|無)[^。！？]{0,6}?"
    r"(?:提|说|說|给|給|包含|涉及|记载|記載|写|寫|描述|介绍|介紹|回答|指出|找到|记录|記錄|列出|相关|相關|信息|内容|足够)"
    r"|(?:没有|沒有|未能|未|无法|無法|不能)(?:从[^。]{0,12})?(?:找到|回答|确定|確定|得知|判断|判斷|提供)"
    r"|不知道",
    re.IGNORECASE,
)
# What follows such a word may well be a statement.
_BUT = re.compile(
    r"\b(?:but|however|yet|although|though|nevertheless|instead|still)\b"
    r"|但|不过|不過|然而|尽管|儘管|虽然|雖然|而是|[，,;；]\s*(?:so|and|所以|因此)",
    re.IGNORECASE,
)


def is_abstention(sentence: str) -> bool:
    """Return whether a sentence says that the documents do not tell, and nothing beside."""
    return _SILENT.search(sentence) is not None and not _BUT.search(sentence)


def states(sentence: str) -> bool:
    """Return whether a sentence says something about the world that could be true or false."""
    return not (_NO_STATEMENT.fullmatch(sentence) or is_abstention(sentence))


_STOP = re.compile(r"[.!?…。！？]*[\"'”’」』）》)\]]*\s*")


class Verdict(StrEnum):
    """What became of a finished sentence."""

    STATES_NOTHING = "states nothing"
    SILENT = "says that the documents do not tell"
    SUPPORTED = "a citation says so"
    FOREIGN = "cited to a passage in another language"
    PARTIAL = "some of it is said"
    UNSUPPORTED = "no passage says so"
    CONTRADICTED = "the passages say otherwise"


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished sentence: its text as the model may write it again, and what was cited for it.

    `citations` are the places in the answer's citations, `passages` those of the passages they cite.
    """

    text: str
    verdict: Verdict
    citations: range
    passages: tuple[int, ...]


@dataclass(slots=True)
class DraftSentence:
    """The sentence being written: its text without markers, and where its markers stand."""

    text: str = ""
    marks: list[tuple[int, int, SupportedQuote]] = field(
        default_factory=list[tuple[int, int, SupportedQuote]]
    )

    def shown(self, marker: Callable[[int, str], str]) -> str:
        """Return the sentence with its markers, as `marker` writes that of a passage and its part."""
        pieces, position = [], 0
        for offset, index, quote in self.marks:
            pieces += [self.text[position:offset], marker(index, quote.place)]
            position = offset
        return "".join([*pieces, self.text[position:]])

    def marked_at(self, offset: int) -> bool:
        """Return whether the last marker stands there, with nothing but a stop behind it."""
        last = self.marks[-1][0] if self.marks else None
        return last == offset and _STOP.fullmatch(self.text, offset) is not None

    def split(self, end: int) -> tuple[DraftSentence, DraftSentence]:
        """Cut behind `end`; markers that follow the stop on its line belong to the first part."""
        kept = []
        for mark in self.marks:
            between = self.text[end : max(end, mark[0])]
            if between.strip() or "\n" in between:
                break
            kept.append(mark)
        end = max([end, *(offset for offset, _, _ in kept)])
        rest = [(offset - end, index, quote) for offset, index, quote in self.marks[len(kept) :]]
        return DraftSentence(self.text[:end], kept), DraftSentence(self.text[end:], rest)
