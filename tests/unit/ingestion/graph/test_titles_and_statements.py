"""Titles say where a community comes from or what leads it; findings are whole sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_URL, uuid5

import pytest

from sextant.ingestion.graph.communities.outlines import leans_on_others, statements
from sextant.ingestion.graph.communities.reports import title_of
from sextant.stores.chunks.stored import StoredChunk
from tests.unit.ingestion.graph.test_reports import chunk


def placed(
    number: int, document: str, sections: Sequence[str] = (), text: str = "Text."
) -> StoredChunk:
    own = uuid5(NAMESPACE_URL, document)
    return replace(
        chunk(number, text), document_id=own, document_title=document, section_path=tuple(sections)
    )


def titled(
    chunks: Sequence[StoredChunk],
    names: Sequence[str],
    *,
    types: Sequence[str] = ("TERM", "TERM", "TERM"),
    language: str = "en",
    members: int = 9,
) -> str:
    weights = [1.0] * len(chunks)
    return title_of(names, types, chunks, weights, language=language, members=members)


def test_a_community_of_one_document_is_called_by_it_and_by_the_section_most_of_it_is_in() -> None:
    chunks = [
        placed(1, "Handbook", ["Handbook", "Leave"]),
        placed(2, "Handbook", ["Handbook", "Leave"]),
        placed(3, "Handbook", ["Handbook", "Pay"]),
    ]
    assert titled(chunks, ["parental leave", "HR"]) == "Handbook › Leave: parental leave, HR"
    spread = [*chunks[1:], placed(4, "Handbook", ["Handbook", "Travel"])]
    assert titled(spread, ["Handbook", "HR"]) == "Handbook: HR"


def test_a_chinese_title_is_joined_as_in_chinese() -> None:
    chunks = [placed(n, "糖尿病诊疗指南", ["用药"]) for n in (1, 2)]
    title = titled(chunks, ["胰岛素", "二甲双胍", "血糖"], language="zh")
    assert title == "糖尿病诊疗指南 › 用药：胰岛素、二甲双胍"


def test_a_community_across_documents_is_called_by_its_leaders_and_what_they_are() -> None:
    chunks = [placed(1, "A document"), placed(2, "B document")]
    names, types = ["Metformin", "Insulin", "Graz"], ["DRUG", "TERM", "CITY"]
    assert titled(chunks, names[:2], types=types, members=2) == "Metformin (drug), Insulin"
    assert titled(chunks, names, types=types, members=56) == "Metformin (drug), Insulin and 54 more"


def test_who_speaks_is_not_what_is_spoken_of_and_a_date_is_no_title() -> None:
    log = placed(1, "20260921_1000", text="Li Hua: Yeah, that song is a classic.")
    assert titled([log], ["Li Hua", "song"], members=2) == "Li Hua, song"


def test_a_title_is_never_long() -> None:
    chunks = [placed(1, "x" * 500, ["y" * 500])]
    assert len(titled(chunks, ["z" * 500, "w" * 500])) <= 120


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("# Insulin\n\nInsulin lowers blood sugar.", ["Insulin lowers blood sugar."]),
        ("| Part | Price |\n|---|---|\n| GW-20 | 54 |", []),
        ("GW-20 | Edge gateway | Graz\nThe gateway is built in Graz.", ["The gateway is built in Graz."]),
        ("1. 来访者须由仓库人员陪同。\n2. 禁止吸烟。", ["来访者须由仓库人员陪同。", "禁止吸烟。"][:1]),
        ("How is it reset?\nanswer: Hold the key S4 for a while.", ["Hold the key S4 for a while."]),
        ("question: 忘记密码怎么重置？\nanswer: 在登录页点“忘记密码”。", ["在登录页点“忘记密码”。"]),
        ("id: FAQ-007; language: zh; owner: Ann", []),
        ("id: FAQ-007\nlanguage: en", []),
        ("and then it stopped working again.", []),
        ("热控系统\n供电方式", []),
        ("🎸 LiHua: The rehearsal begins at eight.", ["LiHua: The rehearsal begins at eight."]),
        ("**The allowance is 60 EUR.**", ["The allowance is 60 EUR.**"]),
        ("", []),
    ],
)  # fmt: skip
def test_statements_are_whole_sentences(text: str, whole: list[str]) -> None:
    assert list(statements(text)) == whole


@pytest.mark.parametrize(
    "sentence", ["She was born in Graz.", "该系统由电池供电。", "Great to hear!"]
)
def test_a_sentence_that_stands_for_something_said_before_leans(sentence: str) -> None:
    assert leans_on_others(sentence)
    assert not leans_on_others("Graz lies on the Mur.")
