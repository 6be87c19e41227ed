"""Calls about chunks and sections: what goes together, and what an answer says of which."""

from __future__ import annotations

from uuid import UUID

import pytest

from sextant.domain.settings import LimitSettings, Settings
from sextant.ingestion.description_prompts import (
    Call,
    ChunkReplies,
    call_about,
    copy_only_part,
    groups_of,
)
from sextant.models.chat.structured import read_structured
from sextant.stores.documents.model_descriptions import (
    DescribedKind,
    DescribedPart,
    DescribingOrder,
    UndescribedItem,
)


def passage(
    number: int, text: str = "Orders are taken by telephone.", tries: int = 0
) -> UndescribedItem:
    own = UUID(int=number)
    return UndescribedItem(own, 1, DescribingOrder(0, own, 0), "Handbook", text, tries)


def part(summary: str, *, by_model: bool = True, title: str = "") -> DescribedPart:
    return DescribedPart(title, summary, ("keyword",), ("tag",), by_model)


def section(*parts: DescribedPart) -> UndescribedItem:
    own = UUID(int=1)
    return UndescribedItem(
        own, 1, DescribingOrder(-1, own, 0), "Handbook", "Handbook > Orders", 0, parts
    )


def sizes(asked: list[UndescribedItem]) -> list[int]:
    return [*map(len, groups_of(asked))]


def only_call(number: int) -> Call:
    items = [*map(passage, range(1, number + 1))]
    return call_about(DescribedKind.PASSAGES, items, Settings())


def test_eight_are_asked_about_together_and_fewer_long_ones() -> None:
    assert sizes([passage(n) for n in range(20)]) == [8, 8, 4]
    assert sizes([passage(n, "word " * 1600) for n in range(3)]) == [2, 1]


def test_what_was_asked_about_in_vain_is_alone() -> None:
    assert sizes([passage(1), passage(2, tries=1), passage(3)]) == [1, 1, 1]


def test_each_call_is_in_one_language() -> None:
    both = [passage(1), passage(2, "库存每季度盘点一次。"), passage(3), passage(4, "合同已签订。")]
    calls = [call_about(DescribedKind.PASSAGES, some, Settings()) for some in groups_of(both)]
    assert [[one.id.int for one in call.asked] for call in calls] == [[1, 3], [2, 4]]
    assert "You say what passages" in calls[0].prompt[0][1]
    assert "你说明文档段落" in calls[1].prompt[0][1]


def test_a_call_is_taken_for_150_tokens_of_answer_each_up_to_the_limit() -> None:
    assert only_call(2).need.completion_tokens == 300
    settings = Settings(limits=LimitSettings(answer_tokens=400))
    call = call_about(DescribedKind.PASSAGES, [*map(passage, range(8))], settings)
    assert call.need.completion_tokens == 400


@pytest.mark.parametrize(
    "answer",
    [
        '{"passages": [{"passage": 2, "summary": "b"}, {"passage": "1", "summary": "a"}]}',
        '{"passages": [{"passage": 0, "summary": "a"}, {"passage": 1, "summary": "b"}]}',
        '{"passages": [{"summary": "a"}, {"summary": "b"}]}',
        '{"passages": {"1": {"summary": "a"}, "2": {"summary": "b"}}}',
    ],
)
def test_an_answer_is_read_by_number_or_by_order(answer: str) -> None:
    said = only_call(2).said(read_structured(answer, ChunkReplies)).values()
    assert [(one.id.int, one.summary) for one in said] == [(1, "a"), (2, "b")]


@pytest.mark.parametrize(
    "answer",
    [
        '{"passages": [{"summary": "a"}, {"summary": "c"}]}',
        '{"passages": [{"passage": 2, "summary": " "}, {"passage": 9, "summary": "x"}, 3]}',
    ],
)
def test_what_cannot_be_told_apart_or_is_empty_says_nothing(answer: str) -> None:
    assert only_call(3).said(read_structured(answer, ChunkReplies)) == {}


def test_a_section_with_one_part_says_what_the_model_said_of_that() -> None:
    said = copy_only_part(section(part("It is.")))
    assert said is not None
    assert (said.summary, said.keywords, said.topics, said.tags) == (
        "It is.",
        ("keyword",),
        (),
        ("tag",),
    )
    assert copy_only_part(section(part("It is.", by_model=False))) is None
    assert copy_only_part(section(part("a"), part("b"))) is None


def test_of_a_section_the_model_sees_its_titles_and_what_is_said_of_its_parts() -> None:
    told = section(part("Taken by\n[7] phone."), part("Inspected.", title="Returns"))
    call = call_about(DescribedKind.SECTIONS, [told], Settings())
    data = call.prompt[1][1]
    assert "[1] Handbook > Orders\n- Taken by\n(7] phone.\n- Returns: Inspected." in data


def test_what_only_the_instructions_say_is_no_keyword_topic_or_tag() -> None:
    told = ChunkReplies.model_validate(
        {
            "passages": [
                {
                    "passage": 1,
                    "summary": "Orders by telephone.",
                    "keywords": ["orders", "JSON", "terms"],
                    "topics": ["general topics", "ordering"],
                    "tags": ["tags", "kind of text", "procedure"],
                }
            ]
        }
    )
    (said,) = only_call(1).said(told).values()
    assert (said.keywords, said.topics, said.tags) == (("orders",), ("ordering",), ("procedure",))


def test_what_the_prompts_own_example_says_is_said_of_no_passage() -> None:
    answer = (
        '{"passages": [{"passage": 1, "summary": "Orders by telephone.", "keywords": ["hawsers", "telephone"], '
        '"topics": ["rope care"], "tags": ["logbook"]}]}'
    )
    (said,) = only_call(1).said(read_structured(answer, ChunkReplies)).values()
    assert (said.keywords, said.topics, said.tags) == (("telephone",), (), ())
