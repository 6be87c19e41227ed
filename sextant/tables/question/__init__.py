"""What a question names of a table, by which words, and what it bounds."""
