"""Run the embedded PostgreSQL: start it, share it between processes, and stop it."""
