"""Store conversations: a user's checkpoints of the workflow in PostgreSQL, by thread.

LangGraph's own saver writes them. Here it is bound to one tenant, and uses our connection pool and row-level security.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from langchain_core.messages import AnyMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from psycopg import AsyncCursor
from psycopg.rows import DictRow, class_row, dict_row

from sextant.domain import CAMEL_CASE
from sextant.domain.concurrency import stop
from sextant.domain.errors import (
    ConversationBusy,
    ConversationUnreadable,
    DependencyError,
    OptionInvalid,
)
from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.graph.streaming import to_its_end
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.text.characters import clean_text

LONGEST_THREAD = 200  # characters of a name
_TITLE = 160  # characters
_RENEWED_AFTER = 1 / 4  # of the lease of a turn
_INTERRUPT = "__interrupt__"  # LangGraph's name of what a run stopped for

_SQL = load_queries("threads")
# Classes that a checkpoint may restore besides those of LangGraph and LangChain; anything else is read as plain data.
_ALLOWED = (RetrievedItem, LaneScore, ItemKind)


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation: its name, its title (the first question until it is renamed), its beginning and last turn."""

    __pydantic_config__ = CAMEL_CASE

    thread_id: str
    title: str
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True)
class ThreadTurn:
    """A turn of a conversation: the config of its run, and its outcome.

    Attributes:
        config: of the run.
        busy_until: end of the lease, when the conversation is free for another turn unless the lease is renewed; None: the
            turn has not begun.
        new: whether the turn began the conversation.
        done: whether the run finished, or waits for a decision of the user.
        unfinished: whether it can be resumed where it was stopped.
    """

    config: RunnableConfig
    busy_until: datetime | None = None
    new: bool = False
    done: bool = False
    unfinished: bool = False


