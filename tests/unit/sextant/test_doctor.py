"""What the doctor says of a data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from domain.settings import Settings
from sextant.doctor import Health, examine


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
