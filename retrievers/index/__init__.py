"""A knowledge base in memory: words, vectors, names, relations and reports of one scope."""
