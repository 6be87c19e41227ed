"""What the doctor says of a data folder, of a named-entity model, and of OCR."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.domain.settings import IngestionSettings, OcrSettings, Settings
from sextant.facade.doctor import (
    Examination,
    Health,
    examine,
    examine_named_entities,
    examine_ocr,
)
from sextant.ingestion.parsing import ocr_engine
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
    with pytest.raises(ModelUnavailable, match="xx_no_such") as failed:
        await named_entities(ner_model="xx_no_such")
    assert "nstall" in failed.value.next_step or "[ner]" in failed.value.next_step


@pytest.mark.skipif(find_spec("tokenizers") is None, reason="the [ner] extra is not installed")
async def test_a_named_entity_model_that_reads_is_named_with_what_runs_it(tmp_path: Path) -> None:
    folder = write_gliner(tmp_path / "tiny")
    found = await named_entities(ner_model=folder)
    assert (found.health, found.detail) == (Health.OK, f"{folder} (GLiNER) reads passages")


@pytest.mark.parametrize(("pages", "said"), [(500, "not installed"), (0, "SEXTANT_OCR__PAGES=0")])
async def test_ocr_that_reads_nothing_says_why(
    pages: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr_engine, "is_installed", lambda: False)
    found = await examine_ocr(Settings(_env_file=None, ocr=OcrSettings(pages=pages)))
    assert (found.health, found.exit_code) == (Health.OFF, 0)
    assert said in found.detail
    assert ("[ocr]" in found.next_step) is bool(pages)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="the extra `ocr` is not installed")
async def test_ocr_that_is_installed_is_tried() -> None:
    assert (await examine_ocr(Settings(_env_file=None))).health is Health.OK
