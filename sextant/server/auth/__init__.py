"""Authentication by API keys and tokens."""
