"""A chat model reads passages: what it finds is stored, what it fails at is kept for another try."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sextant.domain.scope import Scope
from sextant.domain.settings import ExtractionSettings, IngestionSettings, Settings
from sextant.ingestion.graph.extraction.extract_llm import ModelExtractor, estimate_extraction
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.models.chat.factory import build_chat_model
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.extraction import ExtractionCounts, ExtractionStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from sextant.testing.openai_server import ApiRequest, Script, ScriptedOpenAI
from sextant.testing.replies import (
    Reply,
    as_json,
    failing,
    fence_json,
    invalid_json,
    rate_limited,
    refusal,
    tokens_of,
    usage_of,
)
from tests.integration.ingestion.extracting_model import read_passages
from tests.integration.ingestion.transferred import Line, stream
from tests.integration.ingestion.uploading import ingest_bytes

CURIE = {
    "entities": [
        {"name": "Marie Curie", "type": "person", "description": "She discovered polonium."},
        {"name": "polonium", "type": "SUBSTANCE", "description": "An element."},
        {"type": "PERSON"},
        "Warsaw",
        7,
    ],
    "relations": [
        {"source": "Marie Curie", "target": "Polonium", "type": "discovered"},
        {"source": "Marie Curie", "target": "marie curie", "type": "is"},
        {"source": "Marie Curie", "target": "Nobody At All", "type": "knows"},
        ["Marie Curie", "born in", "Warsaw"],
        {"source": "Marie Curie"},
    ],
}
NOTHING: dict[str, list[Any]] = {"entities": [], "relations": []}
TEXT = "Marie Curie was born in\nWarsaw. She discovered polonium.\n"
# Of so many tokens that two passages with it are too long to be shown as one.
FILLER = "The yard keeps its own ledger of ropes, and nobody else reads it. " * 6


def some_sections(number: int) -> bytes:
    """Return a document of so many passages."""
    return "".join(f"# Part {place}\n\n{TEXT}{FILLER}\n" for place in range(number)).encode()


def long_sections(number: int) -> bytes:
    """Return a document of so many passages, of which three go into one call."""
    parts = (f"# Part {place}\n\n{TEXT}\n{FILLER * 3}\n" for place in range(number))
    return "\n".join(parts).encode()


class World:
    """An ingestor with a chat model behind a scripted endpoint."""

    def __init__(
        self,
        database: Database,
        server: ScriptedOpenAI,
        *,
        concurrency: int = 2,
        **extraction: Any,
    ) -> None:
        base = database.settings.model_dump(exclude={"ingestion", "extraction"})
        self.settings = Settings(
            _env_file=None,
            **base
            | {
                "chat_model": "scripted",
                "openai_base_url": server.base_url,
                "openai_api_key": "sk",
                "model_retries": 1,
                "model_concurrency": concurrency,
                "ingestion": IngestionSettings(graph="llm"),
                "extraction": ExtractionSettings(**extraction),
            },
        )
        chat = build_chat_model(self.settings)
        assert chat is not None
        self.chat = chat
        self.database, self.server = database, server
        self.extractor = ModelExtractor(database, chat, self.settings)
        self.graph = PostgresGraph(database)

    async def ingest(self, scope: Scope, content: bytes, name: str = "curie.md") -> Ingested:
        return await ingest_bytes(self.ingestor(), scope, content, name)

    def ingestor(self) -> Ingestor:
        return Ingestor(
            DocumentStore(self.database),
            JobStore(self.database),
            HashEmbedder(384),
            self.settings,
            GraphIndexer(self.database),
            extractor=self.extractor,
        )

    async def counts(self, scope: Scope) -> tuple[int, int, int]:
        """Return (done, failed, waiting)."""
        found = await ExtractionStore(self.database).counts(scope)
        return found.done, found.failed, found.waiting


Start = Callable[..., Any]


@pytest.fixture
def world(database: Database) -> Start:
    @asynccontextmanager
    async def start(script: Script, **extraction: Any) -> Any:
        async with ScriptedOpenAI(script) as server:
            opened = World(database, server, **extraction)
            try:
                yield opened
            finally:
                await opened.chat.close()

    return start


@pytest.mark.parametrize("written", [as_json, fence_json])
async def test_what_the_model_finds_becomes_evidence_with_its_place(
    world: Start, scope: Scope, written: Callable[[object], Reply]
) -> None:
    async with world([written(CURIE)]) as opened:
        result = await opened.ingest(scope, TEXT.encode())
        assert (result.error, result.warnings) == (None, ())
        assert await opened.counts(scope) == (1, 0, 0)
        names = ["Marie Curie", "polonium", "Warsaw"]
        hits = await opened.graph.entities_by_alias(scope, names)
        curie, polonium, warsaw = (hit.entity for hit in hits)
        assert (curie.entity_type, curie.description) == ("PERSON", "She discovered polonium.")
        assert (polonium.entity_type, warsaw.entity_type) == ("SUBSTANCE", "LOCATION")
        hops = await opened.graph.neighbourhood(scope, [curie.id])
        said = {(hop.relation_type, hop.target_id) for hop in hops if hop.source_id == curie.id}
        assert {("DISCOVERED", polonium.id), ("BORN_IN", warsaw.id)} <= said
        assert not any(hop.relation_type in ("IS", "KNOWS") for hop in hops)

        query = """select m.name, c.text, m.start_offset, m.end_offset from mentions m
          join chunks c on c.id = m.chunk_id where m.kind = 'model'"""
        async with opened.database.transaction(scope.user_id) as connection:
            places = await (await connection.execute(query)).fetchall()
        assert {name: text[start:end] for name, text, start, end in places} == {
            name: name for name in names
        }


async def test_passages_of_a_graphs_facts_are_not_read_for_what_is_known(
    world: Start, database: Database, scope: Scope
) -> None:
    lines: list[Line] = [
        {"type": "chunk", "id": "c", "text": TEXT},
        {"type": "entity", "name": "Insulin", "description": "A hormone."},
        {"type": "entity", "name": "Diabetes"},
        {"type": "relation", "source": "insulin", "target": "diabetes", "relationType": "TREATS"},
    ]
    async with world([as_json(CURIE)]) as opened:
        importer = Importer(opened.ingestor(), GraphRecord(database))
        report = await importer.import_graph(scope, stream(lines), facts_as_passages=True)
        assert report.chunks == 3
        assert await opened.counts(scope) == (1, 0, 0)
        assert len(opened.server.requests) == 1
        estimate = await estimate_extraction(database, scope, opened.settings)
        assert estimate.passages == 0


async def test_a_refusal_leaves_the_document_searchable_and_is_tried_again(
    world: Start, scope: Scope
) -> None:
    async with world([refusal(), refusal("Still no."), as_json(CURIE)]) as opened:
        result = await opened.ingest(scope, b"# Notes of 1911\n\n" + TEXT.encode())
        assert result.error is None
        assert "1 of 1 passage" in str(result.warnings[0])
        assert "sextant entities extract" in str(result.warnings[0])
        assert await opened.counts(scope) == (0, 1, 0)
        # What needs no model is there.
        assert await opened.graph.entities_by_alias(scope, ["notes of 1911"])

        report = await opened.extractor.extract(scope)
        assert (report.done, report.failed, report.left) == (1, 0, 0)
        assert await opened.counts(scope) == (1, 0, 0)


async def test_answers_that_do_not_fit_count_as_spent_with_their_repair(
    world: Start, scope: Scope
) -> None:
    async with world(lambda _: invalid_json()) as opened:
        await opened.ingest(scope, TEXT.encode())
        billed = [usage_of(invalid_json(), sent.prompt) for sent in opened.server.chat_requests]
        spent = opened.extractor.budget.spent
        assert spent.calls == len(billed) == 2
        assert spent.prompt_tokens == sum(each["prompt_tokens"] for each in billed)
        assert spent.completion_tokens == sum(each["completion_tokens"] for each in billed)


async def test_an_answer_cut_off_before_it_said_anything_is_tried_again(
    world: Start, scope: Scope
) -> None:
    cut = Reply('{"entities": [{"name": "Mar', finish_reason="length")
    async with world([cut, cut, as_json(CURIE)]) as opened:
        result = await opened.ingest(scope, TEXT.encode())
        assert "SEXTANT_LIMITS__ANSWER_TOKENS" in str(result.warnings[0])
        assert await opened.counts(scope) == (0, 1, 0)
        report = await opened.extractor.extract(scope)
        assert (report.done, report.failed) == (1, 0)


@pytest.mark.parametrize(
    ("script", "gleaning", "paid"),
    [
        ([rate_limited(0)] * 3, 0, []),
        ([invalid_json(), *[failing(500)] * 3], 0, [0]),
        ([as_json(CURIE), *[failing(500)] * 3], 1, [0]),
    ],
)
async def test_what_the_endpoint_refused_is_not_spent_but_answers_before_are(
    world: Start, scope: Scope, script: list[Reply], gleaning: int, paid: list[int]
) -> None:
    async with world(script, gleaning=gleaning) as opened:
        await opened.ingest(scope, TEXT.encode())
        assert await opened.counts(scope) == (0, 1, 0)
        requests = opened.server.chat_requests
        billed = [usage_of(script[number], requests[number].prompt) for number in paid]
        spent = opened.extractor.budget.spent
        assert spent.prompt_tokens == sum(each["prompt_tokens"] for each in billed)
        assert spent.completion_tokens == sum(each["completion_tokens"] for each in billed)


async def test_a_rate_limit_passes(world: Start, scope: Scope) -> None:
    async with world([rate_limited(0), as_json(CURIE)]) as opened:
        result = await opened.ingest(scope, TEXT.encode())
        assert result.warnings == ()
        assert len(opened.server.chat_requests) == 2


async def test_an_endpoint_that_is_gone_is_not_asked_for_every_passage(
    world: Start, scope: Scope
) -> None:
    async with world(lambda _: failing(401, "No such key.", "invalid_api_key")) as opened:
        result = await opened.ingest(scope, some_sections(12))
        assert "12 of 12 passages" in str(result.warnings[0])
        assert len(opened.server.chat_requests) <= 4
        done, failed, waiting = await opened.counts(scope)
        assert (done, failed + waiting) == (0, 12)
        assert waiting >= 8


async def test_a_run_that_is_stopped_goes_on_where_it_was(world: Start, scope: Scope) -> None:
    hanging = asyncio.Event()

    def script(request: ApiRequest) -> Reply:
        held = "Part 3" in request.prompt and not hanging.is_set()
        return Reply("{}", pause_after=0) if held else as_json(NOTHING)

    async with world(script) as opened:
        work = asyncio.create_task(opened.ingest(scope, long_sections(6)))
        while (await opened.counts(scope))[0] < 3:
            assert not work.done()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        before = len(opened.server.chat_requests)
        assert await opened.counts(scope) == (3, 0, 3)

        hanging.set()
        result = await opened.ingest(scope, long_sections(6))
        assert result.error is None
        assert await opened.counts(scope) == (6, 0, 0)
        (again,) = opened.server.chat_requests[before:]
        assert "Part 3" in again.prompt
        assert "Part 2" not in again.prompt


async def test_what_was_found_stands_where_gleaning_gives_nothing_that_fits(
    world: Start, scope: Scope
) -> None:
    script = [as_json(CURIE), invalid_json(), invalid_json()]
    async with world(script, gleaning=1) as opened:
        await opened.ingest(scope, TEXT.encode())
        assert await opened.counts(scope) == (1, 0, 0)
        assert opened.extractor.budget.spent.calls == 3


async def test_gleaning_asks_again_and_says_what_was_found(world: Start, scope: Scope) -> None:
    more = {"entities": [{"name": "Warsaw", "type": "LOCATION"}], "relations": []}
    async with world([as_json(CURIE), as_json(more), as_json(NOTHING)], gleaning=3) as opened:
        await opened.ingest(scope, TEXT.encode())
        assert len(opened.server.chat_requests) == 3
        assert "She discovered polonium." in opened.server.chat_requests[1].prompt
        (warsaw,) = await opened.graph.entities_by_alias(scope, ["Warsaw"])
        assert warsaw.entity.entity_type == "LOCATION"


async def test_the_budget_stops_before_it_is_passed_and_says_what_is_left(
    world: Start, scope: Scope
) -> None:
    async with world(lambda _: as_json(NOTHING), budget_tokens=4000) as opened:
        result = await opened.ingest(scope, long_sections(12))
        done, failed, waiting = await opened.counts(scope)
        assert 0 < done < 12
        assert (failed, waiting) == (0, 12 - done)
        assert opened.extractor.budget.spent.prompt_tokens <= 4000
        assert f"{waiting} of 12" in str(result.warnings[0])

        report = await ModelExtractor(opened.database, opened.chat, opened.settings).extract(scope)
        assert report.done > 0
        assert (report.left == 0) == (not report.warnings)


async def test_a_worker_has_the_budget_anew_for_each_document(world: Start, scope: Scope) -> None:
    async with world(lambda _: as_json(NOTHING), budget_tokens=4000) as opened:
        opened.extractor = ModelExtractor(
            opened.database, opened.chat, opened.settings, renewed=True
        )
        read = []
        for place, name in enumerate(("one.md", "two.md")):
            await opened.ingest(scope, long_sections(12 + place), name)
            read.append((await opened.counts(scope))[0])
        assert 0 < read[0] < 12
        assert read[0] < read[1] < 25


async def test_an_estimate_sends_nothing_and_comes_near(world: Start, scope: Scope) -> None:
    def written(_: ApiRequest) -> Reply:
        return as_json(CURIE)

    async with world(written) as opened:
        opened.settings = opened.settings.model_copy(
            update={"extraction": ExtractionSettings(budget_tokens=1)}
        )
        opened.extractor = ModelExtractor(opened.database, opened.chat, opened.settings)
        await opened.ingest(scope, some_sections(4))
        assert opened.server.chat_requests == []

        unbounded = opened.settings.model_copy(update={"extraction": ExtractionSettings()})
        estimate = await estimate_extraction(opened.database, scope, unbounded)
        assert opened.server.chat_requests == []
        report = await ModelExtractor(opened.database, opened.chat, unbounded).extract(scope)
        assert (estimate.passages, report.done) == (4, 4)
        used = report.usage
        assert 0.4 < estimate.input_tokens / used.prompt_tokens < 2.5
        assert 0.4 < estimate.output_tokens / used.completion_tokens < 2.5


async def test_what_a_document_said_is_extracted_anew_when_it_changes_and_gone_with_it(
    world: Start, scope: Scope
) -> None:
    async with world(lambda _: as_json(CURIE)) as opened:
        await opened.ingest(scope, TEXT.encode())
        changed = await opened.ingest(scope, b"# New\n\n" + TEXT.encode())
        assert len(opened.server.chat_requests) == 2
        assert await opened.counts(scope) == (1, 0, 0)
        await DocumentStore(opened.database).delete(scope, changed.document_id)
        assert await ExtractionStore(opened.database).counts(scope) == ExtractionCounts()
        assert await opened.graph.entities_by_alias(scope, ["polonium"]) == []


FERRY = f"""# Orders

