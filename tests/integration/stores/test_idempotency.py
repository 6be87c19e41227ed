"""Answers kept for whoever asks again: a day of each user's newest keys, and nobody else's."""

from __future__ import annotations

from uuid import uuid4

import pytest

from sextant.domain.errors import ConflictError
from sextant.stores.api_keys import MAX_KEYS, Idempotency
from sextant.stores.postgresql.database import Database

REQUEST = "a" * 64


@pytest.fixture
def user() -> str:
    return f"user-{uuid4()}"


async def age(database: Database, user: str, hours: int) -> None:
    async with database.transaction(user) as connection:
        await connection.execute(
            "update idempotent_answers set created_at = now() - make_interval(hours => %s)", [hours]
        )


async def keys_of(database: Database, user: str) -> list[str]:
    async with database.transaction(user) as connection:
        found = await connection.execute("select key from idempotent_answers order by created_at")
        return [key for (key,) in await found.fetchall()]


async def test_a_request_is_answered_once_and_another_under_its_key_is_refused(
    database: Database, user: str
) -> None:
    answered = Idempotency(database)
    assert await answered.begin(user, "k", REQUEST) is None
    await answered.finish(user, "k", REQUEST, {"id": 1})
    assert await answered.begin(user, "k", REQUEST) == {"id": 1}
    assert await answered.begin("somebody-else", "k", "b" * 64) is None
    with pytest.raises(ConflictError):
        await answered.begin(user, "k", "b" * 64)


async def test_a_key_is_new_again_after_a_day(database: Database, user: str) -> None:
    answered = Idempotency(database)
    await answered.begin(user, "k", REQUEST)
    await answered.finish(user, "k", REQUEST, {"id": 1})
    await age(database, user, hours=25)
    assert await answered.begin(user, "k", "b" * 64) is None
    assert await keys_of(database, user) == ["k"]


async def test_keys_of_a_user_who_never_comes_back_go_too(database: Database, user: str) -> None:
    answered = Idempotency(database)
    await answered.begin(user, "k", REQUEST)
    await age(database, user, hours=25)
    await answered.begin(f"another-{user}", "k", REQUEST)
    assert await keys_of(database, user) == []


async def test_only_the_newest_keys_of_a_user_are_kept(database: Database, user: str) -> None:
    async with database.transaction(user) as connection:
        await connection.execute(
            "insert into idempotent_answers (user_id, key, request_sha256, created_at) "
            "select %s, 'old-' || n, '', now() - n * interval '1 second' "
            "from generate_series(1, %s) as n",
            [user, MAX_KEYS],
        )
    await Idempotency(database).begin(user, "new", REQUEST)
    kept = await keys_of(database, user)
    assert len(kept) == MAX_KEYS
    assert (kept[0], kept[-1]) == (f"old-{MAX_KEYS - 1}", "new")
