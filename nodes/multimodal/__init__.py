"""Images and tables that come with a question."""
