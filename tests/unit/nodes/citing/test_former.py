"""Which values others have replaced."""

from __future__ import annotations

import pytest

from sextant.nodes.citing.evidence import parts_of
from sextant.nodes.citing.former import is_of_past
from tests.unit.nodes.conftest import item


@pytest.mark.parametrize(
    ("text", "former"),
    [
        ("The rent was £42 until 2024 and is £48 since 1 January 2025.", [42]),
        ("The limit rises from 50 MB to 200 MB.", [50]),
        ("The default was 30.0 in 1.x and is 10.0 now.", [30]),
        ("The alarm is shown from a difference of 2 s (before: 5 s).", [5]),
        ("押金由500元提高到800元。", [500]),
        ("押金为800元（原为500元）。", [500]),
        ("2023年底以前补卡费为20元，自2024年1月起为30元。", [20]),
        ("The reserve was £91,800; the precept is £40,250.", []),
        ("The course runs from 5 to 9 weeks.", []),
    ],
)
def test_values_that_others_have_replaced_are_found(text: str, former: list[int]) -> None:
    found = {
        value.number
        for part in parts_of(0, item(text))
        for value in part.former
        if value.date is None
    }
    assert sorted(found) == former


@pytest.mark.parametrize(
    ("text", "former"),
    [
        ("The opening was planned for 30 November 2025; it is postponed to 20 February 2026.", 11),
        ("考试原定于2026年1月13日，因场地冲突改为2026年3月14日。", 1),
        ("He was born on 1 March 1950. He has been chair since 2 May 1990.", None),
    ],
)
def test_dates_that_were_moved_are_found(text: str, former: int | None) -> None:
    found = [value.date for part in parts_of(0, item(text)) for value in part.former]
    assert [date[1] for date in found if date] == [former] * (former is not None)


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("The fee was 40 EUR.", True),
        ("In 2022 the fee: 40 EUR.", True),
        ("Since 2023 the fee is 55 EUR.", False),
        ("On 3 April 2026.", False),
        ("补贴曾为150元。", True),
    ],
)
def test_what_is_said_of_the_past_is_told(text: str, *, past: bool) -> None:
    assert is_of_past(text) is past
