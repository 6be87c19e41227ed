"""Reading objects from careless JSON."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from sextant.models.chat.structured import DoesNotFit, ModelReply, instruction, read_structured


class Plan(ModelReply):
    mode: str
    keywords: list[str] = Field(default_factory=list[str])
    score: float = Field(0.0, ge=0, le=1)
    parts: dict[str, int] = Field(default_factory=dict[str, int])


class Found(ModelReply):
    names: list[Plan] = Field(default_factory=list[Plan])
    pairs: list[Plan] = Field(default_factory=list[Plan])


class AllOptional(ModelReply):
    reason: str = ""
    parts: dict[str, int] = Field(default_factory=dict[str, int])


@pytest.mark.parametrize(
    "text",
    [
        '{"mode": "mix"}',
        '```json\n{"mode": "mix"}\n```',
        '```\n{"mode": "mix",}\n```',
        'Here you are:\n{"mode": "mix"}\nAnything else?',
        'I considered {several, modes}. {"mode": "mix"}',
        'My draft was {"mode": "local"}. Finally:\n{"mode": "mix"}',
        '{"mode": "mix"}\nIs that all? {',
        '{"mode": "mix"}\nIs that all? {"mode": "lo',
        '[{"mode": "mix"}]',
        '{"result": {"mode": "mix"}}',
        '{"mode": "mix", "score": null, "keywords": null}',
        '{"mode": "mix", "score": None, "parts": {},}',
        '{"mode"："mix"，"keywords"：[]}',
        '{"mode": "mix", "unknown": true}',
        '{"mode": "mix"',
        '{"mode": "mix", "keywords": [',
        '{"mode": "mix", "keywords": ',
        '{"mode": "mix", "keyw',
    ],
)
def test_what_is_meant_is_read(text: str) -> None:
    assert read_structured(text, Plan) == Plan(mode="mix")


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ('{"mode": "a", "keywords": "糖尿病"}', Plan(mode="a", keywords=["糖尿病"])),
        ('{"mode": "a", "keywords": ["x", "cut o', Plan(mode="a", keywords=["x", "cut o"])),
        ('{"mode": "a, }", "keywords": ["，",],}', Plan(mode="a, }", keywords=["，"])),
        ('{"mode": "say \\"hi\\"", "score": "0.5"}', Plan(mode='say "hi"', score=0.5)),
        ('{"mode": "two\nlines"}', Plan(mode="two\nlines")),
        ('{"mode": "None", "score": None}', Plan(mode="None")),
        ('{"mode": "a\\u0000b"}', Plan(mode="ab")),
        ('{"mode": "a", "keywords": ["\\ud83d"]}', Plan(mode="a", keywords=[""])),
    ],
)
def test_strings_stay_as_written_while_slips_around_them_are_mended(text: str, plan: Plan) -> None:
    assert read_structured(text, Plan) == plan


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("I cannot answer that.", "no JSON object"),
        ("[1, 2]", "not a JSON object"),
        ("{}", "none of the keys mode"),
        ('{"other": 1, "more": 2}', "none of the keys"),
        ('{"keywords": []}', "mode: Field required"),
        ('{"mode": "a", "score": 7}', "score: Input should be less than or equal to 1"),
        ('{"mode": null}', "mode: Input should be a valid string"),
    ],
)
def test_what_does_not_fit_is_named(text: str, problem: str) -> None:
    with pytest.raises(DoesNotFit, match=problem):
        read_structured(text, Plan)


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ('{"names": [{"mode": "local"}, {"mode": "mi', ["local"]),
        ('{"names": [{"mode": "local"}, {"mode": "mix", "keywords": ["a"', ["local"]),
        ('{"names": [{"mode": "local"}, {"mode": "mix"}', ["local", "mix"]),
        ('{"names": [{"mode": "local"}], "pairs": [{"mo', ["local"]),
        ('{"names": [], "pairs": []', []),
    ],
)
def test_of_a_cut_list_the_objects_that_came_whole_are_read(text: str, modes: list[str]) -> None:
    assert read_structured(text, Found) == Found(names=[Plan(mode=mode) for mode in modes])


@pytest.mark.parametrize(
    "text", ['{"names": [{"mode": ', '{"names": [', '{"names": [], "pairs": [']
)
def test_a_cut_answer_of_which_nothing_came_whole_is_none(text: str) -> None:
    with pytest.raises(DoesNotFit, match="cut off"):
        read_structured(f"Here: {text}", Found)


class Points(ModelReply):
    points: list[Plan]


@pytest.mark.parametrize(
    "text",
    [
        '[{"mode": "mix"}, {"mode": "local"}]',
        '{"key_points": [{"mode": "mix"}, {"mode": "local"}]}',
        'Here you are:\n```json\n[{"mode": "mix"}, {"mode": "local"}]\n```',
    ],
    ids=["a bare list", "under another key", "a bare list in a fence"],
)
def test_the_one_list_that_is_asked_for_is_read_without_its_key(text: str) -> None:
    assert [plan.mode for plan in read_structured(text, Points).points] == ["mix", "local"]


@pytest.mark.parametrize("text", ["As [1] and [2] say, no.", "[]", '{"key_points": "none"}'])
def test_what_lists_no_objects_is_not_that_list(text: str) -> None:
    with pytest.raises(DoesNotFit):
        read_structured(text, Points)


def test_an_inner_object_is_never_taken_for_the_answer() -> None:
    text = '{"reason": "ok", "parts": {"reason": 1},}'
    assert read_structured(text, AllOptional) == AllOptional(reason="ok", parts={"reason": 1})


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
plans = st.builds(
    Plan,
    mode=texts,
    keywords=st.lists(st.text('ab糖，。"\\{}[]:,` \n')),
    score=st.floats(0, 1),
    parts=st.dictionaries(st.text("ab糖", min_size=1), st.integers()),
)


@given(
    plan=plans, before=st.sampled_from(["", "Sure! ", "```json\n"]), indent=st.none() | st.just(2)
)
def test_every_object_survives_a_fence_and_talk(
    plan: Plan, before: str, indent: int | None
) -> None:
    written = json.dumps(plan.model_dump(), ensure_ascii=False, indent=indent)
    assert read_structured(f"{before}{written}\n```\nDone.", Plan) == plan


@given(plan=plans, data=st.data())
def test_a_cut_answer_is_read_or_named_but_never_crashes(plan: Plan, data: st.DataObject) -> None:
    written = json.dumps(plan.model_dump(), ensure_ascii=False)
    cut = data.draw(st.integers(0, len(written)))
    try:
        found = read_structured(written[:cut], Plan)
    except DoesNotFit:
        return
    assert plan.mode.startswith(found.mode) or found.mode == plan.mode


@given(st.text('{}[]",:\\ aN糖\n`'))
def test_no_text_at_all_crashes_the_reader(text: str) -> None:
    with suppress(DoesNotFit):
        assert isinstance(read_structured(text, AllOptional), AllOptional)


def test_the_instruction_states_the_schema() -> None:
    assert '"keywords"' in instruction(Plan)
