"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them.

The way in is `findings`. On the way `stored` puts a table together from passages and `values` reads its cells;
`clauses` parts the questions that one joins, `asking` takes each apart: with the words of `wording`, what `reading`
finds it to name (`families`: by another word) and `bounding` to bound. What then is left is weighed by `rest`.
`choosing` says which computation that is, with `counting` for "how many" and `relating` for two numbers; `computing`
does it, and `written` tells the result, each number with its place.
"""
