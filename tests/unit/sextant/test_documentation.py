"""What the pages name exists: files, links, settings, commands with their options, targets of make.

Blocks of shell and Python that can run here do so in `tests/e2e/test_documentation.py`; these checks are for all.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer
import yaml

from sextant.cli import app as cli
from sextant.domain.configuration import describe_settings
from sextant.domain.settings import Settings

ROOT = Path(__file__).parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "samples" / "README.md"])
# `text` marks output, `systemd` and `nginx` files of other programs.
LANGUAGES = {"sh", "python", "json", "ini", "sql", "yaml", "mermaid", "text", "systemd", "nginx"}
# Programs of others that a page may tell to type.
_PROGRAMS = {
    *("cp", "curl", "docker", "export", "git", "make", "pip", "printf", "python", "python3"),
    *("claude", "llama-server", "ollama", "sextant", "vllm"),
}
_FOLDERS = "|".join(path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != ".")
_FILE = re.compile(rf"`((?:{_FOLDERS})/[\w./-]*)`")
_VARIABLE = re.compile(r"\bSEXTANT_[A-Z0-9_]*[A-Z0-9]\b")
_ROWS = list(describe_settings(Settings(_env_file=None)))
_NAMES = {row.name for row in _ROWS}
_VARIABLES = {f"SEXTANT_{name.upper().replace('.', '__')}" for name in _NAMES}
_GROUPS = "|".join({name.partition(".")[0] for name in _NAMES if "." in name})
_SETTING = re.compile(rf"`((?:{_GROUPS})\.(?!py`)[a-z_0-9]+)`")
_TOLD = re.compile(r"(?:`|-m |\$ |^)sextant ((?:[a-z][a-z-]* ?)+[^`\n#|]*)", re.MULTILINE)
_OPTION = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
_TARGET = re.compile(r"(?:`|^)make ([a-z][a-z0-9-]*)", re.MULTILINE)
_FENCE = re.compile(r"^( *)(```+)(.*?)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """Yield the fenced blocks of a page in these languages."""
    for found in _FENCE.finditer(page.read_text(encoding="utf-8")):
        if found[3] in languages:
            yield found[4]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    bare = (re.sub(r"[^\w\s-]", "", title.lower()) for title in titles)
    return {re.sub(r"\s", "-", title.strip()) for title in bare}


@pages
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {found[3] for found in _FENCE.finditer(page.read_text(encoding="utf-8"))} <= LANGUAGES


@pages
def test_every_link_leads_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in (found[1] or found[2] for found in _LINK.finditer(text)):
        if re.match(r"https?:|mailto:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", [*PAGES, ROOT / ".env.example"], ids=lambda page: page.name)
def test_files_settings_and_variables_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in _FILE.findall(text) if not any(ROOT.glob(f"{name}*"))] == []
    assert set(_VARIABLE.findall(text)) - _VARIABLES == set()
    assert set(_SETTING.findall(text)) - _NAMES == set()


def told(page: Path) -> Iterator[str]:
    """Yield what stands behind `sextant` in inline code and in the page's shell."""
    yield from (found[1].strip() for found in _TOLD.finditer(page.read_text(encoding="utf-8")))
    for line in shell_lines(page):
        if typed := re.search(r"(?:^(?:\S+=\S* )*|-m |/)sextant (.*)", line):
            yield typed[1].strip()


def shell_lines(page: Path) -> Iterator[str]:
    """Yield the commands of a page's shell blocks, continued lines joined, remarks left out."""
    for block in blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            if bare := re.sub(r"(^|\s+)#.*", "", line).strip():
                yield from (part.strip() for part in re.split(r"&&|;|(?<=\s)&(?=\s)", bare))


@pages
def test_every_command_exists_with_its_options(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return
    for line in told(page):
        words = line.split()
        if words[0].startswith("-"):
            assert words[0] in {"--version", "--help"}, line
            continue
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


@pages
def test_shell_is_well_formed_and_calls_what_there_is(page: Path) -> None:
    for block in blocks(page, "sh"):
        done = subprocess.run(
            ["bash", "-n"], input=block, text=True, capture_output=True, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stderr}"
    for line in shell_lines(page):
        words = [word for word in line.split() if not re.match(r"[A-Z_]+=", word)]
        if words:
            program = words[0].rsplit("/", 1)[-1]
            assert program in _PROGRAMS or program in {"sleep", "kill", "cd"}, line


@pages
def test_every_target_of_make_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(_TARGET.findall(page.read_text(encoding="utf-8"))) <= targets


@pages
def test_json_and_yaml_can_be_read(page: Path) -> None:
    for block in blocks(page, "json"):
        json.loads(block)
    for block in blocks(page, "yaml"):
        yaml.safe_load(block)


@pages
def test_settings_of_a_page_are_accepted(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page, "ini")):
        file = tmp_path / f"{number}.env"
        file.write_text(block, encoding="utf-8")
        settings = Settings(_env_file=file)
        assert settings.model_fields_set
        known = set(re.findall(r"^(\w+)=", block, re.MULTILINE))
        assert known <= _VARIABLES | {"OPENAI_API_KEY", "OPENAI_BASE_URL"}


@pages
def test_sql_names_what_the_schema_has(page: Path) -> None:
    schema = "".join(
        file.read_text(encoding="utf-8") for file in (ROOT / "sextant/stores/sql").rglob("*.sql")
    )
    for block in blocks(page, "sql"):
        bare = re.sub(r"--.*|'[^']*'", "", block)
        for name in re.findall(r"\b[a-z]+(?:_[a-z]+)+(?=\(|;|\s|,)", bare):
            assert name in schema or name in {"sextant_app", "ef_construction"}, name