Marie Curie was born in Warsaw. {FILLER}

# Travels

She sailed to Skelloe with Pierre Curie. {FILLER}

# Stock

The warehouse keeps polonium. {FILLER}
"""


def passages_said(*passages: object) -> Reply:
    return as_json({"passages": list(passages)})


def found(number: int, names: list[str], *relations: list[str]) -> dict[str, Any]:
    entities = [{"name": name, "type": "PERSON"} for name in names]
    return {"passage": number, "entities": entities, "relations": list(relations)}


async def evidence_of(database: Database, scope: Scope) -> tuple[set[Any], set[Any]]:
    """Return (name, what stands at its place, beginning of the passage) of mentions, and the relations with theirs."""
    mentions = """select m.name, substr(c.text, m.start_offset + 1, m.end_offset - m.start_offset),
      left(c.text, 8) from mentions m join chunks c on c.id = m.chunk_id where m.kind = 'model'"""
    relations = """select r.relation_type, r.description, left(c.text, 8) from relation_evidence r
      join chunks c on c.id = r.chunk_id where r.relation_type <> 'CO_OCCURS'"""
    async with database.transaction(scope.user_id) as connection:
        first = await (await connection.execute(mentions)).fetchall()
        second = await (await connection.execute(relations)).fetchall()
    return set(first), set(second)


async def test_passages_are_read_together_and_what_is_found_belongs_to_the_one_that_says_it(
    world: Start, scope: Scope
) -> None:
    said = passages_said(
        found(1, ["Marie Curie"], ["Marie Curie", "born in", "Warsaw"]),
        found(
            2,
            ["Pierre Curie", "Orla Venn", "Atlantis"],
            ["Marie Curie", "sailed to", "Skelloe"],
            ["Orla Venn", "founded", "Tarnbridge Ferries"],
        ),
        # The wrong number, which the text puts right.
        found(3, [], ["Pierre Curie", "sailed to", "Skelloe"]),
    )
    async with world([said]) as opened:
        await opened.ingest(scope, FERRY.encode())
        (request,) = opened.server.chat_requests
        assert "[3] " in request.prompt
        assert await opened.counts(scope) == (3, 0, 0)
        mentions, relations = await evidence_of(opened.database, scope)
    assert mentions == {
        ("Marie Curie", "Marie Curie", "Marie Cu"),
        ("Warsaw", "Warsaw", "Marie Cu"),
        ("Pierre Curie", "Pierre Curie", "She sail"),
        ("Skelloe", "Skelloe", "She sail"),
        ("Marie Curie", "", "She sail"),  # "She"
    }
    together = "She sailed to Skelloe with Pierre Curie."
    assert relations == {
        ("BORN_IN", "Marie Curie was born in Warsaw.", "Marie Cu"),
        ("SAILED_TO", "", "She sail"),
        ("SAILED_TO", together, "She sail"),
    }


async def test_of_a_cut_answer_only_the_passages_that_are_missing_are_asked_about_again(
    world: Start, scope: Scope
) -> None:
    whole = passages_said(found(1, ["Marie Curie"]), found(2, ["Pierre Curie", "Skelloe"])).text
    cut = Reply(whole[: whole.index("Skelloe")], finish_reason="length")
    rest = passages_said(found(1, ["Pierre Curie"]), found(2, ["polonium"]))
    async with world([cut, rest]) as opened:
        result = await opened.ingest(scope, FERRY.encode())
        assert result.warnings == ()
        first, second = opened.server.chat_requests
        assert first.body["max_tokens"] < 500
        assert "born in Warsaw" not in second.prompt
        assert "She sailed" in second.prompt
        assert await opened.counts(scope) == (3, 0, 0)
        mentions, _ = await evidence_of(opened.database, scope)
    assert {name for name, _, _ in mentions} == {"Marie Curie", "Pierre Curie", "polonium"}


async def test_what_came_whole_of_the_only_passage_of_a_cut_answer_counts(
    world: Start, scope: Scope
) -> None:
    whole = passages_said(found(1, ["Marie Curie", "polonium", "Warsaw"])).text
    cut = Reply(whole[: whole.index("saw")], finish_reason="length")
    async with world([cut]) as opened:
        await opened.ingest(scope, TEXT.encode())
        assert await opened.counts(scope) == (1, 0, 0)
        mentions, _ = await evidence_of(opened.database, scope)
    assert {name for name, _, _ in mentions} == {"Marie Curie", "polonium"}


async def test_a_passage_that_is_left_out_twice_is_told_and_read_by_the_next_run(
    world: Start, scope: Scope
) -> None:
    def script(request: ApiRequest) -> Reply:
        numbers = [at for at in (1, 2, 3) if f"[{at}] " in request.prompt.split("<passages>")[-1]]
        return passages_said(*(found(at, []) for at in numbers[:-1])) if numbers[1:] else nothing

    nothing = passages_said()
    async with world(script) as opened:
        result = await opened.ingest(scope, FERRY.encode())
        assert await opened.counts(scope) == (2, 1, 0)
        assert "1 of 3 passages" in str(result.warnings[0])
        nothing = passages_said(found(1, []))
        report = await opened.extractor.extract(scope)
        assert (report.done, report.failed) == (1, 0)


async def test_a_passage_that_the_endpoint_refuses_costs_the_others_nothing(
    world: Start, scope: Scope
) -> None:
    def script(request: ApiRequest) -> Reply:
        if "polonium" in request.prompt.split("<passages>")[-1]:
            return failing(400, "Filtered.", "content_filter")
        return as_json(NOTHING)

    async with world(script) as opened:
        await opened.ingest(scope, FERRY.encode())
        assert await opened.counts(scope) == (2, 1, 0)


async def test_an_endpoint_too_slow_for_a_section_is_asked_about_less(
    world: Start, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(request: ApiRequest) -> Reply:
        is_long = "[2] " in request.prompt.split("<passages>")[-1]
        return Reply("{}", pause_after=0) if is_long else as_json(NOTHING)

    async with world(script) as opened:
        monkeypatch.setattr(opened.chat, "_timeout", 3.0)
        result = await opened.ingest(scope, some_sections(2))
        assert result.warnings == ()
        assert await opened.counts(scope) == (2, 0, 0)
        assert len(opened.server.chat_requests) == 3


async def test_a_model_that_thinks_gets_the_room_for_it(world: Start, scope: Scope) -> None:
    def script(request: ApiRequest) -> Reply:
        if request.body["max_tokens"] < opened.settings.limits.answer_tokens:
            return Reply("<think>Well", finish_reason="length")
        return as_json(NOTHING)

    async with world(script) as opened:
        await opened.ingest(scope, long_sections(6))
        assert await opened.counts(scope) == (6, 0, 0)
        assert len(opened.server.chat_requests) == 3


@pytest.mark.parametrize("sentences_of_section", [1, 3, 72])
async def test_reading_a_document_costs_at_most_twice_its_tokens(
    sentences_of_section: int, world: Start, scope: Scope
) -> None:
    names = ["Anna", "Bell", "Carl", "Dora", "Emil", "Fred", "Gina", "Hugo", "Ines", "Jens"]
    sentences = [
        f"{names[at % 10]} Winter{at} repairs the old pump of {names[at % 7]} Summer{at % 9} "
        "in the northern yard, where nobody keeps a record of the parts that were used."
        for at in range(72)
    ]
    text = "# Yard\n\n"
    for at in range(72):
        title = f"\n\n## Part {at}\n\n" if at % sentences_of_section == 0 else ""
        text += title + sentences[at] + ("\n\n" if at % 9 == 8 else " ")
    async with world(read_passages) as opened:
        await opened.ingest(scope, text.encode())
        done, failed, waiting = await opened.counts(scope)
        spent = opened.extractor.budget.spent
        mentions, relations = await evidence_of(opened.database, scope)
    assert (done > 1, failed, waiting) == (True, 0, 0)
    assert spent.calls <= -(-len(tokens_of(text)) // 1000)
    assert spent.prompt_tokens + spent.completion_tokens <= 2 * len(tokens_of(text))
    assert len(mentions) > 20
    assert relations


async def test_small_neighbours_are_shown_as_one_and_what_is_found_belongs_to_the_one_that_says_it(
    world: Start, scope: Scope
) -> None:
    parts = ["Marie Curie was born in Warsaw.", "She sailed to Skelloe.", "The warehouse keeps polonium."]  # fmt: skip
    text = "".join(f"# Part {part[:3]}\n\n{part}\n\n" for part in parts)
    said = passages_said(
        found(
            1,
            ["Marie Curie", "polonium", "Atlantis"],
            ["Marie Curie", "born in", "Warsaw"],
            ["Marie Curie", "sailed to", "Skelloe"],
        )
    )
    async with world([said]) as opened:
        await opened.ingest(scope, text.encode())
        (request,) = opened.server.chat_requests
        assert "[2] " not in request.prompt
        assert all(part in request.prompt for part in parts)
        assert await opened.counts(scope) == (3, 0, 0)
        mentions, relations = await evidence_of(opened.database, scope)
    assert mentions == {
        ("Marie Curie", "Marie Curie", "Marie Cu"),
        ("Warsaw", "Warsaw", "Marie Cu"),
        ("Skelloe", "Skelloe", "She sail"),
        ("Marie Curie", "", "She sail"),
        ("polonium", "polonium", "The ware"),
    }
    assert relations == {
        ("BORN_IN", "Marie Curie was born in Warsaw.", "Marie Cu"),
        ("SAILED_TO", "", "She sail"),
    }
