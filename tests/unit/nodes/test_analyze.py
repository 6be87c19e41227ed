from typing import Any

import pytest

from sextant.domain.errors import ModeNotAvailable, OptionInvalid, QuestionInvalid
from sextant.domain.settings import CommunitySettings, LimitSettings, Settings
from sextant.nodes.analyze import analyze, is_small_talk
from sextant.nodes.state import State
from tests.sentences import sentences_of
from tests.unit.nodes.conftest import Build, ScriptedRetriever, chat


async def test_a_question_is_read_by_rule_without_a_chat_model(bench: Build) -> None:
    update = await analyze(State(query=" 糖尿病患者的主要症状是什么？\x00"), bench().runtime)
    assert update["question"] == update["search"] == "糖尿病患者的主要症状是什么？"
    assert (update["language"], update["complexity"]) == ("zh", "complex")
    assert update["strategy"] == "naive"
    assert "糖尿病" in update["keywords"]


@pytest.mark.parametrize("query", ["", "  \n", "\x00", "x" * 2001])
async def test_an_empty_or_too_long_question_is_refused(bench: Build, query: str) -> None:
    with pytest.raises(QuestionInvalid) as refused:
        await analyze(State(query=query), bench().runtime)
    assert refused.value.next_step


async def test_a_question_of_just_the_limit_is_taken(bench: Build) -> None:
    assert await analyze(State(query="x" * 2000), bench().runtime)


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix", "best", ""])
async def test_a_mode_that_cannot_be_served_is_refused_with_those_that_can(
    bench: Build, mode: str
) -> None:
    with pytest.raises(ModeNotAvailable, match="naive, bypass"):
        await analyze(State(query="Why?", mode=mode), bench().runtime)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("filters", "tags=a"),
        ("filters", ["tags"]),
        ("history", "Hello"),
        ("history", [("user", "?")]),
        ("history", [{"role": "wizard", "content": "?"}]),
        ("history", [{"role": "user"}]),
        ("history", [{"role": "user", "content": ["?"]}]),
        ("rerank", "perhaps"),
    ],
)
async def test_what_is_of_another_shape_is_refused_by_its_name(
    bench: Build, field: str, value: Any
) -> None:
    with pytest.raises(OptionInvalid) as refused:
        await analyze(State(query="Why?", **{field: value}), bench().runtime)
    assert refused.value.field == field


@pytest.mark.parametrize("query", [7, ["Why?"], {"text": "Why?"}])
async def test_a_question_that_is_not_text_is_not_called_empty(bench: Build, query: Any) -> None:
    with pytest.raises(QuestionInvalid, match="not text") as refused:
        await analyze(State(query=query), bench().runtime)
    assert refused.value.field == "query"


async def test_no_history_may_be_given_as_none(bench: Build) -> None:
    nothing: Any = None
    update = await analyze(State(query="Why?", history=nothing), bench().runtime)
    assert update["before"] == []


@pytest.mark.parametrize("top_k", [0, -1, 51, "many"])
async def test_top_k_out_of_range_is_refused(bench: Build, top_k: Any) -> None:
    with pytest.raises(OptionInvalid):
        await analyze(State(query="Why?", top_k=top_k), bench().runtime)


async def test_the_inputs_mode_outranks_the_runs_choice(bench: Build) -> None:
    runtime = bench(mode="bypass").runtime
    assert (await analyze(State(query="Why?"), runtime))["strategy"] == "bypass"
    assert (await analyze(State(query="Why?", mode="naive"), runtime))["strategy"] == "naive"


async def test_whatever_the_last_turn_left_is_forgotten_but_what_a_conversation_keeps(
    bench: Build,
) -> None:
    kept = {
        "query", "messages", "graph_id", "user_id", "mode", "effort", "top_k", "filters", "rerank", "tables",
        "history", "multimodal_content",
    }  # fmt: skip
    asked = vars(State(query="Why?"))
    left = {name: "left" for name in asked if name not in kept}
    begun = await analyze(State(**asked | left), bench().runtime)
    first = await analyze(State(**asked), bench().runtime)
    assert begun | {"deadline": 0} == first | {"deadline": 0}
    assert set(asked) - set(begun) == kept


