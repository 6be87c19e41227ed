"""route, retrieve, grade and refine: what each decides, one step at a time."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Command

from domain.errors import GraphNotFound, RetrievalError
from domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from domain.scope import Scope
from domain.settings import LimitSettings, Settings
from nodes.grade import grade
from nodes.refine import all_new, refine
from nodes.retrieve import retrieve, widened
from nodes.route import route
from nodes.state import State
from tests.unit.nodes.conftest import Build, ScriptedRetriever, chat, item

SYMPTOMS = item("糖尿病的主要症状是多饮、多尿和体重下降。", "guide.md")
WEATHER = item("今天天气很好。", "weather.md", 0.4)
QUESTION = State(
    query="糖尿病的主要症状是什么？",
    question="糖尿病的主要症状是什么？",
    search="糖尿病的主要症状是什么？",
    language="zh",
    strategy="naive",
    keywords=["糖尿病", "主要症状", "症状"],
)


def changes(command: Command[Any]) -> dict[str, Any]:
    assert isinstance(command.update, dict)
    return command.update


def after(state: State, **changes: object) -> State:
    return State(**{**vars(state), **changes})


@pytest.mark.parametrize(
    ("complexity", "strategy", "goto"),
    [
        ("complex", "naive", "retrieve"),
        ("simple", "naive", "generate"),
        ("complex", "bypass", "generate"),
    ],
)
async def test_only_simple_questions_and_bypass_skip_retrieval(
    bench: Build, complexity: str, strategy: str, goto: str
) -> None:
    command = await route(State(complexity=complexity, strategy=strategy), bench().runtime)
    assert command.goto == goto
    assert (command.update == {"strategy": "bypass"}) == (goto == "generate")


async def test_retrieval_searches_the_callers_scope_and_says_what_it_found(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]], warnings=("向量检索失败，使用关键词检索降级",))
    at = bench(retriever=retriever)
    state = after(QUESTION, user_id="ann", graph_id="kb", top_k=3, filters={"tags": ["a"]})
    update = await retrieve(state, at.runtime)
    [search] = retriever.searches
    assert search["scope"] == Scope("ann", "kb")
    assert (search["top_k"], search["filters"], search["lanes"]) == (3, {"tags": ["a"]}, None)
    assert update["searched"] == [QUESTION.search]
    assert update["warnings"] == ["向量检索失败，使用关键词检索降级"]
    [event] = at.streamed
    assert (event["type"], event["mode"], event["count"]) == ("retrieval", "naive", 1)


async def test_the_runs_choice_of_top_k_stands_in_for_the_inputs(bench: Build) -> None:
    retriever = ScriptedRetriever([[SYMPTOMS]])
    await retrieve(QUESTION, bench(retriever=retriever, top_k=7).runtime)
    assert retriever.searches[0]["top_k"] == 7
    assert retriever.searches[0]["scope"].user_id == "local"


async def test_a_later_round_looks_wider_and_keeps_the_evidence_first(bench: Build) -> None:
    retriever = ScriptedRetriever([[WEATHER, SYMPTOMS]])
    found = [item("old", "old.md"), SYMPTOMS]
    state = after(QUESTION, attempts=1, items=found, evidence=["guide.md"], top_k=2)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md", "old.md"]
    assert retriever.searches[0]["lanes"] == ("vector", "keyword")


ALL = ("vector", "keyword", "local", "reports", "global", "mix")


@pytest.mark.parametrize(
    ("strategy", "modes"),
    [
        ("local", ["local", "hybrid", "mix", "mix"]),
        ("hybrid", ["hybrid", "mix", "mix", "mix"]),
        ("global", ["global"] * 4),
        ("naive", ["naive"] * 4),
    ],
)
def test_every_round_looks_one_step_wider(strategy: str, modes: list[str]) -> None:
    assert [widened(strategy, attempts, ALL) for attempts in range(4)] == modes


def test_a_round_looks_no_wider_than_the_retriever_can() -> None:
    without_reports = ("vector", "keyword", "local", "mix")
    assert widened("local", 1, without_reports) == "mix"
    assert widened("local", 3, ("vector", "keyword", "local")) == "local"


async def test_what_the_graph_knows_is_kept_beside_the_passages(bench: Build) -> None:
    report = RetrievedItem(ItemKind.COMMUNITY, "r", "Health", 0.9, metadata={"title": "Health"})
    named = {"name": "糖尿病", "type": "DISEASE"}
    entity = RetrievedItem(ItemKind.ENTITY, "e1", "糖尿病", 0.5, metadata=named)
    earlier = replace(entity, id="e0", score=0.7)
    retriever = ScriptedRetriever([[report, SYMPTOMS]], around=(report, entity), lanes=ALL)
    state = after(QUESTION, strategy="global", around=[earlier])
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md"]
    assert [found.id for found in update["around"]] == ["r", "e0", "e1"]
    assert update["graph_context"]["entities"][1] == {"id": "e1", **named}


async def test_a_later_round_takes_turns_with_the_first_behind_its_best_three(bench: Build) -> None:
    before = [item(name, name) for name in "abcde"]
    retriever = ScriptedRetriever([[item("d", "d"), item("b", "b"), item("x", "x")]])
    state = after(QUESTION, attempts=1, items=before, top_k=6)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["a", "b", "c", "d", "x", "e"]


async def test_parts_are_searched_at_once_with_the_question_which_keeps_three_places(
    bench: Build,
) -> None:
    found = {
        QUESTION.search: [item(name, name) for name in "abcd"],
        "one": [item("x", "x"), item("a", "a")],
        "two": [item("y", "y"), item("x", "x")],
    }
    retriever = Meeting(found)
    state = after(QUESTION, beside=["one", "two"], top_k=6)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["a", "b", "c", "x", "d", "y"]
    assert update["searched"] == [QUESTION.search, "one", "two"]
    assert update["found_for"]["two"] == ["y", "x"]
    assert retriever.most_at_once == 3


@dataclass
class Meeting(ScriptedRetriever):
    """Finds by query, and answers none before all that are asked at once have come."""

    rounds: Any = field(default_factory=dict[str, Any])
    most_at_once: int = 0
    together: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
        self.searches.append({"scope": scope, "query": query, **options})
        self.most_at_once += 1
        if self.most_at_once == len(self.rounds):
            self.together.set()
        await self.together.wait()
        found = self.rounds[query]
        if isinstance(found, Exception):
            raise found
        return Retrieval(tuple(found), Mode.NAIVE, timings={"total": 1.0})


async def test_a_part_whose_search_fails_costs_only_itself(bench: Build) -> None:
    failed = RetrievalError({"vector": OSError("gone")})
    retriever = Meeting({QUESTION.search: [SYMPTOMS], "one": failed})
    state = after(QUESTION, beside=["one"])
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md"]
    assert any("知识库检索失败" in warning for warning in update["warnings"])
    everything = Meeting({QUESTION.search: failed, "one": failed})
    with pytest.raises(RetrievalError):
        await retrieve(state, bench(retriever=everything).runtime)


async def test_an_unknown_graph_is_no_warning_among_several_searches(bench: Build) -> None:
    unknown = GraphNotFound("There is no graph.")
    retriever = Meeting({QUESTION.search: [SYMPTOMS], "one": unknown})
    with pytest.raises(GraphNotFound):
        await retrieve(after(QUESTION, beside=["one"]), bench(retriever=retriever).runtime)


PAST = 1.0


async def test_when_the_time_for_searching_is_over_what_was_found_stays(bench: Build) -> None:
    state = after(QUESTION, deadline=PAST, attempts=1, items=[SYMPTOMS])
    update = await retrieve(state, bench(retriever=ScriptedRetriever([[WEATHER]])).runtime)
    assert "items" not in update
    assert "limits.answer_seconds" in update["warnings"][0]


async def test_nothing_found_in_time_is_an_error_and_no_empty_answer(bench: Build) -> None:
    retriever = ScriptedRetriever([[WEATHER]])
    with pytest.raises(RetrievalError):
        await retrieve(after(QUESTION, deadline=PAST), bench(retriever=retriever).runtime)


async def test_when_time_is_over_weak_passages_are_answered_from_and_it_is_said(
    bench: Build,
) -> None:
    command = await grade(after(QUESTION, items=[WEATHER], deadline=PAST), bench().runtime)
    assert command.goto == "generate"
    assert "limits.answer_seconds" in changes(command)["warnings"][0]


PARTS = ["症状有哪些？", "何时就医？"]


async def test_every_part_is_judged_by_what_was_found_for_it(bench: Build) -> None:
    yes = '{"relevant": [1], "sufficient": true}'
    no = '{"relevant": [], "sufficient": false, "missing": "就医时间"}'
    state = after(
        QUESTION, items=[WEATHER, SYMPTOMS], subquestions=PARTS, unanswered=PARTS,
        found_for={PARTS[0]: ["guide.md"], PARTS[1]: ["weather.md"]},
    )  # fmt: skip
    command = await grade(state, bench(chat=chat(yes, no)).runtime)
    assert command.goto == "refine"
    update = changes(command)
    assert update["unanswered"] == [PARTS[1]]
    assert update["missing"] == "就医时间"
    assert update["evidence"] == ["guide.md"]
    assert update["usage"]["calls"] == 2


async def test_parts_that_the_calls_do_not_suffice_for_are_judged_as_one_question(
    bench: Build,
) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(model_calls=2))
    state = after(QUESTION, items=[SYMPTOMS], subquestions=PARTS, unanswered=PARTS)
    made = bench(chat=chat('{"relevant": [1], "sufficient": true}'), settings=settings)
    command = await grade(state, made.runtime)
    assert command.goto == "generate"
    assert changes(command)["usage"]["calls"] == 1


async def test_what_was_relevant_once_stays_evidence(bench: Build) -> None:
    verdict = '{"relevant": ["[2]"], "sufficient": "yes"}'
    state = after(QUESTION, items=[SYMPTOMS, WEATHER], evidence=["guide.md"])
    update = changes(await grade(state, bench(chat=chat(verdict)).runtime))
    assert update["evidence"] == ["guide.md", "weather.md"]
    assert update["sufficient"] is True


async def test_refining_asks_for_all_that_is_missing_at_once(bench: Build) -> None:
    state = after(QUESTION, searched=[QUESTION.search], unanswered=PARTS)
    written = '{"queries": ["就医 时机", "体重 下降", "就医时机"]}'
    update = changes(await refine(state, bench(chat=chat(written)).runtime))
    assert (update["search"], update["beside"]) == ("就医 时机", ["体重 下降"])
    assert update["bridges"] == []


MOUNDS = item("Pocahontas Mounds is an archaeological site in Mississippi.", "mounds", 0.9)
STATE = item("Mississippi became the 20th state of the Union.", "state", 0.8)
HOPS = State(
    question="When did the state where Pocahontas Mounds is located become part of the Union?",
    search="x",
    strategy="mix",
    searched=["x"],
    items=[MOUNDS],
    around=[
        RetrievedItem(ItemKind.ENTITY, name, name, 0.5, metadata={"name": name, "type": "PLACE"})
        for name in ("Pocahontas Mounds", "Mississippi", "London")
    ],
)


async def test_one_hop_of_several_leads_on_to_what_it_names_by_rule(bench: Build) -> None:
    """The rule by which musique gains ten points of all-gold@10 (docs/evaluation.md)."""
    assert (await grade(HOPS, bench().runtime)).goto == "refine"
    update = changes(await refine(HOPS, bench().runtime))
    assert update["bridges"] == ["Mississippi state located become part Union"]
    assert (update["search"], update["beside"]) == ("", [])
    retriever = ScriptedRetriever([[STATE, MOUNDS]], lanes=ALL)
    state = after(HOPS, **update, top_k=10)
    found = await retrieve(state, bench(retriever=retriever).runtime)
    assert [one.id for one in found["items"]] == ["mounds", "state"]
    assert retriever.searches[0]["mode"] == "naive"
    again = await refine(after(state, **found), bench().runtime)
    assert update["bridges"][0] not in changes(again)["bridges"]


async def test_what_no_passage_says_is_looked_for_in_the_other_language_once(bench: Build) -> None:
    state = after(
        QUESTION, searched=[QUESTION.search], items=[WEATHER], missing="症状", filters={"tags": []}
    )
    update = changes(await refine(state, bench().runtime))
    [abroad] = update["abroad"]
    english = item("Thirst and weight loss are the symptoms of diabetes.", "leaflet")
    names = item("Price list: blood sugar meter 血糖仪 120, test strips 血糖试纸 60.", "prices")
    retriever = ScriptedRetriever([[names, english]], lanes=ALL)
    due = after(state, **update | {"search": "", "beside": [], "bridges": []}, top_k=10)
    found = await retrieve(due, bench(retriever=retriever).runtime)
    assert retriever.searches[0]["filters"] == {"tags": ["en"]}
    assert [one.id for one in found["items"]] == ["weather.md", "leaflet"]
    assert found["searched"] == [QUESTION.search, abroad]
    again = await refine(after(due, **found), bench().runtime)
    assert changes(again).get("abroad", []) == []


@pytest.mark.parametrize(("missing", "filters"), [("", None), ("症状", {"tags": ["zh"]})])
async def test_the_other_language_is_left_alone(
    bench: Build, missing: str, filters: dict[str, Any] | None
) -> None:
    state = after(QUESTION, items=[WEATHER], missing=missing, filters=filters)
    assert changes(await refine(state, bench().runtime)).get("abroad", []) == []


async def test_a_misspelt_question_is_searched_as_the_passages_spell_it(bench: Build) -> None:
    question = "How long is the waranty of the pump?"
    state = State(
        question=question,
        search=question,
        strategy="mix",
        searched=[question],
        items=[item("The warranty of the pump lasts two years.", "manual")],
    )
    update = changes(await refine(state, bench().runtime))
    assert update["search"] == "How long is the warranty of the pump?"


async def test_a_side_of_which_too_little_is_said_is_searched_by_itself(bench: Build) -> None:
    sides = ["Which is older, Acme Corp?", "Which is older, Beta Ltd?"]
    acme = item("Acme Corp is older than most: it was founded in 1875.", "acme")
    state = after(
        HOPS,
        question="Which is older, Acme Corp or Beta Ltd?",
        items=[acme],
        subquestions=sides,
        around=[],
    )
    graded = await grade(state, bench().runtime)
    assert graded.goto == "refine"
    assert changes(graded)["unanswered"] == sides[1:]
    update = changes(await refine(after(state, **changes(graded)), bench().runtime))
    assert (update["search"], update["beside"], update["bridges"]) == (sides[1], [], [])


async def test_a_passage_that_answers_by_itself_leads_nowhere(bench: Build) -> None:
    whole = item("Pocahontas Mounds is located in the state of Mississippi, part of the Union.")
    assert (await grade(after(HOPS, items=[whole]), bench().runtime)).goto == "generate"


async def test_an_unknown_graph_is_the_callers_to_hear_of(bench: Build) -> None:
    retriever = ScriptedRetriever([], error=GraphNotFound("There is no graph."))
    with pytest.raises(GraphNotFound):
        await retrieve(QUESTION, bench(retriever=retriever).runtime)


async def test_passages_with_the_questions_words_are_enough_by_rule(bench: Build) -> None:
    command = await grade(after(QUESTION, items=[SYMPTOMS, WEATHER]), bench().runtime)
    assert command.goto == "generate"
    assert changes(command)["relevance"] == 1.0


@pytest.mark.parametrize("items", [[], [WEATHER]])
async def test_passages_about_something_else_are_weak_by_rule(
    bench: Build, items: list[RetrievedItem]
) -> None:
    command = await grade(after(QUESTION, items=items), bench().runtime)
    assert command.goto == "refine"
    assert changes(command)["missing"] == "糖尿病 主要症状 症状"


async def test_weak_passages_are_answered_from_when_no_round_is_left(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER], attempts=3)
    assert (await grade(state, bench(chat=chat()).runtime)).goto == "generate"
    fewer = bench(max_attempts=1).runtime
    assert (await grade(after(state, attempts=1), fewer)).goto == "generate"
    assert (await grade(after(state, attempts=0), fewer)).goto == "refine"


async def test_the_settings_bound_outranks_the_runs_choice_of_rounds(bench: Build) -> None:
    settings = Settings(_env_file=None, limits=LimitSettings(max_attempts=0))
    runtime = bench(settings=settings, max_attempts=3).runtime
    assert (await grade(after(QUESTION, items=[WEATHER]), runtime)).goto == "generate"


async def test_a_chat_model_picks_the_evidence_and_names_what_is_missing(bench: Build) -> None:
    verdict = '{"relevant": [2, 9], "sufficient": false, "missing": "血糖标准"}'
    state = after(QUESTION, items=[WEATHER, SYMPTOMS])
    command = await grade(state, bench(chat=chat(verdict)).runtime)
    assert command.goto == "refine"
    assert changes(command)["evidence"] == ["guide.md"]
    assert [item.id for item in changes(command)["items"]] == ["guide.md", "weather.md"]
    assert changes(command)["missing"] == "血糖标准"
    assert changes(command)["usage"]["calls"] == 1


async def test_sufficient_without_any_relevant_passage_is_not_believed(bench: Build) -> None:
    state = after(QUESTION, items=[WEATHER])
    runtime = bench(chat=chat('{"relevant": [], "sufficient": true}')).runtime
    assert (await grade(state, runtime)).goto == "refine"


async def test_a_new_query_goes_back_to_retrieval_as_one_more_round(bench: Build) -> None:
    state = after(QUESTION, searched=[QUESTION.search], missing="体重")
    command = await refine(state, bench(chat=chat('{"query": "糖尿病 体重下降"}')).runtime)
    assert command.goto == "retrieve"
    assert changes(command)["search"] == "糖尿病 体重下降"
    assert changes(command)["attempts"] == 1


async def test_a_query_that_was_run_before_is_replaced_by_rule(bench: Build) -> None:
    state = after(QUESTION, searched=[QUESTION.search], missing="体重")
    command = await refine(state, bench(chat=chat(f'{{"query": "{QUESTION.search} "}}')).runtime)
    assert changes(command)["search"] == "体重"


async def test_without_anything_new_to_try_the_answer_is_due(bench: Build) -> None:
    state = State(question="Why?", searched=["Why?"])
    command = await refine(state, bench().runtime)
    assert command.goto == "generate"
    assert "attempts" not in changes(command)


def test_queries_that_differ_in_case_spacing_or_marks_are_the_same() -> None:
    assert all_new(["", "Rust  owner", "borrow", "Borrow?"], ["rust owner!"]) == ["borrow"]
    assert all_new(["糖尿病 症状", "糖尿病的症状"], ["糖尿病症状？"]) == ["糖尿病的症状"]
    assert all_new([" ", "。"], []) == []


QUERIES = st.lists(st.text(max_size=12), max_size=8)


@given(candidates=QUERIES, searched=QUERIES)
def test_no_query_is_ever_run_twice(candidates: list[str], searched: list[str]) -> None:
    """Also not in capitals, with other spaces, or twice in one round."""
    new = all_new(candidates, searched)
    assert (
        all_new([*new, *map(str.upper, new), *(f" {query} ?" for query in new)], [*searched, *new])
        == []
    )
    assert all_new(new, searched) == new
    assert not set(new) & set(searched)
