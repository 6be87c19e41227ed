"""Citations of an answer: read markers, find quotes in passages and tables, and check that these support each sentence."""
