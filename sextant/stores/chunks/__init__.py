"""Search, filter and read the chunks of a knowledge base."""
