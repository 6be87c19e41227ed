"""Results of queries over a table, as sentences that each cite a cell or column."""
