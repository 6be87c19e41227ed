"""The words with which questions ask, and those by which columns are called."""

from __future__ import annotations

from sextant.text.lexicon import Lexicon

WORDS = Lexicon(__package__, "english.txt", "chinese.txt")
"""What the words of questions ask for."""
COLUMNS = Lexicon(__package__, "columns.txt", plurals=True)
"""What the names of columns say of their numbers."""
