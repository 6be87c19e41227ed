"""Hot knowledge bases in memory: the same searches without asking PostgreSQL for what has not changed."""
