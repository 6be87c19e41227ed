"""Questions of tables that they were not asked about."""

from __future__ import annotations

from sextant.tables.cells.table import DataTable
from sextant.tables.results.findings import clauses_for, findings_unasked
from sextant.tables.results.written import Finding


def unasked(question: str, table: DataTable, language: str, about: str = "") -> list[Finding]:
    """Return what is computed of a table that a search has found."""
    return findings_unasked(clauses_for(question, table), table, language, about)
