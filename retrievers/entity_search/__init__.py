"""Finding entities by meaning, words and the graph around them."""