class Threads(AsyncPostgresSaver):
    """The conversations of one user; a LangGraph checkpointer.

    Args:
        database: where they are stored.
        user_id: their owner. Conversations of other users are neither seen nor changed.
    """

    def __init__(self, database: Database, user_id: str) -> None:
        super().__init__(
            cast("Any", None), serde=JsonPlusSerializer(allowed_msgpack_modules=_ALLOWED)
        )
        self._database = database
        self._user_id = user_id

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:  # noqa: ARG002 - the saver's signature
        async with (
            self._database.transaction(self._user_id) as connection,
            connection.cursor(binary=True, row_factory=dict_row) as cursor,
        ):
            yield cursor

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint of a conversation, if there is one.

        Raises:
            ConversationUnreadable: it holds data that no turn has written.
        """
        try:
            checkpoint = await super().aget_tuple(config)
            messages = (
                checkpoint.checkpoint["channel_values"].get("messages", []) if checkpoint else []
            )
        except (NotImplementedError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise _unreadable() from error
        if not isinstance(messages, list) or not all(
            isinstance(one, BaseMessage) for one in messages
        ):
            raise _unreadable()
        return checkpoint

    def config_of(self, thread_id: str) -> RunnableConfig:
        """Return the config that makes a run a turn of the conversation `thread_id`.

        Raises:
            OptionInvalid: the name is empty or too long.
        """
        return {"configurable": {"thread_id": self._key(thread_id)}}

    @asynccontextmanager
    async def turn(
        self, thread_id: str, question: str, lease: timedelta, keep: timedelta
    ) -> AsyncIterator[ThreadTurn]:
        """Lock a conversation for one turn, against all other processes; only the last checkpoint of the turn is stored.

        A turn that failed leaves the conversation as it was, unless it can be resumed.

        Args:
            thread_id: the conversation; begun when it is new.
            question: of the turn.
            lease: the turn counts as lost if its process has not renewed it for so long.
            keep: when a new conversation begins, those idle for longer than this are deleted.

        Raises:
            OptionInvalid: the name is empty or too long.
            ConversationBusy: another turn of it is under way.
        """
        key = self._key(thread_id)
        turn = ThreadTurn(self.config_of(thread_id))
        title = _title(question)
        values = {"key": key, "title": title, "time": lease}
        try:
            # Cancelled before its answer is known, it might have locked the conversation for the whole lease.
            await to_its_end(self._begin(turn, values))
            renewing = asyncio.create_task(self._renew(key, turn, lease))
            try:
                yield turn
            finally:
                await stop(renewing)
        finally:
            if turn.busy_until is not None:
                await to_its_end(self._close(key, turn, keep))

    async def _begin(self, turn: ThreadTurn, values: dict[str, Any]) -> None:
        async with self._database.transaction(self._user_id) as connection:
            taken = await (await connection.execute(_SQL["begin"], values)).fetchone()
            left = await (await connection.execute(_SQL["free_in"], values)).fetchone()
        if taken is None:
            seconds = left[0] if left else 1
            raise ConversationBusy(
                "Another question of this conversation is still being answered.",
                next_step="Wait for its answer, or begin a conversation of another name. If the process that answers it "
                f"was stopped, this one is free again in {seconds:,} s.",
                field="thread_id",
            )
        turn.busy_until, turn.new = taken

    async def _close(self, key: str, turn: ThreadTurn, keep: timedelta) -> None:
        if turn.new and not (turn.done or turn.unfinished):
            await self._forget([key])
            return
        await self._ended(key, turn)
        if turn.new:
            await self.forget_older(keep)

    async def _renew(self, key: str, turn: ThreadTurn, lease: timedelta) -> None:
        """Renew the lease of a turn until it ends or is lost."""
        has_lease = True
        while has_lease:
            await asyncio.sleep(lease.total_seconds() * _RENEWED_AFTER)
            with suppress(DependencyError):
                has_lease = await to_its_end(self._renew_once(key, turn, lease))

    async def _renew_once(self, key: str, turn: ThreadTurn, lease: timedelta) -> bool:
        """Return whether the turn still has its conversation."""
        values = {"key": key, "busy_until": turn.busy_until, "time": lease}
        async with self._database.transaction(self._user_id) as connection:
            row = await (await connection.execute(_SQL["renew"], values)).fetchone()
        if row is not None:
            [turn.busy_until] = row
        return row is not None

    async def _ended(self, key: str, turn: ThreadTurn) -> None:
        values = {"key": key, "busy_until": turn.busy_until}
        # Not the saver's `aprune`: it sets an isolation level, which fails inside our transaction.
        async with self._database.transaction(self._user_id) as connection:
            if await (await connection.execute(_SQL["end"], values)).fetchone():
                kept = {"key": key, "done": turn.done or turn.unfinished}
                await connection.execute(_SQL["keep_one"], kept)
                if turn.done and not turn.unfinished:
                    await connection.execute(_SQL["forget_parts"], {"key": key})

    async def known(self, limit: int = 100, after: Thread | None = None) -> list[Thread]:
        """Return the conversations, the latest first; those that follow `after`, where it is given."""
        values = {
            "user_id": self._user_id,
            "limit": limit,
            "before": after and after.updated_at,
            "before_key": after and self._key(after.thread_id),
        }
        async with self._database.transaction(self._user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(Thread))
            await cursor.execute(_SQL["known"], values)
            return await cursor.fetchall()

    async def read(self, thread_id: str) -> tuple[list[AnyMessage], str]:
        """Return the messages of a conversation, the oldest first, and the question that waits for a decision.

        Both are empty if there is no such conversation.
        """
        checkpoint = await self.aget_tuple(self.config_of(thread_id))
        if checkpoint is None:
            return [], ""
        values = checkpoint.checkpoint["channel_values"]
        stopped = any(channel == _INTERRUPT for _, channel, _ in checkpoint.pending_writes or ())
        messages = cast("list[AnyMessage]", values.get("messages", []))
        is_among_them = bool(messages) and messages[-1].type == "human"
        waits = stopped and not is_among_them
        return messages, str(values.get("asked") or values.get("question")) if waits else ""

    async def rename(self, thread_id: str, title: str) -> bool:
        """Give a conversation another title; False when there was none."""
        values = {"key": self._key(thread_id), "title": _title(title)}
        async with self._database.transaction(self._user_id) as connection:
            row = await (await connection.execute(_SQL["rename"], values)).fetchone()
        return row is not None

    async def forget(self, thread_id: str) -> bool:
        """Remove a conversation; False when there was none."""
        return await self._forget([self._key(thread_id)]) > 0

    async def forget_older(self, age: timedelta) -> int:
        """Delete the conversations that were idle for `age`; return their number."""
        async with self._database.transaction(self._user_id) as connection:
            values = {"user_id": self._user_id, "age": age}
            stale = [row[0] async for row in await connection.execute(_SQL["stale"], values)]
        return await self._forget(stale) if stale else 0

    async def _forget(self, keys: list[str]) -> int:
        async with self._database.transaction(self._user_id) as connection:
            row = await (await connection.execute(_SQL["forget"], {"keys": keys})).fetchone()
        return int(row[0]) if row else 0

    def _key(self, thread_id: str) -> str:
        """Return the key of a thread in the database, where two users may have threads of the same name."""
        if not 0 < len(thread_id) <= LONGEST_THREAD or clean_text(thread_id) != thread_id:
            raise OptionInvalid(
                f"A conversation's name has 1 to {LONGEST_THREAD} characters, and none that cannot be stored.",
                next_step="Name it with letters and digits, such as a UUID.",
                field="thread_id",
            )
        return f"{hashlib.sha256(self._user_id.encode()).hexdigest()[:32]}:{thread_id}"


def _title(text: str) -> str:
    return " ".join(clean_text(text).split())[:_TITLE]


def _unreadable() -> ConversationUnreadable:
    return ConversationUnreadable(
        "What is stored of this conversation cannot be read.",
        next_step="Forget it (`/new` in `sextant chat`, DELETE /api/threads/…), or begin another.",
        field="thread_id",
    )
