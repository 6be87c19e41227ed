from decimal import Decimal, localcontext
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sextant.tables.cells.arithmetic import Comparison, Condition, Operation, compute, matching
from sextant.tables.cells.table import Column, DataTable, make_table
from sextant.tables.results.findings import compute_findings

NUMBERS = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=6
)


def column_of(numbers: list[Decimal]) -> tuple[DataTable, Column, range]:
    table = make_table([["n"], *([f"{number:,f}"] for number in numbers)], header_rows=1)
    return table, table.columns[0], range(len(numbers))


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_sums_and_means_are_those_of_exact_fractions(numbers: list[Decimal]) -> None:
    _, column, rows = column_of(numbers)
    total = compute(Operation.SUM, column, rows)
    mean = compute(Operation.MEAN, column, rows)
    exact = sum(map(Fraction, numbers), Fraction())
    assert total is not None
    assert total.number is not None
    assert Fraction(total.number) == exact
    assert mean is not None
    assert mean.number is not None
    off = abs(Fraction(mean.number) - exact / len(numbers))
    assert off == 0 if not mean.rounded else off <= Fraction(1, 10**9)


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_the_largest_and_smallest_are_found_in_all_their_rows(numbers: list[Decimal]) -> None:
    _, column, rows = column_of(numbers)
    for operation, best in ((Operation.MAX, max(numbers)), (Operation.MIN, min(numbers))):
        result = compute(operation, column, rows)
        assert result is not None
        assert result.at == tuple(at for at, number in enumerate(numbers) if number == best)


@given(st.lists(NUMBERS, max_size=40), NUMBERS)
def test_conditions_keep_exactly_the_rows_that_python_keeps(
    numbers: list[Decimal], bound: Decimal
) -> None:
    table, _, rows = column_of(numbers)
    for comparison, kept in (
        (Comparison.MORE, [at for at in rows if numbers[at] > bound]),
        (Comparison.LESS, [at for at in rows if numbers[at] < bound]),
        (Comparison.AT_LEAST, [at for at in rows if numbers[at] >= bound]),
        (Comparison.AT_MOST, [at for at in rows if numbers[at] <= bound]),
        (Comparison.EQUAL, [at for at in rows if numbers[at] == bound]),
    ):
        assert matching(table, [Condition(0, comparison, bound)]) == kept


def test_a_sum_keeps_every_digit_where_binary_numbers_would_not() -> None:
    with localcontext(prec=3):  # whatever the caller's context is
        _, column, rows = column_of([Decimal("0.1")] * 3 + [Decimal(12345678901234567890)])
        result = compute(Operation.SUM, column, rows)
    assert result is not None
    assert result.shown == "12,345,678,901,234,567,890.3"


def test_a_mean_that_does_not_end_is_rounded_and_says_so() -> None:
    table = make_table([["n"], ["1"], ["1"], ["2"]], header_rows=1)
    [found] = compute_findings("n 的平均值", table, "zh").answers
    assert found.text == "“n”的平均值约为 1.3333（3 行）"


@given(
    st.lists(st.lists(st.text(max_size=6), max_size=5), max_size=8),
    st.integers(0, 2),
    st.sampled_from(
        ["最大的是哪个？", "总和是多少", "how many rows over 3", "a 的 b 是多少", "每个 a 的平均"]
    ),
)
def test_a_table_of_any_shape_is_computed_or_left_alone(
    rows: list[list[str]], header: int, question: str
) -> None:
    table = make_table(rows, header)
    assert {len(row) for row in table.rows} <= {table.width}
    computed = compute_findings(question, table, "en")
    assert all(finding.text for finding in (*computed.answers, *computed.statistics))
