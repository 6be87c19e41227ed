"""The caption of a table is no answer beside the rows that it stands over."""

from __future__ import annotations

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.captions import with_rows_told
from sextant.models.offline.passages import Span

CAPTION = "Table 2: Travel limits"
TABLE = "| City | Limit |\n|---|---|\n| Oslo | 210 EUR |\n| Graz | 120 EUR |"


def _item(text: str) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, "c", text, 1.0)


def _span(text: str, said: str) -> Span:
    return (0, text.index(said), text.index(said) + len(said))


def _quoted(text: str, *said: str) -> list[str]:
    spans = with_rows_told([_item(text)], [_span(text, one) for one in said])
    return [text[start:end] for _, start, end in spans]


def test_a_caption_beside_a_row_of_its_table_is_not_quoted() -> None:
    text = f"{CAPTION}\n\n{TABLE}"
    assert _quoted(text, "Oslo | 210 EUR", CAPTION) == ["Oslo | 210 EUR"]


def test_a_sentence_above_a_table_stays_beside_its_row() -> None:
    sentence = "Limits hold per night."
    text = f"{sentence}\n\n{TABLE}"
    assert _quoted(text, "Oslo | 210 EUR", sentence) == ["Oslo | 210 EUR", sentence]


def test_a_caption_stays_beside_what_is_no_row_of_its_table() -> None:
    text = f"Rooms are booked by Ines.\n\n{CAPTION}\n\n{TABLE}"
    said = ("Rooms are booked by Ines.", CAPTION)
    assert _quoted(text, *said) == list(said)


def test_the_caption_of_a_small_table_is_told_by_its_rows() -> None:
    text = f"{CAPTION}\n\n{TABLE}"
    assert _quoted(text, CAPTION) == ["Oslo | 210 EUR", "Graz | 120 EUR"]
