"""What is asked of a long table in the documents is computed over all its rows, wherever they were found."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.stored import TableStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, fence_json
from tests.integration.chunk_hits import keyword_hits
from tests.integration.graph.conftest import Running, RunningWith

SITES = ("Graz", "Brno")
ROWS = [(f"Part-{n:03d}", SITES[n % 2], 10 + (n * 37) % 401) for n in range(200)]
CSV = "Part,Site,Stock\n" + "".join(f"{name},{site},{stock}\n" for name, site, stock in ROWS)
DEAREST = max(ROWS, key=lambda row: row[2])
OVER = [row for row in ROWS if row[2] > 400]


async def asked(running: Running, question: str, **more: Any) -> dict[str, Any]:
    result: dict[str, Any] = await running.workflow.ainvoke(running.asking(question, **more))
    return result


@pytest.fixture
def stored(filled: Scope, ingestor: Ingestor, tmp_path: Path) -> Path:
    """Return a table of 200 rows, which take many passages."""
    file = tmp_path / "inventory.csv"
    file.write_text(CSV, encoding="utf-8")
    return file


async def quoted_text(database: Database, scope: Scope, result: dict[str, Any]) -> list[bool]:
    """Of each citation, whether the stored document reads so at its place."""
    documents = {source["marker"]: source["document_id"] for source in result["sources"]}
    return [
        citation["quote"]
        == await DocumentStore(database).text(
            scope, UUID(documents[citation["marker"]]), citation["start"], citation["end"]
        )
        for citation in result["citations"]
    ]


ReplyFunction = Callable[[str], Awaitable[tuple[dict[str, Any], Scope]]]


@pytest.fixture
def answering(running_with: RunningWith, ingestor: Ingestor, stored: Path) -> ReplyFunction:
    """Answer a question without a chat model, the table being stored."""

    async def answer(question: str) -> tuple[dict[str, Any], Scope]:
        async with running_with() as running:
            await ingestor.ingest(running.scope, [stored])
            return await asked(running, question), running.scope

    return answer


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which part has the highest stock?", [DEAREST[0], str(DEAREST[2])]),
        ("How many parts have a stock over 400?", [f"{len(OVER)} rows"]),
        ("Which parts have a stock over 400?", [row[0] for row in OVER[:10]]),
        ("What is the average stock in Graz?", [f"{sum(r[2] for r in ROWS[::2]) / 100}"]),
        ("What is the total stock?", [f"{sum(row[2] for row in ROWS):,}"]),
        ("How many parts does each site have?", ["Graz: 100 different", "Brno: 100 different"]),
        ("Which sites do we have?", ["Site: Graz", "Site: Brno"]),
        ("How many parts are not in Graz?", ["100 rows"]),
        (
            "How much more stock does Part-001 have than Part-000?",
            [f"is {ROWS[1][2] - ROWS[0][2]}", f"Stock: {ROWS[0][2]}"],
        ),
    ],
)
async def test_the_answer_is_of_all_rows_and_cites_the_lines_it_rests_on(
    answering: ReplyFunction, database: Database, question: str, said: list[str]
) -> None:
    result, scope = await answering(question)
    assert all(part in result["answer"] for part in said), result["answer"]
    assert "inventory.csv (200 rows)" in result["answer"]
    assert result["trust"] == "supported"
    assert result["citations"]
    assert all(await quoted_text(database, scope, result))


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What is the average stock in Tokyo?", id="no row says Tokyo"),
        pytest.param("What is the highest salary?", id="no such column"),
        pytest.param("What was the total stock since 2012?", id="no dates"),
        pytest.param("What is the median of the stock?", id="not computed by rule"),
    ],
)
async def test_what_the_table_does_not_say_is_not_computed(
    answering: ReplyFunction, question: str
) -> None:
    result, _ = await answering(question)
    assert "200 rows" not in result["answer"]


RULE = "Parts that are below their minimum stock are bought at once. 低于最低库存的零件当日采购。"


@pytest.mark.parametrize(
    "question", ["Which parts are below their minimum stock?", "哪些零件的库存低于最低库存？"]
)
@pytest.mark.parametrize("below", [(150,), ()], ids=["one is", "none is"])
async def test_a_column_is_held_against_another_in_all_rows(  # noqa: PLR0917 - four are fixtures
    running_with: RunningWith,
    ingestor: Ingestor,
    filled: Scope,
    tmp_path: Path,
    question: str,
    below: tuple[int, ...],
) -> None:
    """A rule about all that are so does not say which are, nor that none is."""
    file = tmp_path / "levels.csv"
    rows = [
        f"{name},{stock},{stock + (1 if n in below else -1)}"
        for n, (name, _, stock) in enumerate(ROWS)
    ]
    file.write_text("\n".join(["Part,Stock,Minimum stock", *rows]), encoding="utf-8")
    rule = tmp_path / "rules.md"
    rule.write_text(RULE, "utf-8")
    async with running_with() as running:
        await ingestor.ingest(running.scope, [file, rule])
        result = await asked(running, question)
    assert "levels.csv" in result["answer"]
    assert re.findall(r"Part-\d+", result["answer"]) == [ROWS[n][0] for n in below]


async def test_a_table_is_computed_whole_within_its_document(
    running_with: RunningWith, ingestor: Ingestor, database: Database, stored: Path
) -> None:
    async with running_with() as running:
        [ingested] = await ingestor.ingest(running.scope, [stored])
        only = {"documentIds": [str(ingested.document_id)]}
        result = await asked(running, "What is the total stock?", filters=only)
    assert "200 rows" in result["answer"]


async def test_a_filter_keeps_the_answer_to_what_it_lets_through(
    running_with: RunningWith, ingestor: Ingestor, stored: Path
) -> None:
    async with running_with() as running:
        await ingestor.ingest(running.scope, [stored])
        result = await asked(running, "What is the total stock?", filters={"tags": ["inventory"]})
    assert "200 rows" not in result["answer"]


async def test_a_chat_model_is_given_what_was_computed_and_may_cite_it(
    running_with: RunningWith, ingestor: Ingestor, database: Database, stored: Path
) -> None:
    total = f"{sum(row[2] for row in ROWS):,}"

    def model(request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return fence_json({"relevant": [1], "sufficient": True, "missing": ""})
        before = request.prompt.partition("Computed exactly over all rows")[0]
        number = re.findall(r'<passage number="(\d+)"', before)[-1]
        assert total in request.prompt
        return f"The stock of all parts adds up to {total} [{number}]."

    async with running_with(model) as running:
        await ingestor.ingest(running.scope, [stored])
        result = await asked(running, "What is the total stock of all parts?")
    assert f"{total} [1]" in result["answer"]
    assert result["grounded"], result["warnings"]
    quote = result["citations"][0]["quote"]
    assert quote.startswith("| Part | Site | Stock |")
    assert quote.count("\n") > 2, "rows stand below the names of their columns"
    assert all(await quoted_text(database, running.scope, result))


@pytest.mark.parametrize(
    ("said", "is_computed"),
    [
        ({"answerable": True, "aggregate": "sum", "select": ["Stock"],
          "where": [{"column": "Site", "comparison": "=", "value": "Graz"}]}, True),
        ({"answerable": True, "aggregate": "sum", "select": ["Weight"], "where": []}, False),
        ({"answerable": False}, False),
        ("no object", False),
    ],
)  # fmt: skip
async def test_a_chat_model_says_what_is_computed_where_the_grammar_is_not_sure(
    running_with: RunningWith, ingestor: Ingestor, stored: Path, said: object, is_computed: bool
) -> None:
    total, queries = f"{sum(row[2] for row in ROWS[::2]):,}", list[str]()

    def model(request: ApiRequest) -> Reply | str:
        if "<table>" in request.prompt:
            queries.append(request.prompt)
            return fence_json(said) if isinstance(said, dict) else str(said)
        if request.wants_json:
            return fence_json({"relevant": [1], "sufficient": True, "missing": ""})
        assert (total in request.prompt) is is_computed
        return "I cannot say."

    async with running_with(model) as running:
        await ingestor.ingest(running.scope, [stored])
        result = await asked(running, "What is the total stock that our friends in Graz hoard?")
    assert queries
    assert result["answer"]


async def test_another_tenants_table_is_not_read(
    ingestor: Ingestor, database: Database, scope: Scope, stored: Path
) -> None:
    await ingestor.ingest(scope, [stored])
    [hit] = await keyword_hits(ChunkStore(database), scope, ["Part-000"], 1)
    tables, chunk_id = TableStore(database), str(hit.chunk.id)
    stranger = Scope(user_id=f"{scope.user_id}-other", graph_id=scope.graph_id)
    own, foreign = await asyncio.gather(
        tables.parts(scope, chunk_id), tables.parts(stranger, chunk_id)
    )
    assert (len(own) > 3, foreign) == (True, [])


async def test_a_files_name_cannot_bring_links_into_an_answer(
    running_with: RunningWith, ingestor: Ingestor, tmp_path: Path
) -> None:
    file = tmp_path / "![x](http:evil.example) [7].csv"
    file.write_text(CSV, encoding="utf-8")
    async with running_with() as running:
        await ingestor.ingest(running.scope, [file])
        result = await asked(running, "What is the total stock?")
    assert "200 rows" in result["answer"]
    assert "](" not in result["answer"]
    assert "[7]" not in result["answer"]


async def test_tables_of_the_same_columns_are_each_told(
    running_with: RunningWith, ingestor: Ingestor, tmp_path: Path
) -> None:
    for year, sold in ((2023, 40), (2024, 70)):
        text = f"Branch,Sold\nNorth,{sold}\nSouth,{sold // 2}\n"
        (tmp_path / f"sales-{year}.csv").write_text(text, encoding="utf-8")
    async with running_with() as running:
        await ingestor.ingest(running.scope, [tmp_path])
        both = await asked(running, "Which branch sold the most?")
        one = await asked(running, "Which branch sold the most in sales-2024?")
    assert all(year in both["answer"] for year in ("sales-2023", "sales-2024")), both["answer"]
    assert "sales-2023" not in one["answer"]
    assert "70 (North)" in one["answer"]
