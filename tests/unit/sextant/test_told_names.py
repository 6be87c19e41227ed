"""Every file, setting and variable that the pages name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sextant.domain.configuration import describe_settings
from sextant.domain.settings import Settings

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / ".env.example"])
_ROOMS = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != ".")
_FILE = re.compile(rf"`((?:{_ROOMS})/[\w./-]*)`")
_VARIABLE = re.compile(r"\bSEXTANT_[A-Z0-9_]*[A-Z0-9]\b")
ROWS = list(describe_settings(Settings(_env_file=None)))
NAMES = {row.name for row in ROWS}
VARIABLES = {f"SEXTANT_{name.upper().replace('.', '__')}" for name in NAMES}
_GROUPS = "|".join({name.partition(".")[0] for name in NAMES if "." in name})
_SETTING = re.compile(rf"`((?:{_GROUPS})\.(?!py`)[a-z_0-9]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    assert [name for name in _FILE.findall(text) if not any(ROOT.glob(f"{name}*"))] == []
    assert set(_VARIABLE.findall(text)) - VARIABLES == set()
    assert set(_SETTING.findall(text)) - NAMES == set()
