"""Chat and vision models of an OpenAI-compatible endpoint: retries, typed errors, limits, and what they used."""
