"""Store communities of a graph: members, hierarchy and reports."""
