"""Tables as data: typed cells, exact arithmetic over them, and queries that questions ask for.

The entry point is `results.findings`. `cells.stored` assembles a table from passages, and `cells.values` reads its cells.
`query.parsing` makes a `TableQuery` of a question: in `query.statements` if it relates items and years, else by cutting it
into tokens (`query.tokens`), linking them to the table (`query.linker`), combining conditions (`query.conditions`) and
choosing the query (`query.chooser`). `cells.arithmetic` computes, and `results.written` writes the result in sentences, each
with the cell or column that it cites.
"""
