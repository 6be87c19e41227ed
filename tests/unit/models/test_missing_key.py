"""A provider's model without its key is told by the key's setting, before anything is asked."""

from __future__ import annotations

import pytest

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import ModelSettings, RoleSettings, Settings
from sextant.models.chat.factory import build_chat_model

NAMES = {
    "anthropic:claude-sonnet-4-5": "ANTHROPIC_API_KEY",
    "mistralai:mistral-large": "MISTRAL_API_KEY",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_key_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAMES[name], raising=False)
    with pytest.raises(SettingsInvalid, match="no key") as refused:
        build_chat_model(Settings(_env_file=None, chat_model=name))
    assert "SEXTANT_MODELS__ANSWER__API_KEY" in refused.value.next_step
    assert NAMES[name] in refused.value.next_step


@pytest.mark.parametrize(
    ("name", "url"),
    [("ollama:qwen3:8b", None), ("anthropic:claude-sonnet-4-5", "http://127.0.0.1:9")],
)
def test_whoever_may_need_no_key_is_set_up_without(
    name: str, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    models = RoleSettings(answer=ModelSettings(base_url=url))
    assert build_chat_model(Settings(_env_file=None, chat_model=name, models=models)) is not None
