"""What a search for entities costs: CPU by lane, at 5,000 and 20,000 entities.

    python -m benchmarks.entity_search [SEED] [SIZE ...]

Entities have Chinese and English names and descriptions of words by Zipf's law, vectors around topics,
and relations from frequent ones to any. Questions are words of an entity, in either language. Of each
size: the whole search, each lane by itself, the same again from memory, and a plain full-text
statement under row-level security beside ours (the same rows are asked of both). The embedding of a
question is not in it. CPU milliseconds are of this process and its one connection's backend.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.store import Meter, backend_of
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.sets import parser_of
from sextant.models.protocols import Vectors
from sextant.retrievers.entity_search.lanes import traverse, words_of
from sextant.retrievers.entity_search.options import SearchOptions
from sextant.retrievers.entity_search.search import EntitySearch
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import EntityFilter
from sextant.stores.graph.record import EntityVectors, GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

SIZES = (5_000, 20_000)
QUESTIONS = 40
ROUNDS = 2
TOPICS = 50
PLAIN = """
select id, name, ts_rank_cd(fts_vector, query) as rank
from knowledge_entity, plainto_tsquery('english', search_words(%s)) query
where user_id = %s and fts_vector @@ query order by rank desc limit 20
"""


class Looked(HashEmbedder):
    """Gives a question the vector that it was made with."""

    def __init__(self) -> None:
        super().__init__(384)
        self.vectors: dict[str, Vectors] = {}

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector that belongs to a question."""
        return self.vectors[text]


class World:
    """Entities, their vectors and relations, made up from a seed."""

    def __init__(self, size: int, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.ids = [UUID(bytes=rng.bytes(16)) for _ in range(size)]
        han = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]
        self.chinese = ["".join(rng.choice(han, 2)) for _ in range(4000)]
        letters = list("abcdefghijklmnoprstuvwy")
        self.english = ["".join(rng.choice(letters, rng.integers(4, 9))) for _ in range(4000)]
        self.texts = [self._text(number) for number in range(size)]
        centres = rng.standard_normal((TOPICS, 384)).astype(np.float32)
        near = centres[rng.integers(0, TOPICS, size)]
        vectors = near + 0.7 * rng.standard_normal((size, 384)).astype(np.float32)
        self.vectors: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _text(self, number: int) -> tuple[str, str]:
        chinese = number % 2 == 0
        words, between = (self.chinese, "") if chinese else (self.english, " ")
        ranks = np.minimum(self.rng.zipf(1.3, 27) - 1, len(words) - 1)
        told = [words[rank] for rank in ranks]
        return between.join(told[:2]) + f"{between}{number}", between.join(told[2:])

    def evidence(self) -> GraphEvidence:
        """As an import brings it."""
        size = len(self.ids)
        zipf = 1 / np.arange(1, size + 1) ** 0.8
        starts = self.rng.choice(size, 3 * size, p=zipf / zipf.sum())
        ends, weights = self.rng.integers(0, size, 3 * size), self.rng.random(3 * size) + 0.1
        return GraphEvidence(
            [
                MentionRow(one, None, MentionKind.IMPORT, name, "THING", said)
                for one, (name, said) in zip(self.ids, self.texts, strict=True)
            ],
            [
                RelationRow(self.ids[a], self.ids[b], "KNOWS", None, float(w))
                for a, b, w in zip(starts, ends, weights, strict=True)
                if a != b
            ],
        )

    def questions(self, embedder: Looked) -> list[str]:
        """Return two words of an entity's description and one of its name; near it in meaning."""
        made = []
        for number in self.rng.integers(0, len(self.ids), QUESTIONS):
            name, said = self.texts[number]
            picked = self.rng.integers(0, 20, 2)
            parts = said.split(" ") if " " in said else [said[n : n + 2] for n in range(0, 50, 2)]
            first = name.split(" ")[0] if " " in name else name[:2]
            question = " ".join([first, *(parts[n] for n in picked)])
            noise = 0.02 * self.rng.standard_normal(384).astype(np.float32)
            vector = self.vectors[number] + noise
            embedder.vectors[question] = vector / np.linalg.norm(vector)
            made.append(question)
        return made


async def fill(database: Database, scope: Scope, world: World) -> None:
    """Store the world as an import would, with vectors."""
    await store(database, scope, world)
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        await owner.execute("analyze")


async def store(database: Database, scope: Scope, world: World) -> None:
    """Time the same without statistics, for one of several worlds."""
    await GraphRecord(database).add(scope, world.evidence())
    places = {one: place for place, one in enumerate(world.ids)}
    vectors = EntityVectors(database)
    while texts := await vectors.to_embed(scope, 2000):
        await vectors.store(scope, texts, world.vectors[[places[one.id] for one in texts]])


