"""Which names share a key, which must never, and what a text defines."""

from __future__ import annotations

import random
from itertools import combinations
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.graph.resolution.name_keys import (
    definitions,
    find_like_names,
    grams,
    initials,
    is_comparable,
    marks,
    spelling_key,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("U.S.", "US"),
        ("F-16", "F16"),
        ("Cobalt\u00adford Harbour", "Cobaltford Harbour"),
        ("\ufeffAcme\u200b Corp", "Acme Corp"),
        ("循\u200b环水泵", "循环水泵"),
        ("\u202eAcme Corp\u202c", "Acme Corp"),
        ("hepatitis E-virus", "hepatitis E virus"),
        ("New-York", "New York"),
        ("玛丽·居里", "玛丽居里"),
        ("北京 大学", "北京大学"),
        ("ＷＨＯ", "who"),
        ("The New York Times", "New York Times"),
        ("Johnson & Johnson", "Johnson and Johnson"),
        ("Beyoncé Knowles", "Beyonce Knowles"),
        ("neural networks", "neural network"),
        ("Alzheimer's disease", "Alzheimers disease"),
        ("COVID-19", "Covid 19"),
        ("हिन्दी-भाषा", "हिन्दी भाषा"),
    ],
)
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert spelling_key(one) == spelling_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Type 1 diabetes", "Type 2 diabetes"),
        ("一型糖尿病", "二型糖尿病"),
        ("World War I", "World War II"),
        ("C++", "C#"),
        (".NET", "NET"),
        ("vitamin A", "vitamin B"),
        ("E-cadherin", "Ecadherin"),
        ("Bär", "Bar"),
        ("Blue Jays", "Blue Jay"),
        ("The Who", "who"),
        ("が行", "か行"),
        ("й край", "и край"),
        ("Mercury (planet)", "Mercury"),
        ("2010-11 season", "2010 11 season"),
        ("上海大学", "下海大学"),
        ("AC/DC", "AC DC"),
        ("Élan", "Elan"),
        ("हिन्दी भाषा", "हिन्द भाषा"),
    ],
)
def test_other_names_do_not(one: str, other: str) -> None:
    assert spelling_key(one) != spelling_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Type 1 diabetes mellitus", "Type 2 diabetes mellitus"),
        ("一型糖尿病", "二型糖尿病"),
        ("甲状腺功能亢进症1级", "甲状腺功能亢进症2级"),
        ("2014 FIFA World Cup", "2018 FIFA World Cup"),
        ("World War I", "World War II"),
        ("hepatitis B virus", "hepatitis C virus"),
        ("B-cell lymphoma", "T-cell lymphoma"),
        ("E-cadherin", "N-cadherin"),
        ("上半年报告", "下半年报告"),
    ],
)
def test_marks_differ_between_things_that_are_counted_or_opposed(one: str, other: str) -> None:
    assert marks(one) != marks(other)


def test_what_nobody_sees_is_no_mark() -> None:
    assert marks("Acme\u200b Cor\u00adporation") == marks("Acme Corporations") == ()


@pytest.mark.parametrize("name", ["हिन्दी", "தமிழ்", "বাংলা", "العَرَبِيَّة", "עִבְרִית"])
def test_vowel_signs_neither_split_a_name_nor_tell_it_apart(name: str) -> None:
    assert spelling_key(name) == name
    assert marks(name) == ()


@given(st.text(max_size=40))
def test_keys_of_any_text_are_found_and_do_not_depend_on_case_or_width(name: str) -> None:
    assert isinstance(marks(name), tuple)
    assert spelling_key(name) == spelling_key(f" {name} ")
    assert isinstance(is_comparable(name), bool)


def test_initials_are_those_of_capitalised_words() -> None:
    assert initials("World Health Organization") == "WHO"
    assert initials("United Nations Office of the High Commissioner") == "UNOHC"
    assert initials("世界卫生组织") == initials("Health Organization") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The World Health Organization (WHO) met.", [("WHO", "World Health Organization")]),
        ("a magnetic resonance imaging (MRI) scan", [("MRI", "magnetic resonance imaging")]),
        (
            "the Food and Drug Administration (FDA)",
            [("FDA", "Food and Drug Administration")],
        ),
        ("由世界卫生组织（世卫组织）发布", [("世卫组织", "世界卫生组织")]),
        ("北京大学（以下简称“北大”）招生", [("北大", "北京大学")]),
        ("John Smith (MIT) and Mary", []),
        ("Health. Organization (HO) of", []),
        ("第一中学（一中）", []),
        ("a city (USA)", []),
        ("王小明（班长）", []),
        ("新加坡金曲奖（新加坡）", []),
        ("the World Poker Tour's (WPT) rules", [("WPT", "World Poker Tour")]),
        ("Office of Science Education (OSE)", [("OSE", "Office of Science Education")]),
        ("the Department of Defense (DOD)", [("DOD", "Department of Defense")]),
        ("people of Science Education (OSE)", []),
    ],
)
def test_definitions_are_those_that_can_be_checked(
    text: str, expected: list[tuple[str, str]]
) -> None:
    found = list(definitions(text))
    assert [(one.short, one.full) for one in found] == expected
    for one in found:
        assert text[one.short_start :].startswith(one.short)
        assert text[one.full_start :].startswith(one.full)


@given(st.text(max_size=200))
def test_any_text_may_be_searched_for_definitions(text: str) -> None:
    for one in definitions(text):
        assert text[one.full_start :].startswith(one.full)


def test_like_names_meet_among_many_and_numbered_ones_do_not() -> None:
    dice = random.Random(7)  # noqa: S311 - a test's dice
    names = ["".join(dice.choices(ascii_lowercase, k=14)) for _ in range(3000)]
    names += [f"serial number {number}" for number in range(3000)]
    names += [
        "Johann Sebastian Bach",
        "Johan Sebastian Bach",
        "北京协和医学院附属医院",
        "北京协和医科院附属医院",
    ]
    found = [(one, other) for _, one, other in find_like_names(names, 0.6)]
    assert found == [(6000, 6001), (6002, 6003)]


@given(st.lists(st.text(alphabet="abc 北京大学", min_size=6, max_size=12), max_size=12))
def test_all_names_that_are_alike_enough_are_found(names: list[str]) -> None:
    found = {(one, other): likeness for likeness, one, other in find_like_names(names, 0.6)}
    for (one, first), (other, second) in combinations(enumerate(map(grams, names)), 2):
        likeness = len(first & second) / len(first | second)
        same = is_comparable(names[one]) and is_comparable(names[other])
        if same and marks(names[one]) == marks(names[other]) and likeness >= 0.6:
            assert found.pop((one, other)) == likeness
    assert not found
