"""What was computed of a table, told in sentences that each rest on a place."""
