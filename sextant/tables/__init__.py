"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them.

The way in is `results.findings`. On the way `cells.stored` puts a table together from passages and `cells.values`
reads its cells. `question.clauses` parts the questions that one joins, `computation.asking` takes each apart: with
the words of `question.wording`, what `question.reading` finds it to name (`families`: by another word) and
`question.bounding` to bound. What then is left is weighed by `question.rest`. `computation.choosing` says which
computation that is, with `counting` for "how many" and `relating` for two numbers; `cells.computing` does it, and
`results.written` tells the result, each number with its place.
"""
