"""Find the titles of a document and its sections that are names.

Also here: the positions where a sentence, a speech, an item or a cell begins, so that a capital means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from sextant.domain.documents import HeadingSource, ParsedDocument
from sextant.stores.graph.evidence import one_line
from sextant.text.characters import normalise_name
from sextant.text.name_linker import bare_title, is_linkable, names_of_title
from sextant.text.sentences import BEHIND_NAME

# The mark of a list's item: "- Let structs own", "4. Check the star".
_ITEM = re.compile(r"^[ \t]*(?:[-*+•·–—]|\d{1,3}[.)、])[ \t]+(?=\S+[ \t])", re.MULTILINE)
# Speech in quotation marks ("“Look at it”", but not "the “Heron”"), and a clause behind a colon ("Bert: Discussed it").
_SPEECH = re.compile(r"[“\"‘](?=[^\W\d_]+[^\w”\"’'])|:\**\s+(?=[^\W\d_]+ [a-z])")
_ROW = re.compile(r"^\|.*\|[ \t]*$", re.MULTILINE)
_CELL = re.compile(r"(?<=\| )[^|\n]+(?= \|)")
_RULE = re.compile(r"\n\|(?: *:?-+:? *\|)+")


def openings(text: str, sentences: Iterable[tuple[int, int]]) -> list[int]:
    """Return the positions where sentences, speeches, items and cells begin, in order.

    An item or a cell of one word may be a name, except in the head of a table.
    """
    starts = {start for start, _ in sentences}
    starts |= {found.end() for mark in (_ITEM, _SPEECH) for found in mark.finditer(text)}
    for row in _ROW.finditer(text):
        head = _RULE.match(text, row.end()) is not None
        cells = _CELL.finditer(text, row.start(), row.end())
        starts |= {cell.start() for cell in cells if head or " " in cell.group()}
    return sorted(starts)


LONGEST_TITLE = 120  # characters; a longer heading is a sentence, which no text repeats

_BRACKETED = re.compile(
    r"[(（](?:\s*(?:简称|簡稱|缩写为?|縮寫|以下简称|abbr\.?))?\s*[:：]?([^()（）]+)[)）]"
)
_ABBREVIATION = re.compile(r"[A-Z][A-Za-z]{0,2}[A-Z0-9][A-Za-z0-9&+-]{0,8}")
_LEAST_CHINESE = 3

# General headings of sections and columns.
_GENERIC = frozenset(
    normalise_name(name)
    for name in """
概述|综述|简介|介绍|引言|前言|导言|绪论|序言|背景|背景介绍|研究背景|项目背景|目的|目标|方法|研究方法|材料与方法|结果
讨论|结论|结果与讨论|总结|小结|摘要|关键词|正文|目录|附录|附件|参考文献|参考资料|致谢|注释|备注|说明|其他|其它|定义|术语
术语和定义|适用范围|范围|总则|附则|内容|主要内容|基本信息|历史|生平|早年|早期生活|个人生活|作品|评价|影响|外部链接|相关条目
参见|延伸阅读|图片|表格|问题|常见问题|问答|使用说明|注意事项|更新日志|版本历史|修订记录|概況|概要|簡介|歷史|參考文獻|參考資料
外部連結|相關條目|總結|結論|討論|結果|導言|緒論|說明|目錄|附錄
表|图|圖|附表|附图|附圖|图表|圖表|插图|插圖|图示|图例|章|节|節|章节|章節|部分|篇|小节
section|sections|page|pages|chapter|chapters|part|parts|table|tables|figure|figures|chart|charts|diagram|image|images
introduction|overview|abstract|summary|background|motivation|methods|method|methodology|materials and methods
results|discussion|results and discussion|conclusion|conclusions|references|bibliography|acknowledgements
acknowledgments|appendix|contents|table of contents|index|preface|foreword|notes|see also|external links
further reading|history|early life|personal life|career|biography|life|works|legacy|reception|plot|cast|production
definitions|definition|scope|purpose|general|misc|miscellaneous|other|faq|questions|usage|installation|examples
名称|名稱|值|状态|狀態|类型|類型|单位|單位|日期|时间|時間|颜色|顏色|项目|項目|指标|指標
情况|情況|情形|內容|时刻|時刻|时期|時期|方面|方式|問題|原因|地方|东西|東西|事情
name|names|value|values|status|state|type|kind|unit|date|time|size|color|colour|answer|result
example|getting started|changelog|license|contact|about|details|description|document|untitled|home|readme|main
""".replace("\n", "|").split("|")
    if name
)


class Title(NamedTuple):
    """A title that is a name, with its variants.

    `path` is None for the document's title, else the section path with which its chunks' paths begin.
    """

    name: str
    names: tuple[str, ...]
    path: tuple[str, ...] | None


def titles_of(parsed: ParsedDocument) -> list[Title]:
    """Return the document's title and its informative section titles, in reading order.

    Titles given in an import count as names. The id of a passage that was imported without a title does not.
    """
    found = [None if _is_an_id(parsed) else _title(parsed.title, None)]
    for section in parsed.sections:
        if section.path and section.heading_source is HeadingSource.GIVEN:
            found.append(_make_title(one_line(section.title), section.path))
        elif section.path:
            found.append(_informative(_title(section.title, section.path)))
    return [title for title in found if title is not None]


def _is_an_id(parsed: ParsedDocument) -> bool:
    return [(chunk.title, chunk.external_id) for chunk in parsed.chunks] == [("", parsed.title)]


def _title(title: str, path: tuple[str, ...] | None) -> Title | None:
    bare = bare_title(title)
    if path is not None:
        return _make_title(bare, path)
    # A document may be called "1984" or "2001太空漫游", so its numbers stay; but "Table 3" and 第三章 are no names.
    line = one_line(title)
    return _make_title(line, None) if bare or line[:1].isdigit() else None


def is_generic(heading: str) -> bool:
    """Return whether a heading is general, like 备注 and "Description"."""
    return normalise_name(heading) in _GENERIC


def _make_title(name: str, path: tuple[str, ...] | None) -> Title | None:
    if not name or len(name) > LONGEST_TITLE or is_generic(name) or _is_sentence(name):
        return None
    names = tuple(n for n in (*names_of_title(name), *_abbreviations(name)) if is_linkable(n))
    return Title(name, tuple(dict.fromkeys(names)), path)


def _is_sentence(title: str) -> bool:
    """Return whether a title ends as sentences do, and not with an abbreviation: "Acme Inc."."""
    last = title.rpartition(" ")[2].lower()
    return title[-1] in ".。!！" and last[:-1] not in BEHIND_NAME and "." not in last[:-1]


def _informative(title: Title | None) -> Title | None:
    """Return a section's title if it has at least three ideographs, two words or an abbreviation."""
    if title is None or not title.names or not _is_informative(title.name):
        return None
    return title


def _is_informative(name: str) -> bool:
    ideographs = sum("\u3400" <= char <= "\u9fff" for char in name)
    words = re.findall(r"[A-Za-z][\w-]+", name)
    return (
        ideographs >= _LEAST_CHINESE or len(words) > 1 or any(w[1:].upper() == w[1:] for w in words)
    )


def _abbreviations(name: str) -> list[str]:
    """Return the abbreviations in brackets: "IGF" of "胰岛素样生长因子（IGF）"."""
    found = [match.group(1).strip() for match in _BRACKETED.finditer(name)]
    return [short for short in found if _ABBREVIATION.fullmatch(short)]
