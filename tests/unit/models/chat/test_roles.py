"""Which model does which work, where it is asked, and what of it is shared between roles."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from pydantic import SecretStr

from sextant.domain.configuration import describe_settings, load_settings
from sextant.domain.errors import OptionInvalid, SettingsInvalid
from sextant.domain.settings import ModelSettings, RoleSettings, Settings
from sextant.models.chat.factory import build_chat_model
from sextant.models.chat.roles import EXTRAS, ChatModels, Role, resolve_spec, split_provider

KEY, OTHER = SecretStr("key-of-openai"), SecretStr("key-of-another")


@pytest.fixture(autouse=True)
def no_endpoint_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SEXTANT_CHAT_MODEL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def settings_with(models: dict[str, dict[str, Any]] | None = None, **given: Any) -> Settings:
    roles = RoleSettings(**{role: ModelSettings(**own) for role, own in (models or {}).items()})
    return Settings(_env_file=None, models=roles, **given)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("gpt-5-mini", "openai", "gpt-5-mini"),
        ("openai:gpt-5-mini", "openai", "gpt-5-mini"),
        ("anthropic:claude-sonnet", "anthropic", "claude-sonnet"),
        ("ollama:qwen2.5:7b", "ollama", "qwen2.5:7b"),
        ("qwen2.5:7b", "openai", "qwen2.5:7b"),
        ("deepseek-r1:8b", "openai", "deepseek-r1:8b"),
        ("hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "openai", "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M"),
        ("openai:openai:odd", "openai", "openai:odd"),
        ("anthropic:", "openai", "anthropic:"),
    ],
)
def test_only_a_known_provider_before_the_colon_counts(
    name: str, provider: str, model: str
) -> None:
    assert split_provider(name) == (provider, model)


def test_every_provider_is_one_of_langchain() -> None:
    from langchain.chat_models import base

    assert EXTRAS.keys() <= base._BUILTIN_PROVIDERS.keys()


def test_a_role_that_is_not_set_is_the_answers_but_nothing_sees_images_unasked() -> None:
    settings = settings_with(chat_model="large", openai_api_key=KEY)
    answer = resolve_spec(settings, Role.ANSWER)
    assert answer is not None
    assert resolve_spec(settings, Role.JUDGE) == answer == resolve_spec(settings, Role.EXTRACT)
    assert resolve_spec(settings, Role.VISION) is None
    assert not settings.sees_images


def test_parameters_without_a_name_lie_over_those_of_the_answer() -> None:
    settings = settings_with(
        {
            "answer": {"reasoning_effort": "high", "temperature": 0.7, "extra_body": {"a": 1}},
            "judge": {"temperature": 0.0, "extra_body": {"b": 2}},
            "extract": {"name": "small"},
        },
        chat_model="large",
        openai_api_key=KEY,
    )
    judge, extract = resolve_spec(settings, Role.JUDGE), resolve_spec(settings, Role.EXTRACT)
    assert judge is not None
    assert extract is not None
    assert (judge.name, judge.temperature, judge.reasoning_effort) == ("large", 0.0, "high")
    assert judge.extra_body == {"a": 1, "b": 2}
    assert (extract.temperature, extract.reasoning_effort) == (None, None)
    assert extract.extra_body == {}


@pytest.mark.parametrize(
    ("judge", "url", "key"),
    [
        ({"name": "small"}, "http://a/v1", KEY),
        ({"base_url": "http://b/v1"}, "http://b/v1", None),
        ({"name": "small", "base_url": "http://b/v1"}, "http://b/v1", None),
        ({"name": "small", "base_url": "http://b/v1", "api_key": OTHER}, "http://b/v1", OTHER),
        ({"name": "small", "base_url": "http://a/v1"}, "http://a/v1", KEY),
        ({"name": "anthropic:claude"}, None, None),
        ({"name": "anthropic:claude", "api_key": OTHER}, None, OTHER),
    ],
)
def test_a_key_goes_to_its_own_endpoint_only(
    judge: dict[str, Any], url: str | None, key: SecretStr | None
) -> None:
    settings = settings_with(
        {"judge": judge}, chat_model="m", openai_base_url="http://a/v1", openai_api_key=KEY
    )
    spec = resolve_spec(settings, Role.JUDGE)
    assert spec is not None
    assert (spec.base_url, spec.api_key) == (url, key)


def test_a_name_without_provider_is_asked_at_the_openai_endpoint_beside_another_provider() -> None:
    settings = settings_with(
        {"judge": {"name": "small"}, "vision": {"name": "anthropic:claude"}},
        chat_model="anthropic:claude",
        openai_base_url="http://a/v1",
    )
    judge, vision = resolve_spec(settings, Role.JUDGE), resolve_spec(settings, Role.VISION)
    assert judge is not None
    assert (judge.provider, judge.base_url) == ("openai", "http://a/v1")
    assert vision == resolve_spec(settings, Role.ANSWER)
    assert settings.sees_images


def test_roles_are_set_by_variables_and_listed_without_their_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEXTANT_MODELS__JUDGE__NAME", "ollama:qwen3:4b")
    monkeypatch.setenv("SEXTANT_MODELS__JUDGE__API_KEY", "key-of-another")
    monkeypatch.setenv("SEXTANT_MODELS__JUDGE__EXTRA_BODY", '{"num_ctx": 16384}')
    settings = load_settings("no.env")
    spec = resolve_spec(settings, Role.JUDGE)
    assert spec is not None
    assert (spec.name, spec.extra_body) == ("qwen3:4b", {"num_ctx": 16384})
    listed = {row.variable: row for row in describe_settings(settings, "no.env")}
    assert listed["SEXTANT_MODELS__JUDGE__EXTRA_BODY"].origin == "environment"
    assert "key-of-another" not in str(listed)
    assert "key-of-another" not in repr(spec)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    from langchain.chat_models import base

    base._get_chat_model_creator.cache_clear()
    with pytest.raises(SettingsInvalid) as caught:
        build_chat_model(settings_with(chat_model="anthropic:claude"))
    assert "sextant-rag[anthropic]" in str(caught.value)
    assert ".[anthropic]" in caught.value.next_step
    assert caught.value.field == "chat_model"


def test_a_provider_without_an_extra_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_groq", None)
    with pytest.raises(SettingsInvalid) as caught:
        build_chat_model(settings_with({"judge": {"name": "groq:llama"}}), Role.JUDGE)
    assert "langchain-groq" in caught.value.next_step
    assert caught.value.field == "models.judge.name"


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ({"name": "anthropic:claude", "reasoning_effort": "enormous"}, "effort"),
        ({"name": "ollama:qwen3", "extra_body": {"wings": 2}}, "wings"),
    ],
)
def test_an_option_that_a_provider_does_not_know_is_refused_without_its_key(
    own: dict[str, Any], named: str
) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        build_chat_model(settings_with({"answer": own | {"api_key": OTHER}}))
    assert named in str(caught.value)
    assert OTHER.get_secret_value() not in str(caught.value)


async def test_a_model_that_is_given_does_the_work_of_all_roles_but_those_named() -> None:
    own = FakeListChatModel(responses=["mine"])
    settings = settings_with({"extract": {"name": "small"}}, openai_base_url="http://a/v1")
    models = ChatModels(settings, own)
    answer, extract = await models.get(Role.ANSWER), await models.get(Role.EXTRACT)
    assert answer is not None
    assert extract is not None
    assert answer.llm is own
    assert await models.get(Role.JUDGE) is answer
    assert extract.name == "small"
    assert not models.has(Role.VISION)
    await models.close()


async def test_models_are_given_by_role() -> None:
    by_role = {role.value: FakeListChatModel(responses=[role]) for role in Role}
    models = ChatModels(settings_with(), by_role)
    for role in Role:
        chat = await models.get(role)
        assert chat is not None
        assert chat.llm is by_role[role]
    assert await models.vision() is not None


@pytest.mark.parametrize("given", [{"oracle": FakeListChatModel(responses=[])}, object()])
def test_what_is_no_model_or_for_no_role_is_refused(given: Any) -> None:
    with pytest.raises(OptionInvalid):
        ChatModels(settings_with(), given)
