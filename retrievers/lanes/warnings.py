"""What searches go on without, and what they warn of."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from sextant.domain.errors import RetrievalError, SextantError, describe_reason
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, names
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery, LaneRun
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.embedding_space import lack_vectors
from sextant.stores.postgresql.database import Database

logger = logging.getLogger(__name__)

_FAILED = {
    VECTOR: CodedWarning(WarningCode.VECTOR_LANE_FAILED),
    KEYWORD: CodedWarning(WarningCode.KEYWORD_LANE_FAILED),
}


def warn_of_failures(runs: Sequence[LaneRun]) -> list[CodedWarning]:
    """Return how the search went on without lanes that failed, and why these did. The former is logged, too."""
    failed = {run.name: run.error for run in runs if run.error is not None}
    degraded = [
        _FAILED.get(name, CodedWarning(WarningCode.LANE_FAILED, {"lane": name})) for name in failed
    ]
    for warning in degraded:
        log_warning(warning)
    return distinct([*degraded, *find_causes(failed)])


def find_causes(failed: Mapping[str, BaseException]) -> list[CodedWarning]:
    """Return why lanes failed, each cause once; of what nobody foresaw only the log tells."""
    causes = list[CodedWarning]()
    for name, error in failed.items():
        if isinstance(error, SextantError):
            causes.append(CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(error)}))
        elif isinstance(error, TimeoutError):
            causes.append(CodedWarning(WarningCode.LANE_TIMED_OUT, {"lane": name}))
    return distinct(causes)


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


def go_without(part: str, cause: SextantError, query: LaneQuery, code: WarningCode) -> None:
    """Warn that lanes went on without a part that failed, and why; the log gets the same, once a question."""
    if query.warn(code):
        query.warn(WarningCode.CAUSE, {"reason": describe_reason(cause)})
        log_failures({part: cause})
        log_warning(CodedWarning(code))


def log_warning(warning: CodedWarning) -> None:
    """Log a warning in the language that the log has for searches."""
    logger.warning(warning.in_language("zh"))


def log_failures(failed: Mapping[str, BaseException]) -> None:
    """One line for each lane, and one traceback for each cause: lanes share a database."""
    traced = set[str]()
    for name, error in failed.items():
        cause = repr(error)
        logger.error("lane %s failed: %s", name, error, exc_info=None if cause in traced else error)
        traced.add(cause)


async def warn_of_missing_vectors(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn while passages have no vector."""
    try:
        missing = await lack_vectors(chunks.database)
    except SextantError:
        return  # the lanes say that the database is away
    if missing:
        request.warn(WarningCode.VECTORS_MISSING)


async def warn_of_unknown(chunks: ChunkStore, request: LaneQuery) -> None:
    """Warn of what the filters name in vain, and of passages without a vector."""
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
    """Return the warning of entity types that the scope does not have: the nearest that it has, else some."""
    unknown, known = await chunks.find_unknown_types(scope, list(types))
    if not unknown:
        return None
    missing = {"types": names(unknown)}
    written = {one.lower(): one for one in reversed(known)}
    near = [written[one] for name in unknown for one in get_close_matches(name, written, n=1)]
    if near:
        meant = list(dict.fromkeys(near))
        return CodedWarning(WarningCode.TYPES_MISSPELT, missing | {"near": names(meant)})
    if known:
        return CodedWarning(WarningCode.TYPES_UNKNOWN, missing | {"known": names(known)})
    return CodedWarning(WarningCode.TYPES_MISSING, missing)
