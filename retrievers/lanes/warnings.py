"""What searches go on without, and what they warn of."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from sextant.domain.errors import RetrievalError, SextantError
from sextant.domain.scope import Scope
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, LaneRun
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import lack_vectors
from sextant.stores.postgresql.database import Database
from sextant.text.characters import language_of

logger = logging.getLogger(__name__)

# Seed 000, "部分检索失败".
_DEGRADED = {
    VECTOR: "向量检索失败，使用关键词检索降级",
    KEYWORD: "关键词检索失败，仅使用向量检索结果",
}
_OTHER = "检索通道 {lane} 失败，其余通道继续 (lane {lane} failed; the others went on)"


def describe_degradation(runs: Sequence[LaneRun]) -> tuple[str, ...]:
    """Return one sentence for every failed lane: how the search went on without it. Logged verbatim."""
    sentences = [
        _DEGRADED.get(run.name, _OTHER.format(lane=run.name))
        for run in runs
        if run.error is not None
    ]
    for sentence in sentences:
        logger.warning(sentence)
    return tuple(sentences)


def require_one(runs: Sequence[LaneRun]) -> None:
    """Log which lanes failed; without one that did not there is nothing to go on with.

    Raises:
        RetrievalError: every lane failed; carries each cause.
    """
    if failed := _without_one(runs):
        raise RetrievalError.of(failed)


async def require_one_of(runs: Sequence[LaneRun], database: Database) -> None:
    """As `require_one`, for lanes over `database`.

    Raises:
        RetrievalError: every lane failed; carries each cause.
    """
    if failed := _without_one(runs):
        raise await failure_of(failed, database)


def _without_one(runs: Sequence[LaneRun]) -> dict[str, BaseException]:
    """Log which lanes failed; return why, if all have."""
    failed: dict[str, BaseException] = {
        run.name: run.error for run in runs if run.error is not None
    }
    log_failures(failed)
    return failed if len(failed) == len(runs) else {}


async def failure_of(failed: Mapping[str, BaseException], database: Database) -> RetrievalError:
    """Return the error of lanes that all failed.

    One that ran out of time while PostgreSQL does not answer has waited for PostgreSQL.
    """
    late = [lane for lane, error in failed.items() if isinstance(error, TimeoutError)]
    if not late or await database.answers():
        return RetrievalError.of(failed)
    return RetrievalError.of({**failed, **dict.fromkeys(late, database.silence())})


def go_without(part: str, cause: Exception, query: LaneQuery, wordings: Mapping[str, str]) -> None:
    """Tell the caller that lanes went on without a part that failed, and the log why; once a question."""
    if query.warn(wordings):
        log_failures({part: cause})
        logger.warning(wordings["zh"])


def log_failures(failed: Mapping[str, BaseException]) -> None:
    """One line for each lane, and one traceback for each cause: lanes share a database."""
    traced = set[str]()
    for name, error in failed.items():
        cause = repr(error)
        logger.error("lane %s failed: %s", name, error, exc_info=None if cause in traced else error)
        traced.add(cause)


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
