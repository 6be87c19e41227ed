"""Documents and their versions: written batch by batch, published, described, deleted."""
