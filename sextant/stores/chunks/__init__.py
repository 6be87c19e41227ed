"""Chunks: searched by vector and by keyword, filtered, read for ranking."""
