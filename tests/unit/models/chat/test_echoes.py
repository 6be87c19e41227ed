"""What a model repeats of its instructions, told from what it says."""

from __future__ import annotations

import pytest
from langchain_core.messages import convert_to_messages
from pydantic import Field

from sextant import prompts
from sextant.models.chat.replies import Echoes
from sextant.models.chat.structured import ModelReply, read_structured

REPORT = prompts.REPORT.messages(
    "en", names="Heparin", sources="[1] Heparin keeps blood from clotting."
)
ANALYZE = prompts.ANALYZE.messages("zh", history="", question="糖尿病患者的主要症状是什么？")


def echoes(messages: prompts.Messages, *choices: str) -> Echoes:
    return Echoes(convert_to_messages(messages), "Answer with one JSON object.", choices)


@pytest.mark.parametrize(
    "text",
    [
        "at most ten words that name what the group is about",
        "Two to four sentences for a reader who asks for an overview.",
        "Summary: two to four sentences for a reader who asks for an overview about heparin",
    ],
)
def test_a_piece_of_the_instructions_is_an_echo(text: str) -> None:
    assert echoes(REPORT).includes(text)


@pytest.mark.parametrize(
    "text",
    [
        "Heparin and clotting",
        "Heparin keeps blood from clotting.",
        "sources",
        "the group",
        "",
    ],
)
def test_what_the_model_says_of_its_data_is_none(text: str) -> None:
    assert not echoes(REPORT).includes(text)


def test_chinese_instructions_are_known_as_well() -> None:
    assert echoes(ANALYZE).includes("脱离对话也能看懂的问题")
    assert not echoes(ANALYZE).includes("糖尿病患者的主要症状是什么？")


def test_what_also_stands_in_the_data_is_content() -> None:
    about = "two to four sentences for a reader who asks for an overview"
    messages = prompts.REPORT.messages("en", names="Guide", sources=f"[1] Write {about}.")
    assert not echoes(messages).includes(about)


def test_words_to_choose_from_are_no_echo() -> None:
    types = "REGULATORY_AUTHORITY, LEGAL_INSTRUMENT"
    messages = prompts.EXTRACT.messages(
        "en", types=types, person="…", organization="…", title="", passages="WHO", most="4"
    )
    assert echoes(messages).includes("REGULATORY_AUTHORITY")
    assert not echoes(messages, "REGULATORY_AUTHORITY").includes("REGULATORY_AUTHORITY")


class Report(ModelReply):
    title: str
    tags: list[str] = Field(default_factory=list[str])


def test_echoes_are_read_as_empty() -> None:
    said = '{"title": "at most ten words that name what the group is about", "tags": ["Heparin"]}'
    assert read_structured(said, Report, echoes(REPORT).includes) == Report(
        title="", tags=["Heparin"]
    )
