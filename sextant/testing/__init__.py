"""Public test doubles: a scripted OpenAI-compatible server over real TCP, and a model-free embedder."""
