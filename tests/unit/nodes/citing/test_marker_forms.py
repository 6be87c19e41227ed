"""Markers in the forms that models bring along, and what only looks like one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.citing.markers import MarkerReader, read_markers

PASSAGES = ["Trial: three months.", "The hall has 40 m² and two rules: (1) be quiet, (2) be kind."]

FORMS = (
    "[^1]", "[^1^]", "^1^", "^[1]^", "$^{[1]}$", "¹", "<sup>1</sup>", "<sup>[1]</sup>", "[1†source]", "【1†source】",
    "【4:1†source】", "【1†L7-L9】", "[[1]]", "[[Source: 1]]", "[ID:1]", "(ID: 1)", "##1$$", "[doc1]", "[doc_1]", "[passage_1]",
    "[citation:1]", "[来源1]", "【来源：1】", "[cite: 1]", "[Document 1: the handbook]", "[1, p. 3]", "(passage 1)", "(see passages 1)",
    "(Source: 1)", "（段落1）", "（第1段）", "([1])", "〔1〕", "〖1〗", r"\[1\]", r"\cite{1}", "<cite>1</cite>", '<ref id="1"/>', "<source>1</source>",
    ":contentReference[oaicite:1]{index=1}", "{1}", "⟦1⟧", "[1: permit.md]", "[1 | 员工手册]", "[1, permit.md]",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ["It takes three months {}.", "试用期为三个月{}。"])
def test_markers_of_every_form_are_written_as_ours(text: str, form: str) -> None:
    shown = text.format("[1]")
    assert read_markers(text.format(form), PASSAGES) == shown
    reader = MarkerReader(PASSAGES)
    assert "".join([*map(reader.feed, text.format(form)), reader.finish()]) == shown


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It takes three months (1).", "It takes three months [1]."),
        ("试用期为三个月（1）。", "试用期为三个月[1]。"),
        (
            "It takes three months, as stated in passage 1.",
            "It takes three months, as stated in passage [1].",
        ),
        ("根据段落1和2，试用期为三个月。", "根据段落[1和2]，试用期为三个月。"),
        ("试用期为三个月①。", "试用期为三个月[1]。"),
        ("It takes three months.¹", "It takes three months.[1]"),
        ("It takes three months¹,² at most.", "It takes three months[1,2] at most."),
        ("It takes three months¹² at most.", "It takes three months[1][2] at most."),
        ("It takes three months<sup>1, 2</sup>.", "It takes three months[1, 2]."),
        ("[1](https://a.example/b)", "[1](https://a.example/b)"),
    ],
)
def test_markers_where_one_can_stand_are_read(written: str, read: str) -> None:
    assert read_markers(written, PASSAGES[:1] * 2) == read


@pytest.mark.parametrize(
    "text",
    [
        "The hall has 40 m² and x² + y².",
        "大厅面积40米²，体积为10³升。",
        "It holds 10^3 people and 10^3^ seats, or x^2^.",
        "It holds 10<sup>3</sup> people, or $10^{3}$.",
        "The first passage is 3 m wide, passage 7 is wider.",
        "Subpassage 1 is closed.",
        "(1) Be quiet. (2) Be kind.",
        "Step (1) comes first.",
        "The rules are: (1) be quiet, (2) be kind.",
        "①多饮②多尿③多食",
        "Both follow rule (1).",
        "It opened in May (9).",
        "A set {1} and a list[1]",
        "`f(1)` and `a^1^`",
        "```\nx = {1}\ny = f(1)\n```\n",
        "Released (2024).",
        "[T1:r3c2] and [1, 2]",
        "3 < 4 and <b>bold</b>",
    ],
)
def test_lists_powers_units_and_code_stay_as_they_are(text: str) -> None:
    assert read_markers(text, PASSAGES) == text


@pytest.mark.parametrize(
    "text",
    [
        "It is f(2).",
        "It is so by Section(2).",
        "Call getAll(2), print_all(2); os.exit(2).",
        "It opened in May(9).",
        "The ratio is [1: 3] or a[1:n].",
        "The range is [1, 2] or [1 - 3.5].",
    ],
)
def test_numbers_that_belong_to_their_words_stay_as_they_are(text: str) -> None:
    assert read_markers(text, PASSAGES[:1] * 2) == text


def test_without_passages_nothing_is_a_marker() -> None:
    assert read_markers("Three months¹ (1).", []) == "Three months¹ (1)."


@given(
    st.lists(
        st.sampled_from(
            [*FORMS, "months", " ", ".", "。", "\n", "`", "(1)", "①", "²", "<", "[", "{"]
        ),
        max_size=12,
    ),
    st.data(),
)
def test_what_is_read_does_not_depend_on_how_the_text_was_cut(
    words: list[str], data: st.DataObject
) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    reader = MarkerReader(PASSAGES)
    pieces = [reader.feed(text[start:end]) for start, end in pairwise([0, *cuts, len(text)])]
    assert "".join([*pieces, reader.finish()]) == read_markers(text, PASSAGES)
