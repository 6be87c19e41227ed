"""Tables as data: cells with types, exact arithmetic over them, and what a question asks of them.

The way in is `findings`. On the way `stored` puts a table together from passages and `values` reads its cells;
`asking` takes a question apart with the words of `wording` and what `reading` finds it to name, `choosing` says
which computation that is, `computing` does it, and `written` tells the result, each number with its place.
"""
