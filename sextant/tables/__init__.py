"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them.

The way in is `results.findings`. `cells.stored` puts a table together from passages, `cells.values` reads its cells.
`query.parsing` turns a question into a `TableQuery`: `query.statements` where it relates items and years; else `query.tokens`
cuts it, with what `query.linker` finds named in the table and the words that `query.lexicon` has, `query.conditions` takes
together what bounds the rows, `query.chooser` says which query that is, and `query.leftovers` whether a word is not
accounted for. `cells.arithmetic` computes, and `results.written` writes the result in sentences, each number with its place.
"""
