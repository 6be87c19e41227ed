"""Which document of a series is newer, by its name."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.editions import edition_of, newer

_DAYS = st.dates(date(2000, 1, 1), date(2099, 12, 31))
_SERIES = st.sampled_from(["policy", "Travel rules", "研发例会纪要", "price list", "报销制度"])


@pytest.mark.parametrize(
    ("older", "later"),
    [
        ("data-retention-policy-v2", "data-retention-policy-v3"),
        ("Data retention policy, version 9", "Data retention policy, version 10"),
        ("研发例会纪要-2026-03-12", "研发例会纪要-2026-04-09"),
        ("minutes 20260309", "minutes 2026-03-10"),
        ("产品报价单-2026年第一季度", "产品报价单-2026年第二季度"),
        ("报销制度（第三版）", "报销制度（第四版）"),
        ("release_notes_v5.3", "release_notes_v5.10"),
        ("handbook", "handbook-2026"),
        ("员工手册2.0版", "员工手册3.0版"),
    ],
)
def test_the_later_version_or_day_of_a_series_is_newer(older: str, later: str) -> None:
    assert newer([later], [older])
    assert not newer([older], [later])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Heron 5 manual", "Heron 3 manual"),
        ("INC-2025-018", "INC-2025-017"),
        ("incident-2026-05-03-map-outage", "incident-2026-02-11-delayed-positions"),
        ("travel-policy-v3", "security-policy-v2"),
        ("E48", "E47"),
        ("", ""),
        ("员工手册", "员工手册"),
    ],
)
def test_other_things_and_other_series_are_no_editions_of_each_other(one: str, other: str) -> None:
    assert not newer([one], [other])
    assert not newer([other], [one])


def test_an_edition_that_is_asked_for_gives_way_to_none() -> None:
    assert not newer(["policy-v3"], ["policy-v2"], years_asked={2})
    assert newer(["policy-v3"], ["policy-v2"], years_asked={3, 30})


def test_a_title_tells_where_the_name_of_a_file_does_not() -> None:
    assert newer(["scan0012", "Rules, version 2"], ["scan0044", "Rules, version 1"])


@given(series=_SERIES, days=st.tuples(_DAYS, _DAYS))
def test_days_are_compared_as_days_however_they_are_written(
    series: str, days: tuple[date, date]
) -> None:
    one, other = (f"{series} {days[0]:%Y-%m-%d}", f"{series}_{days[1]:%Y%m%d}")
    assert newer([one], [other]) is (days[0] > days[1])
    assert edition_of(one).series == edition_of(other).series
