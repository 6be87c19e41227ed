"""Images and tables that come with a question, read and looked at."""