async def test_a_chat_model_folds_the_conversation_into_the_question(bench: Build) -> None:
    analysis = (
        '{"question": "What are the symptoms of diabetes?",'
        ' "entities": ["diabetes"], "keywords": ["symptoms", "thirst"]}'
    )
    history = [{"role": "user", "content": "What is diabetes?"}]
    update = await analyze(
        State(query="And its symptoms?", history=history), bench(chat=chat(analysis)).runtime
    )
    assert update["search"] == "What are the symptoms of diabetes?"
    assert update["keywords"] == ["symptoms"]
    assert update["entities"] == ["diabetes"]
    assert update["usage"]["calls"] == 1


@pytest.mark.parametrize("said", ["string", "糖尿病是什么？", "Thirst and loss of weight.", ""])
async def test_a_question_without_a_conversation_is_searched_as_it_was_asked(
    bench: Build, said: str
) -> None:
    made = bench(chat=chat(f'{{"question": "{said}", "keywords": ["diabetes"]}}'))
    update = await analyze(State(query="How is diabetes noticed?"), made.runtime)
    assert update["question"] == update["search"] == "How is diabetes noticed?"
    assert update["keywords"] == ["diabetes"]


@pytest.mark.parametrize("said", ["string", "它的症状有哪些？", ""])
async def test_a_wording_that_has_nothing_of_the_conversation_is_replaced_by_the_rules(
    bench: Build, said: str
) -> None:
    history = [{"role": "user", "content": "What is diabetes?"}]
    made = bench(chat=chat(f'{{"question": "{said}"}}'))
    update = await analyze(State(query="And its symptoms?", history=history), made.runtime)
    assert update["question"].startswith("And its symptoms?")
    assert "diabetes" in update["question"]


async def test_a_model_that_gives_no_json_is_replaced_by_the_rule_and_said_so(bench: Build) -> None:
    runtime = bench(chat=chat("I would rather chat.", "No JSON either.")).runtime
    update = await analyze(State(query="What is diabetes?"), runtime)
    assert update["question"] == "What is diabetes?"
    assert len(sentences_of(update)) == 1
    assert update["usage"]["calls"] >= 1


def over_graph() -> ScriptedRetriever:
    lanes = ("vector", "keyword", "local", "mix", "reports", "global")
    return ScriptedRetriever([[]], lanes=lanes)


@pytest.mark.parametrize(
    ("question", "strategy"),
    [
        ("What are the main themes of these documents?", "global"),
        ("总结一下这些文档的主要内容", "global"),
        ("What is diabetes?", "mix"),
    ],
)
async def test_a_question_about_the_whole_goes_to_the_reports_and_says_why(
    bench: Build, question: str, strategy: str
) -> None:
    made = bench(retriever=over_graph())
    update = await analyze(State(query=question), made.runtime)
    assert update["strategy"] == strategy
    assert ("as a whole" in update["reason"]) == (strategy == "global")
    asked = await analyze(State(query=question, mode="mix"), made.runtime)
    assert asked["strategy"] == "mix"


async def test_without_communities_a_question_about_the_whole_is_one_for_passages(
    bench: Build,
) -> None:
    off = Settings(_env_file=None, communities=CommunitySettings(enabled=False))
    made = bench(retriever=over_graph(), settings=off)
    update = await analyze(State(query="What are the main themes?"), made.runtime)
    assert update["strategy"] == "mix"


