"""Lines of hard-wrapped text, put together again."""

from __future__ import annotations

import pytest

from sextant.ingestion.parsing.blocks import Paragraph, texts_of
from sextant.ingestion.parsing.formats.txt import unwrap
from sextant.ingestion.parsing.lines import (
    Styled,
    close_divided,
    infer_levels,
    join_lines,
    starts_item,
)


@pytest.mark.parametrize(
    "line",
    [
        "1. Apples",
        "1.苹果",
        "12) pears",
        "（3）梨",
        "3、梨",
        "• pears",
        "a. apples",
        "(iv) pears",
        "- pears",
        "① 梨",
    ],
)
def test_a_mark_of_a_list_begins_an_item(line: str) -> None:
    assert starts_item(line)


@pytest.mark.parametrize(
    "line", ["99.95 % per month.", "4.2会改为三分钟", "3.5 mm of play", "12 km on"]
)
def test_a_line_that_goes_on_with_a_number_begins_none(line: str) -> None:
    assert not starts_item(line)


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["the docu-", "mentation"], "the documentation"),
        (["the state-of-the-", "art centre"], "the state-of-the-art centre"),
        (["a self-", "test"], "a self-test"),
        (["보험약관은", "작성자인 사업자"], "보험약관은 작성자인 사업자"),
        (["糖尿病是一组", "代谢性疾病"], "糖尿病是一组代谢性疾病"),
        (["model MC-", "200"], "model MC-200"),
    ],
)
def test_a_compound_keeps_its_hyphens(lines: list[str], joined: str) -> None:
    [closed] = close_divided([Paragraph(join_lines(lines))])

    assert [*texts_of(closed)] == [joined]


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        ("A dual-encoder is fast.", "the dual-encoder"),
        ("It is dual. Each encoder has a head.", "the dual-encoder"),
        ("Each dualencoder is fast.", "the dualencoder"),
        ("Nothing is said.", "the dualencoder"),
    ],
)
def test_a_divided_compound_is_told_by_the_rest_of_the_document(other: str, joined: str) -> None:
    divided = Paragraph(join_lines(["the dual-", "encoder"]))

    closed, _ = close_divided([divided, Paragraph(other)])

    assert [*texts_of(closed)] == [joined]


def test_an_address_that_goes_on_in_the_next_line_keeps_each_sign() -> None:
    assert join_lines(["https://e.org/-", "/room-plan"]) == "https://e.org/-/room-plan"
    assert join_lines(["See https://e.org/room-", "plan now"]) == "See https://e.org/room-plan now"
    assert join_lines(["See https://e.org/", "for more"]) == "See https://e.org/ for more"


def test_fields_of_a_form_are_no_wrapped_line() -> None:
    assert join_lines(["名 称: 上海公司", "识别号: 913"]) == "名 称: 上海公司 识别号: 913"
    prose = ["注意：本产品的安装、拆卸和保养须由有资格的人员按以下要", "求操作：先断电。"]
    assert join_lines(prose) == "".join(prose)
    assert join_lines(["合同包括以", "下内容：甲。"]) == "合同包括以下内容：甲。"


def test_a_short_second_half_makes_no_compound() -> None:
    divided = Paragraph(join_lines(["the room with-", "out a window"]))

    closed, _ = close_divided([divided, Paragraph("Come out with me.")])

    assert [*texts_of(closed)] == ["the room without a window"]


class TestWhatIsNoHeading:
    BODY = Styled("The supplier delivers the goods within thirty days of the order.", 10)

    def test_bullets_and_small_print_are_none(self) -> None:
        lines = [
            self.BODY,
            Styled("• With foo", 14),
            self.BODY,
            Styled("2.1 Scope of this", 8),
            Styled("2.2 Terms", 10),
        ]

        assert infer_levels(lines) == [None, None, None, None, 1]

    def test_bold_words_that_go_on_with_a_sentence_are_none(self) -> None:
        texts = ("and more", "iPhone plans", "(a) Scope", "iv) 范围", "e-mail policy")
        bold = [Styled(text, 10, bold=True) for text in texts]
        open_end = Styled(self.BODY.text.rstrip("."), 10)

        levels = infer_levels([one for line in bold for one in (open_end, line)] + [self.BODY])

        assert [level is not None for level in levels[1::2]] == [False, True, True, True, True]

    def test_small_letters_below_a_full_stop_are_one(self) -> None:
        lines = [self.BODY, Styled("opening hours", 10, bold=True), self.BODY]

        assert infer_levels(lines) == [None, 1, None]

    def test_of_many_in_a_row_only_those_above_lower_ones_are(self) -> None:
        names = [Styled(name, 10, bold=True) for name in ("Ann Poe", "Bob Fry", "Cid Law")]
        lines = [Styled("The pump P-20", 24), *names, self.BODY, Styled("Use", 14), self.BODY]

        assert infer_levels(lines) == [0, None, None, None, None, 1, None]

    def test_a_table_in_small_print_makes_no_headings_of_the_text(self) -> None:
        table = Styled("Item Price Pump P-20 480 EUR", 8, is_body=True)

        assert infer_levels([Styled("Price list 2026", 10), table, self.BODY]) == [None] * 3


def test_records_of_a_log_stay_lines_with_their_indentation() -> None:
    log = [
        "2026-03-01 10:00:01 INFO  Starting the server of the house on port 8080 now",
        "2026-03-01 10:00:05 ERROR Request 4711 failed: timeout after thirty long s",
        "Traceback (most recent call last):",
        '  File "app.py", line 12, in handle',
        "    raise Timeout(30)",
    ]

    assert unwrap(log) == log


def test_code_keeps_its_indentation_and_an_indented_block_its_margin() -> None:
    assert unwrap(["server:", "  port: 8080", "  hosts:", "    - a.example"]) == [
        "server:",
        "  port: 8080",
        "  hosts:",
        "    - a.example",
    ]
    assert unwrap(["    if x:", "\ty = 1"]) == ["   if x:", "y = 1"]
    assert unwrap(["  Dear Ann,", "  thank you."]) == ["Dear Ann,", "thank you."]


@pytest.mark.parametrize(
    "lines",
    [
        ['    "gateway": "gw-0011223344556677889900aabbccddeeff",', '    "interface": "if-99887766554433221100",'],
        ["  --title 'What was sold in the last quarter of 2025' \\", "  --kind technical \\"],
        [">>> rooms = find_rooms_of_the_house_that_are_free()", ">>> book(rooms[0], 'Monday')"],
        ["reports/archive/2024/summary-of-the-second-half-year.pdf", "reports/archive/2025/summary-of-the-first-half-year.pdf"],
        ["            Garden Club of the Northern Quarter", "            12 Mill Lane, 4711 Springfield"],
    ],
)  # fmt: skip
def test_code_a_list_of_paths_and_an_indented_address_keep_their_lines(lines: list[str]) -> None:
    assert len(unwrap(lines)) == len(lines)


def test_a_line_to_which_the_next_word_would_have_fitted_was_not_wrapped() -> None:
    wrapped = [
        "The supplier delivers all of the goods within thirty days of",
        "the order, and informs the buyer where a delay is foreseen by",
        "Monday at the latest",
    ]
    listed = [
        "Wooden chairs for the hall upstairs, forty of them",
        "Tables of oak with six legs",
        "Lamps",
        "Shelves of beech as high as the rooms of the house are, and no higher",
    ]

    assert len(unwrap(wrapped)) == 1
    assert unwrap(listed) == listed
