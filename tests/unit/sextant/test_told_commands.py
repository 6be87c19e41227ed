"""Every `sextant …` that the pages tell of is a command, with the options that they give it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from sextant.cli import app as cli

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/*.md")])
_TOLD = re.compile(r"(?:`|-m |\$ |^)sextant ((?:[a-z][a-z-]* ?)+[^`\n#|]*)", re.MULTILINE)
_OPTION = re.compile(r"(?<!\S)--?[a-z][a-z-]*")


def told(page: Path) -> Iterator[str]:
    """Yield what stands behind `sextant` in inline code, at a prompt or at the start of a line."""
    yield from (found[1].strip() for found in _TOLD.finditer(page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_pages_exists_with_its_options(page: Path) -> None:
    for line in told(page):
        words = line.split()
        assert words[0] in cli.COMMANDS, line
        command = typer.main.get_command(cli._app(words[:1]))
        options = {"--help"}
        for word in words:
            found = getattr(command, "commands", {}).get(word)
            if found is None:
                break
            command = found
            options |= {name for option in command.params for name in option.opts}
        assert set(_OPTION.findall(line.split(" | ")[0])) <= options, line
