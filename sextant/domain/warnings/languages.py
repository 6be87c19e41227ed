"""How each language shows the parameters of a warning: lists, names, numbers of things."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sextant.text.characters import count_noun

# Why text of a document was left out; these are counted in characters.
_REASONS = {
    "struck through": "划去",
    "hidden": "隐藏",
    "not chosen in a list": "下拉列表中未选",
    "deleted under review": "修订中删除",
    "in short sentences beside the main part": "正文之外短句中",
    "in menus and feet of the page": "菜单和页脚中",
    "out of sight": "不显示",
    "in a table of contents": "目录中",
    "in page numbers": "页码中",
    "in heads and feet that are repeated": "重复的页眉页脚中",
    "in running heads and feet": "页眉页脚中",
    "in fonts without meaning": "字体未说明含义",
}
_NOUNS = {
    "image": "张图像",
    "page": "页",
    "damaged page": "个损坏的页面",
    "damaged line": "个损坏的行",
    "passage": "个段落",
    "row": "行",
    "slide": "张幻灯片",
    "damaged slide": "张损坏的幻灯片",
    "layout": "个版式",
    "comment thread": "组批注",
    "comment": "条批注",
    "picture": "张图片",
    "notes page": "页备注",
    "note": "条脚注或尾注",
    "embedded document": "个嵌入文档",
    "page header or footer": "处页眉或页脚",
    "EQ formula": "个 EQ 公式",
    "sheet": "张工作表",
    "damaged sheet": "张损坏的工作表",
    "shared text": "处共享文本",
    "drawing": "个图形",
    "chart": "个图表",
    "diagram": "个示意图",
    "video": "段视频",
    "sound": "段音频",
    "entity": "个实体",
    "report": "篇报告",
    "description": "条描述",
    "reference": "处对文件外内容的引用",
}


def _count_in_english(things: Mapping[str, Any]) -> str:
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{number:,} {noun}"
    at = [str(one) for one in things["at"]]
    if at and isinstance(things["at"][0], int):
        # The unit that the position of a part is counted in.
        unit = {"damaged page": "page", "damaged line": "line"}.get(noun, "slide")
        at[0] = f"{unit} {at[0]}"
    where = f" ({', '.join([*at, *(['…'] if things['more'] else [])])})" if at else ""
    return f"{count_noun(number, noun)}{where}"


def _count_in_chinese(things: Mapping[str, Any]) -> str:
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{_REASONS[noun]}的文字 {number:,} 字"
    unit = "行" if noun == "damaged line" else "页"
    at = [f"第 {one} {unit}" if isinstance(one, int) else one for one in things["at"]]
    where = f"（{'、'.join([*at, *(['…'] if things['more'] else [])])}）" if at else ""
    return f"{number} {_NOUNS.get(noun, f'处 {noun}')}{where}"


@dataclass(frozen=True, slots=True)
class Language:
    """The words around parameters; `others` and `aside` take what they are about in braces.

    Attributes:
        between: separates the items of a list.
        between_sentences: separates sentences.
        same_reason: replaces a reason that an earlier warning gave.
        others: says how many further things there are than are listed.
        aside: puts a remark in brackets.
        count: returns a number of things (`sextant.domain.warnings.count`), and where some of them are.
    """

    between: str
    between_sentences: str
    same_reason: str
    others: str
    aside: str
    count: Callable[[Mapping[str, Any]], str]


LANGUAGES = {
    "en": Language(", ", " ", "for the same reason.", " and {} more", " ({})", _count_in_english),
    "zh": Language("、", "", "原因同上。", "等另外 {} 项", "（{}）", _count_in_chinese),
}
