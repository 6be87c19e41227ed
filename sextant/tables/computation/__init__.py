"""Which computation a question asks for: its operation, its column, and the rows that count."""
