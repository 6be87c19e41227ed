"""Describe chunks and sections: summaries, keywords, topics, tags."""
