"""Arithmetic over arrays of scores, vectors and rows, which knows of no passage and no question."""
