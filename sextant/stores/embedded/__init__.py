"""The PostgreSQL that Sextant brings along: started, shared between processes, and stopped."""
