"""One ranking out of several signals: fusion, relevance, the walk's mixture, rerankers."""
