"""Made-up entities of a tenant: names, descriptions, vectors and relations."""

from __future__ import annotations

from uuid import UUID

import numpy as np

from benchmarks.graph import add_evidence
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.models.protocols import Vectors
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.record import EntityVectors, GraphRecord
from sextant.stores.postgresql.database import Database

TOPICS = 50


class EntityGraph:
    """Entities with Chinese or English texts of words by Zipf's law, vectors around topics, and relations.

    Args:
        size: number of entities.
        seed: of the random numbers.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.ids = [UUID(bytes=rng.bytes(16)) for _ in range(size)]
        ideographs = [chr(code) for code in range(0x4E00, 0x4E00 + 1500)]
        self.chinese = ["".join(rng.choice(ideographs, 2)) for _ in range(4000)]
        letters = list("abcdefghijklmnoprstuvwy")
        self.english = ["".join(rng.choice(letters, rng.integers(4, 9))) for _ in range(4000)]
        self.texts = [self._text(number) for number in range(size)]
        centres = rng.standard_normal((TOPICS, 384)).astype(np.float32)
        near = centres[rng.integers(0, TOPICS, size)]
        vectors = near + 0.7 * rng.standard_normal((size, 384)).astype(np.float32)
        self.vectors: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _text(self, number: int) -> tuple[str, str]:
        """Return name and description of an entity."""
        words, separator = (self.chinese, "") if number % 2 == 0 else (self.english, " ")
        ranks = np.minimum(self.rng.zipf(1.3, 27) - 1, len(words) - 1)
        chosen = [words[rank] for rank in ranks]
        return separator.join(chosen[:2]) + f"{separator}{number}", separator.join(chosen[2:])

    def evidence(self) -> GraphEvidence:
        """Return the entities and relations as an import adds them."""
        size = len(self.ids)
        zipf = 1 / np.arange(1, size + 1) ** 0.8
        starts = self.rng.choice(size, 3 * size, p=zipf / zipf.sum())
        ends, weights = self.rng.integers(0, size, 3 * size), self.rng.random(3 * size) + 0.1
        return GraphEvidence(
            [
                MentionRow(id_, None, MentionKind.IMPORT, name, "THING", description)
                for id_, (name, description) in zip(self.ids, self.texts, strict=True)
            ],
            [
                RelationRow(self.ids[a], self.ids[b], "KNOWS", None, float(w))
                for a, b, w in zip(starts, ends, weights, strict=True)
                if a != b
            ],
        )


async def store_entities(database: Database, scope: Scope, graph: EntityGraph) -> None:
    """Store the entities as an import does, with vectors."""
    await add_evidence(GraphRecord(database), scope, graph.evidence())
    row_of = {id_: row for row, id_ in enumerate(graph.ids)}
    vectors = EntityVectors(database)
    while texts := await vectors.to_embed(scope, 2000):
        await vectors.store(scope, texts, graph.vectors[[row_of[text.id] for text in texts]])
