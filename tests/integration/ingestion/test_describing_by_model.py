"""Chunks and sections described by a chat model: structured, batched, tried three times, never worse than before."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from sextant.domain.documents import Section
from sextant.domain.errors import ModelUnavailable
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.importer import Importer
from sextant.ingestion.model_describer import (
    DescribedByModel,
    ModelDescriber,
    estimate_descriptions,
)
from sextant.ingestion.pipeline import Ingestor
from sextant.models.chat.factory import build_chat_model
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.documents.document_reader import DocumentReader
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.model_descriptions import (
    DescribedKind,
    ModelDescription,
    ModelDescriptions,
)
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, failing, fence_json
from tests.integration.ingestion.transferred import stream
from tests.integration.ingestion.uploading import ingest_bytes

SAMPLES = Path(__file__).parents[3] / "samples" / "documents"
Chat = Callable[[ApiRequest], Reply | str]

HANDBOOK = """# Handbook

The handbook says how the warehouse works.

## Orders

Orders are taken by telephone.

### Returns

Returned goods are inspected first.

### Complaints

Complaints are answered within a week.

## Stock

The stock is counted every quarter.
"""
# What is a section by itself, and what is told from several parts.
ALONE, TOLD = {"Returns", "Complaints", "Stock"}, {"Orders", "Handbook"}


def numbers_of(request: ApiRequest) -> list[int]:
    return [int(n) for n in re.findall(r"^\[(\d+)\] ", request.prompt, re.MULTILINE)]


def told(request: ApiRequest, leave_out: int | None = None) -> str:
    """Return what a model says that follows its orders."""
    passages: list[dict[str, Any]] = [
        {
            "passage": number,
            "summary": f"In  short: {number}. " + "x" * 500,
            "keywords": [f"clue {n}" for n in range(20)],
            "topics": ["Pumps", "Pumps", ""],
            "tags": ["procedure"],
        }
        for number in numbers_of(request)
        if number != leave_out
    ]
    return orjson.dumps({"passages": passages}).decode()


def retold(request: ApiRequest) -> str:
    """Return what a model says that repeats the lines it is given: `{…}` around every passage, section by section."""
    data = re.split(r"</?(?:passages|sections)>", request.prompt.split("</document>")[-1])[1]
    texts = re.split(r"^\[\d+\] ", data, flags=re.MULTILINE)[1:]
    lines = [list(filter(None, text.splitlines())) for text in texts]
    passages = [
        {"passage": number, "summary": "{" + " ".join(own)[:180] + "}"}
        for number, own in enumerate(lines, 1)
    ]
    return orjson.dumps({"passages": passages}).decode()


def about_sections(request: ApiRequest) -> bool:
    return "<sections>" in request.prompt.split("</document>")[-1]


@pytest.fixture
async def ingested(ingestor: Ingestor, scope: Scope) -> Scope:
    await ingestor.ingest(scope, [next(iter(sorted(SAMPLES.glob("*.md"))))])
    return scope


@pytest.fixture
async def handbook(ingestor: Ingestor, scope: Scope, tmp_path: Path) -> Scope:
    await ingest(ingestor, scope, tmp_path, HANDBOOK)
    return scope


@pytest.fixture
async def brief(ingestor: Ingestor, scope: Scope, tmp_path: Path) -> Scope:
    await ingest(ingestor, scope, tmp_path, "Orders are taken by telephone.\n")
    return scope


async def ingest(ingestor: Ingestor, scope: Scope, folder: Path, text: str) -> None:
    (folder / "handbook.md").write_text(text, encoding="utf-8")
    await ingestor.ingest(scope, [folder / "handbook.md"])


@asynccontextmanager
async def describer(
    database: Database, settings: Settings, chat: Chat, **extraction: object
) -> AsyncIterator[tuple[ModelDescriber, ScriptedOpenAI]]:
    async with ScriptedOpenAI(chat=chat) as server:
        changed = settings.model_copy(
            update={
                "chat_model": "scripted",
                "openai_base_url": server.base_url,
                "model_retries": 0,
                "extraction": settings.extraction.model_copy(update=extraction),
            }
        )
        model = build_chat_model(changed)
        assert model is not None
        yield ModelDescriber(database, model, changed), server
        await model.close()


async def chunks_of(database: Database, scope: Scope) -> list[StoredChunk]:
    store = ChunkStore(database)
    return await store.get(scope, [one.id for one in await store.passages(scope)])


async def sections_of(database: Database, scope: Scope) -> dict[str, Section]:
    """Return the sections of the only document, by title."""
    (document,) = await DocumentStore(database).list(scope)
    found = await DocumentReader(database).structure(scope, document.id)
    return {one.title: one for one in found}


def counts(done: DescribedByModel) -> tuple[int, int, int]:
    return done.passages, done.sections, done.failed


async def test_a_model_describes_every_chunk_once_within_bounds(
    database: Database, settings: Settings, ingested: Scope
) -> None:
    before = await chunks_of(database, ingested)
    async with describer(database, settings, told) as (own, server):
        done = await own.describe(ingested)
        assert (done.passages, done.failed) == (len(before), 0)
        calls = [one for one in server.chat_requests if not about_sections(one)]
        assert len(calls) == -(-len(before) // 8)
        number = len(server.chat_requests)
        assert counts(await own.describe(ingested)) == (0, 0, 0)
        assert len(server.chat_requests) == number
    for old, new in zip(before, await chunks_of(database, ingested), strict=True):
        assert new.summary.startswith("In short: ")
        assert len(new.summary) == 200
        assert new.summary.endswith("…")
        assert new.keywords == tuple(f"clue {n}" for n in range(8))
        assert new.topics == ("Pumps",)
        assert {*old.topic_labels, "Pumps"} == set(new.topic_labels)
        assert {*old.tags, "procedure"} == set(new.tags)
        assert (new.text, new.neighbours, new.entities) == (old.text, old.neighbours, old.entities)


async def test_sections_are_told_from_what_is_said_in_them_the_deepest_first(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    async with describer(database, settings, retold) as (own, server):
        done = await own.describe(handbook)
        asked = [one for one in server.chat_requests if about_sections(one)]
    after = {title: one.summary for title, one in (await sections_of(database, handbook)).items()}
    assert {title: after[title] for title in ALONE} == {
        "Returns": "{Returned goods are inspected first.}",
        "Complaints": "{Complaints are answered within a week.}",
        "Stock": "{The stock is counted every quarter.}",
    }
    orders = (
        "{Handbook > Orders - {Orders are taken by telephone.} - Returns: {Returned goods are "
        "inspected first.} - Complaints: {Complaints are answered within a week.}}"
    )
    assert after["Orders"] == orders
    assert after["Handbook"].startswith(
        "{Handbook - {The handbook says how the warehouse works.} - Orders: {Hand"
    )
    # The document itself has one part, "Handbook".
    assert (done.sections, done.failed, len(asked)) == (len(after) + 1, 0, len(TOLD))


async def test_a_sections_keywords_and_tags_are_the_models_beside_what_the_document_is(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    before = await sections_of(database, handbook)
    async with describer(database, settings, told) as (own, _):
        await own.describe(handbook)
    for title, new in (await sections_of(database, handbook)).items():
        assert new.keywords == tuple(f"clue {n}" for n in range(8))
        assert {*before[title].tags, "procedure"} == set(new.tags)
        assert (new.path, new.start, new.end) == (
            before[title].path,
            before[title].start,
            before[title].end,
        )


@pytest.mark.parametrize("answer", ["no JSON at all", '{"passages": "none"}'])
async def test_what_the_model_cannot_say_stays_as_it_was_extracted(
    database: Database, settings: Settings, handbook: Scope, answer: str
) -> None:
    chunks, sections = await chunks_of(database, handbook), await sections_of(database, handbook)
    async with describer(database, settings, lambda _: answer) as (own, server):
        for _ in range(3):
            assert counts(await own.describe(handbook)) == (0, 0, len(chunks))
        calls = len(server.chat_requests)
        assert counts(await own.describe(handbook)) == (0, 0, 0)
        assert len(server.chat_requests) == calls
    assert await chunks_of(database, handbook) == chunks
    assert await sections_of(database, handbook) == sections


async def test_a_section_that_the_model_fails_at_is_tried_three_times_and_stays_as_extracted(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    before = await sections_of(database, handbook)

    def only_passages(request: ApiRequest) -> str:
        return "nothing" if about_sections(request) else retold(request)

    async with describer(database, settings, only_passages) as (own, server):
        done = [counts(await own.describe(handbook)) for _ in range(4)]
        asked = sum(map(about_sections, server.chat_requests))
    # "Handbook" has a part of its own, so it is asked about though "Orders" failed.
    assert [failed for _, _, failed in done] == [2, 2, 2, 0]
    assert asked == 2 * 3 * 2  # each with one repair
    after = await sections_of(database, handbook)
    assert {after[title] for title in TOLD} == {before[title] for title in TOLD}
    assert all(after[title].summary.startswith("{") for title in ALONE)


async def test_a_chunk_that_the_model_leaves_out_twice_is_asked_about_by_the_next_run_and_the_sections_around_it(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    def leaving_out(request: ApiRequest) -> str:
        found = re.search(r"\[(\d+)\] Returned goods", request.prompt)
        return told(request, leave_out=int(found[1]) if found else None)

    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, leaving_out) as (own, server):
        done = await own.describe(handbook)
        assert (done.passages, done.failed) == (number - 1, 1)
        asked = [numbers_of(one) for one in server.chat_requests if not about_sections(one)]
        assert [len(numbers) for numbers in asked] == [number, 1]
    async with describer(database, settings, retold) as (own, server):
        done = await own.describe(handbook)
        again = [one.prompt.split("</document>")[-1] for one in server.chat_requests]
    assert done.passages == 1
    assert "Returned goods are inspected first." in again[0]
    titles = [re.findall(r"^\[\d+\] (.+)", one, re.MULTILINE) for one in again[1:]]
    assert titles == [["Handbook > Orders"], ["Handbook"]]  # "Returns" is copied, "Stock" untouched
    assert "Stock: In short" in again[-1]


async def test_of_a_changed_document_only_what_changed_is_asked_about(
    database: Database, settings: Settings, handbook: Scope, ingestor: Ingestor, tmp_path: Path
) -> None:
    async with describer(database, settings, retold) as (own, _):
        await own.describe(handbook)
    before = await sections_of(database, handbook)
    changed = HANDBOOK + "\nIt is counted by two people.\n"
    await ingest(ingestor, handbook, tmp_path, changed)
    estimate = await estimate_descriptions(database, handbook, settings)
    async with describer(database, settings, retold) as (own, server):
        done = await own.describe(handbook)
        asked = [one.prompt.split("</document>")[-1] for one in server.chat_requests]
    after = await sections_of(database, handbook)
    for title in ("Orders", "Returns", "Complaints"):
        assert after[title].summary == before[title].summary
    assert after["Orders"].keywords == before["Orders"].keywords
    assert (done.passages, done.sections) == (1, 3)  # "Stock", "Handbook", the document
    assert (estimate.passages, estimate.sections, len(asked)) == (1, 1, 2)
    assert "two people" in asked[0]


@pytest.mark.parametrize("given", [[["old"], ["new", "kept"]], ["old", "new"], [None, ["new"]]])
async def test_tags_that_the_user_changed_cost_no_call_and_those_taken_back_do_not_come_again(
    database: Database, settings: Settings, ingestor: Ingestor, scope: Scope, given: list[object]
) -> None:
    """The model is sent titles and texts, no tags."""
    requests = list[int]()
    for by_user in given:
        await ingest_bytes(
            ingestor,
            scope,
            HANDBOOK.encode(),
            "handbook.md",
            metadata={"tags": by_user} if by_user else {},
        )
        async with describer(database, settings, told) as (own, server):
            await own.describe(scope)
            requests.append(len(server.chat_requests))
    assert requests == [3, 0]
    sections, chunks = await sections_of(database, scope), await chunks_of(database, scope)
    said = [(one.summary, one.tags) for one in sections.values()]
    for summary, tags in [*said, *((one.summary, one.tags) for one in chunks)]:
        assert summary.startswith("In short: ")
        assert {"new", "procedure"} <= {*tags}
        assert "old" not in tags


@pytest.mark.parametrize(("paragraphs", "counted"), [(3, 0), (40, 1)])
async def test_passages_are_counted_only_where_there_are_many(
    database: Database,
    settings: Settings,
    ingestor: Ingestor,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
    *,
    paragraphs: int,
    counted: int,
) -> None:
    """Each document that comes in is followed by a run, and counting reads the whole knowledge base."""
    looked = list[DescribedKind]()
    waiting = ModelDescriptions.count_undescribed

    async def noted(own: ModelDescriptions, kind: DescribedKind, tries: int) -> int:
        looked.append(kind)
        return await waiting(own, kind, tries)

    monkeypatch.setattr(ModelDescriptions, "count_undescribed", noted)
    text = "\n\n".join(f"# Part {n}\n\nSomething about part {n}." for n in range(paragraphs))
    await ingest_bytes(ingestor, scope, text.encode(), "parts.md")
    told_of = list[tuple[str, int, int]]()
    async with describer(database, settings, told) as (own, _):
        await own.describe(scope, lambda *how: told_of.append(how))
    assert looked.count(DescribedKind.PASSAGES) == counted
    assert [how for how in told_of if how[0] == "passages"][-1] == (
        "passages",
        paragraphs,
        paragraphs,
    )


async def test_a_passage_under_another_title_keeps_what_was_said_of_it(
    database: Database, settings: Settings, handbook: Scope, ingestor: Ingestor, tmp_path: Path
) -> None:
    async with describer(database, settings, retold) as (own, _):
        await own.describe(handbook)
    await ingest(ingestor, handbook, tmp_path, HANDBOOK.replace("## Stock", "## Goods"))
    async with describer(database, settings, retold) as (own, server):
        done = await own.describe(handbook)
        asked = [one.prompt.split("</document>")[-1] for one in server.chat_requests]
    assert (done.passages, done.sections) == (0, 3)  # "Goods" by its passage, what is around it
    assert ["counted every quarter" in one for one in asked] == [True]


async def test_what_was_asked_in_vain_is_asked_about_alone(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    """A passage that no endpoint takes costs those beside it one try."""

    def refusing(request: ApiRequest) -> Reply | str:
        return (
            failing(400, "Filtered.", "content_filter")
            if "goods are" in request.prompt
            else told(request)
        )

    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, lambda _: "no JSON") as (own, _):
        await own.describe(handbook)
    async with describer(database, settings, refusing) as (own, server):
        done = await own.describe(handbook)
        # What was extracted of it is a part of "Orders".
        assert (done.passages, done.failed) == (number - 1, 2)
        assert {
            len(numbers_of(one)) for one in server.chat_requests if not about_sections(one)
        } == {1}


@pytest.mark.parametrize("reply", [failing(401), failing(503)])
async def test_an_endpoint_that_gives_no_answer_is_said_and_costs_no_try(
    database: Database, settings: Settings, handbook: Scope, reply: Reply
) -> None:
    async with describer(database, settings, lambda _: reply) as (own, _):
        for _ in range(4):
            with pytest.raises(ModelUnavailable):
                await own.describe(handbook)
    async with describer(database, settings, told) as (own, _):
        assert (await own.describe(handbook)).failed == 0


async def test_an_endpoint_that_dies_midway_stops_the_run_which_goes_on_where_it_was(
    database: Database, settings: Settings, ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    parts = [f"## Part {n}\n\nThis is what part {n} says.\n" for n in range(80)]
    await ingest(ingestor, scope, tmp_path, "# Long\n\n" + "\n".join(parts))
    calls = 0

    def dying(request: ApiRequest) -> Reply | str:
        nonlocal calls
        calls += 1
        return failing(503) if calls > 4 else retold(request)

    async with describer(database, settings, dying) as (own, _):
        with pytest.raises(ModelUnavailable):
            await own.describe(scope)
        assert calls <= 8
    async with describer(database, settings, retold) as (own, _):
        done = await own.describe(scope)
    assert counts(done) == (80 - 32, 80 + 2, 0)  # "Long", and the document


async def test_each_call_speaks_the_language_of_what_it_asks_about(
    database: Database, settings: Settings, ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    text = "# Both\n\n## Orders\n\nOrders are taken by telephone.\n\n## 库存\n\n库存每季度盘点一次，由两人负责。\n"
    await ingest(ingestor, scope, tmp_path, text)
    async with describer(database, settings, retold) as (own, server):
        await own.describe(scope)
    asked = [one.prompt for one in server.chat_requests if not about_sections(one)]
    assert len(asked) == 2
    assert all(("段落" in prompt) == ("库存每季度" in prompt) for prompt in asked)


@pytest.mark.parametrize(
    "said",
    [
        {
            "passage": "[1]",
            "summary": ["Brief."],
            "keywords": "a, b",
            "topics": None,
            "tags": [{"name": "c"}],
        },
        {"passage": 1, "summary": "Brief.", "keywords": ["a", "b"], "tags": "c", "more": {}},
    ],
)
async def test_what_a_small_model_writes_carelessly_is_read_as_it_was_meant(
    database: Database, settings: Settings, brief: Scope, said: object
) -> None:
    async with describer(database, settings, lambda _: fence_json({"passages": ["1", said]})) as (
        own,
        server,
    ):
        await own.describe(brief)
        assert len(server.chat_requests) == 1
    (chunk,) = await chunks_of(database, brief)
    assert (chunk.summary, chunk.keywords) == ("Brief.", ("a", "b"))
    assert "c" in chunk.tags


async def test_the_estimate_counts_passages_and_sections_and_nothing_that_is_done(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    before = await estimate_descriptions(database, handbook, settings)
    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, told) as (own, server):
        done = await own.describe(handbook)
        calls = server.chat_requests
    assert (before.passages, before.sections) == (number, len(TOLD))
    assert sum(len(numbers_of(one)) for one in calls) == number + len(TOLD)
    assert 0.5 < before.input_tokens / done.usage.prompt_tokens < 2
    assert before.output_tokens == 150 * (number + len(TOLD))
    after = await estimate_descriptions(database, handbook, settings)
    assert (after.passages, after.sections, after.input_tokens) == (0, 0, 0)


async def test_the_budget_stops_a_run_before_the_call_that_would_pass_it(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    whole = await estimate_descriptions(database, handbook, settings)
    async with describer(database, settings, retold, budget_tokens=10) as (own, server):
        done = await own.describe(handbook)
        assert not server.chat_requests
    assert done.left > 0
    assert "budget is used up" in done.warnings[0]
    tokens = whole.input_tokens + whole.output_tokens
    async with describer(database, settings, retold, budget_tokens=tokens * 2) as (own, _):
        assert (await own.describe(handbook)).left == 0


async def test_what_failed_too_often_is_asked_about_again_when_a_person_wants_it(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, lambda _: "no JSON") as (own, _):
        for _ in range(3):
            await own.describe(handbook)
    await ModelDescriptions(database, handbook).retry()
    async with describer(database, settings, told) as (own, _):
        assert (await own.describe(handbook)).passages == number


async def test_a_long_section_is_told_from_parts_spread_over_it(
    database: Database, settings: Settings, ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    parts = [f"## Part {n}\n\nThis is what part {n} says.\n" for n in range(60)]
    await ingest(ingestor, scope, tmp_path, "# Long\n\n" + "\n".join(parts))
    async with describer(database, settings, retold) as (own, server):
        await own.describe(scope)
        (asked,) = [one.prompt for one in server.chat_requests if about_sections(one)]
    shown = [int(n) for n in re.findall(r"^- Part (\d+):", asked, re.MULTILINE)]
    assert shown == list(range(0, 60, 3))


async def test_passages_that_tell_the_facts_of_a_graph_are_not_asked_about(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    async with database.transaction(handbook.user_id) as connection:
        await connection.execute("""update document_versions set metadata = '{"factsOf": "e1"}'""")
    estimate = await estimate_descriptions(database, handbook, settings)
    assert (estimate.passages, estimate.sections, estimate.input_tokens) == (0, 0, 0)
    async with describer(database, settings, told) as (own, server):
        assert counts(await own.describe(handbook)) == (0, 0, 0)
        assert not server.chat_requests


async def test_what_is_said_of_a_document_waits_for_whoever_changes_it(
    database: Database, handbook: Scope
) -> None:
    """Both write its chunks and sections, each in an order of its own, and would lock each other out."""
    stored = ModelDescriptions(database, handbook)
    (one, *_) = await stored.list_undescribed(DescribedKind.PASSAGES, None, 3, 8)
    async with database.transaction(handbook.user_id) as connection:
        await connection.execute("select from documents for update")
        writing = asyncio.create_task(
            stored.write(
                DescribedKind.PASSAGES, [ModelDescription(one.id, one.version, "Late.")], []
            )
        )
        await asyncio.wait([writing], timeout=0.3)
        assert not writing.done()
        free = "select id from chunks where id = %s for update nowait"
        assert await (await connection.execute(free, [one.id])).fetchone()
    await writing
    assert "Late." in {chunk.summary for chunk in await chunks_of(database, handbook)}


@pytest.mark.parametrize("kind", DescribedKind)
async def test_what_is_said_of_a_version_that_was_replaced_meanwhile_is_not_said_of_the_next(
    database: Database, importer: Importer, scope: Scope, kind: DescribedKind
) -> None:
    """A chunk and a section of an import have the same ids when they come again with another text."""

    async def bring(text: str) -> None:
        line = {"type": "chunk", "id": "c", "title": "Orders", "text": text}
        await importer.import_graph(scope, stream([line]))

    await bring("Orders are taken by telephone.")
    stored = ModelDescriptions(database, scope)
    asked = await stored.list_undescribed(kind, None, 3, 8)
    await bring("Orders are taken by letter.")
    await stored.write(
        kind, [ModelDescription(one.id, one.version, "By telephone.") for one in asked], []
    )
    again = await stored.list_undescribed(kind, None, 3, 8)
    assert [one.id for one in again] == [one.id for one in asked]
    said = {one.summary for one in await chunks_of(database, scope)}
    said |= {one.summary for one in (await sections_of(database, scope)).values()}
    assert "By telephone." not in said


async def test_a_long_document_is_replaced_in_a_time_that_grows_with_it_and_not_with_its_square(
    database: Database, importer: Importer, scope: Scope
) -> None:
    """What is staged is new to the planner, which compared every section with all chunks and sections, for minutes."""
    sections = 800

    async def bring(last: str) -> None:
        texts = [f"This is what part {n} says." for n in range(sections - 1)] + [last]
        lines = [
            {"type": "chunk", "id": f"c{n}", "documentId": "d", "title": f"Part {n}", "text": text}
            for n, text in enumerate(texts)
        ]
        await importer.import_graph(
            scope, stream([{"type": "document", "id": "d", "title": "Long"}, *lines])
        )

    await bring("This is the end.")
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("update chunks set described_by = 'llm'")
        await connection.execute("update sections set described_by = 'llm'")
    async with asyncio.timeout(60):
        await bring("This is another end.")
    stored = ModelDescriptions(database, scope)
    assert await stored.count_undescribed(DescribedKind.PASSAGES, 3) == 1
    assert (
        await stored.count_undescribed(DescribedKind.SECTIONS, 3) == 2
    )  # the last, and the document


async def test_of_a_cut_answer_what_is_missing_is_asked_about_in_the_same_run(
    database: Database, settings: Settings, handbook: Scope
) -> None:
    def cut_once(request: ApiRequest) -> Reply | str:
        whole = retold(request)
        is_first = not about_sections(request) and len(numbers_of(request)) > 2
        if not is_first:
            return whole
        return Reply(whole[: whole.index('"passage":3')], finish_reason="length")

    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, cut_once) as (own, server):
        done = await own.describe(handbook)
        asked = [numbers_of(one) for one in server.chat_requests if not about_sections(one)]
    assert (done.passages, done.failed) == (number, 0)
    assert [len(numbers) for numbers in asked] == [number, number - 2, number - 4][: len(asked)]


async def test_an_endpoint_too_slow_for_several_is_asked_about_fewer(
    database: Database, settings: Settings, handbook: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_on_many(request: ApiRequest) -> Reply | str:
        is_slow = len(numbers_of(request)) > 2
        return Reply("{}", pause_after=0) if is_slow else retold(request)

    number = len(await chunks_of(database, handbook))
    async with describer(database, settings, slow_on_many) as (own, _):
        monkeypatch.setattr(own._chat, "_timeout", 3.0)
        done = await own.describe(handbook)
    assert (done.passages, done.failed) == (number, 0)
