"""Who asks: keys, tokens, and what they allow."""
