"""One value is one value however it is written."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.characters import plain_of
from sextant.text.units import TextValue, scale_of_heading, unit_of_heading
from sextant.text.values import normalise_values


def values_of(text: str) -> list[TextValue]:
    return [found.value for found in normalise_values(text)]


@pytest.mark.parametrize(
    "same",
    [
        ("168万元", "1,680,000 元", "CNY 1680000", "CNY1680000", "1.68 million yuan", "人民币壹佰陆拾捌万元", "CNY 1.68M", "RMB1.68m", "1.68m yuan", "168w元", "人民币￥1,680,000元", "renminbi 1.68 million", "1.68 million Chinese yuan"),
        ("$1.7bn", "USD 1.7b", "1,700 million dollars"),
        ("$2.5K", "USD 2,500", "2.5k dollars"),
        ("1.2M parcels", "1,200,000 parcels"),
        ("千分之一", "0.1 %", "0.1%", "1‰", "0.1 per cent"),
        ("three months", "3 个月", "三个月", "3 months"),
        ("2025年3月1日", "1 March 2025", "March 1, 2025", "2025-03-01", "2025/3/1"),
        ("half a year", "6 months", "半年", "0.5 years"),
        ("half a gram", "500 mg", "0.5 g", "半克"),
        ("half a kilo", "500 g"),
        ("a year and a half", "18 months", "一年半"),
        ("two hours", "120 minutes", "2 小时", "2小時"),
        ("1,310 kg", "1.31 tonnes", "1310千克"),
        ("50 %", "百分之五十", "二分之一"),
        ("5公里/小时", "5 km/h"),
        ("下午五時", "17:00", "5 p.m."),
        ("下午四点半", "16:30", "4:30 p.m."),
        ("新臺幣三千五百元", "NT$3,500"),
        ("第3笔", "第三笔", "the third"),
        ("fifteen", "15", "十五个", "15 台"),
        ("每日一次", "1 次", "once a day"),
        ("每日2次", "twice a day", "两次", "2 times"),
        ("4,99 €", "EUR 4,99", "4.99 euros"),
        ("1.234,50 EUR", "1 234,50 EUR", "1,234.50 EUR", "€1234.5"),
        ("2,5 million euros", "EUR 2.5m"),
        ("1,5 kg", "1500 g"),
        ("12,5 %", "12.5 per cent"),
        ("25^1 days", "25¹ days", "25 days"),
        ("10^6 units", "10⁶ units", "1,000,000 units", "1 million units"),
        ("3.2 × 10^6 cells", "3.2 × 10⁶ cells", "3,200,000 cells"),
        ("10^-3 m", "10⁻³ m", "1 mm"),
        ("3 hours and 42 minutes", "222 minutes", "3 小时 42 分钟", "3小时42分", "3.7 hours"),
        ("一年零六个月", "18 months", "1 year and 6 months"),
        ("2 feet 3 inches", "27 inches"),
        ("16 oz", "1 lb", "453.59237 g"),
        ("1.5 km²", "150 公顷", "1,500,000 平方米"),
        ("12/20/24", "12/20/2024", "20 December 2024", "2024年12月20日"),
    ],
)  # fmt: skip
def test_a_value_is_the_same_however_it_is_written(same: tuple[str, ...]) -> None:
    [first] = {values_of(same[0])[0]}
    for text in same:
        assert any(first.matches(value) for value in values_of(text)), text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("168万元", "16.8万元"),
        ("120 元", "120 欧元"),
        ("15 个工作日", "15 weeks"),
        ("2025年3月1日", "2025年3月11日"),
        ("1.2 m/s", "1.2 km/h"),
        ("9 a.m.", "9 p.m."),
        ("千分之一", "万分之一"),
        ("12 months", "12 weeks"),
        ("4 具", "4公斤"),
        ("a cable of 5m", "5 million"),
        ("每日3次", "once a day"),
        ("2.2 lb", "2.2 kg"),
        ("98 °F", "98 °C"),
        ("3 hours and 42 minutes", "3 hours"),
        ("12/20/24", "12"),
    ],
)
def test_other_numbers_units_and_days_are_other_values(one: str, other: str) -> None:
    [value], [its] = values_of(one), values_of(other)
    assert not value.matches(its)
    assert not its.matches(value)


@pytest.mark.parametrize(
    ("about", "exact", "matches"),
    [
        ("约 1.641 万平方公里", "16410.54 平方公里", True),
        ("约 1.65 万平方公里", "16410.54 平方公里", False),
        ("1.641 万平方公里", "16410.54 平方公里", False),
        ("约为 170 万元", "168 万元", True),
        ("约为 160 万元", "168 万元", False),
        ("about CNY 4.4 trillion", "43,760.70 亿元", True),
        ("300 人左右", "312 人", True),
        ("about 3 days", "4 days", False),
        ("about 11 %", "11.4 %", True),
        ("about 11 %", "12.4 %", False),
        ("约三分之一", "33.4%", True),
        ("约三分之一", "30%", False),
        ("about 12,553", "12,554", False),
    ],
)
def test_what_is_said_to_be_about_so_much_rounds(about: str, exact: str, *, matches: bool) -> None:
    [rough], [value] = values_of(about), values_of(exact)
    assert rough.matches(value) is matches


@pytest.mark.parametrize("text", ["24/7", "1/2 cup", "10/100 Mbit"])
def test_a_slash_alone_makes_no_date(text: str) -> None:
    assert all(value.date is None for value in values_of(text))


def test_bounds_are_told() -> None:
    for text in ("at most 5 days", "不超过 5 天", "5 天以内", "within 5 days", "up to 5 days"):
        assert [value.bound for value in values_of(text)] == ["max"], text
    for text in ("at least 5 days", "不少于 5 天", "5 天以上", "more than 5 days"):
        assert [value.bound for value in values_of(text)] == ["min"], text
    for text in ("other than 5 days", "rather than 5 days", "faster than 5 days"):
        assert [value.bound for value in values_of(text)] == [""], text
    for text in ("no earlier than 5 days before it", "sooner than 5 days", "closer than 5 m"):
        assert [value.bound for value in values_of(text)] == ["max"], text
    for text in ("earlier than 5 days before it", "no later than 5 days before it"):
        assert [value.bound for value in values_of(text)] == ["min"], text


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("提前3个月", 3, "month"),
        ("到期前三个月", 3, "month"),
        ("每季度", 3, "month"),
        ("前三季度", 3, "ordinal"),
    ],
)
def test_a_time_ahead_is_told_from_the_first_of_several(text: str, number: int, unit: str) -> None:
    assert [(int(value.number), value.unit) for value in values_of(text)] == [(number, unit)]
    assert values_of("按季节") == []


def test_numbers_in_names_and_words_are_none() -> None:
    assert values_of("E42, BM-40, INC-2025-017, H3-OP and version 2.8.1; 统一、一般、一个") == []


def test_a_range_shares_its_unit() -> None:
    assert [(int(v.number), v.unit) for v in values_of("15 ～ 20 g")] == [(15, "g"), (20, "g")]
    assert values_of("50 to 65 %")[0].number == Fraction(1, 2)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("Price (CNY)", "CNY"), ("Delivery (weeks)", "week"), ("金额（元）", "CNY"), ("Name", "")],
)
def test_a_columns_name_gives_its_unit(name: str, unit: str) -> None:
    assert unit_of_heading(name) == unit


@pytest.mark.parametrize(
    ("heading", "scale"),
    [
        ("In millions of CHF, January–June 2023", (6, "CHF")),
        ("USD '000", (3, "USD")),
        ("Revenue (€m)", (6, "EUR")),
        ("Sales (in thousands)", (3, "")),
        ("单位：万元", (4, "CNY")),
        ("金额（亿元）", (8, "CNY")),
        ("人数（万人）", (4, "")),
        ("重量（千克）", None),
        ("We sold 3 million cars", None),
        ("Price (CNY)", None),
    ],
)
def test_a_heading_scales_numbers(heading: str, scale: tuple[int, str] | None) -> None:
    assert scale_of_heading(heading) == scale


@given(
    st.text(
        alphabet="0123456789.,%‰-–~一二三百千万亿半两年月日元点时分之第 三个of millionhalf至/:pam",
        max_size=40,
    )
)
def test_values_stand_where_they_are_said_to(text: str) -> None:
    found = normalise_values(text)
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(0 <= one.start < one.end <= len(plain_of(text)) for one in found)
    assert all(one.value.matches(one.value) for one in found)


@pytest.mark.parametrize(
    "text", ["RMB 2,350,000", "人民币 2,350,000 元", "人民币￥235万元", "CNY2.35M"]
)  # fmt: skip
def test_the_names_of_its_currency_are_part_of_an_amount(text: str) -> None:
    [found] = normalise_values(f"共 {text} 付")
    assert plain_of(f"共 {text} 付")[found.start : found.end].strip() == plain_of(text)


def test_another_currency_in_brackets_is_no_part_of_an_amount() -> None:
    [found] = normalise_values("235万元（美元）")
    assert found.end == len("235万元")


@pytest.mark.parametrize(
    "text",
    ["4,99 €", "EUR 4,99", "1.234,50 EUR", "25^1 days", "25¹ days", "10⁶", "3.2 × 10^6", "25 m^2"],
)
def test_a_number_with_a_comma_or_a_raised_figure_is_one_value(text: str) -> None:
    assert len(values_of(text)) == 1


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("rooms 4,12 and 7", [4, 12, 7]),
        ("分别为10，20元", [10, 20]),
        ("住3,4天", [3, 4]),
        ("2,5 to 3,5 kg", [Fraction(5, 2), Fraction(7, 2)]),
        ("1,680 EUR", [1680]),
    ],
)
def test_a_comma_in_a_list_parts_numbers(text: str, numbers: list[int]) -> None:
    assert [value.number for value in values_of(text)] == numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0:35 h", [(35, "minute")]),
        ("from a difference of 2 s", [(2, "second")]),
        ("since 2022", [(0, "date")]),
        ("founded in 1817", [(0, "date")]),
        ("in 2000.5", [(Fraction(4001, 2), "")]),
    ],
)
def test_units_and_years_are_read_where_they_are_meant(
    text: str, values: list[tuple[Fraction | int, str]]
) -> None:
    assert [(value.number, value.unit) for value in values_of(text)] == values


@pytest.mark.parametrize("text", ["{}%", "第{}章"])
def test_a_key_of_thousands_of_figures_is_no_value(text: str) -> None:
    assert values_of(text.format("7" * 4_400)) == []


@pytest.mark.parametrize(("text", "number"), [("٠ يوم", 0), ("٣٠ يوما", 30), ("००", 0)])
def test_figures_of_other_scripts_are_numbers(text: str, number: int) -> None:
    assert [found.value.number for found in normalise_values(text)] == [number]
