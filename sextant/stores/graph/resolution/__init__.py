"""Which names are one thing: what is compared, what was decided, and by whom."""
