"""Filters of a search: which names are known, and what is said about those that are not."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import ChunkFilters
from sextant.stores.chunks.chunk_store import title_pattern

SECTION = "6f1c2a52-7a34-4a5e-9a55-0d1c1c3f8c11"


def test_the_seeds_filters_are_read_by_their_names() -> None:
    read = ChunkFilters.read(
        {
            "topicLabels": ["付款"],
            "parentSectionPath": ["合同", "第3章"],
            "entityTypes": ["person"],
        }
    )
    assert read == ChunkFilters(
        topic_labels=("付款",), parent_section_path=("合同", "第3章"), entity_types=("person",)
    )


def test_a_day_is_its_first_moment_in_utc() -> None:
    read = ChunkFilters.read({"created_after": date(2026, 3, 1)})
    assert read is not None
    assert read.created_after == datetime(2026, 3, 1, tzinfo=UTC)


def test_snake_case_lone_values_and_strings_are_read() -> None:
    read = ChunkFilters.read(
        {"topic_labels": "付款", "sectionId": SECTION, "created_after": "2026-03-01"}
    )
    assert read is not None
    assert read.topic_labels == ("付款",)
    assert read.section_id == (UUID(SECTION),)
    assert read.created_after == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("nothing", [None, {}, {"tags": []}, {"tags": None}, ChunkFilters()])
def test_filters_that_bound_nothing_are_none(nothing: ChunkFilters | None) -> None:
    assert ChunkFilters.read(nothing) is None


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("topicLabel", "topicLabels"),
        ("topic_lables", "topicLabels"),
        ("DocumentIds", "documentIds"),
        ("createdafter", "createdAfter"),
        ("sectionPath", "parentSectionPath"),
    ],
)
def test_an_unknown_filter_names_the_near_one(name: str, near: str) -> None:
    with pytest.raises(OptionInvalid, match=re.escape(f"Did you mean `{near}`?")) as caught:
        ChunkFilters.read({name: ["x"]})
    assert caught.value.field == f"filters.{name}"


def test_a_filter_like_no_other_is_answered_by_the_list() -> None:
    with pytest.raises(OptionInvalid, match="Filters: topicLabels, parentSectionPath"):
        ChunkFilters.read({"zzz": 1})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"createdAfter": "yesterday"}, "createdAfter"),
        ({"createdBefore": "2026-13-01"}, "createdBefore"),
        ({"createdAfter": 1767225600}, "createdAfter"),  # seconds, or days of milliseconds
        ({"createdAfter": True}, "createdAfter"),
        ({"createdAfter": "2026-03-02", "createdBefore": "2026-03-01"}, "createdBefore"),
        ({"createdAfter": "2026-03-01", "createdBefore": "2026-03-01"}, "createdBefore"),
        ({"sectionId": "no id"}, "sectionId"),
        ({"documentIds": [7]}, "documentIds"),
        ({"tags": ["  "]}, "tags"),
        ({"tags": ["x"] * 101}, "tags"),
        ({"topicLabels": {"a": 1}}, "topicLabels"),
    ],
)
def test_a_value_that_cannot_be_is_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(OptionInvalid, match=said) as caught:
        ChunkFilters.read(given)
    assert caught.value.field == f"filters.{said}"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({"createdBefore": "2026-13-01"}, "2026-03-01T08:00"),
        ({"sectionId": "no id"}, "structure --json"),
        ({"documentIds": [7]}, "documents list"),
        ({"tags": [""]}, "none of them empty"),
        ({"topicLabels": ["x"] * 101}, "up to 100"),
    ],
)
def test_the_way_out_is_that_of_the_filter(given: dict[str, object], advice: str) -> None:
    with pytest.raises(OptionInvalid) as caught:
        ChunkFilters.read(given)
    assert advice in caught.value.next_step


@pytest.mark.parametrize("value", ["x", "2026-03-01"])
def test_a_filter_in_both_its_spellings_is_refused(value: str) -> None:
    name, other = (
        ("createdAfter", "created_after") if value != "x" else ("topicLabels", "topic_labels")
    )
    with pytest.raises(OptionInvalid, match=f"`{name}` is given twice") as caught:
        ChunkFilters.read({name: value, other: value})
    assert caught.value.field == f"filters.{name}"


def test_filters_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(OptionInvalid):
        ChunkFilters.read(["tags"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "title", "met"),
    [
        ("第3章", "第3章 付款条款", True),
        ("第3章", "第30章 附则", False),
        ("付款", "第3章 付款条款", True),
        ("付款", "3.1 付款条款", True),
        ("付款", "合同付款", False),
        ("3", "3 Payment", True),
        ("3", "3.1 Payment", False),
        ("3.1", "3.10 Payment", False),
        ("pay", "Payment", False),
        ("payment", "Section 2: Payment terms", True),
        ("C++ (2020)", "C++ (2020) in short", True),
        (".*", "anything", False),
    ],
)
def test_a_title_begins_as_wanted(wanted: str, title: str, met: bool) -> None:
    assert bool(re.match(title_pattern(wanted), title, re.IGNORECASE)) is met
