"""Store the ingestion queue: jobs, turns of users, and the status of uploads."""
