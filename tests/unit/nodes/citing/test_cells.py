import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.answers import Cited, Token
from sextant.domain.questions import Attachment, AttachmentKind
from sextant.nodes.citing.attached import TableCells, attachment_items, table_lines
from sextant.nodes.citing.cited_text import CitedText
from sextant.tables.cells.table import make_table
from sextant.tables.results.findings import compute_findings
from tests.unit.nodes.conftest import item

ROWS = [
    ["产品", "销量", "增长"],
    ["苹果", "1,200", "12.5%"],
    ["香蕉", "900", "-3%"],
    ["樱桃", "1.2万", ""],
]


def attached(question: str = "", rows: list[list[str]] = ROWS) -> Attachment:
    table = make_table(rows, header_rows=1)
    computed = compute_findings(question, table, "zh")
    return Attachment(
        AttachmentKind.TABLE, "T1", "销量表", names=table.names, rows=table.rows,
        findings=computed.answers, statistics=computed.statistics,
    )  # fmt: skip


def cells_of_table(table: Attachment) -> TableCells:
    return TableCells(table, "\n".join(table_lines(table)))


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("r1c2", "苹果的销量为1200件"),
        ("r1c2", "销量最高的是 1,200"),
        ("r3c2", "樱桃卖出 12,000 件"),
        ("r3c2", "樱桃卖出1.2万件"),
        ("r1c3", "苹果增长了 12.5%"),
        ("r2c3", "香蕉下降了3%"),
        ("r2c1", "其次是香蕉"),
        ("r2", "香蕉卖出900件"),
        ("c2", "销量合计为14,100件"),
        ("c2", "平均每种卖出 4700 件"),
        ("", "表中共有 3 行"),
    ],
)
def test_a_place_that_says_what_the_sentence_says_carries_it(place: str, sentence: str) -> None:
    table = attached()
    quote = cells_of_table(table).quote(place, sentence)
    assert quote is not None
    text = "\n".join(table_lines(table))
    assert text[quote.start : quote.end] == quote.text
    assert (quote.place, quote.support) == (place, 1.0)


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("r1c2", "苹果的销量为 1,201 件"),
        ("r1c2", "苹果的销量很高"),
        ("r2c2", "苹果的销量为900件"),  # the value is that of another row than the one named
        ("r1c2", "香蕉和樱桃卖出1200件"),
        ("r3c3", "樱桃没有增长"),  # an empty cell says nothing
        ("r9c1", "苹果"),
        ("r0c1", "苹果"),
        ("r1c9", "苹果"),
        ("c2", "销量合计为14,101件"),
        ("c9", "1"),
        ("x", "1200"),
        ("", "表中共有 4 行"),
    ],
)
def test_a_place_that_says_otherwise_or_does_not_exist_carries_nothing(
    place: str, sentence: str
) -> None:
    assert cells_of_table(attached()).quote(place, sentence) is None


def test_a_number_that_the_row_does_not_have_weakens_the_support() -> None:
    quote = cells_of_table(attached()).quote("r1c2", "苹果卖出1200件，单价 77 元")
    assert quote is not None
    assert quote.support == 0.5


@given(
    st.lists(
        st.lists(st.text("ab|r1 ,9\n", max_size=5), min_size=2, max_size=3), min_size=1, max_size=5
    )
)
def test_every_cell_stands_where_its_citation_says(rows: list[list[str]]) -> None:
    cleaned = [[" ".join(cell.split()) for cell in row] for row in rows]
    table = attached(rows=[["a", "b"], *cleaned])
    cells, text = cells_of_table(table), "\n".join(table_lines(table))
    for row, values in enumerate(table.rows, start=1):
        for column, value in enumerate(values, start=1):
            if quote := cells.quote(f"r{row}c{column}", " ".join(values)):
                assert quote.text == value == text[quote.start : quote.end]


def told(model: str, *, cut: int = 1, question: str = "") -> tuple[str, CitedText, list[Cited]]:
    passages = [
        *attachment_items([attached(question)], "zh", 2000),
        item("苹果产自山东烟台。", "产地.md"),
    ]
    text = CitedText(passages, language="zh")
    events = [e for at in range(0, len(model), cut) for e in text.feed(model[at : at + cut])]
    events += text.finish()
    shown = "".join(event.text for event in events if isinstance(event, Token))
    return shown, text, [event for event in events if isinstance(event, Cited)]


@pytest.mark.parametrize("cut", [1, 2, 3, 100])
def test_cells_and_documents_are_cited_side_by_side(cut: int) -> None:
    model = "苹果的销量为1,200[T1:r1c2]。它产自山东烟台[2]。合计14,100件[T1:c2]。"
    shown, text, cited = told(model, cut=cut)
    assert shown == model.replace("[2]", "[1]"), "the one document is number 1"
    assert [(one.citation.marker, one.citation.cell) for one in cited] == [
        (0, "T1:r1c2"), (1, ""), (0, "T1:c2"),
    ]  # fmt: skip
    assert [(s.marker, s.kind, s.label) for s in text.given.sources] == [
        (1, "document", ""), (0, "table", "T1"),
    ]  # fmt: skip
    for one in (one.citation for one in cited if one.citation.cell):
        table = text.given.sources[1]
        assert table.text[one.start : one.end] == one.quote
    assert text.grounded


def test_a_cell_that_does_not_hold_loses_its_marker() -> None:
    shown, text, cited = told("苹果的销量为1,300[T1:r1c2]。")
    assert "[T1" not in shown
    assert not cited
    assert not text.grounded


@pytest.mark.parametrize("marker", ["T1:r1c2,T1:r2c2", "T1:r1c2、T1:r2c2"])
def test_several_cells_may_stand_in_one_marker(marker: str) -> None:
    shown, _, cited = told(f"苹果1200件，香蕉900件[{marker}]。")
    assert shown == "苹果1200件，香蕉900件[T1:r1c2][T1:r2c2]。"
    assert len(cited) == 2


def test_a_computed_value_is_cited_where_the_model_forgot_to() -> None:
    shown, text, [cited] = told("销量最小的是香蕉，只有900件。", question="哪个产品销量最小？")
    assert shown.endswith("[T1:r2c2]")
    assert cited.citation.cell == "T1:r2c2"
    assert text.grounded


def test_a_label_that_nothing_has_is_dropped_beside_tables_and_text_without_them() -> None:
    shown, _, _ = told("苹果卖出1200件[T2:r1c2][I1]。")
    assert "[" not in shown
    alone = CitedText([item("See table [T1] for details.")])
    events = [*alone.feed("See table [T1] for details [1]."), *alone.finish()]
    assert (
        "".join(e.text for e in events if isinstance(e, Token)) == "See table [T1] for details [1]."
    )


def test_large_tables_show_the_rows_that_matter_within_their_room() -> None:
    rows = [["产品", "销量"], *([f"产品{number}", f"{number}"] for number in range(2000))]
    [shown] = attachment_items([attached("哪个产品销量最大？", rows)], "zh", 500)
    prompt = shown.metadata["shown"]
    assert "r2000 | 产品1999 | 1999" in prompt
    assert "“销量”最大的是产品1999：1999 [T1:r2000c2]" in prompt
    assert "共 2000 行" in prompt
    assert len(prompt) < 3000
    assert len(shown.text.splitlines()) == 2001
