"""Searching chunks with all that is known of them."""
