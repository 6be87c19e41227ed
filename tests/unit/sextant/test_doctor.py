"""What the doctor says of a data folder, and of a named-entity model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sextant.domain.settings import IngestionSettings, Settings
from sextant.facade.doctor import Examination, Health, examine, examine_named_entities
from tests.unit.ingestion.graph.tiny_gliner import write_gliner


@pytest.mark.parametrize("below", ["", "deeper/still"])
async def test_a_data_folder_that_is_a_file_or_would_lie_in_one_is_named(
    tmp_path: Path, below: str
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no folder")
    found = await anext(examine(Settings(_env_file=None, data_dir=file / below)))
    assert (found.name, found.health, found.exit_code) == ("data folder", Health.FAILED, 3)
    assert found.detail == f"{file} is no folder."
    assert "SEXTANT_DATA_DIR" in found.next_step


async def named_entities(**ingestion: str) -> Examination:
    settings = Settings(_env_file=None, ingestion=IngestionSettings.model_validate(ingestion))
    return await examine_named_entities(settings)


async def test_a_named_entity_model_that_is_not_there_is_named_with_what_to_install() -> None:
    assert (await named_entities()).health is Health.OFF
    found = await named_entities(ner_model="xx_no_such")
    assert (found.name, found.health, found.exit_code) == ("named-entity model", Health.FAILED, 3)
    assert "xx_no_such" in found.detail
    assert "nstall" in found.next_step or "[ner]" in found.next_step


@pytest.mark.skipif(find_spec("tokenizers") is None, reason="the [ner] extra is not installed")
async def test_a_named_entity_model_that_reads_is_named_with_what_runs_it(tmp_path: Path) -> None:
    folder = write_gliner(tmp_path / "tiny")
    found = await named_entities(ner_model=folder)
    assert (found.health, found.detail) == (Health.OK, f"{folder} (GLiNER) reads passages")
