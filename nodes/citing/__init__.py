"""Citations: their markers, what they quote, and whether the passage carries the sentence."""
