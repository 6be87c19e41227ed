"""A graph without documents over the command line: brought, told of, and asked once its facts are passages."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.conftest import Sextant

LINES = [
    {"type": "entity", "id": "t", "name": "Titanic", "description": "1997 film"},
    {"type": "entity", "id": "c", "name": "James Cameron", "aliases": ["Jim Cameron"]},
    {"type": "relation", "source": "t", "target": "Jim Cameron", "relationType": "DIRECTED_BY"},
]


def test_a_graph_alone_is_asked_once_its_facts_are_passages(
    sextant: Sextant, tmp_path: Path
) -> None:
    file = tmp_path / "films.jsonl"
    file.write_text("\n".join(map(json.dumps, LINES)))

    alone = sextant("import", file, "--graph", "films")
    assert "--facts-as-passages" in alone.err

    told = sextant("import", file, "--graph", "films", "--facts-as-passages", "--json").json()
    assert (told["documents"], told["chunks"], told["relations"]) == (2, 3, 1)
    assert not told["graph_alone"]

    answer = sextant("ask", "Who directed Titanic?", "--graph", "films", "--json").json()
    assert "Titanic is directed by James Cameron." in answer["answer"]
    assert [source["filename"] for source in answer["sources"]] == ["Titanic (graph)"]
    explained = sextant(
        "search", "Who directed Titanic?", "--graph", "films", "--mode", "mix", "--explain"
    )
    assert "DIRECTED_BY" in explained.out

    again = sextant("import", file, "--graph", "films", "--facts-as-passages", "--json").json()
    assert again["unchanged"] == 2
