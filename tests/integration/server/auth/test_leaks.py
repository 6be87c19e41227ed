"""Three users ask for their own and each other's things at random: nobody sees another's words.

`LEAK_CALLS` says how many calls are made, `LEAK_SEED` which.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

from fastapi import FastAPI

from sextant.stores.api_keys import ApiKeyStore
from tests.integration.server.auth.conftest import key_for
from tests.integration.server.auth.routes import INGEST, TABLE, Ids, Row
from tests.integration.server.auth.world import canaries, furnish
from tests.integration.server.calling import bearer, calling

USERS = ("wren", "lark", "finch")
CALLS = int(os.environ.get("LEAK_CALLS", "500"))
SEED = int(os.environ.get("LEAK_SEED", "7"))


async def test_no_call_shows_another_user_s_words(guarded: FastAPI, keys: ApiKeyStore) -> None:
    chance = random.Random(SEED)  # noqa: S311 - no secret
    secrets = {user: await key_for(keys, user) for user in USERS}
    known = {user: await furnish(guarded, user, secrets[user]) for user in USERS}
    seen = dict.fromkeys(USERS, 0)
    async with calling(guarded) as client:
        for call in range(CALLS):
            user, row = chance.choice(USERS), chance.choice(_ROWS)
            ids = _drawn(chance, row, user, known)
            sent = row.send(ids)
            headers = sent.pop("headers", {}) | bearer(secrets[user])
            answer = await client.request(row.method, row.url(ids), headers=headers, **sent)
            told = answer.text + str(answer.headers)
            for other in USERS:
                found = [word for word in canaries(other).values() if word in told]
                assert other == user or not found, (SEED, call, row, user, found)
                seen[user] += bool(other == user and found)
        for user in USERS:
            document = f"/documents/{known[user].document}"
            assert (await client.get(document, headers=bearer(secrets[user]))).status_code == 200
    assert all(seen.values())  # the words are where they could have been seen


# What ends a whole knowledge base is asked by name, and every user has one of that name.
_ROWS = [row for row in TABLE if not (row.ends and "graphId" in row.path)]


def _drawn(chance: random.Random, row: Row, user: str, known: dict[str, Ids]) -> Ids:
    """Return ids of anybody; but what does away with something is asked of others only."""
    others = [one for one in USERS if one != user]
    if row.ends or row.permission == INGEST:
        return replace(known[chance.choice(others)], graph="brought")
    drawn = [known[chance.choice(USERS)] for _ in range(5)]
    return Ids(
        drawn[0].document, drawn[1].entity, drawn[2].chunk, drawn[3].run, thread=drawn[4].thread
    )
