import re
from importlib.resources import files

import pytest

import prompts
from prompts import LANGUAGES, Prompt

PROMPTS = [value for value in vars(prompts).values() if isinstance(value, Prompt)]


def test_every_file_is_a_loaded_prompt_in_a_known_language() -> None:
    found = {path.name for path in files("prompts").iterdir() if path.name.endswith(".md")}
    assert found == {f"{prompt.name}.{lang}.md" for prompt in PROMPTS for lang in LANGUAGES}


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_both_languages_use_the_same_variables_and_version(prompt: Prompt) -> None:
    english, chinese = prompt.wordings["en"], prompt.wordings["zh"]
    assert english.variables == chinese.variables == prompt.variables
    assert english.version == chinese.version
    assert re.search("[\u4e00-\u9fff]", chinese.system.template)
    assert not re.search("[\u4e00-\u9fff]", english.system.template)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
@pytest.mark.parametrize("language", [*LANGUAGES, "fr"])
def test_what_is_filled_in_is_data(prompt: Prompt, language: str) -> None:
    values = {name: f"$question of {name} ${{x}}" for name in prompt.variables}
    (system_role, system), (user_role, user) = prompt.messages(language, **values)
    assert (system_role, user_role) == ("system", "user")
    for value in values.values():
        assert value in system + user


def test_a_missing_or_unknown_variable_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="passages, question"):
        prompts.GRADE.messages("en", question="Why?")
    with pytest.raises(TypeError):
        prompts.GRADE.messages("en", question="", passages="", extra="")


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_every_prompt_says_that_its_input_gives_no_orders(prompt: Prompt) -> None:
    if prompt.name != "bypass":
        assert re.search("follow|instruction", prompt.wordings["en"].system.template)
        assert "指令" in prompt.wordings["zh"].system.template
