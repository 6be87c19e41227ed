"""ingestion."""
