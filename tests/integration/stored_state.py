"""What tests read and write of a store's state directly, since no user does: evidence, merges, jobs, servers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.documents import Job
from sextant.domain.scope import Scope, key_of
from sextant.stores import jobs
from sextant.stores.embedded.server import find_postmaster, is_listening
from sextant.stores.graph import record
from sextant.stores.graph.evidence import GraphEvidence
from sextant.stores.graph.name_decisions import Merge, merge, unmerge
from sextant.stores.scopes import rows_of


class GraphRecord(record.GraphRecord):
    """The record of a graph, changed in one step."""

    async def add(self, scope: Scope, evidence: GraphEvidence) -> None:
        """Store one batch of evidence and update the graph."""
        async with self.writing(scope) as writer:
            await writer.add(evidence)

    async def merge(self, scope: Scope, merges: Sequence[Merge]) -> int:
        """Merge entities by decision; return the number of new decisions."""
        async with self.writing(scope) as writer:
            return await merge(writer, merges)

    async def unmerge(self, scope: Scope, from_ids: Sequence[UUID]) -> int:
        """Undo merges of these entities; return how many had been merged."""
        async with self.writing(scope) as writer:
            return await unmerge(writer, from_ids)

    async def merges(self, scope: Scope) -> list[Merge]:
        """Return the current merges, oldest first."""
        query = (
            "select from_id, into_id, reason, automatic from entity_merges"
            " where scope_id = %(scope_id)s order by created_at, from_id"
        )
        return await rows_of(self._database, scope, class_row(Merge), query)


class JobStore(jobs.JobStore):
    """The jobs, which tests list."""

    async def list(self, scope: Scope) -> list[Job]:
        """Return the jobs of a knowledge base, newest first."""
        query = (
            "select * from ingestion_jobs where user_id = %(user_id)s and graph_id = %(graph_id)s"
            " order by created_at desc, id"
        )
        return await self._rows(scope.user_id, query, key_of(scope))


def is_running(data_dir: Path) -> bool:
    """Return whether a server of `data_dir` accepts connections, without starting one."""
    found = find_postmaster(data_dir.expanduser().resolve())
    return found is not None and is_listening(found.socket_dir)
