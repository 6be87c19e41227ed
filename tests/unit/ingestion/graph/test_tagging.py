"""A spaCy pipeline by path, run for real where spaCy is installed, and what is said where it is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from domain.documents import Chunk
from domain.errors import ModelUnavailable
from domain.scope import Scope
from ingestion.graph.extraction.chunk_evidence import term_evidence
from ingestion.graph.extraction.tagging import SpacyTagger, Tag, build_tagger

INSTALLED = importlib.util.find_spec("spacy") is not None
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the [ner] extra is not installed")
TEXT = "Ada Marsh of Halden Works left Cork on Monday."


@pytest.fixture
def pipeline(tmp_path: Path) -> str:
    """A pipeline that knows five names by rule, saved to a folder as a trained one is."""
    import spacy

    made: Any = spacy.blank("en")
    patterns = {
        "Ada Marsh": "PERSON",
        "Halden Works": "ORG",
        "Cork": "GPE",
        "Monday": "DATE",
        "the": "ORG",
    }
    made.add_pipe("entity_ruler").add_patterns(
        [{"label": label, "pattern": name} for name, label in patterns.items()]
    )
    made.to_disk(tmp_path / "names")
    return str(tmp_path / "names")


@needs_extra
def test_names_and_types_are_those_of_the_pipeline(pipeline: str) -> None:
    tagger = SpacyTagger(pipeline)
    assert tagger.tag([TEXT, "Nobody is here, the end."]) == [
        (
            Tag("Ada Marsh", 0, "PERSON"),
            Tag("Halden Works", 13, "ORGANIZATION"),
            Tag("Cork", 31, "LOCATION"),
        ),
        (),
    ]


@needs_extra
def test_tagged_names_are_mentioned_once_with_their_types(pipeline: str) -> None:
    chunk = Chunk(UUID(int=1), UUID(int=2), 0, 0, len(TEXT), TEXT)
    mentions, _ = term_evidence(Scope("u"), [chunk], {}, SpacyTagger(pipeline))
    types = [(row.name, row.entity_type) for row in mentions]
    assert len(types) == len(set(types))
    assert {("Ada Marsh", "PERSON"), ("Cork", "LOCATION")} <= set(types)
    assert all(TEXT[row.start : row.end] == row.name for row in mentions)


@needs_extra
def test_a_pipeline_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "no such")
    with pytest.raises(ModelUnavailable) as caught:
        SpacyTagger(missing).tag([TEXT])
    assert missing in str(caught.value)
    assert "SEXTANT_INGESTION__NER_MODEL" in caught.value.next_step


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("ingestion.graph.extraction.tagging.importlib.import_module", refuse)
    with pytest.raises(ModelUnavailable) as caught:
        SpacyTagger("en_core_web_sm").tag([TEXT])
    assert "[ner]" in caught.value.next_step


def test_without_a_setting_nothing_is_tagged() -> None:
    assert build_tagger("") is None
