"""Says which documents and sections of the filters there are not: a misspelt one finds nothing."""

from __future__ import annotations

from retrievers.lanes.lane import LaneQuery
from stores.chunks.chunk_store import ChunkStore

UNKNOWN = {
    "zh": "知识库里没有筛选条件所指的文档或章节：{}；文档列表给出其 ID 和来源",
    "en": "The filters name what this knowledge base does not have: {}. The list of its documents has their"
    " ids and sources.",
}
# Names that are told, and characters of each.
_TOLD, _LENGTH = 5, 100


async def warn_of_unknown(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn of the documents and sections that the filters name in vain; without filters no store is asked."""
    if request.filters is None:
        return
    unknown = await chunks.unknown(request.scope, request.filters)
    if unknown:
        told = [f"{name[:_LENGTH]!r}" for name in unknown[:_TOLD]]
        more = f" (+{len(unknown) - _TOLD})" if len(unknown) > _TOLD else ""
        listed = ", ".join(told) + more
        request.warn({language: said.format(listed) for language, said in UNKNOWN.items()})
