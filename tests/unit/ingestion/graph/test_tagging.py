"""A spaCy pipeline by path, run for real where spaCy is installed, and what is said where it is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sextant.domain.documents import Chunk, Modality
from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.chunk_evidence import term_evidence
from sextant.ingestion.graph.extraction.taggers import SpacyTagger, Tag, build_tagger

INSTALLED = importlib.util.find_spec("spacy") is not None
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the [ner] extra is not installed")
TEXT = "Ada Marsh of Halden Works left Cork on Monday."


@pytest.fixture
def pipeline(tmp_path: Path) -> str:
    """Return a pipeline that knows five names by rule, saved to a folder as a trained one is."""
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
    mentions = term_evidence(Scope("u"), [chunk], {}, SpacyTagger(pipeline)).mentions
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

    monkeypatch.setattr("sextant.ingestion.graph.extraction.taggers.import_module", refuse)
    with pytest.raises(ModelUnavailable) as caught:
        SpacyTagger("en_core_web_sm").tag([TEXT])
    assert "[ner]" in caught.value.next_step


@needs_extra
def test_a_pipeline_that_is_not_installed_says_how_to() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        SpacyTagger("xx_no_such").tag([TEXT])
    assert "spacy download xx_no_such" in caught.value.next_step


@needs_extra
def test_texts_in_a_script_that_a_pipeline_does_not_read_have_no_names(pipeline: str) -> None:
    assert SpacyTagger(pipeline).tag(["在 Cork 的何静认识 Ada Marsh 和杭州的同事们", "Cork"]) == [
        (),
        (Tag("Cork", 0, "LOCATION"),),
    ]


@needs_extra
def test_what_a_document_shows_comes_before_what_a_model_says(tmp_path: Path) -> None:
    import spacy

    made: Any = spacy.blank("en")
    names = ("BM-40", "Ines Okafor", "Halden", "Fern Ltd.")
    made.add_pipe("entity_ruler").add_patterns(
        [{"label": "LOC", "pattern": name} for name in names]
    )
    made.to_disk(tmp_path / "wrong")
    table = "| Site | Site manager |\n| --- | --- |\n| Halden | Ines Okafor |"
    texts = [(table, Modality.TABLE), ("Ines Okafor of Fern Ltd. has the BM-40.", Modality.TEXT)]
    chunks = [
        Chunk(UUID(int=n), UUID(int=9), n, 0, len(text), text, modality=modality)
        for n, (text, modality) in enumerate(texts)
    ]
    mentions = term_evidence(Scope("u"), chunks, {}, SpacyTagger(str(tmp_path / "wrong"))).mentions
    types = {(row.name, row.entity_type) for row in mentions}
    assert {("BM-40", "CODE"), ("Ines Okafor", "PERSON"), ("Fern Ltd.", "ORGANIZATION")} <= types
    assert ("Ines Okafor", "LOCATION") not in types
    assert ("BM-40", "LOCATION") not in types


def test_without_a_setting_nothing_is_tagged() -> None:
    assert build_tagger(Settings(_env_file=None)) is None
