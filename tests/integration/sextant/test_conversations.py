"""Conversations through the facade: what follows up is understood, each turn begins afresh."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from contextlib import aclosing
from functools import partial
from io import BytesIO
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from PIL import Image

from sextant import Sextant
from sextant.domain.answers import Event
from sextant.domain.errors import (
    ConversationBusy,
    ConversationNotFound,
    GraphNotFound,
    OptionInvalid,
)
from sextant.domain.settings import Settings
from sextant.graph.threads import Threads
from sextant.models.embedding.cache import CachedEmbedder
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.own_database import short_folder

HERON = "# Heron 3\n\nThe warranty of the Heron 3 pump covers its motor and lasts 24 months.\n"
STORK = "# Stork 9\n\nThe Stork 9 valve is made of brass and lasts 6 years.\n"
FIRST = "What does the warranty of the Heron 3 pump cover?"
TABLE = {"type": "table", "table_data": "city,people\nOslo,7\nBergen,3", "table_caption": "cities"}


@pytest_asyncio.fixture
async def rag(settings: Settings) -> Any:
    embedder = CachedEmbedder(HashEmbedder(384), 100)
    async with Sextant.open(settings, embedder=embedder) as opened:
        user = opened.as_user(f"ann-{uuid4()}")
        with short_folder() as folder:
            (folder / "heron.md").write_text(HERON)
            (folder / "stork.md").write_text(STORK)
            await user.ingest([folder], "parts")
        yield user


async def test_a_follow_up_is_about_what_was_asked_before(rag: Sextant) -> None:
    await rag.query(FIRST, graph_id="parts", thread_id="t")
    answer = await rag.query("How long does it last?", graph_id="parts", thread_id="t")
    assert "24 months" in answer.answer
    assert "6 years" not in answer.answer
    await rag.query("What is the Stork 9 valve made of?", graph_id="parts", thread_id="other")
    other = await rag.query("How long does it last?", graph_id="parts", thread_id="other")
    assert "6 years" in other.answer
    assert "24 months" not in other.answer
    turns = await rag.conversations().turns("t")
    assert [turn.role for turn in turns] == ["user", "assistant"] * 2
    assert (turns[2].text, turns[3].text) == ("How long does it last?", answer.answer)
    assert turns[3].citations == answer.citations
    assert [one.document_id for one in turns[3].sources] == [
        one.document_id for one in answer.sources
    ]
    [_, known] = await rag.conversations().known()
    assert (known.thread_id, known.title) == ("t", FIRST)


async def test_no_text_of_a_passage_is_kept_with_a_conversation(rag: Sextant) -> None:
    answer = await rag.query(FIRST, graph_id="parts", thread_id="texts")
    assert answer.sources
    threads = Threads(rag.database, rag.user_id)
    kept = await threads.aget_tuple(threads.config_of("texts"))
    assert kept is not None
    values = kept.checkpoint["channel_values"]
    assert not [values[name] for name in ("items", "graph_items", "sources") if values.get(name)]


async def test_each_turn_begins_afresh(rag: Sextant) -> None:
    one = await rag.query("brass?", graph_id="parts", mode="naive", thread_id="t")
    assert one.mode == "naive"
    two = await rag.query("hello", graph_id="parts", thread_id="t")
    assert (two.mode, two.citations, two.sources, two.attempts) == ("bypass", (), (), 0)
    assert not {"retrieve", "grade"} & two.timings.keys()
    assert two.usage.calls == 0
    three = await rag.query(FIRST, graph_id="parts", thread_id="t")
    alone = await rag.query(FIRST, graph_id="parts")
    assert (three.answer, three.mode, three.attempts, three.warnings) == (
        alone.answer, alone.mode, alone.attempts, alone.warnings
    )  # fmt: skip
    assert three.costs.keys() == alone.costs.keys()


def picture() -> str:
    shown = BytesIO()
    Image.effect_noise((64, 64), 90).save(shown, "PNG")
    return b64encode(shown.getvalue()).decode()


async def test_pictures_are_not_kept_and_a_question_of_its_own_leaves_the_table(
    rag: Sextant, database: Database
) -> None:
    image = picture()
    parts = [{"type": "image", "img_path": f"data:image/png;base64,{image}"}, TABLE]
    await rag.query(
        "Which city has the most people?",
        graph_id="parts", thread_id="t", multimodal_content=parts,
    )  # fmt: skip
    async with database.transaction(rag.user_id) as connection:
        for table in ("checkpoint_blobs", "checkpoint_writes"):
            rows = await connection.execute(f"select blob from {table}")
            assert not [1 async for (blob,) in rows if blob and image[:60].encode() in blob]
        rows = await connection.execute("select checkpoint::text from checkpoints")
        assert not [1 async for (text,) in rows if image[:60] in text]
    after = await rag.query("What is the Stork 9 valve made of?", graph_id="parts", thread_id="t")
    assert not [source for source in after.sources if source.kind != "document"]
    assert not [warning for warning in after.warnings if "image" in warning]
    again = await rag.query("And the fewest?", graph_id="parts", thread_id="t")
    assert not [source for source in again.sources if source.kind != "document"]


async def test_a_table_stays_at_hand_while_the_questions_are_about_it(rag: Sextant) -> None:
    asked = partial(rag.query, graph_id="parts", thread_id="t")
    await asked("Which city has the most people?", multimodal_content=[TABLE])
    for question, told in (
        ("And the fewest?", "the smallest people is 3 (Bergen)[T1:r2c2]"),
        ("thanks", ""),
        ("What is the total of people?", "people adds up to 10 (2 rows)[T1:c2]"),
        ("How many people does Oslo have?", "7[T1:r1c2]"),
    ):
        answer = await asked(question)
        assert told in answer.answer
        assert bool(told) == ("table" in [source.kind for source in answer.sources])
    elsewhere = await rag.query("And the fewest?", graph_id="parts", thread_id="other")
    assert "T1" not in elsewhere.answer


async def test_a_table_too_large_to_be_kept_with_every_turn_is_of_one_question(
    rag: Sextant, database: Database
) -> None:
    rows = [["city", "people"], *([f"city of a long name {n}", n] for n in range(4000))]
    large = {"type": "table", "table_data": rows}
    first = await rag.query(
        "Which city has the most people?",
        graph_id="parts", thread_id="t", multimodal_content=[large],
    )  # fmt: skip
    assert "3999 (city of a long name 3999)[T1:r4000c2]" in first.answer
    async with database.transaction(rag.user_id) as connection:
        rows_kept = await connection.execute("select channel, blob from checkpoint_blobs")
        assert not [channel async for channel, blob in rows_kept if blob and b"name 1234" in blob]
    again = await rag.query("And the fewest?", graph_id="parts", thread_id="t")
    assert not [source for source in again.sources if source.kind == "table"]


async def test_each_user_has_their_own(rag: Sextant) -> None:
    await rag.query(FIRST, graph_id="parts", thread_id="t")
    other = rag.as_user(f"bob-{uuid4()}").conversations()
    assert await other.known() == []
    with pytest.raises(ConversationNotFound):
        await other.turns("t")
    with pytest.raises(ConversationNotFound):
        await other.forget("t")
    await rag.conversations().forget("t")
    with pytest.raises(ConversationNotFound):
        await rag.conversations().turns("t")


async def test_a_second_question_waits_for_the_first(rag: Sextant) -> None:
    events = rag.stream(FIRST, graph_id="parts", thread_id="t")
    async with aclosing(events):
        first: Event = await anext(events)
        assert first.type == "status"
        with pytest.raises(ConversationBusy):
            await rag.query("brass?", graph_id="parts", thread_id="t")
    # It was broken off, so there was no first turn.
    assert await rag.conversations().known() == []
    await rag.query("brass?", graph_id="parts", thread_id="t")
    assert len(await rag.conversations().turns("t")) == 2


async def test_of_many_questions_at_once_one_is_answered(rag: Sextant) -> None:
    several = (rag.query(FIRST, graph_id="parts", thread_id="t") for _ in range(4))
    results = await asyncio.gather(*several, return_exceptions=True)
    answered = [one for one in results if not isinstance(one, BaseException)]
    assert answered
    assert all(isinstance(one, ConversationBusy) for one in results if one not in answered)
    assert len(await rag.conversations().turns("t")) == 2 * len(answered)


async def test_a_turn_that_fails_leaves_the_conversation_as_it_was(rag: Sextant) -> None:
    with pytest.raises(GraphNotFound):
        await rag.query(FIRST, graph_id="nowhere", thread_id="t")
    assert await rag.conversations().known() == []
    await rag.query(FIRST, graph_id="parts", thread_id="t")
    with pytest.raises(GraphNotFound):
        await rag.query("Why?", graph_id="nowhere", thread_id="t")
    assert len(await rag.conversations().turns("t")) == 2
    answer = await rag.query("How long does it last?", graph_id="parts", thread_id="t")
    assert "24 months" in answer.answer


@pytest.mark.parametrize("name", ["", "x" * 201, "a\x00"])
async def test_a_name_that_cannot_be_one_is_refused(rag: Sextant, name: str) -> None:
    with pytest.raises(OptionInvalid) as refused:
        await rag.query(FIRST, graph_id="parts", thread_id=name)
    assert refused.value.field == "thread_id"


async def test_what_cannot_be_stored_is_left_out_of_what_is_kept(rag: Sextant) -> None:
    await rag.query("Stork \x00 9 \ud800 valve?", graph_id="parts", thread_id="t")
    [asked, _] = await rag.conversations().turns("t")
    assert asked.text == "Stork  9  valve?"
    await rag.conversations().forget("t")
