"""The query that a question asks of a table, found by two grammars or by a chat model."""
