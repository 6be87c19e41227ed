"""Which names share a key, which must never, and what a text defines."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.graph.resolution.name_keys import (
    definitions,
    initials,
    is_comparable,
    likeness,
    marks,
    spelling_key,
)
from sextant.ingestion.graph.resolution.name_merger import like_pairs


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("U.S.", "US"),
        ("F-16", "F16"),
        ("Cobalt\u00adford Harbour", "Cobaltford Harbour"),
        ("\ufeffAcme\u200b Corp", "Acme Corp"),
        ("循\u200b环水泵", "循环水泵"),
        ("\u202eAcme Corp\u202c", "Acme Corp"),
        ("e-mail servers", "email server"),
        ("E-Commerce Directive", "Ecommerce Directive"),
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
        ("North Carolina", "South Carolina"),
        ("上半年报告", "下半年报告"),
        ("John Smith Jr.", "John Smith Sr."),
    ],
)
def test_marks_differ_between_things_that_are_counted_or_opposed(one: str, other: str) -> None:
    assert marks(one) != marks(other)


def test_what_nobody_sees_is_no_mark() -> None:
    assert marks("Acme\u200b Cor\u00adporation") == marks("Acme Corporations") == ()


def test_the_e_of_e_mail_is_no_mark() -> None:
    assert marks("E-mail Server of Borealis") == marks("Email Servers of Borealis") == ()


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


def test_numbered_names_are_paired_within_bounded_memory() -> None:
    names = [f"serial number {number}" for number in range(5_000)]
    tracemalloc.start()
    found = like_pairs(names, np.ones(len(names), np.bool_), 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 1000
    assert peak < 20_000 * len(names)


def test_like_names_meet_among_many_and_old_pairs_do_not_come_again() -> None:
    dice = np.random.default_rng(7)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    names = ["".join(dice.choice(letters, 14)) for _ in range(3000)]
    names += ["Johann Sebastian Bach", "Johan Sebastian Bach", "北京协和医学院", "北京协和医科院"]
    new = np.ones(len(names), np.bool_)
    found = {tuple(pair) for pair in like_pairs(names, new, 1000).tolist()}
    assert {(3000, 3001), (3002, 3003)} <= found
    assert likeness(names[3000], names[3001]) > 0.6
    new[3000:3002] = False
    again = {tuple(pair) for pair in like_pairs(names, new, 1000).tolist()}
    assert (3000, 3001) not in again
    assert (3002, 3003) in again


def test_looking_for_like_names_takes_two_kilobytes_a_name_however_many_are_alike() -> None:
    numbered = [f"Serial {number:05}" for number in range(10_000)]
    tracemalloc.start()
    like_pairs(numbered, np.ones(len(numbered), np.bool_), 1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3_000 * len(numbered)
