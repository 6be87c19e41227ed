"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them.

The way in is `results.findings`. `cells.stored` puts a table together from passages, `cells.values` reads its cells.
`query.parsing` turns a question into a `TableQuery`: `query.statements` where it relates items and years; else
`query.linking` finds what it names, `query.bounding` what bounds the rows, by the words of `query.english` or
`query.chinese`, `query.choosing` says which query that is, and `query.parts` whether a word is left over. `cells.computing`
does the arithmetic, and `results.written` writes the result in sentences, each number with its place.
"""
