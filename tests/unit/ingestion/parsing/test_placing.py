"""The words of a page found again in the text that is stored of it, whatever a parser did to it."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.ingestion.parsing.blocks import Word
from sextant.ingestion.parsing.placing import locate_words


def drawn(texts: str | Sequence[str]) -> list[Word]:
    """Return words side by side, each a tenth of the page wide."""
    parts = texts.split() if isinstance(texts, str) else texts
    return [Word(text, 1, at / 10, 0.1, (at + 1) / 10, 0.12) for at, text in enumerate(parts)]


def placed(text: str, words: Sequence[Word], *, is_table: bool = False) -> list[tuple[str, int]]:
    """Return what of the text each word is, and which word that is."""
    return [
        (text[one.start : one.end], round(10 * one.x0))
        for one in locate_words(text, words, 0, is_table=is_table)
    ]


def test_words_keep_the_signs_around_them() -> None:
    text = "The belt (FF-71) lasts 900 hours."

    assert placed(text, drawn(text)) == [
        ("The", 0),
        ("belt", 1),
        ("(FF-71)", 2),
        ("lasts", 3),
        ("900", 4),
        ("hours.", 5),
    ]


def test_a_word_divided_at_a_line_end_is_both_its_parts() -> None:
    assert placed("an example here", drawn("an exam- ple here")) == [
        ("an", 0),
        ("exam", 1),
        ("ple", 2),
        ("here", 3),
    ]


def test_chinese_lines_joined_without_a_blank_are_parted_again() -> None:
    words = drawn(["公司应当在", "三日内答复。"])

    assert placed("公司应当在三日内答复。", words) == [("公司应当在", 0), ("三日内答复。", 1)]


def test_a_raised_figure_written_out_is_placed_with_its_word() -> None:
    assert placed("1.2 × 10^6 units", drawn("1.2 × 106 units"))[-1] == ("units", 3)


def test_leaders_that_are_left_out_do_not_stop_it() -> None:
    assert placed("Chapter One 12", drawn("Chapter One ........... 12")) == [
        ("Chapter", 0),
        ("One", 1),
        ("12", 3),
    ]


def test_a_word_that_the_text_does_not_have_is_left_out_and_the_rest_found() -> None:
    assert placed("old text goes on", drawn("old watermark text goes on")) == [
        ("old", 0),
        ("text", 2),
        ("goes", 3),
        ("on", 4),
    ]


def test_a_label_that_the_parser_wrote_itself_has_no_place() -> None:
    text = "25 days [note 1] after the first year, and no note here"
    found = placed(text, drawn("25 days after the first year, and no note here"))

    assert [word for word, _ in found].count("note") == 1
    assert len(found) == 10


def test_cells_drawn_column_by_column_are_found_in_their_rows() -> None:
    text = "| part | price |\n| --- | --- |\n| belt | 900 |\n| filter | 71 |"
    words = drawn("part belt filter price 900 71")

    assert dict(placed(text, words, is_table=True)) == {
        "part": 0,
        "price": 3,
        "belt": 1,
        "900": 4,
        "filter": 2,
        "71": 5,
    }


def test_offsets_count_from_the_beginning_of_the_document() -> None:
    [one] = locate_words("belt", drawn("belt"), 100)

    assert (one.start, one.end) == (100, 104)


def test_the_label_of_a_note_that_the_page_itself_has_is_placed() -> None:
    assert placed("See [note 2] below.", drawn("See [note 2] below.")) == [
        ("See", 0),
        ("[note", 1),
        ("2]", 2),
        ("below.", 3),
    ]


def test_a_word_that_touches_the_mark_of_its_note_is_placed() -> None:
    assert placed("By Ann Poe [note 1], Bo Fry.", drawn("By Ann Poe1, Bo Fry.")) == [
        ("By", 0),
        ("Ann", 1),
        ("Poe [note 1", 2),
        ("Bo", 3),
        ("Fry.", 4),
    ]
