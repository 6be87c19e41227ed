"""local, global, hybrid and mix over a real PostgreSQL: what each finds, and what it goes without."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from sextant.domain.errors import GraphNotFound, GraphStoreUnavailable
from sextant.domain.graph import Community, Entity, Finding, MentionKind
from sextant.domain.retrieval import ItemKind, Retrieval, RetrievalError
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import WarningCode
from sextant.evals.dataset import CorpusPassage
from sextant.evals.sets import load_corpus
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.models.protocols import Embedder, Vectors
from sextant.retrievers import GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.text.characters import language_of
from tests.embedders import BrokenEmbedder
from tests.integration.communities import keep
from tests.integration.retrievers.modes_world import PASSAGES, QUESTION, files, over
from tests.integration.stored_state import GraphRecord
from tests.sentences import sentence

MODES = ["local", "global", "hybrid", "mix"]


class GoneGraph(PostgresGraph):
    """A graph store whose server is gone."""

    async def get_entities(self, *args: Any, **kwargs: Any) -> list[Entity]:
        raise GraphStoreUnavailable("Neo4j does not answer.")


class MergingGraph(PostgresGraph):
    """Somebody merges what is asked for into something else, just before."""

    async def get_entities(self, scope: Scope, ids: Sequence[UUID], *more: Any) -> list[Entity]:
        others = [one.id for one in await self.top_entities(scope, 1000) if one.id not in ids]
        await GraphRecord(self._database).merge(scope, [Merge(ids[0], others[0])])
        return await super().get_entities(scope, ids, *more)


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]


class SilentEmbedder(HashEmbedder):
    """An embedding model that never answers a question."""

    async def embed_query(self, text: str) -> Vectors:
        await asyncio.Event().wait()
        return await super().embed_query(text)


@pytest_asyncio.fixture(scope="module")
async def scope(database: Database) -> Scope:
    """Return one knowledge base for all tests that only read it."""
    scope = Scope(f"user-{uuid4()}", "read-only")
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    return scope


@pytest_asyncio.fixture(scope="module")
async def reported(database: Database) -> Scope:
    """Return another one, with two reports: on places, and on board games."""
    scope = Scope(f"user-{uuid4()}", "with reports")
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    await write_reports(database, HashEmbedder(384), scope)
    return scope


@pytest.mark.parametrize("mode", ["naive", *MODES])
async def test_filters_bound_every_mode_and_leave_it_as_many_as_there_are(
    retriever: GraphRetriever, reported: Scope, mode: str
) -> None:
    """`k` asked means min(k, passages that the filters let through), in memory as in the store."""
    everything = await retriever.search(reported, QUESTION, mode="naive", top_k=50)
    wanted = {"river", "chess", "bread"}
    own = {item.external_id: item.metadata["section_id"] for item in everything.results}
    bound = {"sectionId": [own[name] for name in wanted]}
    for top_k, number in ((2, 2), (50, 3)):
        found = await retriever.search(reported, QUESTION, mode=mode, top_k=top_k, filters=bound)
        assert len(found.results) == number
        assert {item.kind for item in found.results} == {ItemKind.CHUNK}
        assert {item.external_id for item in found.results} <= wanted
    # Only who asked for what the reports say misses them.
    assert (sentence(WarningCode.REPORTS_NOT_FILTERED, "en") in found.warnings) is (
        mode in ("global", "hybrid")
    )


@pytest.mark.parametrize("mode", ["naive", *MODES])
async def test_each_lane_that_found_a_result_has_a_time_within_that_of_the_search(
    retriever: GraphRetriever, reported: Scope, mode: str
) -> None:
    found = await retriever.search(reported, QUESTION, mode=mode)
    lanes = {name for item in found.results for name in item.lanes}
    assert mode in lanes | {"naive", "hybrid"}
    assert all(0 < found.timings[lane] <= found.timings["total"] for lane in lanes)


async def test_a_filter_changes_no_score(retriever: GraphRetriever, reported: Scope) -> None:
    """Scores stand beside the best of all, be it kept out or not."""
    every = await retriever.search(reported, QUESTION, mode="mix", top_k=50)
    for one in every.results[:4]:
        bound = {"sectionId": [one.metadata["section_id"]]}
        found = await retriever.search(reported, QUESTION, mode="mix", top_k=5, filters=bound)
        assert {own.id: own.score for own in found.results}[one.id] == pytest.approx(one.score)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["？！…", "🙂🙃", "what is the"])
async def test_without_keywords_it_is_said_that_meaning_alone_found_the_results(
    retriever: GraphRetriever, reported: Scope, mode: str, query: str
) -> None:
    """As where chunks are searched."""
    found = await retriever.search(reported, query, mode=mode)
    assert found.results
    assert found.warnings == (sentence(WarningCode.KEYWORDS_MISSING, language_of(query)),)
    assert not [item for item in found.results if "keyword" in item.lanes]


@pytest.mark.parametrize("mode", ["local", "mix"])
async def test_a_word_that_is_too_short_for_a_keyword_finds_passages_all_the_same(
    retriever: GraphRetriever, database: Database, scope: Scope, mode: str
) -> None:
    own = Scope(scope.user_id, f"short-{mode}")
    passages = [CorpusPassage("mercury", "汞", "汞在常温下是液体。"), *PASSAGES]
    await load_corpus(database, HashEmbedder(384), own, passages)
    found = await retriever.search(own, "汞", mode=mode)
    assert files(found)[0] == "mercury"
    assert found.warnings == ()


async def test_naive_goes_by_meaning_whatever_the_question(
    retriever: GraphRetriever, reported: Scope
) -> None:
    assert (await retriever.search(reported, "？！…", mode="naive")).warnings == ()


@pytest.fixture
def retriever(database: Database, embedder: Embedder, settings: Settings) -> GraphRetriever:
    return over(database, embedder, settings)


async def write_reports(database: Database, embedder: Embedder, scope: Scope) -> None:
    index = await ScopeIndexes(ChunkStore(database), GraphRecord(database), 1000).get(scope)
    every = [index.chunk_ids[row] for row in range(len(index.chunk_ids))]
    stored = await ChunkStore(database).get(scope, every)
    ids = {chunk.external_id: chunk.id for chunk in stored}
    graph = PostgresGraph(database)

    async def community(title: str, summary: str, rating: float, *names: str) -> Community:
        told = [passage for passage in PASSAGES if passage.id in names]
        members = await graph.entities_by_alias(scope, [passage.title for passage in told])
        return Community(
            uuid4(), 0, None, title, summary,
            tuple(Finding(passage.text, (ids[passage.id],)) for passage in told),
            rating, tuple(hit.entity.id for hit in members),
        )  # fmt: skip

    places = await community("American places", "States and sites.", 6.0, "mounds", "state")
    games = await community("Board games", "Chess and its phases.", 8.0, "chess", "chess2")
    store = CommunityStore(database)
    await keep(database, scope, [places, games])
    waiting = await store.to_embed(scope)
    vectors = await embedder.embed_passages([report.text for report in waiting])
    await store.store_vectors(scope, waiting, vectors)


def of_kind(found: Retrieval, kind: ItemKind) -> list[str]:
    return [item.text for item in found.graph_items if item.kind is kind]


@pytest.mark.parametrize("mode", ["local", "hybrid", "mix"])
async def test_a_passage_one_hop_from_the_named_entity_is_found(
    retriever: GraphRetriever, scope: Scope, mode: str
) -> None:
    found = await retriever.search(scope, QUESTION, mode=mode, top_k=2)
    assert set(files(found)) == {"mounds", "state"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("top_k", [1, 3, len(PASSAGES), 50])
async def test_as_many_results_come_as_were_asked_for_with_falling_scores(
    retriever: GraphRetriever, scope: Scope, mode: str, top_k: int
) -> None:
    found = await retriever.search(scope, QUESTION, mode=mode, top_k=top_k)
    assert len(found.results) == min(top_k, len(PASSAGES))
    scores = [item.score for item in found.results]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0
    assert len({item.id for item in found.results}) == len(found.results)


async def test_entities_and_relations_come_along_with_ids_names_types_and_directions(
    retriever: GraphRetriever, scope: Scope
) -> None:
    found = await retriever.search(scope, "Which rivers does Missouri have?", mode="local")
    entities = {one["id"]: one for one in found.graph_context.entities}
    assert "Missouri" in [one["name"] for one in entities.values()]
    assert all(set(one) == {"id", "name", "type"} for one in entities.values())
    assert found.graph_context.entities[0]["name"] == "Missouri"
    for relation in found.graph_context.relationships:
        assert set(relation) == {"source", "target", "type"}
        assert {relation["source"], relation["target"]} <= set(entities)


async def test_global_gives_reports_and_then_the_passages_they_rest_on(
    retriever: GraphRetriever, reported: Scope
) -> None:
    found = await retriever.search(
        reported, "Which board games are told of?", mode="global", top_k=4
    )
    assert found.results[0].kind is ItemKind.COMMUNITY
    assert found.results[0].metadata["title"] == "Board games"
    assert set(files(found)[:2]) == {"chess", "chess2"}
    assert found.warnings == ()
    assert {"Openings", "Endgames"} <= {one["name"] for one in found.graph_context.entities}


async def test_a_report_tells_which_lane_found_it_and_where_its_score_comes_from(
    retriever: GraphRetriever, reported: Scope
) -> None:
    found = await retriever.search(
        reported, "Which board games are told of?", mode="global", top_k=4
    )
    reports = [item for item in found.results if item.kind is ItemKind.COMMUNITY]
    assert [item.lanes["reports"].rank for item in reports] == [*range(1, len(reports) + 1)]
    for item in found.results:
        told = sum(lane.contribution or 0.0 for lane in item.lanes.values())
        assert told == pytest.approx(item.score)
    assert found.timings["reports"] > 0


async def test_reports_come_along_in_mix_but_results_are_passages(
    retriever: GraphRetriever, reported: Scope
) -> None:
    found = await retriever.search(reported, "Which board games are told of?", mode="mix")
    assert {item.kind for item in found.results} == {ItemKind.CHUNK}
    assert any("Board games" in text for text in of_kind(found, ItemKind.COMMUNITY))


async def test_in_hybrid_reports_stand_among_the_passages_of_local_and_of_global(
    retriever: GraphRetriever, reported: Scope
) -> None:
    question = "Which board games are told of?"
    found = await retriever.search(reported, question, mode="hybrid", top_k=6)
    reports = [item for item in found.results if item.kind is ItemKind.COMMUNITY]
    assert reports
    assert any("Board games" in item.text for item in reports)
    assert len(found.results) == 6
    scores = [item.score for item in found.results]
    assert scores == sorted(scores, reverse=True)
    for item in found.results:
        told = sum(lane.contribution or 0.0 for lane in item.lanes.values())
        assert told == pytest.approx(item.score)
    lanes = {lane for item in found.results for lane in item.lanes}
    assert {"local", "global", "reports"} <= lanes
    assert found.results[0].kind is ItemKind.CHUNK


async def test_in_hybrid_an_account_of_something_finds_what_global_finds(
    retriever: GraphRetriever, reported: Scope
) -> None:
    question = "What do the documents say about board games?"
    found = {
        mode: await retriever.search(reported, question, mode=mode, top_k=6)
        for mode in ("global", "hybrid", "local")
    }
    ids = {mode: {item.id for item in one.results} for mode, one in found.items()}
    assert ids["hybrid"] == ids["global"] != ids["local"]


async def test_the_graphs_own_upkeep_writes_reports_that_global_finds(
    retriever: GraphRetriever, database: Database, embedder: Embedder
) -> None:
    kept = Scope(f"user-{uuid4()}", "kept up")
    await load_corpus(database, embedder, kept, PASSAGES)
    await GraphUpkeep(database, embedder).refresh(kept)
    found = await retriever.search(kept, "Where does the Meramec River flow?", mode="global")
    assert found.results[0].kind is ItemKind.COMMUNITY
    assert set(files(found)) & {"river", "missouri"}


async def test_without_reports_global_says_how_to_make_them_and_finds_passages(
    retriever: GraphRetriever, scope: Scope
) -> None:
    found = await retriever.search(scope, "Who frees the memory of Rust?", mode="global", top_k=1)
    assert files(found) == ["rust"]
    assert found.warnings == (sentence(WarningCode.REPORTS_MISSING, "en"),)
    found = await retriever.search(scope, "谁释放 Rust 的内存？", mode="global", top_k=1)
    assert found.warnings == (sentence(WarningCode.REPORTS_MISSING, "zh"),)
    assert all("sextant communities" in warning for warning in found.warnings)


async def test_mix_says_nothing_of_reports_that_are_not_there(
    retriever: GraphRetriever, scope: Scope
) -> None:
    assert (await retriever.search(scope, QUESTION, mode="mix")).warnings == ()


async def test_local_without_an_entity_goes_by_similarity_and_says_so(
    retriever: GraphRetriever, scope: Scope
) -> None:
    found = await retriever.search(scope, "overnight cold rests", mode="local", top_k=1)
    assert files(found) == ["bread"]
    assert found.warnings == (sentence(WarningCode.ENTITIES_NOT_NAMED, "en"),)


@pytest.mark.parametrize("mode", ["local", "hybrid", "mix"])
async def test_without_a_model_for_the_question_words_and_graph_go_on(
    database: Database,
    settings: Settings,
    scope: Scope,
    mode: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = await over(database, BrokenEmbedder(384), settings).search(
        scope, QUESTION, mode=mode, top_k=2
    )
    assert set(files(found)) == {"mounds", "state"}
    assert sentence(WarningCode.EMBEDDING_FAILED, "en") in found.warnings
    [why] = errors(caplog)
    assert why.startswith("lane vector failed: The embedding model does not answer.")
    assert caplog.messages.count(sentence(WarningCode.EMBEDDING_FAILED, "zh")) == 1


@pytest.mark.parametrize("mode", ["local", "mix"])
async def test_a_model_that_never_answers_is_given_up_and_keywords_step_in(
    database: Database, settings: Settings, scope: Scope, mode: str
) -> None:
    retrieval = settings.retrieval.model_copy(update={"lane_timeout": 1.0})
    hasty = settings.model_copy(update={"retrieval": retrieval})
    retriever = over(database, SilentEmbedder(384), hasty)
    found = await retriever.search(scope, "Meramec River", mode=mode)
    assert "river" in files(found)
    assert found.timings[mode] == pytest.approx(1000)
    assert found.warnings


@pytest.mark.parametrize("mode", ["local", "hybrid", "mix"])
async def test_a_graph_store_that_is_gone_costs_entities_and_reports_but_no_passage(  # noqa: PLR0917 - fixtures
    database: Database,
    embedder: Embedder,
    settings: Settings,
    scope: Scope,
    mode: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    retriever = over(database, embedder, settings, GoneGraph(database))
    found = await retriever.search(scope, QUESTION, mode=mode, top_k=2)
    assert set(files(found)) == {"mounds", "state"}
    assert found.graph_context.entities == ()
    assert sentence(WarningCode.GRAPH_STORE_FAILED, "en") in found.warnings
    [why] = errors(caplog)
    assert why.startswith("lane graph failed: Neo4j does not answer.")


@pytest.mark.parametrize("mode", MODES)
async def test_an_entity_that_is_merged_while_it_is_read_costs_no_passage(
    database: Database,
    embedder: Embedder,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    mode: str,
) -> None:
    scope = Scope(f"user-{uuid4()}", mode)
    await load_corpus(database, HashEmbedder(384), scope, PASSAGES)
    await write_reports(database, HashEmbedder(384), scope)
    before = await over(database, embedder, settings).search(scope, QUESTION, mode=mode)
    merging = over(database, embedder, settings, MergingGraph(database))
    found = await merging.search(scope, QUESTION, mode=mode)
    assert files(found) == files(before)
    assert len(found.graph_items) < len(before.graph_items)
    assert errors(caplog) == []


async def test_when_the_reports_cannot_be_read_global_goes_on_by_meaning_and_words(
    retriever: GraphRetriever, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*args: Any, **kwargs: Any) -> Any:
        raise GraphStoreUnavailable("gone")

    monkeypatch.setattr("sextant.stores.graph.record.GraphRecord.reports", fails)
    found = await retriever.search(scope, "Who frees the memory of Rust?", mode="global", top_k=1)
    assert files(found) == ["rust"]
    assert any("global" in warning for warning in found.warnings)


@pytest.mark.parametrize("mode", MODES)
async def test_when_all_lanes_fail_every_cause_is_told(
    database: Database,
    settings: Settings,
    scope: Scope,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*args: Any, **kwargs: Any) -> Any:
        raise GraphStoreUnavailable("gone")

    for method in (
        "keyword_matches",
        "nearest",
        "stamp",
    ):
        monkeypatch.setattr(ChunkStore, method, fails)
    retriever = over(database, HashEmbedder(384), settings)
    with pytest.raises(RetrievalError, match="知识库检索失败") as failed:
        await retriever.search(scope, QUESTION, mode=mode)
    assert {"vector", "keyword"} < set(failed.value.causes)


@pytest.mark.parametrize("mode", MODES)
async def test_an_unknown_knowledge_base_is_said_to_be_so(
    retriever: GraphRetriever, scope: Scope, mode: str
) -> None:
    with pytest.raises(GraphNotFound):
        await retriever.search(Scope(scope.user_id, "nowhere"), QUESTION, mode=mode)


@pytest.mark.parametrize("mode", ["naive", *MODES])
async def test_a_graph_without_passages_says_why_nothing_is_found(
    retriever: GraphRetriever, database: Database, mode: str
) -> None:
    """An import of entities and relations alone went well, and every question after it found nothing."""
    alone = Scope(f"user-{uuid4()}", "a graph alone")
    stated = [
        MentionRow(entity_id(alone, name), None, MentionKind.IMPORT, name)
        for name in ("Metformin", "Diabetes")
    ]
    await GraphRecord(database).add(alone, GraphEvidence(stated))

    found = await retriever.search(alone, "What treats diabetes?", mode=mode)

    assert found.results == ()
    assert found.warnings == (sentence(WarningCode.PASSAGES_MISSING, "en"),)


@pytest.mark.parametrize("mode", MODES)
async def test_filters_that_name_what_there_is_not_say_so(
    retriever: GraphRetriever, scope: Scope, mode: str
) -> None:
    """A misspelt document found nothing, without a word."""
    nowhere, elsewhere = str(uuid4()), "other.md"
    [known, *_] = (await retriever.search(scope, QUESTION, mode="naive", top_k=1)).results
    named: dict[str, Any] = {"documentIds": [known.document_id, nowhere, elsewhere]}
    found = await retriever.search(scope, QUESTION, mode=mode, filters=named)
    assert found.results
    [warning] = set(found.warnings) - {sentence(WarningCode.REPORTS_NOT_FILTERED)}
    assert f"“{nowhere}”, “{elsewhere}”" in warning
    assert str(known.document_id) not in warning
    sought = await retriever.search(scope, "它是什么？", mode=mode, filters={"sectionId": nowhere})
    assert sum(nowhere in warning for warning in sought.warnings) == 1
    known_alone = {"documentIds": [known.document_id, known.metadata["source"]]}
    found = await retriever.search(scope, QUESTION, mode=mode, filters=known_alone)
    assert not set(found.warnings) - {sentence(WarningCode.REPORTS_NOT_FILTERED)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "query", ["的了吗", "！？…", "😀😀", "' OR 1=1 --", "a AND (", "问" * 2000]
)
async def test_an_odd_question_is_searched_all_the_same(
    retriever: GraphRetriever, scope: Scope, mode: str, query: str
) -> None:
    assert len((await retriever.search(scope, query, mode=mode, top_k=3)).results) == 3


async def test_the_synchronous_twin_gives_ten_scored_results_in_hybrid(
    retriever: GraphRetriever, scope: Scope
) -> None:
    results = retriever.retrieve(
        QUESTION, graph_id=scope.graph_id, user_id=scope.user_id, mode="hybrid", top_k=5
    )
    assert len(results) == 5
    assert all(item.score > 0 for item in results)


async def test_as_a_langchain_retriever_it_gives_documents_in_every_mode(
    retriever: GraphRetriever, scope: Scope
) -> None:
    for mode in MODES:
        bound = retriever.bind(graph_id=scope.graph_id, user_id=scope.user_id, mode=mode, top_k=2)
        documents = await bound.ainvoke(QUESTION)
        assert documents[0].page_content
