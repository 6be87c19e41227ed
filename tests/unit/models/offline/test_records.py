"""Records are quoted as a reader expects them: without raw keys."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.passages import describe_fields, quotable_spans
from tests.unit.models.offline.passages import item

FAQ = (
    "id: FAQ-006\nlanguage: en\nproduct: Heron 3\nquestion: How fast does the service desk answer?\n"
    "answer: Within 8 hours on working days\ntags: service, time"
)


async def quote(question: str, text: str, title: str = "") -> list[str]:
    language = "en" if question.isascii() else "zh"
    passage = replace(item(text), metadata={"title": title})
    found = await ExtractiveAnswerer().extract(question, [passage], language=language)
    return [quotation.sentence for quotation in found.quotations]


async def test_an_answer_is_quoted_without_its_key() -> None:
    assert await quote("How fast does the service desk answer?", FAQ) == [
        "Within 8 hours on working days"
    ]


async def test_a_question_in_a_document_stands_over_its_answer() -> None:
    text = "question: 保修期多长？\nanswer: 两年，从安装之日起算。\nquestion: 谁负责安装？\nanswer: 由服务商的技术人员完成。"
    assert await quote("谁负责安装？", text) == ["由服务商的技术人员完成。"]


@pytest.mark.parametrize("question", ["What is FAQ-006?", "Which language is it?"])
async def test_keys_and_ids_are_no_statement(question: str) -> None:
    assert not [one for one in await quote(question, FAQ) if one.startswith("id:")]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("answer: Within 8 hours on working days", "Within 8 hours on working days"),
        ("answer: 工作日八小时之内", "工作日八小时之内"),
        ("price_eur: 52", "Price eur: 52"),
        ("unitPrice: 52", "Unit price: 52"),
        ("The limit: 52 kg", "The limit: 52 kg"),
        ("Net pay: 2,900 EUR", "Net pay: 2,900 EUR"),
        ("https://example.org/a: b", "https://example.org/a: b"),
    ],
)
def test_a_field_is_shown_in_plain_words(line: str, shown: str) -> None:
    assert describe_fields(line) == shown


def test_the_fields_of_one_line_are_quoted_one_by_one() -> None:
    line = "title: Desk hours and rules; updated: 2025-06-12; owner: Ann Fox"
    assert [line[start:end] for start, end in quotable_spans(line)] == [
        "Desk hours and rules",
        "updated: 2025-06-12",
        "owner: Ann Fox",
    ]
    assert describe_fields(line) == "Desk hours and rules; Updated: 2025-06-12; Owner: Ann Fox"


async def test_a_name_that_a_list_explains_is_quoted_with_what_is_said_of_it() -> None:
    text = "支持以下配置：\n\n- limit: number - 返回结果数量（默认 5）\n- seed: number - 随机种子的初值（默认 7）"
    assert "limit: number - 返回结果数量（默认 5）" in await quote("返回结果数量默认是多少？", text)
