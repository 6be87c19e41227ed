"""Opening a database, and what the role that serves may see."""

from __future__ import annotations

from stores.database import Database


async def test_the_serving_role_is_bound_by_row_level_security_on_every_table(
    database: Database,
) -> None:
    rights = await database.role_rights()
    assert rights.role == "sextant_app"
    assert rights.safe
