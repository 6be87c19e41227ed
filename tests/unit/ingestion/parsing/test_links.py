"""The address of a link beside its words."""

from __future__ import annotations

import pytest

from sextant.ingestion.parsing.images import LinkedText, with_address


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("here", "https://example.org/a", "here (https://example.org/a)"),
        ("here ", "https://example.org/a", "here (https://example.org/a) "),
        ("https://example.org/", "https://example.org", "https://example.org/"),
        ("www.Example.org", "http://example.org/", "www.Example.org"),
        ("write to us", "mailto:a@example.org?subject=Hi", "write to us (a@example.org)"),
        ("a@example.org", "mailto:a@example.org", "a@example.org"),
        ("below", "#section", "below"),
        ("run", "javascript:alert(1)", "run"),
        ("none", None, "none"),
        (" ", "https://example.org/a", " "),
    ],
)
def test_an_address_is_added_where_the_words_do_not_say_it(
    text: str, address: str | None, shown: str
) -> None:
    assert with_address(text, address) == shown


def test_pieces_of_one_link_have_its_address_once() -> None:
    text = LinkedText()
    for words, address in (
        ("See ", ""),
        ("the ", "https://e.org/x"),
        ("page", "https://e.org/x"),
        (".", ""),
    ):
        text.add(words, address)

    assert str(text) == "See the page (https://e.org/x)."


def test_a_formula_keeps_its_distance_from_letters_but_not_from_stops() -> None:
    text = LinkedText()
    text.add("where")
    text.add("E = m", spaced=True)
    text.add("is it")
    text.add("F = a", spaced=True)
    text.add(".")

    assert str(text) == "where E = m is it F = a."
