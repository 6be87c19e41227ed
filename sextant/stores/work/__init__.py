"""The work that documents wait for: jobs, whose turn it is, what became of uploads."""
