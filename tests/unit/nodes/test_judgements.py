"""When the chat model is asked to judge, and how the prompts of one answer begin."""

import time
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage

from sextant.domain.settings import AnswerSettings, LimitSettings, Settings
from sextant.models.chat.chat_model import as_chat_model
from sextant.nodes.analyze import analyze
from sextant.nodes.generate import generate
from sextant.nodes.state import State
from tests.sentences import sentences_of
from tests.unit.nodes.conftest import Build, ListeningModel, chat
from tests.unit.nodes.steps import QUESTION, SYMPTOMS, WEATHER, after, graded

AUTO = Settings(_env_file=None)
NEVER = Settings(_env_file=None, answers=AnswerSettings(judgements="never"))
TURNS = [{"role": "user", "content": "What is diabetes?"}]


async def test_an_ordinary_question_and_passages_that_hold_it_cost_no_judgement(
    bench: Build,
) -> None:
    runtime = bench(chat=chat(), settings=AUTO).runtime
    update = await analyze(State(query="糖尿病的主要症状是什么？", history=TURNS), runtime)
    assert "by rule" in update["reason"]
    found = await graded(after(QUESTION, items=[SYMPTOMS, WEATHER]), runtime)
    assert found.sufficient
    assert found.usage == {}


@pytest.mark.parametrize(
    ("query", "history"),
    [("And its symptoms?", TURNS), ("Is it?", []), (" ".join(f"word{n}" for n in range(60)), [])],
    ids=["leans on the conversation", "says nothing", "tells a story"],
)
async def test_a_question_that_the_rules_are_unsure_of_is_read_by_the_model(
    bench: Build, query: str, history: list[dict[str, str]]
) -> None:
    state = State(query=query, history=history)
    reply = '{"question": "What are the symptoms of diabetes?", "keywords": ["symptoms"]}'
    update = await analyze(state, bench(chat=chat(reply), settings=AUTO).runtime)
    assert "read by the chat model" in update["reason"]
    update = await analyze(state, bench(chat=chat(), settings=NEVER).runtime)
    assert "by rule" in update["reason"]
    assert not update.get("coded_warnings")


async def test_passages_that_the_rules_find_weak_are_judged_by_the_model(bench: Build) -> None:
    reply = '{"relevant": [1], "sufficient": true}'
    state = after(QUESTION, items=[WEATHER])
    found = await graded(state, bench(chat=chat(reply), settings=AUTO).runtime)
    assert found.sufficient
    found = await graded(state, bench(chat=chat(), settings=NEVER).runtime)
    assert not found.sufficient


async def test_judgement_answer_and_revision_begin_with_the_same_passages(bench: Build) -> None:
    replies = [
        '{"relevant": [2], "sufficient": true}',
        "糖尿病的主要症状是多饮[2]。火星上有水[1]。",
        '{"sentences": []}',
    ]
    model = ListeningModel(messages=iter(map(AIMessage, replies)))
    made = bench(chat=as_chat_model(model))
    state = after(QUESTION, items=[WEATHER, SYMPTOMS])
    await generate(await graded(state, made.runtime), made.runtime)
    first = [prompt.partition("</passages>")[0] for prompt in model.heard]
    assert len(first) == 3
    assert len(set(first)) == 1
    assert "糖尿病的主要症状是多饮" in first[0]
    for prompt in model.heard:
        task, _, question = prompt.partition("</passages>")[2].rpartition("<question>")
        assert "任务：" in task
        assert "任务：" not in question


@pytest.mark.parametrize(("rate", "asked"), [(20, False), (400, True), (0, True)])
async def test_a_model_that_would_be_late_is_not_asked_and_it_is_said(
    bench: Build, rate: float, asked: bool
) -> None:
    model = chat('{"relevant": [1], "sufficient": true}')
    model.speed.prompt = rate
    passages = [replace(WEATHER, id=f"{n}.md", text=WEATHER.text * 30) for n in range(9)]
    state = after(QUESTION, items=passages)
    found = await graded(state, bench(chat=model, settings=AUTO).runtime)
    assert found.sufficient is asked
    warned = sentences_of(vars(found))
    assert len(warned) == (not asked)
    assert asked or "SEXTANT_ANSWERS__JUDGEMENTS=always" in warned[0]
    always = Settings(_env_file=None, answers=AnswerSettings(judgements="always"))
    model = chat('{"relevant": [1], "sufficient": true}')
    model.speed.prompt = rate
    assert (await graded(state, bench(chat=model, settings=always).runtime)).sufficient
    model.speed.prompt = 0.0  # models of one kind share what is known of them


@pytest.mark.parametrize(
    ("first_words", "left", "exceeded"),
    [(8, 58, "FIRST_WORDS_SECONDS (8)"), (40, 58, ""), (60, 40, "ANSWER_SECONDS (60)")],
)
async def test_a_model_that_thinks_judges_where_the_answer_exceeds_no_limit(
    bench: Build, first_words: float, left: float, exceeded: str
) -> None:
    model = chat('{"relevant": [1], "sufficient": true}')
    model.speed.answer, model.speed.thinking = 60.0, 800.0
    state = after(QUESTION, items=[WEATHER], deadline=time.time() + left)
    limits = LimitSettings(first_words_seconds=first_words)
    settings = Settings(_env_file=None, answers=AnswerSettings(), limits=limits)
    found = await graded(state, bench(chat=model, settings=settings).runtime)
    assert found.sufficient is (not exceeded)
    warned = sentences_of(vars(found))
    assert len(warned) == bool(exceeded)
    assert all(f"SEXTANT_LIMITS__{exceeded}" in one for one in warned)
    model.speed.forget()
