"""Questions of tables that they were not asked about."""

from __future__ import annotations

from sextant.tables.cells.table import DataTable
from sextant.tables.query.parsing import lists_rows
from sextant.tables.results.findings import query_for, run_query
from sextant.tables.results.written import ComputedFinding


def unasked(
    question: str, table: DataTable, language: str, about: str = ""
) -> list[ComputedFinding]:
    """Return what is computed of a table that a search has found."""
    query = query_for(question, table, about)
    return run_query(query, table, language, is_list=lists_rows(question)) if query else []
