"""Communities that a test makes up, stored the way upkeep stores those that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from sextant.domain.graph import Community
from sextant.domain.scope import Scope
from sextant.stores.graph.community_store import (
    Change,
    CommunityStore,
    Follows,
    HierarchyStore,
    StoredReport,
)
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database


async def keep(
    database: Database, scope: Scope, communities: Sequence[Community], gone: Sequence[UUID] = ()
) -> None:
    """Store communities with their reports, and take others away."""
    hierarchy, version = HierarchyStore(database), await GraphRecord(database).version(scope)
    places = [Change(one.id, one.level, one.parent_id, one.entity_ids) for one in communities]
    moment = await hierarchy.moment(scope)
    await hierarchy.write(scope, places, gone, Follows(version, 0, 0.0), moment)
    reports = [
        StoredReport(one.id, one.title, one.summary, one.findings, one.rating)
        for one in communities
    ]
    await CommunityStore(database).write(scope, version, reports)
