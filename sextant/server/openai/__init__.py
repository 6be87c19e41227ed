"""The answers as an OpenAI-compatible API: any client or chat UI that speaks it works (docs/openai.md)."""
