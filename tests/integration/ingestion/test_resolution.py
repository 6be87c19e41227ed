"""Names that mean one thing become one entity, whatever came and went before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.outputs import ChatResult

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.graph.resolution.resolve import resolve
from sextant.ingestion.pipeline import Ingestor
from sextant.models.chat.chat_model import ChatModel, as_chat_model
from sextant.models.chat.factory import build_chat_model
from sextant.models.retries import Retries
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.name_comparison import (
    Pair,
    ResolutionStore,
    note_pairs,
)
from sextant.stores.graph.name_decisions import Merge, decide_one, decide_two
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, failing
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import GraphRecord

WORLD = {
    "who": "# World Health Organization\n\nThe World Health Organization (WHO) fights malaria.\n",
    "geneva": "# Geneva\n\nThe WHO has its seat in Geneva, and so has the New-York Office.\n",
    "band": "# Heroes Of Wales\n\nThe Welsh Hero Outfit (WHO) plays in Geneva.\n",
    "york": "# New York Office\n\nThe New York Office of the World Health Organization.\n",
    "york2": "# New-York Office\n\nThe New—York Office is closed.\n",
    "zh": "# 世界卫生组织\n\n世界卫生组织（世卫组织）发布报告，世卫组织说明情况。\n",
    "types": "# Type 1 diabetes\n\nType 1 diabetes is not Type 2 diabetes.\n",
    "types2": "# Type-2 diabetes\n\nType 2 diabetes.\n",
}


class Library:
    """A knowledge base whose documents come and go by name."""

    def __init__(self, database: Database, settings: Settings, scope: Scope) -> None:
        self.database, self.scope = database, scope
        self.documents = DocumentStore(database)
        jobs, graph = JobStore(database), GraphIndexer(database)
        self.ingestor = Ingestor(self.documents, jobs, HashEmbedder(384), settings, graph)
        self.record = GraphRecord(database)
        self.there: dict[str, UUID] = {}

    async def add(self, name: str) -> None:
        found = await ingest_bytes(self.ingestor, self.scope, WORLD[name].encode(), f"{name}.md")
        assert found.document_id is not None
        self.there[name] = found.document_id

    async def delete(self, name: str) -> None:
        if name in self.there:
            await self.documents.delete(self.scope, self.there.pop(name))

    async def refresh(self, _: str = "") -> None:
        await resolve(self.database, self.scope)

    async def one(self, from_name: str, into_name: str) -> None:
        async with self.record.writing(self.scope) as writer:
            await decide_one(writer, [Merge(self.id(from_name), self.id(into_name), "mine")])

    async def two(self, name: str) -> int:
        async with self.record.writing(self.scope) as writer:
            return await decide_two(writer, self.id(name))

    def id(self, name: str) -> UUID:
        return entity_id(self.scope, name)

    async def merged(self) -> set[tuple[str, str]]:
        """Return (name, name of what it has become), in normal form."""
        query = """select distinct lower(m.name), lower(e.name) from entity_merges g
          join mentions m on m.scope_id = g.scope_id and m.entity_id = g.from_id
          join entities e on e.scope_id = g.scope_id and e.id = g.root_id
          join graphs s on s.scope_id = g.scope_id and s.graph_id = %s"""
        return set(await self.rows(query))

    async def state(self) -> dict[str, set[tuple[Any, ...]]]:
        queries = {
            "entities": """select e.name, entity_type, mention_count, asserted_count, degree, shown
              from entities e join graphs s using (scope_id) where s.graph_id = %s""",
            "relations": """select a.name, b.name, r.relation_type, r.weight, r.shown
              from relations r join graphs s using (scope_id)
              join entities a on a.scope_id = r.scope_id and a.id = r.source_id
              join entities b on b.scope_id = r.scope_id and b.id = r.target_id
              where s.graph_id = %s""",
            "names": """select e.name, n.name, n.spare, n.times from entity_names n
              join graphs s using (scope_id)
              join entities e on e.scope_id = n.scope_id and e.id = n.entity_id
              where s.graph_id = %s""",
        }
        found = {table: set(await self.rows(query)) for table, query in queries.items()}
        # Names without direction: ids, by which co-occurrence is directed, differ between graphs.
        found["relations"] = {
            (*sorted(row[:2]), *row[2:]) if row[2] == "CO_OCCURS" else row
            for row in found["relations"]
        }
        return found

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        async with self.database.transaction(self.scope.user_id) as connection:
            cursor = await connection.execute(query.encode(), [self.scope.graph_id])
            return await cursor.fetchall()


@pytest.fixture
def library(database: Database, settings: Settings, scope: Scope) -> Library:
    return Library(database, settings, scope)


async def test_spellings_and_defined_abbreviations_become_one_and_numbers_stay_apart(
    library: Library, database: Database, scope: Scope
) -> None:
    for name in WORLD:
        if name != "band":
            await library.add(name)
    done = await resolve(database, scope)
    assert done.merged > 0
    merged = await library.merged()
    assert ("who", "world health organization") in merged
    assert ("世卫组织", "世界卫生组织") in merged
    assert {("new-york office", "new york office"), ("new york office", "new-york office")} & merged
    assert not any("type 1" in one and "2" in other for one, other in merged)
    (hit,) = await PostgresGraph(database).entities_by_alias(scope, ["WHO"])
    assert hit.entity.name == "World Health Organization"
    assert await resolve(database, scope) == type(done)()


async def test_whoever_waits_is_told_what_is_compared_and_merged_and_nothing_if_there_is_nothing(
    library: Library, database: Database, scope: Scope
) -> None:
    told: list[tuple[str, int, int]] = []
    await library.add("york2")
    await library.add("york")
    for _ in range(2):
        done = await resolve(database, scope, on_progress=lambda *far: told.append(far))
    assert done == type(done)()
    (names,) = {far for stage, _, far in told if stage == "names" and far}
    (merges,) = {far for stage, _, far in told if stage == "merges"}
    assert told == [
        *(("names", 0, 0), ("names", 0, names), ("names", names, names)),
        *(("merges", 0, merges), ("merges", merges, merges)),
    ]


async def test_another_meaning_takes_a_merge_back_and_goes_with_its_document(
    library: Library,
) -> None:
    for name in ("who", "geneva"):
        await library.add(name)
    await library.refresh()
    assert ("who", "world health organization") in await library.merged()
    await library.add("band")
    await library.refresh()
    assert await library.merged() == set()
    await library.delete("band")
    await library.refresh()
    assert ("who", "world health organization") in await library.merged()


async def test_what_the_user_unmerged_is_not_merged_again_until_he_says_so(
    library: Library,
) -> None:
    for name in ("who", "geneva"):
        await library.add(name)
    await library.refresh()
    assert await library.two("WHO") == 1
    assert await library.two("Geneva") == 0
    await library.refresh()
    await library.add("york")
    await library.refresh()
    assert await library.merged() == set()
    await library.one("WHO", "World Health Organization")
    await library.refresh()
    assert await library.merged() == {("who", "world health organization")}


@pytest.mark.parametrize("seed", range(6))
async def test_after_any_history_and_a_refresh_the_graph_is_that_of_what_is_left(
    database: Database, settings: Settings, library: Library, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    acts: list[Callable[[str], Awaitable[None]]]
    acts = [library.add, library.add, library.delete, library.refresh]
    for _ in range(dice.randint(6, 14)):
        act = dice.choice(acts)
        await act(dice.choice(list(WORLD)))
    if dice.random() < 0.5:
        await library.one("Geneva", "Heroes Of Wales")
    await library.refresh()  # else WHO may be told apart from what a deleted document made of it
    await library.two("WHO")
    await library.refresh()

    scratch = Library(database, settings, Scope(library.scope.user_id, "scratch"))
    for name in dice.sample(list(library.there), len(library.there)):
        await scratch.add(name)
    decided = [one for one in await library.record.merges(library.scope) if not one.automatic]
    if decided:
        await scratch.one("Geneva", "Heroes Of Wales")
    await scratch.refresh()
    apart = await library.rows(
        "select one_id from entity_distinctions join graphs s using (scope_id) where s.graph_id = %s"
    )
    if apart:
        await scratch.two("WHO")
        await scratch.refresh()
    assert await library.state() == await scratch.state()


async def test_candidates_are_listed_once_and_a_model_may_judge_them(
    library: Library, database: Database, scope: Scope
) -> None:
    bachs = {
        "a": "# Johann Sebastian Bach\n\nHe composed.\n",
        "b": "# Johan Sebastian Bach\n\nHe played.\n",
        "c": "# Johann Sebastian Back\n\nHe did not.\n",
    }
    for name, text in bachs.items():
        await ingest_bytes(library.ingestor, scope, text.encode(), f"{name}.md")
    done = await resolve(database, scope)
    store = ResolutionStore(database)
    listed = await store.candidates(scope, 10)
    assert (done.merged, done.candidates) == (0, len(listed))
    assert {frozenset((one.one_name, one.other_name)) for one in listed} >= {
        frozenset(("Johann Sebastian Bach", "Johan Sebastian Bach"))
    }
    assert (await resolve(database, scope)).candidates == 0

    place = [
        {one.one_name, one.other_name} == {"Johann Sebastian Bach", "Johan Sebastian Bach"}
        for one in listed
    ].index(True)
    said = f'{{"same": "[{place + 1}]"}}'  # as small models write a list
    judged = await resolve(database, scope, as_chat_model(FakeListChatModel(responses=[said])))
    assert (judged.judged, judged.merged, judged.warnings) == (len(listed), 1, ())
    assert await store.candidates(scope, 10) == []
    broken = as_chat_model(FakeListChatModel(responses=["no idea"]))
    assert (await resolve(database, scope, broken)).judged == 0


async def add_three_alike(library: Library) -> None:
    """Documents of three whose names are alike."""
    for name in ("Johann Sebastian Bach", "Johan Sebastian Bach", "Johann Sebastian Back"):
        text = f"# {name}\n\nHe composed.\n"
        await ingest_bytes(library.ingestor, library.scope, text.encode(), f"{name}.md")


async def pairs_of_three_alike(library: Library, database: Database, scope: Scope) -> int:
    """Return the same; returns how many pairs wait to be judged."""
    await add_three_alike(library)
    await resolve(database, scope)
    return len(await ResolutionStore(database).candidates(scope, 10))


async def test_pairs_that_a_model_gives_no_usable_answer_about_keep_no_others_from_being_judged(
    library: Library, database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.ingestion.graph.resolution.resolve._PAIRS_A_CALL", 1)
    pairs = await pairs_of_three_alike(library, database, scope)
    said = ["no idea", "still none", *['{"same": []}'] * (pairs - 1)]
    done = await resolve(database, scope, as_chat_model(FakeListChatModel(responses=said)))
    assert (done.judged, len(done.warnings)) == (pairs - 1, 1)
    assert len(await ResolutionStore(database).candidates(scope, 10)) == 1


async def test_pairs_that_a_model_refuses_keep_no_others_from_being_judged(
    library: Library, database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.ingestion.graph.resolution.resolve._PAIRS_A_CALL", 1)
    pairs = await pairs_of_three_alike(library, database, scope)
    refused = list[str]()

    def choosy(request: ApiRequest) -> Reply | str:
        """Return a filter refuses the pair that it sees first, however it is asked."""
        pair = request.prompt.rpartition("<pairs>")[2].partition("</pairs>")[0]
        refused[:] = refused or [pair]
        return failing(400) if pair in refused else '{"same": []}'

    async with ScriptedOpenAI(chat=choosy) as server:
        own = Settings(_env_file=None, chat_model="m", openai_base_url=server.base_url)
        chat = build_chat_model(own)
        assert chat is not None
        done = await resolve(database, scope, chat)
        await chat.close()
    assert (done.judged, len(done.warnings)) == (pairs - 1, 1)
    assert "(400)" in str(done.warnings[0])


class Silent(FakeListChatModel):
    """A chat model that never answers."""

    asked: int = 0

    def _call(self, *_: object, **__: object) -> str:
        self.asked += 1
        raise TimeoutError


async def test_a_model_that_is_silent_is_waited_for_once_however_many_pairs_there_are(
    library: Library, database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sextant.ingestion.graph.resolution.resolve._PAIRS_A_CALL", 1)
    await add_three_alike(library)
    silent = Silent(responses=[], disable_streaming=True)
    done = await resolve(database, scope, ChatModel(silent, retries=Retries(2, first_wait=0.0)))
    assert (done.judged, silent.asked) == (0, 1)
    [warning] = done.warnings
    assert "did not answer in time" in str(warning)


async def test_what_the_user_decides_while_a_model_judges_stands(
    library: Library, database: Database, scope: Scope
) -> None:
    """The merge that he made is of the entity whose automatic one is taken back."""
    for name in ("who", "geneva"):
        await library.add(name)
    await library.refresh()
    assert ("who", "world health organization") in await library.merged()
    await library.add("band")  # gives WHO another meaning
    await add_three_alike(library)

    class Slow(FakeListChatModel):
        async def _agenerate(self, *said: Any, **more: Any) -> ChatResult:
            await library.one("WHO", "Geneva")
            return await super()._agenerate(*said, **more)

    await resolve(
        database, scope, as_chat_model(Slow(responses=['{"same": []}'], disable_streaming=True))
    )

    mine = [one for one in await library.record.merges(scope) if not one.automatic]
    assert [(one.from_id, one.into_id) for one in mine] == [
        (library.id("WHO"), library.id("Geneva"))
    ]
    assert ("who", "geneva") in await library.merged()


async def test_pairs_of_a_graph_without_statistics_are_looked_up_one_by_one(
    database: Database, scope: Scope
) -> None:
    """Left to the planner each entity was joined with each, which took a minute."""
    ids = [UUID(int=number) for number in range(1, 5_001)]
    said = [MentionRow(own, None, MentionKind.IMPORT, str(own)) for own in ids]
    record = GraphRecord(database)
    await record.add(scope, GraphEvidence(said))
    async with record.writing(scope) as writer:
        pairs = zip(ids[::2], ids[1::2], strict=True)
        await note_pairs(writer, [Pair(*both, "open", "alike", 0.5) for both in pairs])

    async with asyncio.timeout(5):
        found = await ResolutionStore(database).candidates(scope, 50)

    assert [(one.one_id, one.other_id) for one in found] == list(
        zip(ids[:100:2], ids[1:100:2], strict=True)
    )


async def test_alike_names_with_ids_of_the_users_own_are_listed_and_only_he_makes_them_one(
    library: Library, database: Database, scope: Scope
) -> None:
    own = {"m1": "盐酸二甲双胍缓释片", "m2": "盐酸二甲双胍缓释片剂"}
    said = [
        MentionRow(library.id(name), None, MentionKind.IMPORT, name, "DRUG", external_id=id_)
        for id_, name in own.items()
    ]
    async with library.record.writing(scope) as writer:
        await writer.add(GraphEvidence(said))
    store = ResolutionStore(database)
    chat = as_chat_model(FakeListChatModel(responses=['{"same": [1]}']))

    done = await resolve(database, scope, chat)

    assert (done.judged, done.merged) == (0, 0)
    [listed] = await store.candidates(scope, 10)
    assert {listed.one_name, listed.other_name} == set(own.values())
    await library.one(own["m2"], own["m1"])
    assert await store.candidates(scope, 10) == []
