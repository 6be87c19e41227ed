"""Full text and filters over entities: what every graph store finds, whichever is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.retrievers.entity_search.lanes import words_of
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.protocol import EntityFilter
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import ReadSide

MODEL, IMPORT = MentionKind.MODEL, MentionKind.IMPORT

ENTITIES = {
    "所有权系统": ("CONCEPT", "Rust的核心内存管理机制，在编译期保证内存安全。"),
    "Borrow checker": (
        "TOOL",
        "Verifies references in Rust programs; memory safety without costs.",
    ),
    "Garbage collector": ("TOOL", "Frees memory that no program refers to any more."),
    "Memory": ("CONCEPT", "Where programs keep values."),
    "糖尿病": ("DISEASE", "一种以高血糖为特征的代谢性疾病。"),
    "糖尿病肾病": ("DISEASE", "糖尿病引起的肾脏损害。"),
}

Fill = Callable[[], Awaitable[None]]


def about(scope: Scope, name: str, kind: str, description: str) -> GraphEvidence:
    return GraphEvidence(
        [MentionRow(entity_id(scope, name), None, IMPORT, name, kind, description)]
    )


@pytest.fixture
def fill(reading: ReadSide, record: GraphRecord, scope: Scope) -> Fill:
    async def run() -> None:
        for name, (kind, description) in ENTITIES.items():
            await record.add(scope, about(scope, name, kind, description))
        await reading.catch_up(scope)

    return run


async def names(reading: ReadSide, scope: Scope, *words: str, **bounds: object) -> list[str]:
    only = EntityFilter(**bounds)  # type: ignore[arg-type]
    hits = await reading.graph.entities_by_words(scope, words, 10, only)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    return [hit.entity.name for hit in hits]


async def test_all_words_are_wanted_and_english_is_stemmed(
    reading: ReadSide, scope: Scope, fill: Fill
) -> None:
    await fill()
    assert await names(reading, scope, "rust", "verify") == ["Borrow checker"]
    assert await names(reading, scope, "cost") == ["Borrow checker"]
    assert set(await names(reading, scope, "program", "memories")) == {
        *("Borrow checker", "Garbage collector", "Memory"),
    }


async def test_words_of_another_script_are_found_whole(
    reading: ReadSide, record: GraphRecord, scope: Scope
) -> None:
    for name, description in (("हिन्दी भाषा", "इतिहास"), ("हिन्द", "महासागर")):
        await record.add(scope, about(scope, name, "CONCEPT", description))
    await reading.catch_up(scope)
    assert await names(reading, scope, *words_of("हिन्दी का इतिहास")) == ["हिन्दी भाषा"]


async def test_chinese_is_found_inside_names_and_descriptions(
    reading: ReadSide, scope: Scope, fill: Fill
) -> None:
    await fill()
    assert await names(reading, scope, "所有权") == ["所有权系统"]
    assert await names(reading, scope, "内存", "安全") == ["所有权系统"]
    assert await names(reading, scope, "rust", "内存", "安全") == ["所有权系统"]
    assert set(await names(reading, scope, "糖尿病")) == {"糖尿病", "糖尿病肾病"}
    assert await names(reading, scope, "糖尿病", "肾脏") == ["糖尿病肾病"]


async def test_a_name_counts_more_than_a_description(
    reading: ReadSide, scope: Scope, fill: Fill
) -> None:
    await fill()
    assert (await names(reading, scope, "memory"))[0] == "Memory"


async def test_where_no_entity_holds_all_words_any_of_them_counts(
    reading: ReadSide, scope: Scope, fill: Fill
) -> None:
    await fill()
    found = await names(reading, scope, "garbage", "肾脏")
    assert set(found) == {"Garbage collector", "糖尿病肾病"}


@pytest.mark.parametrize(
    "words", [(), ("the", "of"), ("!?",), ("🙂",), ("",), ("\x00",), ("zzzz",)]
)
async def test_words_that_say_nothing_find_nothing(
    reading: ReadSide, scope: Scope, fill: Fill, words: tuple[str, ...]
) -> None:
    await fill()
    assert await names(reading, scope, *words) == []


async def test_a_changed_description_is_found_by_its_new_words(
    reading: ReadSide, scope: Scope, record: GraphRecord, fill: Fill
) -> None:
    await fill()
    assert await names(reading, scope, "turbulence") == []
    await record.add(scope, about(scope, "Memory", "CONCEPT", "Turbulence of a longer sentence."))
    await reading.catch_up(scope)
    assert await names(reading, scope, "turbulence") == ["Memory"]


async def test_types_and_times_bound_what_is_found(
    reading: ReadSide, scope: Scope, record: GraphRecord, fill: Fill, database: Database
) -> None:
    await fill()
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute("select max(created_at) from entities")
        row = await cursor.fetchone()
    assert row is not None
    moment = row[0]
    await record.add(scope, about(scope, "Memory leak", "PROBLEM", "Memory that is never freed."))
    vectors = EntityVectors(database)
    texts = await vectors.to_embed(scope)
    await vectors.store(scope, texts, np.stack([near(place) for place in range(len(texts))]))
    await reading.catch_up(scope)
    ids = [entity_id(scope, name) for name in (*ENTITIES, "Memory leak")]
    for bounds, expected in (
        ({"entity_types": ("concept", "problem")}, {"Memory", "Memory leak"}),
        ({"entity_types": ("problem",)}, {"Memory leak"}),
        (
            {"created_before": moment + timedelta(microseconds=1)},
            {"Borrow checker", "Garbage collector", "Memory"},
        ),
        ({"created_after": moment + timedelta(microseconds=1)}, {"Memory leak"}),
        ({"created_before": moment, "entity_types": ("concept",)}, {"Memory"}),
        ({"created_before": datetime(2020, 1, 1, tzinfo=UTC)}, set()),
        ({"entity_types": ("'; drop table entities",)}, set()),
    ):
        only = EntityFilter(**bounds)
        words = await reading.graph.entities_by_words(scope, ["memory"], 10, only)
        assert {hit.entity.name for hit in words} == expected, bounds
        every = await reading.graph.get_entities(scope, ids, only)
        assert expected <= {one.name for one in every}, bounds
        nearest = await reading.graph.entities_by_vector(scope, near(0), 100, only)
        assert {hit.entity.name for hit in nearest} == {one.name for one in every}, bounds
        scores = [hit.score for hit in nearest]
        assert scores == sorted(scores, reverse=True)


def near(place: int) -> Vectors:
    vector = np.zeros(384, np.float32)
    vector[0], vector[1] = np.cos(place / 10), np.sin(place / 10)
    return vector


async def test_another_user_or_graph_finds_none_of_it(
    reading: ReadSide, scope: Scope, record: GraphRecord, fill: Fill
) -> None:
    await fill()
    other = Scope(scope.user_id, "other")
    await record.add(other, about(other, "Elsewhere", "CONCEPT", "Nothing of it."))
    await reading.catch_up(other)
    for stranger in (other, Scope(f"{scope.user_id}-not", scope.graph_id)):
        assert await names(reading, stranger, "memory") == []
        only = EntityFilter(entity_types=("concept",))
        found = await reading.graph.get_entities(stranger, [entity_id(scope, "Memory")], only)
        assert found == []
        hits = await reading.graph.entities_by_vector(stranger, near(0), 5, only)
        assert "Memory" not in {hit.entity.name for hit in hits}


async def test_no_words_are_a_syntax_error(
    reading: ReadSide, scope: Scope, record: GraphRecord
) -> None:
    await record.add(scope, about(scope, "Ordinary name", "X", "Nothing more."))
    await reading.catch_up(scope)
    signs = st.text(
        st.sampled_from("+-&|!(){}[]^\"~*?:\\/ANDORT \x00\ud800糖尿 <>=`$#@'_."), max_size=20
    )
    examples: list[str] = []

    @settings(max_examples=80, database=None, derandomize=True)
    @given(signs | st.text(max_size=20))
    def collect(text: str) -> None:
        examples.append(text)

    collect()
    for text in ["AND", "NOT", 'a AND "', "name:x", "长" * 1700, "#1", "'#1'", *examples]:
        hits = await reading.graph.entities_by_words(scope, [text, "zzordinary"], 3)
        assert [hit.entity.name for hit in hits] in (["Ordinary name"], [])
