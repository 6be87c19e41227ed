"""Documents into passages and a graph: parse, structure, chunk, describe and embed, as jobs that resume."""
