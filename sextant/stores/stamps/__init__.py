"""Stamps, by which caches detect that the database has changed."""
