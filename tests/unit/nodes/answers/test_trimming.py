"""Long passages in a small prompt: shown by what is near the question, cited by their whole text."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.documents import Modality
from sextant.nodes.answers.passages import lay_out_passages, number_passages
from sextant.text.characters import estimate_tokens
from tests.unit.nodes.conftest import item

QUESTION = "How long is the probation period?"
FILLER = " ".join(f"The canteen serves soup number {n} on working days." for n in range(40))
LONG = (
    f"{FILLER} The probation period of new staff has a fixed length. It is three months. {FILLER}"
)


def test_of_a_long_passage_the_sentences_near_the_questions_words_are_shown() -> None:
    items = [item(LONG, f"{n}.md") for n in range(10)]
    layout = lay_out_passages(QUESTION, items, 1200)
    prompt = number_passages(layout.passages)
    assert len(layout.passages) == 10
    assert prompt.count("It is three months.") >= 9
    assert prompt.count("soup number") < 60
    assert [one.text for one in layout.passages] == [LONG] * 10


def test_what_fits_is_shown_whole() -> None:
    items = [item(LONG, "a.md"), item("Soup is served at noon.", "b.md")]
    prompt = number_passages(lay_out_passages(QUESTION, items, 6000).passages)
    assert LONG in prompt


def test_a_table_keeps_the_names_of_its_columns() -> None:
    rows = "\n".join(f"| part {n} | {n} CNY |" for n in range(300))
    table = item(f"| Name | Price |\n| --- | --- |\n{rows}")
    table = replace(table, metadata={**table.metadata, "modality": Modality.TABLE})
    [shown] = lay_out_passages("What is the price of part 217?", [table], 300).passages
    prompt = number_passages([shown])
    assert "| Name | Price |\n| --- | --- |\n" in prompt
    assert "| part 217 | 217 CNY |" in prompt


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(200, 3000))
def test_the_passages_take_no_more_than_they_may(lengths: list[int], tokens: int) -> None:
    items = [item("Staff rest on days off. " * n + "End.", f"{n}.md") for n in lengths]
    layout = lay_out_passages(QUESTION, items, tokens)
    assert layout.passages[0].text == items[0].text
    shown = number_passages(layout.passages)
    assert estimate_tokens(shown) <= tokens + 40 * len(items)