@pytest.mark.parametrize(
    "question",
    [
        "糖尿病患者的主要症状是什么？",
        "去上海出差，住宿费每晚最多报销多少？",
        "How long is the probation period?",
        "hello world 程序怎么写？",
    ],
)
@pytest.mark.parametrize("about", ["whole", "part"])
async def test_no_word_of_the_model_spares_the_documents_or_asks_for_all_of_them(
    bench: Build, question: str, about: str
) -> None:
    said = chat(f'{{"question": "", "complexity": "simple", "about": "{about}", "keywords": []}}')
    made = bench(retriever=over_graph(), chat=said)
    update = await analyze(State(query=question), made.runtime)
    assert (update["complexity"], update["strategy"]) == ("complex", "mix")
    assert update["search"] == question


@pytest.mark.parametrize("about", ["whole", "part"])
async def test_with_a_chat_model_too_a_broad_question_goes_to_the_reports(
    bench: Build, about: str
) -> None:
    said = chat(f'{{"question": "", "complexity": "simple", "about": "{about}"}}')
    made = bench(retriever=over_graph(), chat=said)
    update = await analyze(State(query="总结一下这些文档的主要内容"), made.runtime)
    assert (update["complexity"], update["strategy"]) == ("complex", "global")


FOREIGN = """{"question": "", "entities": ["Pocahontas Mounds", "二甲双胍", "糖尿病"], "keywords": ["副作用",
 "side effects", "糖尿病症状", "多饮"], "themes": ["合同法", "主要症状"], "subquestions": [
 "the state where Pocahontas Mounds is located", "糖尿病患者的主要症状有哪些？", "糖尿病是什么？", "合同法规定了什么？"]}"""


async def test_what_neither_question_nor_conversation_says_is_not_searched(bench: Build) -> None:
    made = bench(chat=chat(FOREIGN))
    update = await analyze(State(query="糖尿病患者的主要症状是什么？"), made.runtime)
    assert update["entities"] == ["糖尿病"]
    assert update["keywords"] == ["糖尿病症状", "主要症状"]
    assert update["high_level_keywords"] == ["主要症状"]
    assert update["subquestions"] == ["糖尿病患者的主要症状有哪些？", "糖尿病是什么？"]


async def test_what_the_conversation_says_may_be_searched(bench: Build) -> None:
    history = [{"role": "user", "content": "二甲双胍有哪些副作用？"}]
    made = bench(chat=chat(FOREIGN))
    state = State(query="糖尿病患者的主要症状是什么？", history=history)
    update = await analyze(state, made.runtime)
    assert update["entities"] == ["二甲双胍", "糖尿病"]
    assert update["keywords"] == ["副作用", "糖尿病症状", "主要症状"]


async def test_no_model_is_asked_beyond_the_budget_of_calls(bench: Build) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(model_calls=1))
    update = await analyze(State(query="Why?"), bench(chat=chat(), settings=settings).runtime)
    [warning] = sentences_of(update)
    assert "1 model call" in warning
    assert update["reason"].startswith("by rule")


async def test_the_last_affordable_call_is_not_repaired(bench: Build) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(model_calls=2))
    made = bench(chat=chat("No JSON.", '{"question": "never asked for"}'), settings=settings)
    update = await analyze(State(query="Why?"), made.runtime)
    assert update["question"] == "Why?"
    assert update["usage"]["calls"] == 1


async def test_both_levels_of_keywords_and_what_the_graph_knows_are_told_by_rule(
    bench: Build,
) -> None:
    retriever = over_graph()
    retriever.names = ("二甲双胍", "Heron 3")
    update = await analyze(
        State(query="二甲双胍有哪些副作用？"), bench(retriever=retriever).runtime
    )
    assert update["entities"] == ["二甲双胍"]
    assert update["low_level_keywords"] == ["二甲双胍"]
    assert "副作用" in update["high_level_keywords"]
    assert "mix" in update["reason"]


async def test_names_are_not_looked_up_where_no_graph_is_searched(bench: Build) -> None:
    retriever = over_graph()
    retriever.names = ("Heron 3",)
    made = bench(retriever=retriever)
    update = await analyze(State(query="What is Heron 3?", mode="naive"), made.runtime)
    assert update["entities"] == ["Heron 3"]


