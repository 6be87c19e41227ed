"""What a text shows to be a name, so that it is an entity after a single passage."""

from __future__ import annotations

from uuid import UUID

import pytest

from sextant.domain.documents import Chunk, Modality
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.chunk_evidence import term_evidence


def kinds_of(text: str, modality: Modality = Modality.TEXT) -> dict[str, MentionKind]:
    """Return the kind of each mention in a chunk, by name."""
    chunk = Chunk(UUID(int=1), UUID(int=2), 0, 0, len(text), text, modality=modality)
    return {row.name: row.kind for row in term_evidence(Scope("u"), [chunk], {}).mentions}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The ferry calls at Nordlys Energy. Its owner, Nordlys Energy, pays.", "Nordlys Energy"),
        ("The pump of case INC-2025-017 was replaced.", "INC-2025-017"),
        ("渔业公司的负责人是陈立明。", "陈立明"),
        ("我们去了泰山。泰山下雪。", "泰山"),
    ],
)
def test_a_typed_or_repeated_name_is_a_name(text: str, name: str) -> None:
    assert kinds_of(text)[name] is MentionKind.NAME


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("The ferry calls at Brandt Quay.", "Brandt Quay"),
        ("A data race is bad. The data race was found.", "data race"),
        ("传感器坏了，更换传感器。", "传感器"),
    ],
)
def test_what_one_passage_names_once_or_in_common_words_is_a_term(text: str, term: str) -> None:
    assert kinds_of(text)[term] is MentionKind.TERM


def test_cells_of_a_table_stay_terms() -> None:
    table = "| Part | Case |\n| --- | --- |\n| Brandt valve | INC-2025-017 |\n"
    assert set(kinds_of(table, Modality.TABLE).values()) == {MentionKind.TERM}
