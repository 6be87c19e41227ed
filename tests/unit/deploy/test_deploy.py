"""What `deploy/` says fits the code: images are built elsewhere, but names drift here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from sextant.cli.app import run
from sextant.domain.configuration import load_settings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
OURS = ("server", "worker")
_VARIABLE = re.compile(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}")


def resolved(text: str, given: dict[str, str]) -> str:
    """As compose fills variables in."""
    return _VARIABLE.sub(lambda one: given.get(one[1], one[3] if one[2] == ":-" else ""), text)


def packages() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[str] = project["tool"]["setuptools"]["packages"]["find"]["include"]
    return {name.rstrip("*") for name in found}


@pytest.mark.parametrize("service", OURS)
def test_every_variable_of_ours_is_a_setting(
    service: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in COMPOSE["services"][service]["environment"].items():
        monkeypatch.setenv(name, resolved(value, {"POSTGRES_PASSWORD": "a", "NEO4J_PASSWORD": "b"}))
    settings = load_settings()
    assert settings.database_url is not None
    assert settings.neo4j_uri == "bolt://neo4j:7687"
    assert settings.worker.in_server is False
    # What is left empty in the file of variables means the same as leaving it out.
    assert not settings.chat_model
    assert not settings.openai_base_url


def test_the_example_names_every_variable_that_compose_asks_for() -> None:
    named = set(re.findall(r"^(\w+)=", (DEPLOY / "example.env").read_text("utf-8"), re.MULTILINE))
    asked = {match[1] for match in _VARIABLE.finditer((DEPLOY / "compose.yaml").read_text("utf-8"))}
    assert asked - {"SEXTANT_PORT"} == named


@pytest.mark.parametrize("service", OURS)
def test_each_of_our_services_runs_a_command_that_there_is(
    service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = COMPOSE["services"][service]["command"]
    assert run([command, "--help"]) == 0
    told = capsys.readouterr().out
    assert all(option in told for option in options if option.startswith("--"))


def test_the_image_holds_every_package_and_nothing_that_is_not_there() -> None:
    copied = re.findall(
        r"^COPY (?!--)(.+) \S+$", (DEPLOY / "Dockerfile").read_text("utf-8"), re.MULTILINE
    )
    sources = {name for line in copied for name in line.split()}
    assert all((ROOT / name).exists() for name in sources)
    assert packages() <= sources
    kept = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE))
    assert sources == kept


def test_a_database_still_being_made_is_not_called_healthy() -> None:
    # The image's entrypoint makes it through a server without TCP (docker-library/postgres,
    # `docker_temp_server_start`: `listen_addresses=''`).
    *_, asked = COMPOSE["services"]["postgres"]["healthcheck"]["test"]
    assert "-h 127.0.0.1" in asked


def test_databases_are_reached_from_inside_only() -> None:
    services = COMPOSE["services"]
    assert not any("ports" in services[name] for name in services if name not in OURS)
    assert all(port.startswith("127.0.0.1:") for port in services["server"]["ports"])
