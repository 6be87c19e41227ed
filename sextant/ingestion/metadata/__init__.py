"""What chunks and sections say about themselves: summaries, keywords, topics, tags."""
