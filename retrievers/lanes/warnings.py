"""Warnings of searches that went on without a part, and the error of searches that could not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from sextant.domain.errors import SextantError
from sextant.domain.retrieval import RetrievalError
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, names
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    LaneQuery,
    LaneRun,
    find_causes,
    log_failures,
    log_warning,
)
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import lack_vectors
from sextant.stores.postgresql.database import Database

_FAILED = {
    VECTOR: CodedWarning(WarningCode.VECTOR_LANE_FAILED),
    KEYWORD: CodedWarning(WarningCode.KEYWORD_LANE_FAILED),
}


def warn_of_failures(runs: Sequence[LaneRun]) -> list[CodedWarning]:
    """Return a warning for each failed lane, which is also logged, then the causes."""
    failed = {run.name: run.error for run in runs if run.error is not None}
    degraded = [
        _FAILED.get(name, CodedWarning(WarningCode.LANE_FAILED, {"lane": name})) for name in failed
    ]
    for warning in degraded:
        log_warning(warning)
    return distinct([*degraded, *find_causes(failed)])


async def require_one(runs: Sequence[LaneRun], database: Database | None = None) -> None:
    """Log the lanes that failed, and check that one did not.

    Args:
        runs: of all lanes.
        database: PostgreSQL, if the lanes search it.

    Raises:
        RetrievalError: every lane failed; carries each cause.
    """
    failed = {run.name: run.error for run in runs if run.error is not None}
    log_failures(failed)
    if len(failed) == len(runs):
        raise await failure_of(failed, database)


async def failure_of(
    failed: Mapping[str, BaseException], database: Database | None
) -> RetrievalError:
    """Return the error of a search whose lanes all failed.

    A timeout counts as an error of PostgreSQL if that does not answer.
    """
    late = [lane for lane, error in failed.items() if isinstance(error, TimeoutError)]
    if not late or database is None or await database.answers():
        return RetrievalError.of(failed)
    return RetrievalError.of({**failed, **dict.fromkeys(late, database.silence())})


async def warn_of_missing_vectors(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn if passages have no vector."""
    try:
        missing = await lack_vectors(chunks.database)
    except SextantError:
        return  # the lanes report that the database does not answer
    if missing:
        request.warn(WarningCode.VECTORS_MISSING)


async def warn_of_unknown(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn of ids and types in the filters that do not exist, and of passages without a vector."""
    await warn_of_missing_vectors(chunks, request)
    if request.filters is None:
        return
    if unknown := await chunks.find_unknown_ids(request.scope, request.filters):
        request.warn(WarningCode.FILTERS_UNKNOWN, {"ids": names(unknown)})
    types = request.filters.entity_types
    if types and (warning := await find_unknown_types(chunks, request.scope, types)):
        request.note(warning)


async def find_unknown_types(
    chunks: ChunkStore, scope: Scope, types: Iterable[str]
) -> CodedWarning | None:
    """Return a warning of entity types that the scope does not have, with similar types or some that it has."""
    unknown, known = await chunks.find_unknown_types(scope, list(types))
    if not unknown:
        return None
    missing = {"types": names(unknown)}
    spelling = {type_.lower(): type_ for type_ in reversed(known)}
    similar = [
        spelling[type_] for name in unknown for type_ in get_close_matches(name, spelling, n=1)
    ]
    if similar:
        params = missing | {"near": names(list(dict.fromkeys(similar)))}
        return CodedWarning(WarningCode.TYPES_MISSPELT, params)
    if known:
        return CodedWarning(WarningCode.TYPES_UNKNOWN, missing | {"known": names(known)})
    return CodedWarning(WarningCode.TYPES_MISSING, missing)
