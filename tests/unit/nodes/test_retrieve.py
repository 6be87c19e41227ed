"""What retrieving searches for, how wide, and what stays of what it found."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sextant.domain.errors import GraphNotFound
from sextant.domain.questions import Attachment, AttachmentKind
from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievalError, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.nodes.retrieve import retrieve, with_tables
from sextant.retrievers.modes import widen_mode
from sextant.tables.results.written import ComputedFinding
from tests.sentences import sentences_of
from tests.unit.nodes.conftest import Build, ScriptedRetriever, item
from tests.unit.nodes.steps import ALL, PAST, QUESTION, SYMPTOMS, WEATHER, after


async def test_retrieval_searches_the_callers_scope_and_says_what_it_found(bench: Build) -> None:
    retriever = ScriptedRetriever(
        [[SYMPTOMS]], warnings=(CodedWarning(WarningCode.VECTOR_LANE_FAILED),)
    )
    at = bench(retriever=retriever)
    state = after(QUESTION, user_id="ann", graph_id="kb", top_k=3, filters={"tags": ["a"]})
    update = await retrieve(state, at.runtime)
    [search] = retriever.searches
    assert search["scope"] == Scope("ann", "kb")
    assert (search["top_k"], search["filters"], search["lanes"]) == (3, {"tags": ["a"]}, None)
    assert update["searched"] == [QUESTION.search]
    assert sentences_of(update, "zh") == ["向量检索失败，使用关键词检索降级"]
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


async def test_a_later_round_of_a_graphs_mode_runs_that_modes_lanes(bench: Build) -> None:
    retriever = ScriptedRetriever([[WEATHER]], lanes=ALL)
    state = after(QUESTION, strategy="mix", attempts=1, items=[SYMPTOMS])
    await retrieve(state, bench(retriever=retriever).runtime)
    assert (retriever.searches[0]["mode"], retriever.searches[0]["lanes"]) == ("mix", None)


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
    assert [widen_mode(strategy, attempts, ALL) for attempts in range(4)] == modes


def test_a_round_looks_no_wider_than_the_retriever_can() -> None:
    without_reports = ("vector", "keyword", "local", "mix")
    assert widen_mode("local", 1, without_reports) == "mix"
    assert widen_mode("local", 3, ("vector", "keyword", "local")) == "local"


async def test_what_the_graph_knows_is_kept_beside_the_passages(bench: Build) -> None:
    report = RetrievedItem(ItemKind.COMMUNITY, "r", "Health", 0.9, metadata={"title": "Health"})
    named = {"name": "糖尿病", "type": "DISEASE"}
    entity = RetrievedItem(ItemKind.ENTITY, "e1", "糖尿病", 0.5, metadata=named)
    earlier = replace(entity, id="e0", score=0.7)
    retriever = ScriptedRetriever([[report, SYMPTOMS]], around=(report, entity), lanes=ALL)
    state = after(QUESTION, strategy="global", graph_items=[earlier])
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md"]
    assert [found.id for found in update["graph_items"]] == ["r", "e0", "e1"]
    assert update["graph_context"]["entities"][1] == {"id": "e1", **named}


async def test_a_later_round_takes_turns_with_the_first_behind_its_best_three(bench: Build) -> None:
    before = [item(name, name) for name in "abcde"]
    retriever = ScriptedRetriever([[item("d", "d"), item("b", "b"), item("x", "x")]])
    state = after(QUESTION, attempts=1, items=before, top_k=6)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["a", "b", "c", "d", "x", "e"]


async def test_tables_are_searched_by_what_their_columns_are_called_and_stand_last(
    bench: Build,
) -> None:
    asked = "How much does the Heron 3 cost?"
    prices = [item("| Article | Price |", "t1"), item("b", "b"), item("| Heron 3 | 9 |", "t2")]
    retriever = ScriptedRetriever([[item(name, name) for name in "abcde"], prices])
    update = await retrieve(
        after(QUESTION, question=asked, search=asked), bench(retriever=retriever).runtime
    )
    assert [found.id for found in update["items"]] == ["a", "b", "c", "t1", "t2"]
    search = retriever.searches[1]
    assert "price" in search["query"]
    assert (search["filters"], search["lanes"]) == ({"tags": ["table"]}, ("keyword",))


@pytest.mark.parametrize(
    ("top_k", "passages", "tables", "kept"),
    [
        (10, 10, 10, "pppttttttt"),
        (10, 10, 2, "pppppppptt"),
        (10, 4, 3, "pppttt"),
        (4, 4, 4, "pppt"),
        (2, 2, 2, "pp"),
        (2, 5, 0, "ppppp"),  # evidence stays
    ],
)
def test_with_passages_of_tables_there_are_no_more_than_are_asked_for(
    top_k: int, passages: int, tables: int, kept: str
) -> None:
    """Ten passages and ten of tables were thirteen."""
    found = [item("x", f"p{n}") for n in range(passages)]
    tabular = [item("x", f"t{n}") for n in range(tables)]
    told = with_tables(found, [*found[:1], *tabular], top_k)
    assert "".join(one.id[0] for one in told) == kept


@pytest.mark.parametrize("more", [{"attempts": 1}, {"filters": {"tags": ["zh"]}}])
async def test_tables_are_searched_once_and_within_no_other_tags(
    bench: Build, more: dict[str, Any]
) -> None:
    asked = "How much does the Heron 3 cost?"
    retriever = ScriptedRetriever([[SYMPTOMS]])
    await retrieve(after(QUESTION, question=asked, **more), bench(retriever=retriever).runtime)
    assert len(retriever.searches) == 1


async def test_parts_are_searched_at_once_with_the_question_which_keeps_three_places(
    bench: Build,
) -> None:
    found = {
        QUESTION.search: [item(name, name) for name in "abcd"],
        "one": [item("x", "x"), item("a", "a")],
        "two": [item("y", "y"), item("x", "x")],
    }
    retriever = Meeting(found)
    state = after(QUESTION, extra_queries=["one", "two"], top_k=6)
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["a", "b", "c", "x", "d", "y"]
    assert update["searched"][:3] == [QUESTION.search, "one", "two"]
    assert retriever.most_at_once == 3


@dataclass
class Meeting(ScriptedRetriever):
    """Finds by query, and answers none before all that are asked at once have come."""

    rounds: Any = field(default_factory=dict[str, Any])
    most_at_once: int = 0
    together: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
        self.searches.append({"scope": scope, "query": query, **options})
        self.most_at_once += query in self.rounds  # tables are asked besides
        if self.most_at_once == len(self.rounds):
            self.together.set()
        await self.together.wait()
        found = self.rounds.get(query, [])
        if isinstance(found, Exception):
            raise found
        return Retrieval(tuple(found), Mode.NAIVE, timings={"total": 1.0})


async def test_a_part_whose_search_fails_costs_only_itself(bench: Build) -> None:
    failed = RetrievalError.of({"vector": OSError("gone")})
    retriever = Meeting({QUESTION.search: [SYMPTOMS], "one": failed})
    state = after(QUESTION, extra_queries=["one"])
    update = await retrieve(state, bench(retriever=retriever).runtime)
    assert [found.id for found in update["items"]] == ["guide.md"]
    assert sentences_of(update, "zh")[0].startswith("知识库检索失败")
    everything = Meeting({QUESTION.search: failed, "one": failed})
    with pytest.raises(RetrievalError):
        await retrieve(state, bench(retriever=everything).runtime)


async def test_an_unknown_graph_is_no_warning_among_several_searches(bench: Build) -> None:
    unknown = GraphNotFound("There is no graph.")
    retriever = Meeting({QUESTION.search: [SYMPTOMS], "one": unknown})
    with pytest.raises(GraphNotFound):
        await retrieve(after(QUESTION, extra_queries=["one"]), bench(retriever=retriever).runtime)


async def test_when_the_time_for_searching_is_over_what_was_found_stays(bench: Build) -> None:
    state = after(QUESTION, deadline=PAST, attempts=1, items=[SYMPTOMS])
    update = await retrieve(state, bench(retriever=ScriptedRetriever([[WEATHER]])).runtime)
    assert "items" not in update
    assert "limits.answer_seconds" in sentences_of(update)[0]


async def test_the_first_search_may_take_the_time_that_the_answer_was_to_have(
    bench: Build,
) -> None:
    runtime = bench(retriever=ScriptedRetriever([[WEATHER]])).runtime
    answers = runtime.context.deps.settings.limits.answer_seconds / 3
    soon = after(QUESTION, deadline=time.time() + answers / 2)
    assert [one.id for one in (await retrieve(soon, runtime))["items"]] == [WEATHER.id]
    later = await retrieve(after(soon, attempts=1, items=[SYMPTOMS]), runtime)
    assert "limits.answer_seconds" in sentences_of(later)[0]


async def test_nothing_found_in_time_is_an_error_and_no_empty_answer(bench: Build) -> None:
    retriever = ScriptedRetriever([[WEATHER]])
    with pytest.raises(RetrievalError, match="nothing was found within") as late:
        await retrieve(after(QUESTION, deadline=PAST), bench(retriever=retriever).runtime)
    assert "SEXTANT_LIMITS__ANSWER_SECONDS" in late.value.next_step


async def test_when_nothing_was_found_in_time_what_came_with_the_question_can_still_answer(
    bench: Build,
) -> None:
    told = ComputedFinding("The total of price is 7.", "c2", "7")
    table = Attachment(AttachmentKind.TABLE, "T1", "", names=("price",), findings=(told,))
    state = after(QUESTION, deadline=PAST, attachments=[table.as_plain()])
    update = await retrieve(state, bench(retriever=ScriptedRetriever([[WEATHER]])).runtime)
    assert "limits.answer_seconds" in sentences_of(update)[0]


async def test_an_unknown_graph_is_the_callers_to_hear_of(bench: Build) -> None:
    retriever = ScriptedRetriever([], error=GraphNotFound("There is no graph."))
    with pytest.raises(GraphNotFound):
        await retrieve(QUESTION, bench(retriever=retriever).runtime)
