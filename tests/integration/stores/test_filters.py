"""Filters in the store: exactly the chunks that brute force finds, of this tenant only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4, uuid5

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.graph import MentionKind
from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors, document_patterns, title_pattern
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import keyword_hits, vector_hits
from tests.integration.stored_state import GraphRecord

LABELS = ("付款", "Payment terms", "违约责任", "Delivery", "保密")
TAGS = ("合同", "Table", "draft", "zh")
TYPES = ("PERSON", "ORGANIZATION", "TERM")
TITLES = ("第1章 付款", "第2章 违约", "1.1 Terms", "1.10 Others", "附则")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DOCUMENTS, CHUNKS = 4, 40


class Corpus:
    """What is stored in a scope, for brute force."""

    def __init__(self) -> None:
        self.titles: dict[UUID, str] = {}
        self.tags: dict[UUID, list[str]] = {}
        self.parents: dict[UUID, UUID | None] = {}
        self.types: dict[UUID, set[str]] = {}
        self.chunks: list[tuple[UUID, Chunk]] = []

    def matching(self, filters: ChunkFilters) -> set[UUID]:
        return {chunk.id for own, chunk in self.chunks if self._meets(own, chunk, filters)}

    def _meets(self, document: UUID, chunk: Chunk, f: ChunkFilters) -> bool:
        assert chunk.created_at is not None
        tags = {tag.lower() for tag in (*chunk.tags, *self.tags[document])}
        from_document = (self.titles[document], *chunk.section_path)
        return all(
            (
                not f.document_ids or str(document) in f.document_ids,
                f.created_after is None or chunk.created_at >= f.created_after,
                f.created_before is None or chunk.created_at < f.created_before,
                not f.section_id or bool(self._above(chunk.section_id) & set(f.section_id)),
                not f.tags or any(tag.lower() in tags for tag in f.tags),
                not f.topic_labels
                or any(w.lower() in o.lower() for w in f.topic_labels for o in chunk.topic_labels),
                not f.entity_types
                or any(one.upper() in self.types[chunk.id] for one in f.entity_types),
                _begins(chunk.section_path, list(map(title_pattern, f.parent_section_path)))
                or _begins(from_document, document_patterns(f.parent_section_path)),
            )
        )

    def _above(self, section: UUID | None) -> set[UUID]:
        return {section, *self._above(self.parents[section])} if section else set()


def _begins(path: Sequence[str], wanted: Sequence[str]) -> bool:
    return len(path) >= len(wanted) and all(
        re.search(pattern, own, re.IGNORECASE) for pattern, own in zip(wanted, path, strict=False)
    )


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    drawn = np.random.default_rng(7).normal(size=(DOCUMENTS * CHUNKS, 384))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


async def fill(database: Database, scope: Scope, vectors: Vectors) -> Corpus:
    """Return four documents of forty chunks with metadata drawn by a fixed seed."""
    corpus, dice = Corpus(), np.random.default_rng(5)
    documents, mentions = DocumentStore(database), list[MentionRow]()

    def some(of: Sequence[str]) -> tuple[str, ...]:
        return tuple(one for one in of if dice.random() < 0.25)

    for number in range(DOCUMENTS):
        own_tags = list(some(TAGS))
        opened = await documents.register(
            scope,
            source=f"{number}.txt",
            filename=f"{number}.txt",
            media_type="text/plain",
            content=str(uuid4()).encode(),
            metadata={"tags": own_tags},
        )
        own = opened.document_id
        corpus.titles[own], corpus.tags[own] = f"供货合同 {number}", own_tags
        root = Section(uuid5(own, "root"), None, corpus.titles[own], 0, 0, 0, 9)
        sections = [root]
        for place, title in enumerate(TITLES):
            parent = sections[int(dice.integers(len(sections)))]
            path = (*parent.path, title)
            one = Section(uuid5(own, title), parent.id, title, len(path), place, 0, 9, path)
            sections.append(one)
        corpus.parents |= {section.id: section.parent_id for section in sections}
        chunks = []
        for ordinal in range(CHUNKS):
            section = sections[int(dice.integers(len(sections)))]
            chunk = Chunk(
                uuid5(own, str(ordinal)),
                section.id,
                ordinal,
                0,
                4,
                f"付款 {ordinal} alpha" if ordinal % 2 else f"beta {ordinal}",
                section_path=section.path,
                tags=some(TAGS),
                topic_labels=some(LABELS),
                created_at=FIRST + timedelta(days=int(dice.integers(60))),
            )
            chunks.append(chunk)
            corpus.chunks.append((own, chunk))
            corpus.types[chunk.id] = set(some(TYPES))
            for kind in sorted(corpus.types[chunk.id]):
                name = f"{kind} {ordinal % 5}"
                mentions.append(
                    MentionRow(
                        entity_id(scope, name), chunk.id, MentionKind.TERM, name, entity_type=kind
                    )
                )
        parsed = ParsedDocument(corpus.titles[own], "text", "zh", tuple(sections), tuple(chunks))
        await documents.begin(scope, own, parsed)
        part = vectors[number * CHUNKS : (number + 1) * CHUNKS]
        await documents.add_chunks(scope, own, chunks, part)
        await documents.publish(scope, own)
    async with GraphRecord(database).writing(scope) as writer:
        await writer.add(GraphEvidence(mentions, [], []))
    return corpus


_DAYS = st.integers(-2, 62).map(lambda days: FIRST + timedelta(days=days))
_FILTERS: st.SearchStrategy[dict[str, object]] = st.builds(
    dict,
    topicLabels=st.lists(st.sampled_from(["付款", "pay", "TERMS", "责任", "x"]), max_size=2),
    parentSectionPath=st.sampled_from(
        [
            [],
            ["合同"],
            ["合同 1"],
            ["第1章"],
            ["付款"],
            ["1.1"],
            ["合同", "第2章"],
            ["第1章", "违约"],
        ]
    ),
    entityTypes=st.lists(st.sampled_from(["person", "Organization", "EVENT"]), max_size=2),
    tags=st.lists(st.sampled_from(["合同", "table", "ZH", "none"]), max_size=2),
    createdAfter=st.none() | _DAYS,
    createdBefore=st.none() | _DAYS,
    documents=st.lists(st.integers(0, DOCUMENTS), max_size=2),
    sections=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(TITLES)), max_size=2),
)


@pytest.mark.parametrize("bounds", [6])
async def test_filters_find_what_brute_force_finds(
    database: Database, scope: Scope, vectors: Vectors, bounds: int
) -> None:
    """Filters equal brute force over random data, and a search returns min(k, matching) of them."""
    corpus = await fill(database, scope, vectors)
    own = list(corpus.titles)
    stranger = replace(scope, user_id=f"user-{uuid4()}")
    store = ChunkStore(database)
    drawn: list[dict[str, object]] = []

    @settings(max_examples=80, suppress_health_check=list(HealthCheck))
    @given(_FILTERS, st.integers(0, 2**bounds - 1))
    def draw(wanted: dict[str, object], kept: int) -> None:
        assume(str(wanted["createdAfter"] or "") < str(wanted["createdBefore"] or "~"))
        keys = [key for place, key in enumerate(wanted) if kept >> place & 1]
        drawn.append({key: wanted[key] for key in keys})

    draw()
    for wanted in drawn:
        read = ChunkFilters.read(_with_ids(wanted, own))
        if read is None:
            continue
        expected = corpus.matching(read)
        found = await store.matching_ids(scope, read)
        assert [UUID(int=int(h) << 64 | int(low)) for h, low in found] == sorted(expected), wanted
        near = await vector_hits(store, scope, vectors[0], 7, read)
        assert _ids(hit.chunk for hit in near) == _nearest(corpus, vectors, expected, 7), wanted
        words = await keyword_hits(store, scope, ["付款", "alpha"], 200, read)
        holding = {c.id for _, c in corpus.chunks if "付款" in c.text} & expected
        assert {hit.chunk.id for hit in words} == holding
        assert not len(await store.matching_ids(stranger, read))
        assert await vector_hits(store, stranger, vectors[0], 7, read) == []


def _with_ids(wanted: dict[str, object], own: list[UUID]) -> dict[str, object]:
    """Return the drawn places as ids; a place beyond the last is a document that is not there."""
    known = [*own, uuid4()]
    given = {key: value for key, value in wanted.items() if key not in ("documents", "sections")}
    documents, sections = wanted.get("documents", []), wanted.get("sections", [])
    assert isinstance(documents, list)
    assert isinstance(sections, list)
    given["documentIds"] = [known[place] for place in documents]
    given["sectionId"] = [uuid5(own[place], title) for place, title in sections]
    return given


def _nearest(corpus: Corpus, vectors: Vectors, among: set[UUID], k: int) -> list[UUID]:
    cosines = vectors @ vectors[0]
    rows = [row for row, (_, chunk) in enumerate(corpus.chunks) if chunk.id in among]
    rows.sort(key=lambda row: -cosines[row])
    return [corpus.chunks[row][1].id for row in rows[:k]]


def _ids(chunks: object) -> list[UUID]:
    return [chunk.id for chunk in chunks if isinstance(chunk, StoredChunk)]  # type: ignore[attr-defined]


async def test_a_filtered_search_of_a_scope_with_an_index_is_exact(
    database: Database, scope: Scope, vectors: Vectors
) -> None:
    """An approximate index, filtered afterwards, would come back short."""
    corpus = await fill(database, scope, vectors)
    async with database.transaction(scope.user_id) as connection:
        [number] = await (
            await connection.execute(
                "select scope_id from graphs where user_id = %s", [scope.user_id]
            )
        ).fetchall()
        await connection.execute("select promote_scope(%s)", number)
    read = ChunkFilters.read({"tags": "draft", "topicLabels": "保密"})
    assert read is not None
    expected = corpus.matching(read)
    near = await vector_hits(ChunkStore(database), scope, vectors[0], 50, read)
    assert _ids(hit.chunk for hit in near) == _nearest(corpus, vectors, expected, 50)


async def test_a_vector_of_another_dimension_is_a_clear_error(
    database: Database, scope: Scope, vectors: Vectors
) -> None:
    await fill(database, scope, vectors)
    store = ChunkStore(database)
    for filters in (None, ChunkFilters(created_before=datetime(9999, 1, 1, tzinfo=UTC))):
        with pytest.raises(EmbeddingModelChanged, match="384 and 8"):
            await store.nearest(scope, np.ones(8, np.float32), 5, filters)


async def test_a_document_is_filtered_by_its_id_or_by_its_source(
    database: Database, scope: Scope, vectors: Vectors
) -> None:
    """A user knows an imported document by the id of its line, and a file by its path."""
    corpus = await fill(database, scope, vectors)
    first, second, *_ = corpus.titles
    store = ChunkStore(database)

    for named in (["0.txt", second], [str(first).upper(), "1.txt", "none.txt"]):
        read = ChunkFilters.read({"documentIds": named})
        assert read is not None
        found = await store.matching_ids(scope, read)
        expected = {chunk.id for own, chunk in corpus.chunks if own in (first, second)}
        assert {UUID(int=int(h) << 64 | int(low)) for h, low in found} == expected