async def test_a_follow_up_borrows_the_terms_of_the_last_question_by_rule(bench: Build) -> None:
    history = [
        {"role": "user", "content": "What does the warranty of the Heron 3 cover?"},
        {"role": "assistant", "content": "Parts and labour."},
    ]
    state = State(query="How long does it last?", history=history)
    update = await analyze(state, bench().runtime)
    assert update["question"] == update["search"]
    assert {"Heron 3", "warranty"} <= set(update["question"].split("(")[1].rstrip(")").split(", "))


async def test_parts_are_searched_beside_the_whole_question(bench: Build) -> None:
    question = "Who founded Acme Corp, and when was it sold?"
    update = await analyze(State(query=question), bench().runtime)
    assert update["search"] == question
    assert update["extra_queries"] == update["subquestions"] == update["unanswered"]
    assert len(update["subquestions"]) == 2


SMALL_MODELS = {
    "wrong types": '{"question": null, "complexity": "Multi-hop", "about": ["whole?"], "reason": 7,'
    ' "entities": [{"name": "Acme"}, 3, null], "keywords": "Acme, founder", "themes": {"a": "b"},'
    ' "subquestions": "Who founded Acme?\\nWhen was it sold?"}',
    "fence and talk": 'Sure!\n```json\n{"entities": ["Acme", "3"], "keywords": ["Acme", "founder"],'
    ' "subquestions": ["Who founded Acme?", "When was it sold?"],}\n```\nDone.',
}


@pytest.mark.parametrize("reply", SMALL_MODELS.values(), ids=SMALL_MODELS)
async def test_what_small_models_write_costs_no_second_call(bench: Build, reply: str) -> None:
    query = "Who founded Acme 3 and when was it sold?"
    update = await analyze(State(query=query), bench(chat=chat(reply)).runtime)
    assert update["usage"]["calls"] == 1
    assert sentences_of(update) == []
    assert update["question"] == query
    assert update["complexity"] == "complex"
    assert update["entities"] == ["Acme", "3"]
    assert update["keywords"][0] == "Acme"
    assert update["subquestions"] == ["Who founded Acme?", "When was it sold?"]


async def test_a_model_that_names_many_parts_gets_four(bench: Build) -> None:
    parts = ", ".join(f'"Part {letter}?"' for letter in "abcdefghi")
    made = bench(chat=chat(f'{{"subquestions": [{parts}]}}'))
    update = await analyze(State(query="What of all the parts?"), made.runtime)
    assert len(update["subquestions"]) == 4


@pytest.mark.parametrize(
    "question",
    ["你好", "您好！", "你好，谢谢！", "谢谢你", "你是谁？", "hello", "Hi there!", "Thanks a lot.",
     "Who are you?", "1+1=?", "12 * (3 + 4)", "3×7等于多少？", "what is 2 + 2?", "Good morning"],
)  # fmt: skip
async def test_small_talk_and_arithmetic_are_simple(bench: Build, question: str) -> None:
    assert is_small_talk(question)
    update = await analyze(State(query=question), bench(chat=chat()).runtime)
    assert update["complexity"] == "simple"


@pytest.mark.parametrize(
    "question",
    ["你好，请问付款节点有哪些？", "Hello World 程序怎么写？", "2024-01-02", "what is rust", "???",
     "Who are you in the contract?", "谢谢信怎么写", "1.5 GB", "ISO 9001-2015", "2019-2020", "测试查询"],
)  # fmt: skip
def test_questions_for_the_documents_are_not_small_talk(question: str) -> None:
    assert not is_small_talk(question)


async def test_a_mode_that_was_asked_for_retrieves_even_for_small_talk(bench: Build) -> None:
    update = await analyze(State(query="hello", mode="naive"), bench().runtime)
    assert (update["strategy"], update["complexity"]) == ("naive", "complex")
