"""Types of entities by their names, classes and columns; what is not sure stays TERM."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.graph.extraction.entity_types import (
    type_of_class,
    type_of_column,
    type_of_name,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("何静", "PERSON"),
        ("何静姝", "PERSON"),
        ("周沛文", "PERSON"),
        ("刘备", "PERSON"),
        ("杭州", "LOCATION"),
        ("印度", "LOCATION"),
        ("埃及", "LOCATION"),
        ("黄河", "LOCATION"),
        ("维也纳", "LOCATION"),
        ("Bank of Elmstead", "ORGANIZATION"),
        ("New Zealand", "LOCATION"),
        ("Addis Ababa", "LOCATION"),
        ("Kuala Lumpur", "LOCATION"),
        ("北京大学", "ORGANIZATION"),
        ("砚溪智能科技有限公司", "ORGANIZATION"),
        ("成傳動股份有限公司", "ORGANIZATION"),
        ("Seeblick Elektronik AG", "ORGANIZATION"),
        ("Acme Tools Inc.", "ORGANIZATION"),
        ("动脉硬化性疾病", "DISEASE"),
        ("用药原则", "CONCEPT"),
        ("借用规则", "CONCEPT"),
        ("INC-2025-017", "CODE"),
        ("BM-40", "CODE"),
        ("E42", "CODE"),
    ],
)
def test_a_name_shows_its_type(name: str, expected: str) -> None:
    assert type_of_name(name) == expected


@pytest.mark.parametrize(
    "name",
    [
        *("苍鹭", "马达", "温馨", "高峰", "公司", "医院", "糖尿病", "乙方", "产品经理", "本公司"),
        *("长度", "英雄", "城市", "上市", "新鲜", "嘉宾"),
        *("HbA1c", "COVID-19", "Q3", "3D", "20th", "GLP-1", "XL", "1984", "42"),
        *(
            "Heron 3",
            "Darwin",
            "Stations and software",
            "Product Manager",
            "President of the Harbour Committee",
            "Leslie Banks",
            "company",
            "Ines Okafor",
            "Gold",
            "",
            " ",
        ),
    ],
)
def test_what_is_not_sure_stays_a_term(name: str) -> None:
    assert type_of_name(name) == "TERM"


@pytest.mark.parametrize(
    ("noun", "expected"),
    [
        ("build tool", "TOOL"),
        ("set of principles", "CONCEPT"),
        ("American film director", "PERSON"),
        ("代谢性疾病", "DISEASE"),
        ("内存管理机制", "CONCEPT"),
        ("城市", "LOCATION"),
        ("red thing", "TERM"),
        ("", "TERM"),
    ],
)
def test_the_head_of_a_noun_says_its_class(noun: str, expected: str) -> None:
    assert type_of_class(noun) == expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Supplier city", "LOCATION"),
        ("供应商", "ORGANIZATION"),
        ("Site manager", "PERSON"),
        ("Warehouse", "WAREHOUSE"),
        ("药品", "药品"),
        *(
            (one, "TERM")
            for one in ("Name", "备注", "Reported by", "When to use it", "Stock (kg)", "")
        ),
        *((one, "TERM") for one in ("Status", "名称", "Description")),
    ],
)
def test_the_heading_of_a_column_says_what_stands_in_it(heading: str, expected: str) -> None:
    assert type_of_column(heading) == expected


@given(st.text(alphabet="aA 1-年月元公司医院李明", max_size=12))
def test_any_text_has_a_type(text: str) -> None:
    assert type_of_name(text)
    assert type_of_class(text)
    assert type_of_column(text)
