"""Metrics, logs, traces and readiness of a server (docs/operations.md)."""
