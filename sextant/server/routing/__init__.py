"""How routes are made: strict about what they read, and never without a guard."""