async def measure(
    meter: Meter, questions: Sequence[str], ask: Callable[[str], Awaitable[int]]
) -> str:
    """Return CPU of a question, client and server, and how many results it has; means over all questions."""
    await ask(questions[0])
    before = meter.read()
    found = [await ask(question) for question in questions for _ in range(ROUNDS)]
    client, server = (
        (after - start) * 1000 / len(found)
        for after, start in zip(meter.read(), before, strict=True)
    )
    return f"{client:6.1f} ms client {server:6.1f} ms server, {statistics.mean(found):5.1f} found"


async def main(seed: int, sizes: Sequence[int]) -> None:
    """Measure every size."""
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
            settings = Settings(
                _env_file=None,
                data_dir=Path(folder),
                database_url=None,
                neo4j_uri=None,
                database_pool=1,
            )
            async with await Database.open(settings) as database:
                await run(database, settings, World(size, seed))


Ask = Callable[[str], Awaitable[int]]


async def run(database: Database, settings: Settings, world: World) -> None:
    """Measure one size."""
    scope, embedder = Scope("bench", "entities"), Looked()
    await fill(database, scope, world)
    questions = world.questions(embedder)
    meter = Meter(await backend_of(database, scope))
    [hub] = await PostgresGraph(database).get_entities(scope, world.ids[:1])
    size = len(world.ids)
    print(f"{size:,} entities, {3 * size:,} relations; the hub has {hub.degree:,}")
    searches = whole_searches(database, scope, embedder, settings)
    for question in questions:  # what is asked again from memory has been asked before
        await searches["the same again, from memory"](question)
    picks = world.rng.integers(0, size, (len(questions), 5))
    starts = {
        question: [world.ids[place] for place in own]
        for question, own in zip(questions, picks, strict=True)
    }
    parts = lanes(database, scope, embedder) | walks(database, scope, starts, world.ids[0])
    for name, ask in (searches | parts).items():
        print(f"  {name:<32} {await measure(meter, questions, ask)}", flush=True)


def whole_searches(
    database: Database, scope: Scope, embedder: Looked, settings: Settings
) -> dict[str, Ask]:
    """Search as a caller makes them."""
    graph = PostgresGraph(database)
    uncached = settings.entity_search.model_copy(update={"cache_seconds": 0.0})
    fresh_settings = settings.model_copy(update={"entity_search": uncached})
    fresh = EntitySearch(database, graph, embedder, fresh_settings)
    hot = EntitySearch(database, graph, embedder, settings)

    async def whole(question: str) -> int:
        return len((await fresh.search(question, scope)).results)

    async def related(question: str) -> int:
        options = SearchOptions(include_related=True)
        return len((await fresh.search(question, scope, options)).results)

    async def again(question: str) -> int:
        return len((await hot.search(question, scope)).results)

    return {
        "whole search": whole,
        "with related entities": related,
        "the same again, from memory": again,
    }


def lanes(database: Database, scope: Scope, embedder: Looked) -> dict[str, Ask]:
    """Return the lanes of meaning and words by themselves, and the plain full-text statement."""
    graph = PostgresGraph(database)

    async def meaning(question: str) -> int:
        return len(await graph.entities_by_vector(scope, embedder.vectors[question], 20))

    async def filtered(question: str) -> int:
        only = EntityFilter(entity_types=("thing",))
        return len(await graph.entities_by_vector(scope, embedder.vectors[question], 20, only))

    async def words(question: str) -> int:
        return len(await graph.entities_by_words(scope, words_of(question), 20))

    async def any_word(question: str) -> int:
        return len(await graph.entities_by_words(scope, [*words_of(question), "zzzz"], 20))

    async def plain(question: str) -> int:
        async with database.transaction(scope.user_id) as connection:
            rows = await connection.execute(PLAIN.encode(), [question, scope.user_id])
            return len(await rows.fetchall())

    return {
        "meaning, exact": meaning,
        "meaning, of one type": filtered,
        "words, all of them": words,
        "words, any of them": any_word,
        "a plain full-text statement, under RLS": plain,
    }


def walks(
    database: Database, scope: Scope, starts: dict[str, list[UUID]], hub: UUID
) -> dict[str, Ask]:
    """Return the graph lane, and what it reads of an entity with many relations and of any."""
    graph = PostgresGraph(database)

    async def walk(question: str) -> int:
        return len(await traverse(graph, scope, starts[question], depth=2, per_level=10))

    async def of_hub(_: str) -> int:
        return len(await graph.neighbourhood(scope, [hub], per_node=24))

    async def of_any(question: str) -> int:
        return len(await graph.neighbourhood(scope, starts[question][:1], per_node=24))

    return {
        "graph, two levels": walk,
        "relations of the hub": of_hub,
        "relations of another": of_any,
    }


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("size", type=int, nargs="*", default=SIZES)
    given = parser.parse_args()
    asyncio.run(main(given.seed, given.size))
