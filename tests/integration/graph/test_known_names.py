"""The names of a question that a knowledge base's graph knows."""

from sextant.domain.scope import Scope
from sextant.graph.dependencies import dependencies_over
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder


async def test_titles_are_known_and_other_words_are_not(database: Database, filled: Scope) -> None:
    async with dependencies_over(database, HashEmbedder(384)) as deps:
        known = await deps.retriever.known_names(filled, "胰岛素和利福平由什么分泌？")
        assert known == ["胰岛素"]


async def test_another_users_knowledge_base_knows_nothing(
    database: Database, filled: Scope
) -> None:
    async with dependencies_over(database, HashEmbedder(384)) as deps:
        stranger = Scope("somebody else", filled.graph_id)
        assert await deps.retriever.known_names(stranger, "胰岛素由什么分泌？") == []
