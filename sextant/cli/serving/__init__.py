"""Commands that run on: the HTTP server, its keys, the worker, the tools of an agent."""
