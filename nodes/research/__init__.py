"""A report (`effort` high): planned, searched for, and written section by section from what the question found."""
