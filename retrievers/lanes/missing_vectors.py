"""What is said of searches while passages have no vector yet."""

from __future__ import annotations

from sextant.domain.errors import SextantError
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import lack_vectors

MISSING_VECTORS = {
    "zh": "部分段落尚无向量（重新嵌入尚未完成），按语义检索可能漏掉它们；worker 会继续，也可运行 `sextant reembed`。",
    "en": "Some passages have no vector yet, since embedding everything anew is not finished, and search by meaning "
    "may miss them; a worker goes on with it, or run `sextant reembed`.",
}


async def warn_of_missing_vectors(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn while passages have no vector."""
    try:
        missing = await lack_vectors(chunks.database)
    except SextantError:
        return  # the lanes say that the database is away
    if missing:
        request.warn(MISSING_VECTORS)
