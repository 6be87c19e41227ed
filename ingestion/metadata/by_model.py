"""What chunks are about in a chat model's words; where it fails, what was extracted stays.

Chunks are read a few at a time. The outcome is kept with each, described or failed and how often, so that
a run which was stopped goes on, and none is tried for ever.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import BaseModel, Field

from domain.errors import ModelRejected, SextantError
from domain.scope import Scope
from domain.text import language_of
from ingestion.metadata.describing import KEYWORDS, SUMMARY_CHARS, TOPICS
from ingestion.progress import OnCount
from prompts import DESCRIBE, as_data, numbered
from stores.chunks.chunk_store import StoredChunk
from stores.documents.descriptions import Descriptions, Said
from stores.postgresql.database import Database

if TYPE_CHECKING:
    from models.chat.chat_model import ChatModel  # brings LangChain, half a second

log = logging.getLogger(__name__)


TRIES = 3  # for each passage
_TOGETHER = 8  # passages in one call
_AT_ONCE = 4  # calls
_PASSAGE_CHARS = 2000  # of each passage that the model sees
_WORD_CHARS = 60  # of each word that it gives


class _Passage(BaseModel):
    passage: int
    summary: str = ""
    keywords: list[str] = Field(default_factory=list)
    topics: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)


class _Passages(BaseModel):
    """What the model is asked for."""

    passages: list[_Passage]


@dataclass(frozen=True, slots=True)
class DescribedByModel:
    """How many chunks the model described, and how many it failed at."""

    described: int = 0
    failed: int = 0


class ModelDescriber:
    """Describes the chunks of a database with a chat model."""

    def __init__(self, database: Database, chat: ChatModel) -> None:
        self._database = database
        self._chat = chat

    async def describe(self, scope: Scope, on_progress: OnCount | None = None) -> DescribedByModel:
        """Ask about every chunk that is not described so yet, three times at most over all runs.

        Args:
            scope: whose chunks.
            on_progress: called with the chunks done and those asked about so far.

        Raises:
            ModelRejected: the endpoint refuses every call (key, model, quota).
            DatabaseUnavailable: what was described before stays.
        """
        stored = Descriptions(self._database, scope)
        described = failed = 0
        after: UUID | None = None
        while chunks := await stored.to_ask(after, TRIES, _TOGETHER * _AT_ONCE):
            after = chunks[-1].id
            groups = [chunks[n : n + _TOGETHER] for n in range(0, len(chunks), _TOGETHER)]
            answers = await asyncio.gather(*map(self._ask, groups))
            said = [one for answer in answers for one in answer]
            known = {one.id for one in said}
            vain = [chunk.id for chunk in chunks if chunk.id not in known]
            await stored.write_by_model(said, vain)
            described, failed = described + len(said), failed + len(vain)
            if on_progress is not None:
                on_progress(described, described + failed)
        return DescribedByModel(described, failed)

    async def _ask(self, chunks: Sequence[StoredChunk]) -> list[Said]:
        """What the model says of these; of a chunk that it leaves out nothing."""
        passages = numbered(chunk.text[:_PASSAGE_CHARS] for chunk in chunks)
        titles = as_data(" / ".join(dict.fromkeys(chunk.document_title for chunk in chunks)))
        language = language_of(chunks[0].text)
        try:
            asked = DESCRIBE.messages(language, title=titles, passages=passages)
            answer, _ = await self._chat.structured(asked, _Passages)
        except ModelRejected:
            raise
        except SextantError as error:
            log.warning("%d passages are described by extraction alone: %s", len(chunks), error)
            return []
        told = {one.passage: one for one in answer.passages}
        return [
            _said(chunk.id, told[number])
            for number, chunk in enumerate(chunks, 1)
            if number in told and told[number].summary.strip()
        ]


def _said(chunk_id: UUID, told: _Passage) -> Said:
    return Said(
        chunk_id,
        " ".join(told.summary.split())[:SUMMARY_CHARS],
        _words(told.keywords, KEYWORDS),
        _words(told.topics, TOPICS),
        _words(told.tags, TOPICS),
    )


def _words(given: Sequence[str], most: int) -> tuple[str, ...]:
    words = (" ".join(word.split())[:_WORD_CHARS] for word in given)
    return tuple(dict.fromkeys(filter(None, words)))[:most]
