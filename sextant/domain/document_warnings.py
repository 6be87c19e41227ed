"""What may be missing of a document that was ingested: a code with its parameters, and one wording a language.

A warning is stored and passed on as data, and worded where a reader sees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Any

from sextant.text.characters import count_noun


class WarningCode(StrEnum):
    """The codes; they are stable."""

    UNREADABLE_CHARACTERS = auto()
    ENCODING_GUESSED = auto()
    PAGES_OF_IMAGES = auto()
    PAGES_UNREADABLE = auto()
    RUNNING_HEADS = auto()
    ATTACHMENTS_NOT_READ = auto()
    FORMULAS_NOT_COMPUTED = auto()
    PARTS_NOT_READ = auto()
    PARTS_DAMAGED = auto()
    TEXT_LEFT_OUT = auto()
    QUOTES_NOT_CLOSED = auto()
    LINES_NOT_IMPORTED = auto()
    IMAGES_NOT_LOOKED_AT = auto()
    IMAGES_NOT_DESCRIBED = auto()
    PASSAGES_NOT_READ = auto()


@dataclass(frozen=True, slots=True)
class DocumentWarning:
    """One warning.

    Attributes:
        code: one of `WarningCode`; empty for a sentence that was stored before warnings had codes.
        params: what its wording names, as JSON holds it: numbers, texts, lists of these, and counted things
            (`count`).
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def from_json(cls, stored: str | Mapping[str, Any]) -> DocumentWarning:
        """Return a warning as `to_json` gave it; a sentence of an older version stays that sentence."""
        if isinstance(stored, str):
            return cls("", {"sentence": stored})
        return cls(str(stored["code"]), stored["params"])

    def to_json(self) -> dict[str, Any]:
        """Return the warning as JSON holds it."""
        return {"code": str(self.code), "params": dict(self.params)}

    def in_language(self, language: str) -> str:
        """Return the sentence in `zh` or `en`."""
        wording = _WORDINGS[language].get(self.code, "{sentence}")
        return wording.format(
            **{name: _word(name, value, language) for name, value in self.params.items()}
        )

    def __str__(self) -> str:
        return self.in_language("en")


