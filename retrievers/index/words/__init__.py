"""The words of passages: the terms they are cut into, and BM25 over them."""
