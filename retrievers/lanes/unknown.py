"""Says what the filters name and there is not: a misspelt document, section or type finds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from sextant.domain.scope import Scope
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.missing_vectors import warn_of_missing_vectors
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.text.characters import language_of

UNKNOWN = {
    "zh": "知识库里没有筛选条件所指的文档或章节：{}；文档列表给出其 ID 和来源",
    "en": "The filters name what this knowledge base does not have: {}. The list of its documents has their"
    " ids and sources.",
}
UNKNOWN_TYPES = {
    "zh": "知识库里没有筛选条件所指的实体类型：{}；{}",
    "en": "No entity of this knowledge base has the type that the filters name: {}. {}",
}
_MEANT = {"zh": "是否指 {}？", "en": "Did you mean {}?"}
_THERE_ARE = {"zh": "已有类型：{}", "en": "Its types: {}."}
_NO_TYPES = {"zh": "它没有任何实体", "en": "It has no entities."}
# Names that are told, and characters of each.
_MOST_LISTED, _LENGTH = 5, 100


async def warn_of_unknown(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn of what the filters name in vain, and of passages without a vector."""
    await warn_of_missing_vectors(chunks, request)
    if request.filters is None:
        return
    if unknown := await chunks.find_unknown_ids(request.scope, request.filters):
        listed = _join_names(unknown)
        request.warn({language: wording.format(listed) for language, wording in UNKNOWN.items()})
    types = request.filters.entity_types
    if types and (wording := await of_unknown_types(chunks, request.scope, request.text, types)):
        request.warn(wording)


async def of_unknown_types(
    chunks: ChunkStore, scope: Scope, question: str, types: Iterable[str]
) -> str | None:
    """Return what to say of types of entities that the scope does not have: the nearest that it has, else some."""
    unknown, known = await chunks.find_unknown_types(scope, list(types))
    if not unknown:
        return None
    language = language_of(question)
    return UNKNOWN_TYPES[language].format(_join_names(unknown), _way_out(unknown, known, language))


def _way_out(unknown: Sequence[str], known: Sequence[str], language: str) -> str:
    written = {one.lower(): one for one in reversed(known)}
    near = [written[one] for name in unknown for one in get_close_matches(name, written, n=1)]
    if near:
        return _MEANT[language].format(_join_names(list(dict.fromkeys(near))))
    return _THERE_ARE[language].format(_join_names(known)) if known else _NO_TYPES[language]


def _join_names(names: Sequence[str]) -> str:
    quoted = [f"{name[:_LENGTH]!r}" for name in names[:_MOST_LISTED]]
    more = f" (+{len(names) - _MOST_LISTED})" if len(names) > _MOST_LISTED else ""
    return ", ".join(quoted) + more