def count(number: int, noun: str, at: Sequence[int | str] = (), *, more: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Return a number of things as a parameter.

    Args:
        number: how many.
        noun: in the singular, in English.
        at: where some of them are: numbers of slides, or names.
        more: whether there are further ones than `at` names.
    """
    return {"number": number, "noun": noun, "at": [*at], "more": more}


def _word(name: str, value: Any, language: str) -> str:  # noqa: ANN401 - JSON
    """Return a parameter as the sentence shows it."""
    if isinstance(value, Mapping):
        return _count_in_chinese(value) if language == "zh" else _count_in_english(value)
    if isinstance(value, list | tuple):
        quoted = [f"“{one}”" if name == "heads" else _word("", one, language) for one in value]
        return ("、" if language == "zh" else ", ").join(quoted)
    if name == "others":  # further ones than are listed
        if not value:
            return ""
        return f"等另外 {value} 项" if language == "zh" else f" and {value} more"
    if name == "why":
        return (f"（{value}）" if language == "zh" else f" ({value})") if value else ""
    return str(value)


def _count_in_english(things: Mapping[str, Any]) -> str:
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{number:,} {noun}"
    at = [str(one) for one in things["at"]]
    if at and isinstance(things["at"][0], int):
        at[0] = f"slide {at[0]}"
    where = f" ({', '.join([*at, *(['…'] if things['more'] else [])])})" if at else ""
    return f"{count_noun(number, noun)}{where}"


def _count_in_chinese(things: Mapping[str, Any]) -> str:
    number, noun = things["number"], things["noun"]
    if noun in _REASONS:
        return f"{_REASONS[noun]}的文字 {number:,} 字"
    at = [f"第 {one} 页" if isinstance(one, int) else one for one in things["at"]]
    where = f"（{'、'.join([*at, *(['…'] if things['more'] else [])])}）" if at else ""
    return f"{number} {_NOUNS.get(noun, f'处 {noun}')}{where}"


# Why text is left out, and things that are counted, in Chinese.
_REASONS = {
    "struck through": "划去",
    "hidden": "隐藏",
    "not chosen in a list": "下拉列表中未选",
    "deleted under review": "修订中删除",
    "in short sentences beside the main part": "正文之外短句中",
}
_NOUNS = {
    "image": "张图像",
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
}

_WORDINGS: dict[str, dict[str, str]] = {
    "en": {
        WarningCode.UNREADABLE_CHARACTERS: "{number} unreadable characters",
        WarningCode.ENCODING_GUESSED: "It was read as {encoding}, which may be wrong. If it reads badly, save the file "
        "as UTF-8 and add it again.",
        WarningCode.PAGES_OF_IMAGES: "{blank} of {pages} pages hold only images",
        WarningCode.PAGES_UNREADABLE: "{unmapped} of {pages} pages were left out: their fonts do not say which letters "
        "they draw. Run the file through a text recognition (OCR) program and add the result.",
        WarningCode.RUNNING_HEADS: "Left out as running heads and feet: {heads}{others}",
        WarningCode.ATTACHMENTS_NOT_READ: "{number} attachments were not read: {names}. Save them and add them by "
        "themselves.",
        WarningCode.FORMULAS_NOT_COMPUTED: "{number} cells hold formulas whose results were never saved, and are empty "
        "here. Open the workbook in its program, save it and add it again.",
        WarningCode.PARTS_NOT_READ: "Not read: {parts}",
        WarningCode.PARTS_DAMAGED: "Damaged or missing inside the file, and read only as far as that is possible: "
        "{parts}",
        WarningCode.TEXT_LEFT_OUT: "Characters left out, because the document takes them back, hides them or sets them "
        "aside: {characters}",
        WarningCode.QUOTES_NOT_CLOSED: "Never closed: the quotation mark in {rows} (line {lines}). Each line was read "
        "as a row of its own; check it.",
        WarningCode.LINES_NOT_IMPORTED: "These are lines of an import, and were read as text: their documents, "
        "entities and relations are not in the graph. Delete this document, and bring the file in by `sextant "
        "import` (POST /api/graphs/…/import).",
        WarningCode.IMAGES_NOT_LOOKED_AT: "{images} not looked at: no vision model is configured. Set "
        "SEXTANT_VISION_MODEL to a model that takes images, then delete the document and ingest it again.",
        WarningCode.IMAGES_NOT_DESCRIBED: "{failed} of {images} images were not described: {reason}",
        WarningCode.PASSAGES_NOT_READ: "The chat model has not read {missing} of {passages}{why}. They can be found; "
        "`sextant entities extract` reads them.",
    },
    "zh": {
        WarningCode.UNREADABLE_CHARACTERS: "有 {number} 个字符无法识别。",
        WarningCode.ENCODING_GUESSED: "文字编码按 {encoding} 读取，可能有误。如显示有误，请另存为 UTF-8 后重新添加。",
        WarningCode.PAGES_OF_IMAGES: "共 {pages} 页，其中 {blank} 页只有图像，没有文字。",
        WarningCode.PAGES_UNREADABLE: "共 {pages} 页，其中 {unmapped} 页的字体没有说明所画的是哪些字，未读取。"
        "请用文字识别（OCR）软件处理后重新添加。",
        WarningCode.RUNNING_HEADS: "页眉页脚已略去：{heads}{others}。",
        WarningCode.ATTACHMENTS_NOT_READ: "{number} 个附件未读取：{names}。请另存后单独添加。",
        WarningCode.FORMULAS_NOT_COMPUTED: "{number} 个单元格的公式没有保存结果，此处为空。请用表格软件打开并保存后重新添加。",
        WarningCode.PARTS_NOT_READ: "未能读取：{parts}。",
        WarningCode.PARTS_DAMAGED: "文件内有部分已损坏或缺失，只读取了能读的内容：{parts}。",
        WarningCode.TEXT_LEFT_OUT: "未收入被删去、隐藏或置于一旁的文字：{characters}。",
        WarningCode.QUOTES_NOT_CLOSED: "{rows}的引号没有结束（行号 {lines}）。每行都按单独一行读取，请检查。",
        WarningCode.LINES_NOT_IMPORTED: "这些是导入文件的行，却被当作文本读取：其中的文档、实体和关系没有进入图谱。"
        "请删除此文档，再用 `sextant import`（POST /api/graphs/…/import）导入。",
        WarningCode.IMAGES_NOT_LOOKED_AT: "{images}未读取：没有配置视觉模型。请把 SEXTANT_VISION_MODEL 设为能读图像的模型，"
        "再删除此文档并重新添加。",
        WarningCode.IMAGES_NOT_DESCRIBED: "{images} 张图像中有 {failed} 张未能描述：{reason}",
        WarningCode.PASSAGES_NOT_READ: "聊天模型没有读完{passages}中的 {missing} 个{why}。它们可以检索到；"
        "`sextant entities extract` 会读取它们。",
    },
}
