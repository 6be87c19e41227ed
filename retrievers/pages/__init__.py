"""Reading what a search found page by page: cursors, and rankings kept for the next page."""
