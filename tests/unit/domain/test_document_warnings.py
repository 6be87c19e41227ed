"""What may be missing of a document: data, and one wording a language."""

from __future__ import annotations

from string import Formatter

import orjson
import pytest

from sextant.domain.document_warnings import _WORDINGS, DocumentWarning, WarningCode, count


def gaps(language: str, code: WarningCode) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(_WORDINGS[language][code]) if name}


@pytest.mark.parametrize("code", WarningCode)
def test_every_code_is_worded_in_both_languages_by_the_same_parameters(code: WarningCode) -> None:
    assert gaps("en", code) == gaps("zh", code)


PARTS = DocumentWarning(
    WarningCode.PARTS_NOT_READ,
    {
        "parts": [
            count(2, "chart", [1, 4]),
            count(7, "sheet", ["Nuts"], more=True),
            count(1, "video"),
        ]
    },
)


@pytest.mark.parametrize(
    ("warning", "english", "chinese"),
    [
        (
            PARTS,
            "Not read: 2 charts (slide 1, 4), 7 sheets (Nuts, …), 1 video",
            "未能读取：2 个图表（第 1 页、第 4 页）、7 张工作表（Nuts、…）、1 段视频。",
        ),
        (
            DocumentWarning(
                WarningCode.TEXT_LEFT_OUT,
                {"characters": [count(1200, "struck through"), count(8, "hidden")]},
            ),
            "Characters left out, because the document takes them back, hides them or sets them aside: "
            "1,200 struck through, 8 hidden",
            "未收入被删去、隐藏或置于一旁的文字：划去的文字 1,200 字、隐藏的文字 8 字。",
        ),
        (
            DocumentWarning(WarningCode.RUNNING_HEADS, {"heads": ["A", "B"], "others": 3}),
            "Left out as running heads and feet: “A”, “B” and 3 more",
            "页眉页脚已略去：“A”、“B”等另外 3 项。",
        ),
        (
            DocumentWarning(
                WarningCode.QUOTES_NOT_CLOSED, {"rows": count(1, "row"), "lines": [7, "…"]}
            ),
            "Never closed: the quotation mark in 1 row (line 7, …). Each line was read as a row of its own; check it.",
            "1 行的引号没有结束（行号 7、…）。每行都按单独一行读取，请检查。",
        ),
        (
            DocumentWarning.from_json("1 image not looked at."),
            "1 image not looked at.",
            "1 image not looked at.",
        ),
        (
            DocumentWarning(
                WarningCode.IMAGES_NOT_DESCRIBED, {"failed": 1, "images": 2, "reason": "{x} %s"}
            ),
            "1 of 2 images were not described: {x} %s",
            "2 张图像中有 1 张未能描述：{x} %s",
        ),
    ],
)
def test_a_warning_is_worded_in_the_readers_language(
    warning: DocumentWarning, english: str, chinese: str
) -> None:
    assert (str(warning), warning.in_language("zh")) == (english, chinese)
    stored = orjson.loads(orjson.dumps(warning.to_json()))
    assert DocumentWarning.from_json(stored) == warning
