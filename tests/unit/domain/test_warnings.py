"""Warnings: data, and one catalogue of sentences."""

from __future__ import annotations

from string import Formatter

import orjson
import pytest

from sextant.domain.errors import DatabaseUnavailable, Wording, describe_reason
from sextant.domain.warnings import (
    CodedWarning,
    WarningCode,
    count,
    distinct,
    names,
    sentences,
    word_warnings,
)
from sextant.text.characters import language_of


def gaps(language: str, code: WarningCode) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentences()[code][language]) if name}


@pytest.mark.parametrize("code", WarningCode)
def test_every_code_is_worded_in_both_languages_by_the_same_parameters(code: WarningCode) -> None:
    assert gaps("en", code) == gaps("zh", code)


PARTS = CodedWarning(
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
            CodedWarning(
                WarningCode.TEXT_LEFT_OUT,
                {"characters": [count(1200, "struck through"), count(8, "hidden")]},
            ),
            "Characters left out because they are deleted, hidden or not part of the main text: "
            "1,200 struck through, 8 hidden",
            "未收入被删去、隐藏或置于一旁的文字：划去的文字 1,200 字、隐藏的文字 8 字。",
        ),
        (
            CodedWarning(WarningCode.RUNNING_HEADS, {"heads": ["A", "B"], "others": 3}),
            "Left out as page headers and footers: “A”, “B” and 3 more",
            "页眉页脚已略去：“A”、“B”等另外 3 项。",
        ),
        (
            CodedWarning(
                WarningCode.QUOTES_NOT_CLOSED, {"rows": count(1, "row"), "lines": [7, "…"]}
            ),
            "A quotation mark is never closed in 1 row (line 7, …). Each line was read as a separate row. Check these rows.",
            "1 行的引号没有结束（行号 7、…）。每行都按单独一行读取，请检查。",
        ),
        (CodedWarning("told_by_a_newer_version"), *["told_by_a_newer_version"] * 2),
        (
            CodedWarning(
                WarningCode.IMAGES_NOT_DESCRIBED, {"failed": 1, "images": 2, "reason": "{x} %s"}
            ),
            "1 of 2 images were not described: {x} %s",
            "2 张图像中有 1 张未能描述：{x} %s",
        ),
    ],
)
def test_a_warning_is_worded_in_the_readers_language(
    warning: CodedWarning, english: str, chinese: str
) -> None:
    assert (str(warning), warning.in_language("zh")) == (english, chinese)
    stored = orjson.loads(orjson.dumps(warning.to_json()))
    assert CodedWarning.from_json(stored) == warning


GONE = DatabaseUnavailable.worded(
    {
        "en": Wording("The database is gone.", "Start it."),
        "zh": Wording("数据库不可用。", "请启动它。"),
    }
)


def test_why_something_failed_is_worded_with_its_next_step_in_either_language() -> None:
    warning = CodedWarning(WarningCode.JUDGED_BY_RULE, {"reason": describe_reason(GONE)})
    stored = CodedWarning.from_json(orjson.loads(orjson.dumps(warning.to_json())))
    assert str(stored).endswith(": The database is gone. Start it.")
    assert stored.in_language("zh").endswith("：数据库不可用。请启动它。")


def test_a_warning_that_an_older_version_stored_with_fewer_parameters_is_told() -> None:
    stored = CodedWarning(WarningCode.TOO_SLOW_TO_JUDGE, {"seconds": 9})
    assert "about 9 seconds for the chat model to judge" in str(stored)


def test_of_an_exception_that_nobody_foresaw_one_line_is_told() -> None:
    assert describe_reason(OSError("refused\nselect 1")) == "refused"
    assert describe_reason(OSError()) == "OSError"


def test_a_few_of_many_names_are_listed_shortened() -> None:
    missing = CodedWarning(WarningCode.FILTERS_UNKNOWN, {"ids": names(["a" * 200, *"bcdefg"])})
    assert f"“{'a' * 100}”, “b”, “c”, “d”, “e” and 2 more." in str(missing)
    assert "“b”、“c”、“d”、“e”等另外 2 项；" in missing.in_language("zh")


def test_warnings_are_told_once_in_their_order() -> None:
    first, second = (
        CodedWarning(WarningCode.LANE_FAILED, {"lane": lane}) for lane in ("mix", "local")
    )
    assert distinct([first, second, first]) == [first, second]
    assert word_warnings([first], "zh") == ("检索通道 mix 失败，其余通道继续。",)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_neo4j_that_is_away_is_told_with_the_next_step(language: str) -> None:
    for code, command in (
        (WarningCode.NEO4J_UNAVAILABLE, "`sextant graph status`"),
        (WarningCode.NEO4J_BEHIND, "`sextant graph sync`"),
    ):
        warning = CodedWarning(code).in_language(language)
        assert command in warning
        assert language_of(warning.replace("Neo4j", "").replace(command, "")) == language


def test_one_reason_of_several_warnings_is_given_in_full_once() -> None:
    reason = describe_reason(DatabaseUnavailable("The database does not answer."))
    codes = [WarningCode.JUDGED_BY_RULE, WarningCode.REVISION_FAILED]
    first, second = word_warnings([CodedWarning(code, {"reason": reason}) for code in codes], "en")
    assert "does not answer" in first
    assert second.endswith("for the same reason.")
    assert "does not answer" not in second


def test_a_reason_within_a_sentence_or_alone_is_not_replaced() -> None:
    reason = describe_reason(DatabaseUnavailable("The database does not answer."))
    codes = [WarningCode.JUDGED_BY_RULE, WarningCode.GRAPH_NOT_REFRESHED, WarningCode.CAUSE]
    sentences = word_warnings([CodedWarning(code, {"reason": reason}) for code in codes], "en")
    assert all("The database does not answer." in one for one in sentences)


def test_there_are_as_many_sentences_as_warnings() -> None:
    """Clients read them beside the codes, which have the same order."""
    reason = describe_reason(DatabaseUnavailable("The database does not answer."))
    codes = [WarningCode.CAUSE, WarningCode.REVISION_FAILED, WarningCode.CAUSE]
    sentences = word_warnings([CodedWarning(code, {"reason": reason}) for code in codes], "en")
    assert sentences[0] == sentences[2]
    assert sentences[1].endswith("for the same reason.")
