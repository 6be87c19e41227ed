"""docs/settings.md lists every setting. `python -m tests.unit.domain.test_settings_page` writes it anew."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from sextant.domain.configuration import SettingValue, describe_settings
from sextant.domain.settings import Settings

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"
HEAD = """# Settings

Every setting, from the environment or from `.env` in the current folder. `sextant config` shows the values in use and where each comes from. Lists are separated by commas; `–`: not set.
"""


def written() -> str:
    """Return the page: a table for each group of settings."""
    listed = describe_settings(Settings(_env_file=None), env_file="")
    tables = [HEAD]
    for group, rows in groupby(listed, lambda row: row.name.rpartition(".")[0]):
        title = f"## {group}\n\n" if group else ""
        lines = ["| setting | default | meaning |", "|---|---|---|", *map(line, rows)]
        tables.append(title + "\n".join(lines) + "\n")
    return "\n".join(tables)


def line(row: SettingValue) -> str:
    default = "–" if row.default in (None, "") else f"`{row.default}`"
    return f"| `{row.variable}` | {default} | {row.description} |".replace("\n", " ")


def test_the_page_lists_every_setting_with_its_default() -> None:
    assert PAGE.read_text(encoding="utf-8") == written()


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
