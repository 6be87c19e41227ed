"""Citations: their markers, what they quote of passages and tables, and whether that carries the sentence."""
