"""Whole knowledge bases in and out, as JSON Lines."""
