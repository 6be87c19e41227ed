"""Settings come from keywords, the environment and `.env`; a slip is named, never ignored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sextant.domain.configuration import describe_settings, load_settings
from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("SEXTANT_", "OPENAI_", "NEO4J_", "DATABASE_")):
            monkeypatch.delenv(name)


@pytest.fixture
def dotenv(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_keywords_win_over_environment_over_dotenv_over_defaults(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    dotenv.write_text(
        "SEXTANT_RETRIEVAL__TOP_K=3\nSEXTANT_RETRIEVAL__RRF_K=70\nSEXTANT_CHAT_MODEL=small\n"
    )
    monkeypatch.setenv("SEXTANT_RETRIEVAL__TOP_K", "4")
    settings = load_settings(dotenv, chat_model="large")
    assert settings.retrieval.top_k == 4
    assert settings.retrieval.rrf_k == 70
    assert settings.chat_model == "large"
    assert settings.retrieval.keyword_weight == 0.3


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("SEXTANT_TOPK", "SEXTANT_RETRIEVAL__TOP_K"),
        ("SEXTANT_CHAT_MODLE", "SEXTANT_CHAT_MODEL"),
        ("SEXTANT_RETRIEVAL__TOPK", "SEXTANT_RETRIEVAL__TOP_K"),
        ("SEXTANT_RESEARCH__CONCURRENCY", "SEXTANT_MODEL_CONCURRENCY"),
        ("SEXTANT_EXTRACTION__INPUT_PRICE", "SEXTANT_EXTRACTION__BUDGET_TOKENS"),
        ("SEXTANT_WORKER__SETTLE", "remove it"),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_the_one_meant(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(SettingsInvalid, match=variable) as caught:
        load_settings(dotenv)
    assert meant in caught.value.next_step


def test_an_unknown_variable_in_the_file_is_an_error_but_foreign_ones_are_not(dotenv: Path) -> None:
    dotenv.write_text("EDITOR=vi\n")
    load_settings(dotenv)
    dotenv.write_text("SEXTANT_EDITOR=vi\n")
    with pytest.raises(SettingsInvalid, match="SEXTANT_EDITOR"):
        load_settings(dotenv)


def test_an_unknown_keyword_is_an_error_that_names_the_one_meant(dotenv: Path) -> None:
    with pytest.raises(SettingsInvalid, match="datadir") as caught:
        load_settings(dotenv, datadir="elsewhere")
    assert "data_dir" in caught.value.next_step


def test_an_unknown_name_in_a_group_is_an_error_that_names_the_one_meant(dotenv: Path) -> None:
    with pytest.raises(SettingsInvalid, match="SEXTANT_RESEARCH__CONCURRENCY") as caught:
        load_settings(dotenv, research={"concurrency": 4})
    assert "SEXTANT_MODEL_CONCURRENCY" in caught.value.next_step


def test_a_bad_value_names_the_setting_the_problem_and_the_variable(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    monkeypatch.setenv("SEXTANT_RETRIEVAL__TOP_K", "many")
    with pytest.raises(SettingsInvalid, match=r"retrieval\.top_k .*integer.*'many'") as caught:
        load_settings(dotenv)
    assert "SEXTANT_RETRIEVAL__TOP_K" in caught.value.next_step
    assert caught.value.field == "retrieval.top_k"


def test_a_graph_is_built_with_at_least_twice_as_wide_a_search_as_it_has_neighbours(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    """PostgreSQL would refuse the index when a knowledge base has grown, hours later."""
    monkeypatch.setenv("SEXTANT_RETRIEVAL__HNSW_M", "80")
    with pytest.raises(SettingsInvalid, match="at least twice hnsw_m, which is 80") as refused:
        load_settings(dotenv)
    assert refused.value.field == "retrieval.hnsw_ef_construction"
    monkeypatch.setenv("SEXTANT_RETRIEVAL__HNSW_EF_CONSTRUCTION", "160")
    assert load_settings(dotenv).retrieval.hnsw_ef_construction == 160


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("OPENAI_BASE_URL", "openai_base_url"),
        ("SEXTANT_MODELS__JUDGE__BASE_URL", "models.judge.base_url"),
    ],
)
def test_an_endpoint_has_an_http_address(
    variable: str, field: str, monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    monkeypatch.setenv(variable, "ftp://models.example/v1")
    with pytest.raises(SettingsInvalid, match="must begin with http:// or https://") as refused:
        load_settings(dotenv)
    assert refused.value.field == field
    assert variable in refused.value.next_step
    monkeypatch.setenv(variable, "http://models.example/v1")
    load_settings(dotenv)


@pytest.mark.parametrize("types", [",", " ", "，、", ""])
def test_types_of_entities_name_at_least_one(
    types: str, monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    """The chat model was asked for entities of no type."""
    monkeypatch.setenv("SEXTANT_EXTRACTION__ENTITY_TYPES", types)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(dotenv)
    assert refused.value.field == "extraction.entity_types"
    monkeypatch.setenv("SEXTANT_EXTRACTION__ENTITY_TYPES", "，疾病")
    assert load_settings(dotenv).extraction.entity_types == "，疾病"


def test_a_group_that_is_not_json_is_a_settings_error(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    monkeypatch.setenv("SEXTANT_LIMITS", "{")
    with pytest.raises(SettingsInvalid, match="JSON"):
        load_settings(dotenv)


def test_the_description_tells_each_origin_and_masks_secrets(
    monkeypatch: pytest.MonkeyPatch, dotenv: Path
) -> None:
    dotenv.write_text("OPENAI_API_KEY=sk-very-secret\n")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hidden@db/x")
    monkeypatch.setenv("SEXTANT_LIMITS__ZIP_RATIO", "9")
    listed = {
        row.name: row for row in describe_settings(load_settings(dotenv, chat_model="m"), dotenv)
    }
    assert listed["database_url"].origin == "environment"
    assert listed["database_url"].variable == "DATABASE_URL"
    assert listed["openai_api_key"].origin == ".env"
    assert listed["limits.zip_ratio"].origin == "environment"
    assert listed["limits.zip_ratio"].variable == "SEXTANT_LIMITS__ZIP_RATIO"
    assert listed["chat_model"].origin == "argument"
    assert listed["retrieval.rrf_k"].origin == "default"
    assert "very-secret" not in str(listed)
    assert "hidden" not in str(listed)


def test_every_setting_is_listed_with_a_description(dotenv: Path) -> None:
    listed = list(describe_settings(load_settings(dotenv), dotenv))
    assert {row.name.split(".")[0] for row in listed} == set(Settings.model_fields)
    assert all(row.description for row in listed)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        (
            "SEXTANT_OBSERVE__METRICS_TOKEN",
            "geheim",
            "observe.metrics_token cannot be used: String should have at least 32 characters.",
        ),
        ("SEXTANT_OBSERVE", '{"metrics_token": "geheim"}', "observe.metrics_token cannot be used"),
        ("SEXTANT_OBSERVE", '[{"metrics_token": "geheim"}]', "observe cannot be used"),
    ],
)
def test_a_secret_that_cannot_be_used_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsInvalid) as refused:
        load_settings("")
    assert said in str(refused.value)
    assert "geheim" not in str(refused.value)
