"""What a question asks of a table, as a query: filled by two grammars or by a chat model, and run exactly."""
